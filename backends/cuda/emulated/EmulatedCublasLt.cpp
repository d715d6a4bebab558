#include "backends/cuda/emulated/EmulatedCublasLt.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <set>

#include "backends/cuda/emulated/EmulatedCards.h"
#include "backends/cuda/kernels/TensorCores.h"
#include "executor/abi/FastRules.h"
#include "executor/base/FloatMode.h"
#include "executor/base/Numeric.h"

namespace lstmc::cuda {

using namespace emulated;

namespace {

struct Layout {
  int64_t rows = 0, columns = 0, stride = 0, matrix = 0;
  int32_t matrices = 1;

  /// Elements from the first to the one after the last.
  uint64_t extent() const {
    return uint64_t((matrices - 1) * matrix + (columns - 1) * stride + rows);
  }
  bool sound() const { return rows > 0 && columns > 0 && stride >= rows && matrix >= 0; }
  bool operator==(const Layout &) const = default;
};
struct Product {
  RoundedTo roundedTo = RoundedTo::F32;
  bool addsBias = false;
  const void *bias = nullptr;
};
struct Preference {
  uint64_t most = 0;
};

Layout &of(CublasLayout layout) { return *reinterpret_cast<Layout *>(layout); }
Product &of(CublasProduct product) { return *reinterpret_cast<Product *>(product); }
Preference &of(CublasPreference preference) { return *reinterpret_cast<Preference *>(preference); }

template <typename T> bool read(T &to, const void *value, size_t bytes) {
  if (bytes != sizeof(T))
    return false;
  std::memcpy(&to, value, sizeof(T));
  return true;
}

// ---- algorithms: [0] a mark, [1] its number, [2] a hash of the shape ----

constexpr uint64_t kMark = 0x656d756c61746564;
enum Number : uint64_t { Descending = 1, EvenAndOdd = 2 };
constexpr CublasResult kExecutionFailed = 13, kInCapture = 14;

uint64_t hashOf(const Product &product, const Layout &a, const Layout &b, const Layout &d) {
  uint64_t hash = uint64_t(product.roundedTo) + 1;
  for (const Layout *layout : {&a, &b, &d})
    for (int64_t each :
         {layout->rows, layout->columns, layout->stride, layout->matrix, int64_t(layout->matrices)})
      hash = (hash ^ uint64_t(each)) * 0x100000001b3;
  return hash;
}
size_t bytesFor(uint64_t number, const Layout &d) {
  return number == EvenAndOdd ? size_t(d.matrices) * size_t(d.rows * d.columns) * sizeof(float) : 0;
}

bool fit(const Layout &a, const Layout &b, const Layout &c, const Layout &d) {
  return a.sound() && b.sound() && d.sound() && c == d && a.columns == b.rows && a.rows == d.rows &&
         b.columns == d.columns && a.matrices == d.matrices && b.matrices == d.matrices &&
         (d.matrices == 1 || d.matrix >= d.columns * d.stride - (d.stride - d.rows));
}

CublasResult choose(CublasHandle, CublasProduct product, CublasLayout a, CublasLayout b,
                    CublasLayout c, CublasLayout d, CublasPreference preference, int most,
                    CublasChoice *choices, int *found) {
  *found = 0;
  if (!fit(of(a), of(b), of(c), of(d)) || most < 1)
    return kCublasInvalidValue;
  const bool roomy = of(preference).most >= bytesFor(EvenAndOdd, of(d));
  *choices = {};
  choices->algorithm.data[0] = kMark;
  choices->algorithm.data[1] = roomy ? EvenAndOdd : Descending;
  choices->algorithm.data[2] = hashOf(of(product), of(a), of(b), of(d));
  choices->workspaceBytes = bytesFor(choices->algorithm.data[1], of(d));
  *found = 1;
  return 0;
}

CublasResult check(CublasHandle, CublasProduct product, CublasLayout a, CublasLayout b,
                   CublasLayout c, CublasLayout d, const CublasAlgorithm *algorithm,
                   CublasChoice *choice) {
  const uint64_t number = algorithm->data[1];
  if (!fit(of(a), of(b), of(c), of(d)) || algorithm->data[0] != kMark ||
      (number != Descending && number != EvenAndOdd) ||
      algorithm->data[2] != hashOf(of(product), of(a), of(b), of(d)))
    return kCublasInvalidValue;
  *choice = {};
  choice->algorithm = *algorithm;
  choice->workspaceBytes = bytesFor(number, of(d));
  return 0;
}

// ---- the product ----

struct Operands {
  const float *a, *b, *bias;
  float *d, *workspace; ///< no workspace: descending
  RoundedTo roundedTo;
};

/// As tensor cores read it: the nearest number of that type, of two the even one.
float rounded(float value, RoundedTo to) {
  if (to == RoundedTo::Bf16)
    return widen(toBFloat(value));
  if (to == RoundedTo::Fp16)
    return widen(toHalf(value));
  return to == RoundedTo::Tf32 ? std::bit_cast<float>(gpu::Tf32::word(value, 0)) : value;
}

float termsOf(const float *a, const float *b, const Layout &aLayout, RoundedTo to, int64_t row,
              int64_t first, int64_t step) {
  float sum = 0;
  for (int64_t k = first; k >= 0 && k < aLayout.columns; k += step)
    sum = __builtin_fmaf(rounded(a[k * aLayout.stride + row], to), rounded(b[k], to), sum);
  return sum;
}

void multiplyAll(const Operands &o, const Layout &aLayout, const Layout &bLayout,
                 const Layout &dLayout) {
  for (int64_t m = 0; m < dLayout.matrices; ++m)
    for (int64_t column = 0; column < dLayout.columns; ++column)
      for (int64_t row = 0; row < dLayout.rows; ++row) {
        const float *a = o.a + m * aLayout.matrix;
        const float *b = o.b + m * bLayout.matrix + column * bLayout.stride;
        float sum = 0;
        if (o.workspace) {
          float &odd = o.workspace[(m * dLayout.columns + column) * dLayout.rows + row];
          odd = termsOf(a, b, aLayout, o.roundedTo, row, 1, 2);
          sum = termsOf(a, b, aLayout, o.roundedTo, row, 0, 2) + odd;
        } else {
          sum = termsOf(a, b, aLayout, o.roundedTo, row, aLayout.columns - 1, -1);
        }
        o.d[m * dLayout.matrix + column * dLayout.stride + row] = o.bias ? sum + o.bias[row] : sum;
      }
}

/// Notes that the operation uses so many elements; null if they are no memory of a card.
float *used(std::vector<MemoryUse> &uses, const void *address, uint64_t elements, bool writes,
            std::string_view name) {
  const auto begin = DeviceAddress(reinterpret_cast<uintptr_t>(address));
  const uint64_t bytes = elements * sizeof(float);
  uses.push_back({begin, bytes, writes, name});
  return reinterpret_cast<float *>(world().memory.find(begin, bytes));
}

/// An algorithm's kernels are loaded when it multiplies for the first time, and again for each
/// card, which no captured stream allows.
bool loaded(uint64_t algorithm, const Stream &stream) {
  static std::mutex mutex;
  static std::set<std::pair<const Card *, uint64_t>> all;
  const std::lock_guard lock(mutex);
  if (stream.capture)
    return all.contains({current, algorithm});
  all.insert({current, algorithm});
  return true;
}

CublasResult multiply(CublasHandle handle, CublasProduct product, const void *alpha, const void *a,
                      CublasLayout aLayout, const void *b, CublasLayout bLayout, const void *beta,
                      const void *c, CublasLayout cLayout, void *d, CublasLayout dLayout,
                      const CublasAlgorithm *algorithm, void *workspace, size_t workspaceBytes,
                      DriverStream stream) {
  CublasChoice choice;
  if (check(handle, product, aLayout, bLayout, cLayout, dLayout, algorithm, &choice) || c != d ||
      *static_cast<const float *>(alpha) != 1 || *static_cast<const float *>(beta) != 0 ||
      choice.workspaceBytes > workspaceBytes)
    return kCublasInvalidValue;
  if (!loaded(algorithm->data[1], streamOf(stream)))
    return kInCapture;
  const Layout &left = of(aLayout), &right = of(bLayout), &result = of(dLayout);
  std::vector<MemoryUse> uses;
  Operands operands = {};
  operands.roundedTo = of(product).roundedTo;
  operands.a = used(uses, a, left.extent(), false, "A");
  operands.b = used(uses, b, right.extent(), false, "B");
  operands.d = used(uses, d, result.extent(), true, "D");
  bool here = operands.a && operands.b && operands.d;
  if (of(product).addsBias) {
    operands.bias = used(uses, of(product).bias, uint64_t(result.rows), false, "the bias");
    here = here && operands.bias;
  }
  if (choice.workspaceBytes > 0) {
    operands.workspace =
        used(uses, workspace, choice.workspaceBytes / sizeof(float), true, "the workspace");
    here = here && operands.workspace;
  }
  if (!here)
    return kCublasInvalidValue;
  const DriverResult refused = give(streamOf(stream), {"cublasLtMatmul", std::move(uses),
                                                       [=](uint64_t) -> std::optional<std::string> {
                                                         const FloatMode mode;
                                                         multiplyAll(operands, left, right, result);
                                                         return std::nullopt;
                                                       }});
  return refused ? kExecutionFailed : 0;
}

template <typename T, typename Handle> CublasResult destroyed(Handle handle) {
  delete reinterpret_cast<T *>(handle);
  return 0;
}

void addDescriptions(CublasLt &library) {
  library.createProduct = [](CublasProduct *product, int compute, int scale) {
    const auto *found = std::ranges::find(kCublasCompute, compute);
    if (found == std::end(kCublasCompute) || scale != kCublasFloat)
      return kCublasNotSupported;
    *product = handleOf<CublasProduct>(new Product{RoundedTo(found - kCublasCompute)});
    return 0;
  };
  library.setProduct = [](CublasProduct product, int attribute, const void *value, size_t bytes) {
    int epilogue = 0;
    if (attribute == kCublasBias)
      return read(of(product).bias, value, bytes) ? 0 : kCublasInvalidValue;
    if (attribute != kCublasEpilogue || !read(epilogue, value, bytes) || epilogue != kCublasAddBias)
      return kCublasInvalidValue;
    of(product).addsBias = true;
    return 0;
  };
  library.destroyProduct = destroyed<Product, CublasProduct>;
  library.createLayout = [](CublasLayout *layout, int type, uint64_t rows, uint64_t columns,
                            int64_t stride) {
    if (type != kCublasFloat)
      return kCublasNotSupported;
    *layout = handleOf<CublasLayout>(new Layout{int64_t(rows), int64_t(columns), stride});
    return 0;
  };
  library.setLayout = [](CublasLayout layout, int attribute, const void *value, size_t bytes) {
    const bool done = attribute == kCublasMatrices       ? read(of(layout).matrices, value, bytes)
                      : attribute == kCublasMatrixStride ? read(of(layout).matrix, value, bytes)
                                                         : false;
    return done ? 0 : kCublasInvalidValue;
  };
  library.destroyLayout = destroyed<Layout, CublasLayout>;
  library.createPreference = [](CublasPreference *preference) {
    *preference = handleOf<CublasPreference>(new Preference);
    return 0;
  };
  library.setPreference = [](CublasPreference preference, int attribute, const void *value,
                             size_t bytes) {
    uint32_t alignment = 0;
    const bool done = attribute == kCublasMostWorkspace
                          ? read(of(preference).most, value, bytes)
                          : attribute >= kCublasAlignmentA && attribute < kCublasAlignmentA + 4 &&
                                read(alignment, value, bytes) && alignment >= sizeof(float);
    return done ? 0 : kCublasInvalidValue;
  };
  library.destroyPreference = destroyed<Preference, CublasPreference>;
}

CublasLt makeTable() {
  CublasLt library;
  library.version = []() -> size_t { return 130002; };
  library.errorText = [](CublasResult error) -> const char * {
    return error == kCublasInvalidValue   ? "invalid value"
           : error == kCublasNotSupported ? "not supported"
           : error == kExecutionFailed    ? faultText.c_str()
           : error == kInCapture          ? "its kernels cannot be loaded in a capture"
                                          : "unknown result";
  };
  library.create = [](CublasHandle *handle) {
    *handle = handleOf<CublasHandle>(current); // of the card of the context
    return current ? 0 : 1;
  };
  library.destroy = [](CublasHandle) { return 0; };
  library.choose = choose;
  library.check = check;
  library.configuration = [](const CublasAlgorithm *algorithm, int attribute, void *value,
                             size_t bytes, size_t *) {
    const auto number = int32_t(algorithm->data[1]);
    if (attribute != kCublasAlgorithmNumber || bytes != sizeof(number))
      return kCublasInvalidValue;
    std::memcpy(value, &number, sizeof(number));
    return 0;
  };
  library.multiply = multiply;
  addDescriptions(library);
  return library;
}

} // namespace

Result<const CublasLt *> emulatedCublasLt() {
  static const CublasLt library = makeTable();
  if (isHidden("LSTMC_EMU_CUBLASLT"))
    return fail(ErrorCode::E0503,
                "cuBLASLt was not found; LSTMC_EMU_CUBLASLT=0 hides the emulated one");
  return &library;
}

} // namespace lstmc::cuda

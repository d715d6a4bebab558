#include "backends/cuda/runtime/BoundProduct.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "backends/cuda/text/KeptFiles.h"
#include "executor/base/Sha256.h"

namespace lstmc::cuda {

BoundProduct::~BoundProduct() {
  if (description_)
    library_.destroyProduct(description_);
  for (CublasLayout layout : {w_, x_, y_})
    if (layout)
      library_.destroyLayout(layout);
}

/// The library counts columns first: y by columns is w by columns times x by columns.
CublasResult BoundProduct::describe() {
  const LibraryProduct &p = product_;
  CublasResult error =
      library_.createProduct(&description_, kCublasCompute[int(p.roundedTo)], kCublasFloat);
  if (!error && p.bias) {
    const int epilogue = kCublasAddBias;
    error = library_.setProduct(description_, kCublasEpilogue, &epilogue, sizeof(epilogue));
    if (!error)
      error = library_.setProduct(description_, kCublasBias, &p.bias, sizeof(p.bias));
  }
  auto layout = [&](CublasLayout &made, int64_t rows, int64_t columns, int64_t stride,
                    int64_t matrix) {
    if (!error)
      error = library_.createLayout(&made, kCublasFloat, uint64_t(rows), uint64_t(columns), stride);
    const auto matrices = int32_t(p.matrices);
    if (!error)
      error = library_.setLayout(made, kCublasMatrices, &matrices, sizeof(matrices));
    if (!error)
      error = library_.setLayout(made, kCublasMatrixStride, &matrix, sizeof(matrix));
  };
  layout(w_, p.columns, p.depth, p.columns, p.wMatrix);
  layout(x_, p.depth, p.rows, p.xStride, p.xMatrix);
  layout(y_, p.columns, p.rows, p.yStride, p.yMatrix);
  return error;
}

void BoundProduct::giveTo(DriverStream stream) const {
  const LibraryProduct &p = product_;
  const float one = 1, zero = 0;
  const CublasResult error =
      library_.multiply(handle_, description_, &one, p.w, w_, p.x, x_, &zero, p.y, y_, p.y, y_,
                        &algorithm_, p.workspace, size_t(p.workspaceBytes), stream);
  if (error)
    throw std::runtime_error(fmt::format("cublasLtMatmul: {}", library_.errorText(error)));
}

Result<std::unique_ptr<LibraryProducts>> LibraryProducts::create(const CublasLt &library,
                                                                 std::string card) {
  CublasHandle handle = nullptr;
  if (CublasResult error = library.create(&handle))
    return fail(ErrorCode::E0503, "cuBLASLt {} refuses the GPU: {}", versionOf(library),
                library.errorText(error));
  return std::unique_ptr<LibraryProducts>(new LibraryProducts(library, handle, std::move(card)));
}

LibraryProducts::~LibraryProducts() { library_.destroy(handle_); }

std::string LibraryProducts::keyOf(const LibraryProduct &p) const {
  return fmt::format(
      "cublaslt {} {}: compute {}, {} x {} x {} x {}, strides {} {} {} {} {}, aligned "
      "{} {} {} {}, bias {}, workspace {}",
      versionOf(library_), card_, kCublasCompute[int(p.roundedTo)], p.matrices, p.rows, p.columns,
      p.depth, p.xStride, p.yStride, p.xMatrix, p.wMatrix, p.yMatrix, alignmentOf(p.w),
      alignmentOf(p.x), alignmentOf(p.y), alignmentOf(p.bias), p.bias != nullptr, p.workspaceBytes);
}

/// " of operands rounded to bf16"
static std::string roundingText(RoundedTo roundedTo) {
  return roundedTo == RoundedTo::F32
             ? ""
             : fmt::format(" of operands rounded to {}", kFastRuleNames[size_t(roundedTo) - 1]);
}

/// Whether there is one that the library still takes.
bool LibraryProducts::takesKept(const BoundProduct &bound, const std::string &name,
                                CublasChoice &choice) const {
  const Result<Bytes> kept = keptFile(name);
  if (!kept.ok() || kept->size() != sizeof(CublasAlgorithm))
    return false;
  CublasAlgorithm algorithm;
  std::memcpy(&algorithm, kept->data(), sizeof(algorithm));
  const CublasResult error = library_.check(handle_, bound.description_, bound.w_, bound.x_,
                                            bound.y_, bound.y_, &algorithm, &choice);
  choice.algorithm = algorithm;
  return !error && choice.workspaceBytes <= size_t(bound.product_.workspaceBytes);
}

CublasResult LibraryProducts::choose(const BoundProduct &bound, CublasChoice &choice) const {
  CublasPreference preference = nullptr;
  CublasResult error = library_.createPreference(&preference);
  const auto most = uint64_t(bound.product_.workspaceBytes);
  if (!error)
    error = library_.setPreference(preference, kCublasMostWorkspace, &most, sizeof(most));
  const void *places[] = {bound.product_.w, bound.product_.x, bound.product_.y, bound.product_.y};
  for (int i = 0; i < int(std::size(places)) && !error; ++i) {
    const uint32_t alignment = alignmentOf(places[i]);
    error =
        library_.setPreference(preference, kCublasAlignmentA + i, &alignment, sizeof(alignment));
  }
  int found = 0;
  if (!error)
    error = library_.choose(handle_, bound.description_, bound.w_, bound.x_, bound.y_, bound.y_,
                            preference, 1, &choice, &found);
  if (preference)
    library_.destroyPreference(preference);
  return error ? error : found == 0 ? kCublasNotSupported : choice.state;
}

Result<std::unique_ptr<BoundProduct>> LibraryProducts::bind(const LibraryProduct &product) {
  std::unique_ptr<BoundProduct> bound(new BoundProduct(library_, handle_, product));
  const std::string shape = fmt::format(
      "{}{} x {} x {}{}", product.matrices > 1 ? fmt::format("{} x ", product.matrices) : "",
      product.rows, product.columns, product.depth, roundingText(product.roundedTo));
  CublasResult error = bound->describe();
  const std::string key = keyOf(product);
  if (auto found = chosen_.find(key); !error && found != chosen_.end()) {
    bound->algorithm_ = found->second;
    return bound;
  }
  const std::string name = sha256(asBytes(key)) + ".algorithm";
  CublasChoice choice;
  const bool kept = !error && takesKept(*bound, name, choice);
  if (!error && !kept)
    error = choose(*bound, choice);
  if (error)
    return fail(ErrorCode::E0402, "cuBLASLt {} has no algorithm for a product of {}: {}",
                versionOf(library_), shape, library_.errorText(error));
  if (!kept)
    keepFile(name,
             {reinterpret_cast<const uint8_t *>(&choice.algorithm), sizeof(choice.algorithm)});
  int number = -1;
  library_.configuration(&choice.algorithm, kCublasAlgorithmNumber, &number, sizeof(number),
                         nullptr);
  std::string told = fmt::format(
      "cuBLASLt {}: a product of {} by algorithm {}, {} bytes of workspace{}", versionOf(library_),
      shape, number, choice.workspaceBytes, kept ? ", as before" : "");
  if (std::ranges::find(choices_, told) == choices_.end()) // of other strides
    choices_.push_back(std::move(told));
  bound->algorithm_ = chosen_[key] = choice.algorithm;
  return bound;
}

} // namespace lstmc::cuda

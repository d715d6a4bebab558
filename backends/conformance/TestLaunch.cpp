#include "backends/conformance/TestLaunch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <set>

#include <fmt/format.h>

#include "executor/base/FloatMode.h"
#include "executor/base/Numeric.h"
#include "executor/base/Philox.h"
#include "executor/device/TeamMemory.h"
#include "executor/reference/Reference.h"
#include "executor/reference/View.h"

namespace lstmc::conformance {

using reference::forEachIndex;
using reference::offsetAt;

namespace {

constexpr std::align_val_t kBorder{64};
constexpr std::byte kGuardByte{0xa5}, kUnwritten{0xcb};

int64_t allocationBytes(int64_t bytes, int64_t guard) {
  return roundUp(bytes, 64) + 2 * guard + 64;
}

class SingleWorker final : public Worker {
public:
  void barrier() override {}
};

} // namespace

Storage::Storage(DType dtype, int64_t elements, int64_t skew)
    : dtype_(dtype), elements_(elements), skew_(skew * int64_t(dtypeBytes(dtype))),
      bytes_(elements * int64_t(dtypeBytes(dtype))),
      memory_(static_cast<std::byte *>(
          ::operator new(allocationBytes(bytes_ + skew_, kGuard), kBorder))) {
  std::fill_n(memory_, allocationBytes(bytes_ + skew_, kGuard), kGuardByte);
  std::fill_n(data(), bytes_, kUnwritten);
}

Storage::Storage(const Storage &other)
    : dtype_(other.dtype_), elements_(other.elements_), skew_(other.skew_), bytes_(other.bytes_),
      memory_(static_cast<std::byte *>(
          ::operator new(allocationBytes(bytes_ + skew_, kGuard), kBorder))) {
  std::memcpy(memory_, other.memory_, allocationBytes(bytes_ + skew_, kGuard));
}

Storage::~Storage() { ::operator delete(memory_, kBorder); }

std::byte *Storage::data() const { return memory_ + kGuard + skew_; }

std::span<std::byte> Storage::memory() const {
  return {memory_, size_t(allocationBytes(bytes_ + skew_, kGuard))};
}

bool Storage::guarded() const {
  const std::byte *end = memory_ + allocationBytes(bytes_ + skew_, kGuard);
  auto isGuard = [](std::byte b) { return b == kGuardByte; };
  return std::all_of(memory_, data(), isGuard) &&
         std::all_of(data() + bytes_, const_cast<std::byte *>(end), isGuard);
}

bool Storage::holds(const void *address) const {
  return address >= memory_ && address < memory_ + allocationBytes(bytes_ + skew_, kGuard);
}

std::string_view layoutName(Layout layout) {
  constexpr std::string_view kNames[] = {"dense",   "skewed",     "rows",
                                         "strided", "transposed", "reversed"};
  return kNames[int(layout)];
}

Values uniform(double low, double high, uint64_t salt) {
  return [=](uint64_t i) { return low + (high - low) * randomUniform(20, i, uint32_t(salt), 1); };
}

Values integers(int64_t low, int64_t high, uint64_t salt) {
  return [=](uint64_t i) {
    return double(low + int64_t(randomWord(21, i, uint32_t(salt), 1) % uint64_t(high - low + 1)));
  };
}

Values anything(uint64_t salt) {
  return [=](uint64_t i) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kSpecial[] = {
        0.0,     -0.0,   kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(),
        1e-40,   -1e-40, 0.5,       -0.5,       1.5,
        -2.5,    1,      -1,        3e38,       -3e38,
        1.2e-38, 88.7,   -103.9,    1e-3,       -7};
    if (i % 2)
      return kSpecial[randomWord(22, i, uint32_t(salt), 1) % std::size(kSpecial)];
    return uniform(-8, 8, salt)(i);
  };
}

Values nearDenormals(DType type, uint64_t salt) {
  const int smallest = type == DType::F64 ? std::numeric_limits<double>::min_exponent - 1
                                          : std::numeric_limits<float>::min_exponent - 1;
  return [=](uint64_t i) {
    const int exponents[] = {smallest / 2 - 1, smallest / 2, smallest / 2 + 1, smallest - 2,
                             smallest - 1,     smallest,     smallest + 1,     -1};
    auto word = [&](uint32_t ordinal) { return randomWord(23, i, uint32_t(salt), ordinal); };
    const uint32_t choice = word(1);
    const double sign = choice >> 31 ? -1 : 1;
    // Of four significands one is 1, and one is as large as there is.
    const double largest = 1 - (type == DType::F64 ? 0x1p-53 : 0x1p-24);
    const uint64_t fraction = uint64_t(word(2)) << 20 | word(3) >> 12;
    const double significand = choice >> 8 & 2   ? 1 + double(fraction) * 0x1p-52
                               : choice >> 8 & 1 ? 1
                                                 : 2 * largest;
    return choice >> 16 & 15
               ? sign * std::ldexp(significand, exponents[choice % std::size(exponents)])
               : sign * 0;
  };
}

Values constant(double value) {
  return [=](uint64_t) { return value; };
}

Array::Array(DType dtype, Shape shape, Layout layout) {
  tensor.dtype = dtype;
  tensor.rank = int(shape.size());
  std::copy(shape.begin(), shape.end(), tensor.shape.begin());
  int64_t step = layout == Layout::Strided ? 2 : 1;
  for (int i = 0; i < tensor.rank; ++i) {
    int axis = layout == Layout::Transposed ? i : tensor.rank - 1 - i;
    tensor.strides[axis] = step;
    step *= shape[axis];
    if (i == 0 && layout == Layout::Rows)
      step += 5;
  }
  storage = std::make_shared<Storage>(dtype, step, layout == Layout::Skewed ? 1 : 0);
  int64_t offset = 0;
  if (layout == Layout::Reversed)
    for (int i = 0; i < tensor.rank; ++i) {
      offset += std::max<int64_t>(0, shape[i] - 1) * tensor.strides[i];
      tensor.strides[i] = -tensor.strides[i];
    }
  tensor.data = storage->data() + offset * int64_t(dtypeBytes(dtype));
}

Array::Array(DType dtype, Shape shape, const Values &values, Layout layout)
    : Array(dtype, std::move(shape), layout) {
  uint64_t i = 0;
  forEachIndex(tensor, tensor.rank, [&](const auto &index) {
    writeElement(tensor.data, dtype, offsetAt(tensor, index), values(i++));
  });
}

double Array::at(std::initializer_list<int64_t> index) const {
  std::array<int64_t, kMaxRank> full{};
  std::copy(index.begin(), index.end(), full.begin());
  return readElement<double>(tensor.data, tensor.dtype, offsetAt(tensor, full));
}

std::vector<double> Array::values() const {
  std::vector<double> result;
  forEachIndex(tensor, tensor.rank, [&](const auto &index) {
    result.push_back(readElement<double>(tensor.data, tensor.dtype, offsetAt(tensor, index)));
  });
  return result;
}

Array Array::broadcast(int axis, int64_t extent) const {
  Array result = *this;
  result.tensor.shape[axis] = extent;
  result.tensor.strides[axis] = 0;
  return result;
}

Array Array::permuted(std::initializer_list<int> axes) const {
  Array result = *this;
  int to = 0;
  for (int from : axes) {
    result.tensor.shape[to] = tensor.shape[from];
    result.tensor.strides[to++] = tensor.strides[from];
  }
  return result;
}

Array Array::slice(int axis, int64_t begin, int64_t extent) const {
  Array result = *this;
  result.tensor.shape[axis] = extent;
  result.tensor.data = static_cast<std::byte *>(tensor.data) +
                       begin * tensor.strides[axis] * int64_t(dtypeBytes(tensor.dtype));
  return result;
}

Array &TestLaunch::operator[](std::string_view name) {
  return operands[kernelRecord(id).operand(name)];
}

TestLaunch TestLaunch::clone() const {
  TestLaunch result = *this;
  std::map<const Storage *, std::shared_ptr<Storage>> copies;
  for (Array &operand : result.operands) {
    if (!operand.storage)
      continue;
    std::shared_ptr<Storage> &copy = copies[operand.storage.get()];
    if (!copy)
      copy = std::make_shared<Storage>(*operand.storage);
    operand.tensor.data =
        copy->data() + (static_cast<std::byte *>(operand.tensor.data) - operand.storage->data());
    operand.storage = copy;
  }
  return result;
}

TestLaunch TestLaunch::changed(const std::function<float(float)> &change) const {
  TestLaunch result = clone();
  std::set<const Storage *> done;
  for (const Array &operand : result.operands)
    if (operand.storage && operand.storage->dtype() == DType::F32 &&
        done.insert(operand.storage.get()).second) {
      auto *numbers = reinterpret_cast<float *>(operand.storage->data());
      std::transform(numbers, numbers + operand.storage->elements(), numbers, change);
    }
  return result;
}

std::vector<Tensor> TestLaunch::tensors() const {
  std::vector<Tensor> result;
  for (const Array &operand : operands)
    result.push_back(operand.tensor);
  return result;
}

void TestLaunch::run(KernelFunction function) {
  std::vector<Tensor> views = tensors();
  SingleWorker worker;
  const TeamMemory memory(1);
  const WithWorkerMemory use(memory);
  FloatMode mode;
  function({views, ints, floats, program.get()}, worker);
}

std::string TestLaunch::difference(const TestLaunch &expected) const {
  const KernelRecord &record = kernelRecord(id);
  for (size_t i = 0; i < operands.size(); ++i) {
    const Array &got = operands[i], &want = expected.operands[i];
    if (!got.storage)
      continue;
    const size_t fixed = record.operands.size();
    const std::string_view name = i < fixed
                                      ? record.operands[i].name
                                      : record.repeated[(i - fixed) % record.repeated.size()].name;
    if (!got.storage->guarded())
      return fmt::format("operand {} ({}): bytes beside it were written", i, name);
    if (name == "scratch")
      continue;
    const auto bytes = int64_t(dtypeBytes(got.storage->dtype()));
    const std::byte *a = got.storage->data(), *b = want.storage->data();
    for (int64_t e = 0; e < got.storage->elements(); ++e, a += bytes, b += bytes) {
      if (std::memcmp(a, b, bytes) == 0)
        continue;
      const double x = readElement<double>(a, got.storage->dtype(), 0);
      const double y = readElement<double>(b, got.storage->dtype(), 0);
      if (isFloat(got.storage->dtype()) && std::isnan(x) && std::isnan(y))
        continue;
      return fmt::format(
          "operand {} ({}), element {} of its {} in memory: found {} ({:a}), want {} ({:a})", i,
          name, e, got.storage->elements(), x, x, y, y);
    }
  }
  return "";
}

Array packed(const Array &w, int64_t gates) {
  Array matrices = w;
  if (w.tensor.rank == 2) {
    matrices.tensor.rank = 3;
    matrices.tensor.shape = {1, w.tensor.shape[0], w.tensor.shape[1]};
    matrices.tensor.strides = {0, w.tensor.strides[0], w.tensor.strides[1]};
  }
  const auto &shape = matrices.tensor.shape;
  TestLaunch launch(KernelId::Pack);
  Array p(w.tensor.dtype, {shape[0] * packedElements(shape[1], shape[2], gates)});
  launch.operands = {matrices, p};
  setArguments(launch, PackArguments{.gates = gates});
  launch.run(reference::kernel(KernelId::Pack));
  return p;
}

} // namespace lstmc::conformance

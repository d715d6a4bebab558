#include "executor/session/FusedFault.h"

#include <cmath>
#include <cstring>

#include "executor/abi/ElementWindow.h"
#include "executor/abi/KernelArguments.h"
#include "executor/base/FloatMode.h"
#include "executor/base/ScalarSemantics.h"
#include "executor/session/Elements.h"

namespace lstmc::session {

namespace {

/// Row-major.
std::vector<std::byte> denseCopy(const Tensor &tensor) {
  const size_t size = dtypeBytes(tensor.dtype);
  std::vector<std::byte> copy(size_t(tensor.elements()) * size);
  std::byte *to = copy.data();
  forEachElement(tensor, [&](int64_t offset, const auto &) {
    std::memcpy(to, static_cast<const std::byte *>(tensor.data) + offset * int64_t(size), size);
    to += size;
    return true;
  });
  return copy;
}

/// The row-major index of `where` in the launch's common shape.
int64_t elementAt(const Tensor &operand, const NonFinite &where) {
  int64_t element = 0;
  for (size_t axis = 0; axis < size_t(operand.rank); ++axis)
    element = element * operand.shape[axis] + where.index[axis];
  return element;
}

ScalarValue load(const std::vector<std::byte> &copy, DType dtype, int64_t element) {
  return withWidenedType(dtype, [&](auto type) {
    return ScalarValue::of(readElement<decltype(type)>(copy.data(), dtype, element));
  });
}

bool isFinite(const ScalarValue &value) {
  return !isFloat(value.type) || std::isfinite(value.as<double>());
}

} // namespace

void FusedInputs::keep(const package::PackageData &data, const package::Launch &launch,
                       std::span<const DeviceTensor> operands) {
  launch_ = nullptr;
  if (launch.kernel != KernelId::Fused || launch.instructions.empty())
    return;
  launch_ = &launch;
  copies_.assign(operands.size(), {});
  operands_.clear();
  std::vector<std::byte> scratch;
  for (size_t i = 0; i < operands.size(); ++i) {
    operands_.push_back(operands[i].layout);
    if (!package::writes(data, launch, i))
      copies_[i] = denseCopy(operands[i].forHost(scratch));
  }
}

std::optional<FusedInputs::Origin> FusedInputs::originOf(const package::PackageData &data,
                                                         const package::Launch &launch,
                                                         const NonFinite &where) const {
  if (launch_ != &launch)
    return std::nullopt;
  const FusedProgram &program = package::programOf(data, launch);
  const int64_t element = elementAt(operands_[0], where);
  const ElementWindow window = ElementWindow::of(argumentsOf<FusedArguments>(launch).window);
  std::vector<ScalarValue> values(operands_.size());
  for (size_t i = 0; i < operands_.size(); ++i)
    if (!program.writes(i))
      values[i] = load(copies_[i], operands_[i].dtype, element);
  const FloatMode mode;
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const FusedInstruction &in = program.instructions[i];
    const int reads = kScalarRecords[int(in.op)].operands;
    values.push_back(evaluate(in.op, in.type, reads > 0 ? values[in.a] : ScalarValue(),
                              reads > 1 ? values[in.b] : ScalarValue(),
                              reads > 2 ? values[in.c] : ScalarValue(), in.immediate,
                              uint64_t(window.at(element))));
    if (!isFinite(values.back()))
      return Origin{launch.instructions[i], std::isnan(values.back().as<double>())};
  }
  return std::nullopt; // became infinite where it was stored, in a narrower type
}

} // namespace lstmc::session

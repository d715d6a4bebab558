// The interpreter of fused programs, element by element.
#include "executor/abi/ElementWindow.h"
#include "executor/abi/FusedProgram.h"
#include "executor/base/ScalarSemantics.h"
#include "executor/reference/Groups.h"
#include "executor/reference/View.h"

namespace lstmc::reference {

namespace {

ScalarValue load(const Tensor &x, int64_t at) {
  return withWidenedType(x.dtype, [&](auto type) {
    return ScalarValue::of(readElement<decltype(type)>(x.data, x.dtype, at));
  });
}

void store(const Tensor &y, int64_t at, const ScalarValue &value) {
  withWidenedType(value.type, [&](auto type) {
    writeElement(y.data, y.dtype, at, value.as<decltype(type)>());
  });
}

} // namespace

void runFused(const FusedLaunch &launch) {
  const FusedProgram &program = *launch.wire.program;
  const std::span<const Tensor> operands = launch.repeated;
  if (operands.empty())
    return;
  ScalarValue values[kMaxFusedOperands + kMaxFusedInstructions];
  const ElementWindow window = ElementWindow::of(launch.window);
  int64_t element = 0;
  forEachIndex(operands[0], operands[0].rank, [&](const auto &index) {
    for (size_t i = 0; i < operands.size(); ++i)
      if (!program.writes(i))
        values[i] = load(operands[i], offsetAt(operands[i], index));
    size_t next = operands.size();
    for (const FusedInstruction &in : program.instructions) {
      const int reads = kScalarRecords[int(in.op)].operands;
      values[next++] = evaluate(in.op, in.type, reads > 0 ? values[in.a] : ScalarValue(),
                                reads > 1 ? values[in.b] : ScalarValue(),
                                reads > 2 ? values[in.c] : ScalarValue(), in.immediate,
                                uint64_t(window.at(element)));
    }
    for (size_t i = 0; i < operands.size(); ++i)
      if (program.writes(i))
        store(operands[i], offsetAt(operands[i], index), values[program.results[i]]);
    ++element;
  });
}

} // namespace lstmc::reference

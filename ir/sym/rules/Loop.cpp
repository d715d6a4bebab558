// Loops with a body: the types around the op and inside it.
#include "ir/sym/LoopOps.h"

#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

NextOp ForeachOp::next() {
  Block &block = getBody().front();
  return block.empty() ? NextOp() : dyn_cast<NextOp>(block.back());
}

/// `whole` is slices of `slice` on axis 0.
static LogicalResult relateSlice(ShapeRelation &relation, Value whole, Value slice) {
  if (failed(relation.sameType(whole, slice)))
    return failure();
  // foreach:slice
  if (relation.ranked(whole)) {
    if (relation.rank(whole) == 0)
      return relation.refuse(ErrorCode::E0207, {{whole}}) << "found data without axes";
    if (failed(relation.fixRank(slice, relation.rank(whole) - 1, "one axis less than the steps")))
      return failure();
  } else if (relation.ranked(slice)) {
    if (failed(relation.fixRank(whole, relation.rank(slice) + 1, "one axis more than a step")))
      return failure();
  } else {
    return success();
  }
  for (int64_t axis = 0; axis < relation.rank(slice); ++axis)
    if (failed(relation.equal(whole, axis + 1, slice, axis, "elements")))
      return failure();
  return success();
}

static LogicalResult relateLoop(ForeachOp loop, ShapeRelation &relation) {
  NextOp next = loop.next();
  Block &body = loop.getBody().front();
  const size_t data = loop.getData().size(), states = loop.getStates().size();
  // Contradictions of counts are the region verifier's, which runs later.
  if (!next || data == 0 || body.getNumArguments() != data + states ||
      loop.getNumResults() < states || next.getValues().size() != loop.getNumResults())
    return success();
  Value first = loop.getData().front();
  auto haveSteps = [&](Value whole) {
    // foreach:steps
    return !relation.ranked(first) || !relation.ranked(whole) ||
           succeeded(relation.equal(first, 0, whole, 0, "steps"));
  };
  for (size_t i = 0; i < data; ++i)
    if (failed(relateSlice(relation, loop.getData()[i], body.getArgument(unsigned(i)))) ||
        !haveSteps(loop.getData()[i]))
      return failure();
  const size_t outputs = loop.outputCount();
  for (size_t i = 0; i < outputs; ++i)
    if (failed(relateSlice(relation, loop.getResult(unsigned(i)), next.getValues()[i])) ||
        !haveSteps(loop.getResult(unsigned(i))))
      return failure();
  // foreach:state
  for (size_t i = 0; i < states; ++i)
    for (Value other :
         {Value(body.getArgument(unsigned(data + i))), Value(next.getValues()[outputs + i]),
          Value(loop.getResult(unsigned(outputs + i)))})
      if (failed(relation.sameShape(loop.getStates()[i], other)) ||
          failed(relation.sameType(loop.getStates()[i], other)))
        return failure();
  return success();
}

LogicalResult ForeachOp::relateShapes(ShapeRelation &relation) {
  return relateLoop(*this, relation);
}
LogicalResult NextOp::relateShapes(ShapeRelation &relation) {
  return relateLoop((*this)->getParentOfType<ForeachOp>(), relation);
}

LogicalResult ForeachOp::verifyRegions() {
  Block &body = getBody().front();
  NextOp last = next();
  // foreach:data
  if (getData().empty())
    return emitOpError("has no data, whose axis 0 would be its steps");
  // foreach:arguments
  const size_t wanted = getData().size() + getStates().size();
  if (body.getNumArguments() != wanted)
    return emitOpError("has ") << body.getNumArguments() << " arguments of its body, want "
                               << wanted << ", one for each of data and states";
  // foreach:next
  if (!last || getNumResults() < getStates().size() || last.getValues().size() != getNumResults())
    return emitOpError("has ") << getNumResults() << " results and " << getStates().size()
                               << " states, its body gives " << (last ? last.getValues().size() : 0)
                               << " values";
  // foreach:outside
  for (Operation &op : body)
    if (isa<VariableOp, BeginStateOp>(op))
      return op.emitOpError("stands in the body of a loop, want it before the loop");
  return success();
}

} // namespace lstmc::sym

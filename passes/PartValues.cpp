#include "passes/PartValues.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/RuleSupport.h"
#include "ir/sym/SymOps.h"
#include "passes/Dropout.h"

namespace lstmc::passes {

using mlir::Operation;
using mlir::Value;
using sym::BatchPosition;

PartValues::PartValues(mlir::func::FuncOp whole, llvm::ArrayRef<Operation *> ops,
                       llvm::ArrayRef<Part> parts)
    : whole(whole), ops(ops), parts(parts.begin(), parts.end()), positions(whole) {}

mlir::LogicalResult PartValues::prove() {
  if (failed(compare()))
    return mlir::failure();
  do {
    values.clear();
    waiting.clear();
    ofInputs.clear();
    atHand.clear();
    roles.assign(ops.size(), Role::Part);
    if (failed(lookAtArguments()))
      return mlir::failure();
    for (size_t index = 0; index < ops.size(); ++index)
      if (failed(lookAt(index)))
        return mlir::failure();
  } while (findSumsForParts());
  return mlir::success();
}

mlir::LogicalResult PartValues::refuse(Operation *op, llvm::StringRef why) const {
  return sym::emitCoded(op, ErrorCode::E0402)
         << "the batch is shared out in " << parts.size() << " parts, and "
         << op->getName().stripDialect() << ' ' << why
         << ": train on one device, without accumulation";
}

//===---- the same net ------------------------------------------------------------------------===//

/// Numbers the values in program order.
static llvm::DenseMap<Value, size_t> numbersOf(mlir::func::FuncOp function,
                                               llvm::ArrayRef<Operation *> ops) {
  llvm::DenseMap<Value, size_t> numbers;
  for (Value argument : function.getArguments())
    numbers.try_emplace(argument, numbers.size());
  for (Operation *op : ops)
    for (Value result : op->getResults())
      numbers.try_emplace(result, numbers.size());
  return numbers;
}

/// Whether every part has the ops of the whole, each reading what the whole's reads.
mlir::LogicalResult PartValues::compare() {
  llvm::DenseMap<Value, size_t> all = numbersOf(whole, ops);
  for (Part &part : parts) {
    llvm::DenseMap<Value, size_t> own = numbersOf(part.function, part.ops);
    auto reads = [&](Operation *op, Operation *mine) {
      return op->getNumOperands() == mine->getNumOperands() &&
             llvm::all_of(llvm::zip_equal(op->getOperands(), mine->getOperands()), [&](auto pair) {
               return all.lookup(std::get<0>(pair)) == own.lookup(std::get<1>(pair));
             });
    };
    if (whole.getNumArguments() != part.function.getNumArguments())
      return refuse(whole, "has other inputs in the parts");
    for (auto [op, mine] : llvm::zip(ops, part.ops))
      if (op->getName() != mine->getName() || op->getNumResults() != mine->getNumResults() ||
          !reads(op, mine))
        return refuse(op, "differs in the parts");
    if (ops.size() != part.ops.size())
      return refuse(whole, "has another number of ops in the parts");
    if (!reads(whole.front().getTerminator(), part.function.front().getTerminator()))
      return refuse(whole, "returns other values in the parts");
  }
  return mlir::success();
}

bool PartValues::sameAttributes(size_t index, Attributes which) const {
  Operation *op = ops[index];
  auto extents = llvm::dyn_cast<sym::ExtentsRule>(op);
  auto left = [&](llvm::StringRef name) {
    return which == Attributes::ButExtents && extents ? name == extents.extentsAttribute()
           : which == Attributes::ButShards           ? name == "first" || name == "count"
           : which == Attributes::ButWindow           ? name == "window"
                                                      : false;
  };
  for (const Part &part : parts) {
    Operation *mine = part.ops[index];
    if (op->getName().compareOpProperties(op->getPropertiesStorage(), mine->getPropertiesStorage()))
      continue;
    auto one = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(op->getPropertiesAsAttribute());
    auto two = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(mine->getPropertiesAsAttribute());
    if (!one || !two || one.size() != two.size())
      return false;
    for (mlir::NamedAttribute attribute : one)
      if (two.get(attribute.getName()) != attribute.getValue() && !left(attribute.getName()))
        return false;
  }
  return true;
}

bool PartValues::sameTypes(size_t index) const {
  return llvm::all_of(parts, [&](const Part &part) {
    return llvm::equal(ops[index]->getResultTypes(), part.ops[index]->getResultTypes());
  });
}

/// Whether every part's value has the type of its rows of the whole's result.
bool PartValues::isPartOf(size_t index, unsigned result, BatchPosition position) const {
  return position && llvm::all_of(parts, [&](const Part &part) {
           return part.ops[index]->getResult(result).getType() ==
                  typeOfPart(ops[index]->getResult(result).getType(), position, part.share.rows());
         });
}

/// Infers the batch axis without a rule: the one axis that is smaller in the parts, if it holds
/// nothing else.
BatchPosition PartValues::rowsByTypes(size_t index, unsigned result) const {
  auto all = sym::rankedType(ops[index]->getResult(result));
  auto some = sym::rankedType(parts.front().ops[index]->getResult(result));
  for (auto [axis, extents] : llvm::enumerate(llvm::zip(all.getShape(), some.getShape())))
    if (auto [one, two] = extents; one != two)
      return one == positions.size() ? BatchPosition{int(axis), 1, one, 1} : BatchPosition::none();
  return BatchPosition::none();
}

//===---- op by op ----------------------------------------------------------------------------===//

mlir::LogicalResult PartValues::lookAtArguments() {
  for (mlir::BlockArgument argument : whole.getArguments()) {
    auto typeIn = [&](Part &part) {
      return part.function.getArgument(argument.getArgNumber()).getType();
    };
    PartValue value;
    if (llvm::any_of(parts, [&](Part &part) { return typeIn(part) != argument.getType(); })) {
      Part &first = parts.front();
      BatchPosition position = positionOfPart(argument.getType(), typeIn(first), first.share);
      position.batch = positions.size();
      if (!llvm::all_of(parts, [&](Part &part) {
            return typeIn(part) == typeOfPart(argument.getType(), position, part.share.rows());
          }))
        return refuse(whole, "has an input whose rows are not known");
      value = {PartValue::Rows, position};
    }
    values[argument] = value;
    atHand.insert(argument);
    ofInputs.insert(argument);
  }
  return mlir::success();
}

mlir::LogicalResult PartValues::set(size_t index, Role role, PartValue::Kind kind,
                                    llvm::ArrayRef<BatchPosition> rows) {
  Operation *op = ops[index];
  roles[index] = role;
  for (mlir::OpResult result : op->getResults()) {
    BatchPosition at = rows.empty() ? BatchPosition::none() : rows[result.getResultNumber()];
    values[result] = rows.empty() || at ? PartValue{kind, at} : PartValue{PartValue::Whole, {}};
  }
  auto isOfInput = [&](Value value) { return ofInputs.contains(value); };
  if (mlir::isPure(op) && role != Role::Whole && llvm::all_of(op->getOperands(), isOfInput))
    for (Value result : op->getResults())
      if (values[result].kind == PartValue::Rows || values[result].kind == PartValue::Alike)
        ofInputs.insert(result);
  if (role == Role::Whole || role == Role::OwnRows)
    atHand.insert(op->result_begin(), op->result_end());
  return mlir::success();
}

mlir::LogicalResult PartValues::lookAt(size_t index) {
  Operation *op = ops[index];
  llvm::SmallVector<BatchPosition> rows;
  bool has[4] = {};
  for (Value operand : op->getOperands()) {
    const PartValue &value = of(operand);
    has[value.kind] = true;
    rows.push_back(value.rows);
  }
  if (llvm::isa<sym::AllRowsOp>(op))
    return doOnWhole(index);
  if (auto own = llvm::dyn_cast<sym::OwnRowsOp>(op)) {
    BatchPosition at = {int(own.getAxis()), int64_t(own.getOuter()), positions.size(),
                        int64_t(own.getInner())};
    if (has[PartValue::Rows] || !isPartOf(index, 0, at) || !sameAttributes(index, Attributes::All))
      return refuse(op, "has no rows to take");
    return set(index, Role::OwnRows, PartValue::Rows, at);
  }
  if (op->getNumResults() == 0)
    return has[PartValue::Rows] ? refuse(op, "needs a result over all rows")
                                : set(index, Role::Part, PartValue::Alike);
  if (sumsPart(parts.front().ops[index]))
    return sumsByShards(index) ? set(index, Role::Sum, PartValue::Sum) : doOnWhole(index);
  if (BatchPosition at = maskRows(index); at && !sameTypes(index))
    return set(index, Role::Mask, PartValue::Rows, at);

  if (!has[PartValue::Rows] && sameTypes(index) && sameAttributes(index, Attributes::All)) {
    if (has[PartValue::Sum])
      return set(index, Role::Last, PartValue::Sum);
    return has[PartValue::Whole] ? doOnWhole(index) : set(index, Role::Part, PartValue::Alike);
  }
  // Row by row, if the ops differ in nothing but rows.
  auto results = rowByRow(op, rows);
  bool proved = results && sameAttributes(index, Attributes::ButExtents);
  for (mlir::OpResult result : op->getResults())
    proved = proved && (result.use_empty() || isPartOf(index, result.getResultNumber(),
                                                       (*results)[result.getResultNumber()]));
  return proved ? set(index, Role::Part, PartValue::Rows, *results) : doOnWhole(index);
}

/// Runs the op on the whole batch. Each part gets all of its result, or the rows of the part.
mlir::LogicalResult PartValues::doOnWhole(size_t index) {
  Operation *op = ops[index];
  if (!mlir::isPure(op))
    return refuse(op, "needs the rows of all parts");
  llvm::SmallVector<BatchPosition> rows;
  for (mlir::OpResult result : op->getResults()) {
    unsigned number = result.getResultNumber();
    bool all = llvm::all_of(parts, [&](const Part &part) {
      return part.ops[index]->getResult(number).getType() == result.getType();
    });
    BatchPosition at = all ? BatchPosition::none() : positions.of(result);
    if (!all && !isPartOf(index, number, at))
      at = rowsByTypes(index, number);
    if (!all && !isPartOf(index, number, at) && !result.use_empty())
      return refuse(op, "needs the rows of all parts, and its result cannot be divided by rows");
    rows.push_back(at);
  }
  for (Value operand : op->getOperands()) {
    const PartValue &value = of(operand);
    if (value.kind == PartValue::Sum ||
        (value.kind == PartValue::Rows && !atHand.contains(operand) && !ofInputs.contains(operand)))
      waiting.insert(index);
  }
  return set(index, Role::Whole, PartValue::Rows, rows);
}

/// Whether the sums over the parts' shards are addends of the whole sum: all operands hold rows, at
/// the positions that the attributes state.
bool PartValues::sumsByShards(size_t index) const {
  auto sum = llvm::cast<sym::ShardSum>(ops[index]);
  if (forParts.contains(index) || !sameTypes(index) ||
      !sameAttributes(index, Attributes::ButShards) || int64_t(sum.getBatch()) != positions.size())
    return false;
  for (const Part &part : parts)
    if (ShardRange range = llvm::cast<sym::ShardSum>(part.ops[index]).range();
        !sumsPart(part.ops[index]) || range.first != part.share.first ||
        range.count != part.share.count || range.shards != part.share.shards)
      return false;
  for (mlir::OpOperand &operand : sum->getOpOperands()) {
    const PartValue &value = of(operand.get());
    if (value.kind != PartValue::Rows || sym::strideOfRows(operand.get().getType(), value.rows) !=
                                             sum.rowStride(operand.getOperandNumber()))
      return false;
  }
  return true;
}

/// Batch position of a mask that differs between parts: that of the value that it is multiplied
/// with.
BatchPosition PartValues::maskRows(size_t index) const {
  auto mask = llvm::dyn_cast<sym::DropoutMaskOp>(ops[index]);
  if (!mask || !sameAttributes(index, Attributes::ButWindow))
    return BatchPosition::none();
  for (Operation *user : mask->getUsers())
    for (Value result : user->getResults())
      if (BatchPosition at = positions.of(result);
          sym::rankedType(result).getRank() == sym::rankedType(mask.getMask()).getRank() &&
          isPartOf(index, 0, at) && llvm::all_of(parts, [&](const Part &part) {
            return drawsRows(mask, llvm::cast<sym::DropoutMaskOp>(part.ops[index]), at);
          }))
        return at;
  return BatchPosition::none();
}

/// Finds sums that a part reads to compute rows or replicated values, and marks them for the whole
/// batch. Returns whether it found new ones.
bool PartValues::findSumsForParts() {
  llvm::DenseSet<Value> everywhere;
  bool more = false;
  for (size_t index = ops.size(); index-- > 0;) {
    Operation *op = ops[index];
    auto isEverywhere = [&](Value result) { return everywhere.contains(result); };
    Role role = roles[index];
    bool read = llvm::any_of(op->getResults(), isEverywhere);
    if (role == Role::Sum && read)
      more |= forParts.insert(index).second;
    if ((role == Role::Last && read) || role == Role::OwnRows ||
        (role == Role::Part && op->getNumResults() > 0))
      for (Value operand : op->getOperands())
        if (of(operand).kind == PartValue::Sum)
          everywhere.insert(operand);
  }
  return more;
}

} // namespace lstmc::passes

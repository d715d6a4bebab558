#include "passes/lowering/FusedPrograms.h"

#include <bit>

namespace lstmc::passes {

FusedSize measureBody(mlir::Block &body) {
  auto *yield = body.getTerminator();
  FusedSize size;
  size.operands = int(body.getNumArguments() + yield->getNumOperands());
  llvm::DenseMap<mlir::Value, int> last; // position of the last reader
  int position = 0;
  for (mlir::Operation &op : body) {
    for (mlir::Value operand : op.getOperands())
      last[operand] = position;
    ++position;
  }
  size.instructions = position - 1;
  int live = int(body.getNumArguments());
  size.live = live;
  position = 0;
  std::vector<int> deaths(size_t(size.instructions) + 1, 0);
  for (mlir::Operation &op : body.without_terminator()) {
    ++live;
    size.live = std::max(size.live, live);
    auto found = last.find(op.getResult(0));
    ++deaths[size_t(found == last.end() ? position : found->second)];
    live -= deaths[size_t(position++)];
  }
  return size;
}

mlir::DenseI64ArrayAttr windowOf(mlir::Operation *op) {
  if (auto mask = llvm::dyn_cast<sym::DropoutMaskOp>(op))
    return mask.getWindowAttr();
  if (auto fused = llvm::dyn_cast<sym::FusedOp>(op))
    return fused.getWindowAttr();
  return nullptr;
}

int64_t FusedPrograms::idOf(mlir::Block &body, llvm::ArrayRef<mlir::Type> inputs,
                            llvm::ArrayRef<mlir::Type> outputs) {
  std::vector<int64_t> key = {int64_t(inputs.size()), int64_t(outputs.size())};
  for (mlir::Type type : llvm::concat<const mlir::Type>(inputs, outputs))
    key.push_back(int64_t(exec::dtypeOf(type)));
  llvm::DenseMap<mlir::Value, int64_t> numbers;
  for (mlir::BlockArgument argument : body.getArguments())
    numbers[argument] = argument.getArgNumber();
  auto next = int64_t(inputs.size() + outputs.size());
  for (mlir::Operation &op : body.without_terminator()) {
    auto scalar = llvm::cast<sym::ApplyScalarOp>(op);
    key.push_back(int64_t(scalar.scalarOp()));
    key.push_back(int64_t(exec::dtypeOf(scalar.getType())));
    for (mlir::Value operand : scalar->getOperands())
      key.push_back(numbers.lookup(operand));
    key.push_back(scalar.getImmediate()
                      ? std::bit_cast<int64_t>(scalar.getImmediate()->convertToDouble())
                      : 0);
    numbers[scalar.getResult()] = next++;
  }
  for (mlir::Value value : body.getTerminator()->getOperands())
    key.push_back(numbers.lookup(value));
  auto [at, isNew] = ids.try_emplace(std::move(key), int64_t(ids.size()));
  if (!isNew)
    return at->second;

  mlir::OpBuilder builder(place);
  mlir::Location unknown = builder.getUnknownLoc();
  auto fused = builder.create<exec::FusedOp>(unknown, at->second);
  mlir::Block &target = fused.getBody().emplaceBlock();
  llvm::DenseMap<mlir::Value, mlir::Value> map;
  for (auto [argument, type] : llvm::zip_equal(body.getArguments(), inputs))
    map[argument] = target.addArgument(type, unknown);
  llvm::SmallVector<int64_t> into;
  for (mlir::Type type : outputs)
    into.push_back(target.addArgument(type, unknown).getArgNumber());
  builder.setInsertionPointToEnd(&target);
  for (mlir::Operation &op : body.without_terminator()) {
    auto scalar = llvm::cast<sym::ApplyScalarOp>(op);
    llvm::SmallVector<mlir::Value> operands;
    for (mlir::Value operand : scalar->getOperands())
      operands.push_back(map.lookup(operand));
    auto name = builder.getStringAttr(kScalarRecords[int(scalar.scalarOp())].name);
    map[scalar.getResult()] = builder.create<exec::ScalarOp>(unknown, scalar.getType(), name,
                                                             operands, scalar.getImmediateAttr());
  }
  llvm::SmallVector<mlir::Value> values;
  for (mlir::Value value : body.getTerminator()->getOperands())
    values.push_back(map.lookup(value));
  builder.create<exec::ResultsOp>(unknown, values, into);
  return at->second;
}

} // namespace lstmc::passes

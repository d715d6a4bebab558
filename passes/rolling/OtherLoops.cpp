#include "passes/rolling/OtherLoops.h"

#include <map>

#include "ir/sym/SymOps.h"

namespace lstmc::passes {

using mlir::Operation;
using mlir::Value;

namespace {

/// Readers of a parameter that are of one kind: op, and number of the operand.
struct Readers {
  sym::VariableOp parameter;
  int64_t count = 0;
  uint64_t before = 0; ///< readers, by their bit, that one of these depends on
};

constexpr size_t kBits = 64;

/// Sets `before` of up to kBits readers.
void findDependences(mlir::func::FuncOp net, llvm::MutableArrayRef<Readers> readers,
                     const llvm::DenseMap<mlir::OpOperand *, size_t> &numbers, size_t first) {
  llvm::DenseMap<Operation *, uint64_t> reached; // the readers that an op depends on, itself too
  for (Operation &op : net.front()) {
    uint64_t bits = 0;
    for (Value operand : op.getOperands())
      if (Operation *maker = operand.getDefiningOp())
        bits |= reached.lookup(maker);
    uint64_t own = 0;
    for (mlir::OpOperand &operand : op.getOpOperands()) {
      auto found = numbers.find(&operand);
      if (found == numbers.end() || found->second < first ||
          found->second - first >= readers.size())
        continue;
      readers[found->second - first].before |= bits;
      own |= uint64_t(1) << (found->second - first);
    }
    if (bits | own)
      reached[&op] = bits | own;
  }
}

} // namespace

llvm::StringRef layerNameOf(llvm::StringRef parameter) {
  if (!parameter.consume_back("_weight"))
    parameter.consume_back("_bias");
  if (!parameter.consume_back("_i2h"))
    parameter.consume_back("_h2h");
  return parameter;
}

llvm::SmallVector<OtherLoop> otherLoops(mlir::func::FuncOp net,
                                        const llvm::DenseSet<Value> &known) {
  std::vector<Readers> readers;
  llvm::DenseMap<mlir::OpOperand *, size_t> numbers;
  for (auto parameter : net.front().getOps<sym::VariableOp>()) {
    std::map<std::pair<llvm::StringRef, unsigned>, llvm::SmallVector<mlir::OpOperand *>> kinds;
    for (mlir::OpOperand &use : parameter->getUses())
      kinds[{use.getOwner()->getName().getStringRef(), use.getOperandNumber()}].push_back(&use);
    for (const auto &[kind, uses] : kinds) {
      if (uses.size() < 2)
        continue;
      for (mlir::OpOperand *use : uses)
        numbers[use] = readers.size();
      readers.push_back({parameter, int64_t(uses.size())});
    }
  }
  llvm::SmallVector<OtherLoop> loops;
  for (size_t first = 0; first < readers.size(); first += kBits) {
    auto some =
        llvm::MutableArrayRef(readers).slice(first, std::min(kBits, readers.size() - first));
    findDependences(net, some, numbers, first);
    auto dependsOn = [&](size_t a, size_t b) { return (some[a].before >> b) & 1; };
    for (size_t i = 0; i < some.size(); ++i) {
      bool isFirst = dependsOn(i, i);
      for (size_t j = 0; j < some.size(); ++j)
        if (dependsOn(i, j) && dependsOn(j, i))
          isFirst &= j >= i && !known.contains(some[j].parameter);
      if (isFirst)
        loops.push_back({layerNameOf(some[i].parameter.getName()).str(), some[i].count});
    }
  }
  return loops;
}

} // namespace lstmc::passes

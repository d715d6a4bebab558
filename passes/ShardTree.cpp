#include "passes/ShardTree.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/SymOps.h"

namespace lstmc::passes {

using mlir::Value;

llvm::SmallVector<Share> subtreesOf(const Share &share) {
  llvm::SmallVector<Share> subtrees;
  for (int64_t first = share.first, end = share.first + share.count; first < end;) {
    int64_t size = 1;
    while (first % (2 * size) == 0 && first + 2 * size <= end)
      size *= 2;
    Share subtree{share.batch, share.shards, first, size};
    if (subtree.rows() > 0)
      subtrees.push_back(subtree);
    first += size;
  }
  return subtrees;
}

void ShardTree::add(int64_t first, int64_t size, Value sum) {
  skipTo(first);
  push(size, sum);
}

Value ShardTree::finish(int64_t shards) {
  skipTo(shards);
  Value root;
  for (auto &[level, value] : llvm::reverse(stack))
    root = join(value, root);
  return root;
}

/// Shards without rows.
void ShardTree::skipTo(int64_t shard) {
  while (count < shard)
    push(1, {});
}

void ShardTree::push(int64_t size, Value value) {
  for (; !stack.empty() && stack.back().first == size; size *= 2)
    value = join(stack.pop_back_val().second, value);
  stack.push_back({size, value});
  count = 0;
  for (auto &[width, unused] : stack)
    count += width;
}

Value ShardTree::join(Value left, Value right) {
  if (!left || !right)
    return left ? left : right;
  auto sum = builder.create<sym::ElemwiseAddOp>(loc, left.getType(), left, right);
  sum->setAttr(kAggregateAttr, builder.getUnitAttr());
  sum->setAttr(sym::kNameAttr,
               builder.getStringAttr("aggregate")); // name in pictures and messages
  return sum;
}

Value addTree(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<Subtree> sums) {
  ShardTree tree(builder, loc);
  for (const auto &[share, sum] : sums)
    tree.add(share.first, share.count, sum);
  return tree.finish(sums.front().share.shards);
}

int64_t deviceOfMaker(Value value) {
  return value.getDefiningOp()->getAttrOfType<mlir::IntegerAttr>(sym::kDeviceAttr).getInt();
}

} // namespace lstmc::passes

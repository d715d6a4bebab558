#include "passes/Aggregator.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/SymOps.h"
#include "passes/GradientCompression.h"

namespace lstmc::passes {

using mlir::Operation;
using mlir::Value;

static int64_t bytesOf(mlir::RankedTensorType type) {
  return type.getNumElements() * int64_t(type.getElementType().getIntOrFloatBitWidth() / 8);
}

static Value flat(mlir::OpBuilder &builder, mlir::Location loc, Value value) {
  return sym::createReshape(builder, loc, value, {sym::rankedType(value).getNumElements()});
}

Value sliceOf(mlir::OpBuilder &builder, mlir::Location loc, Value whole, const Slice &slice) {
  return sym::createSliceAxis(builder, loc, flat(builder, loc, whole), 0, slice.first,
                              slice.first + slice.count);
}

static llvm::SmallVector<mlir::OpOperand *> readersOf(Operation *op) {
  llvm::SmallVector<mlir::OpOperand *> readers;
  for (mlir::OpOperand &use : op->getResult(0).getUses())
    readers.push_back(&use);
  return readers;
}

void Aggregator::add(Operation *op, Subtrees sums) {
  // Parts run in rounds; subtrees are in the order of their shards.
  llvm::sort(sums,
             [](const Subtree &a, const Subtree &b) { return a.share.first < b.share.first; });
  llvm::StringRef parameter = placement.parameterOf(op);
  llvm::SmallVector<mlir::OpOperand *> readers = readersOf(op);
  if (compression && !parameter.empty()) {
    builder.setInsertionPointToEnd(&block);
    sums = compression->compress(parameter, op->getLoc(), std::move(sums), builder, listener);
  }
  if (llvm::ArrayRef<Slice> slices = placement.slicesOf(parameter); !slices.empty())
    return cut(op, sums, slices);
  int64_t device = parameter.empty() ? 0 : placement.of(parameter).front();
  Member member{op, parameter, std::move(readers), std::move(sums)};
  if (!wait(member, device))
    makeAlone(member, device);
}

void Aggregator::makeAlone(const Member &member, int64_t device) {
  builder.setInsertionPointToEnd(&block);
  listener.set(device);
  replace(member.readers, addTree(builder, member.op->getLoc(), member.sums), device);
}

void Aggregator::replace(llvm::ArrayRef<mlir::OpOperand *> readers, Value whole, int64_t device) {
  made[whole] = device;
  for (mlir::OpOperand *use : readers)
    use->set(whole);
}

//===---- in slices ---------------------------------------------------------------------------===//

void Aggregator::cut(Operation *op, llvm::ArrayRef<Subtree> sums, llvm::ArrayRef<Slice> into) {
  builder.setInsertionPointToEnd(&block);
  llvm::SmallVector<Value> pieces;
  for (const Slice &slice : into) {
    Subtrees parts;
    for (const auto &[share, sum] : sums) {
      listener.set(deviceOfMaker(sum));
      parts.push_back({share, sliceOf(builder, op->getLoc(), sum, slice)});
    }
    listener.set(slice.device);
    pieces.push_back(addTree(builder, op->getLoc(), parts));
  }
  sliced[op->getResult(0)] = std::move(pieces);
}

llvm::ArrayRef<Value> Aggregator::slicesOf(Value value) const {
  auto found = sliced.find(value);
  return found == sliced.end() ? llvm::ArrayRef<Value>() : llvm::ArrayRef<Value>(found->second);
}

/// Slices `value` like `pieces`; returns the existing slices if it is cut already.
llvm::SmallVector<Value> Aggregator::cutAs(llvm::ArrayRef<Value> pieces, Value value) {
  if (llvm::ArrayRef<Value> known = slicesOf(value); !known.empty())
    return llvm::to_vector(known);
  llvm::SmallVector<Value> slices;
  int64_t first = 0;
  for (Value piece : pieces) {
    int64_t device = deviceOfMaker(piece), count = sym::rankedType(piece).getNumElements();
    listener.set(device);
    slices.push_back(sliceOf(builder, value.getLoc(), value, {device, first, count}));
    first += count;
  }
  return slices;
}

void Aggregator::addSlices(Operation *op) {
  builder.setInsertionPointToEnd(&block);
  llvm::SmallVector<Value> pieces;
  llvm::SmallVector<Value> one = cutAs(slicesOf(op->getOperand(1)), op->getOperand(0)),
                           other = cutAs(one, op->getOperand(1));
  for (auto [a, b] : llvm::zip_equal(one, other)) {
    listener.set(deviceOfMaker(a));
    pieces.push_back(builder.create<sym::ElemwiseAddOp>(op->getLoc(), a.getType(), a, b));
  }
  sliced[op->getResult(0)] = std::move(pieces);
}

//===---- together ----------------------------------------------------------------------------===//

/// Adds the sum to a bucket and returns true, unless it need not be sent.
bool Aggregator::wait(Member &member, int64_t device) {
  Value result = member.op->getResult(0);
  int64_t bytes = bytesOf(sym::rankedType(result));
  llvm::SmallVector<int64_t> ways = {device};
  for (const Subtree &subtree : member.sums)
    ways.push_back(deviceOfMaker(subtree.sum));
  if (bytes >= bucketBytes || llvm::all_equal(ways))
    return false;
  mlir::Type element = sym::rankedType(result).getElementType();
  auto *bucket = llvm::find_if(
      buckets, [&](const Bucket &b) { return b.ways == ways && b.element == element; });
  if (bucket == buckets.end())
    bucket = &buckets.emplace_back(Bucket{std::move(ways), element, {}});
  waiting[result] = size_t(bucket - buckets.begin());
  bucket->members.push_back(std::move(member));
  bucket->bytes += bytes;
  if (bucket->bytes >= bucketBytes)
    make(*bucket);
  return true;
}

void Aggregator::makeFor(Operation *reader) {
  for (Value operand : reader->getOperands())
    if (auto found = waiting.find(operand); found != waiting.end())
      make(buckets[found->second]);
}

void Aggregator::makeAll() {
  for (Bucket &bucket : buckets)
    make(bucket);
}

void Aggregator::make(Bucket &bucket) {
  for (const Member &member : bucket.members)
    waiting.erase(member.op->getResult(0));
  if (bucket.members.size() == 1)
    makeAlone(bucket.members.front(), bucket.ways.front());
  else if (!bucket.members.empty())
    makeTogether(bucket);
  bucket.members.clear();
  bucket.bytes = 0;
}

/// Concatenates small sums into one array, which is sent and added as one.
void Aggregator::makeTogether(const Bucket &bucket) {
  builder.setInsertionPointToEnd(&block);
  mlir::Location loc = bucket.members.front().op->getLoc();
  Subtrees together;
  for (const auto &[i, first] : llvm::enumerate(bucket.members.front().sums)) {
    listener.set(deviceOfMaker(first.sum));
    llvm::SmallVector<Value> parts;
    for (const Member &member : bucket.members)
      parts.push_back(flat(builder, member.op->getLoc(), member.sums[i].sum));
    together.push_back({first.share, sym::createConcat(builder, loc, parts, 0)});
  }
  int64_t device = bucket.ways.front(), begin = 0;
  listener.set(device);
  Value all = addTree(builder, loc, together);
  for (const Member &member : bucket.members) {
    mlir::RankedTensorType type = sym::rankedType(member.op->getResult(0));
    Value own = sym::createSliceAxis(builder, member.op->getLoc(), all, 0, begin,
                                     begin + type.getNumElements());
    begin += type.getNumElements();
    replace(member.readers, sym::createReshape(builder, member.op->getLoc(), own, type.getShape()),
            device);
    if (!member.parameter.empty())
      all.getDefiningOp()->setAttr(sym::kGradientOfAttr,
                                   builder.getStringAttr(member.parameter)); // shown in plans
  }
}

//===---- where they are ----------------------------------------------------------------------===//

std::optional<int64_t> Aggregator::deviceOf(Value value) const {
  auto found = made.find(value);
  return found == made.end() ? std::nullopt : std::optional(found->second);
}

void Aggregator::follow(Operation *op, int64_t device) {
  for (Value result : op->getResults())
    made[result] = device;
}

} // namespace lstmc::passes

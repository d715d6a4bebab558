#include "passes/Replica.h"

#include <numeric>

#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/SymOps.h"

namespace lstmc::passes {

using mlir::Value;
using sym::BatchPosition;

/// Divides shards [first, first + count) in proportion to `loads`; calls `take` with the index of
/// each load and its range.
static void cut(int64_t first, int64_t count, llvm::ArrayRef<int64_t> loads,
                llvm::function_ref<void(size_t, int64_t, int64_t)> take) {
  int64_t all = std::accumulate(loads.begin(), loads.end(), int64_t(0)), before = 0, begin = 0;
  for (auto [i, load] : llvm::enumerate(loads)) {
    before += load;
    int64_t end = (count * before + all - 1) / all;
    take(i, first + begin, end - begin);
    begin = end;
  }
}

llvm::SmallVector<BatchPart> shareOut(int64_t batch, int64_t shards, llvm::ArrayRef<int64_t> loads,
                                      int64_t accumulate) {
  llvm::SmallVector<BatchPart> parts;
  llvm::SmallVector<int64_t> times(size_t(accumulate), 1);
  cut(0, shards, loads, [&](size_t replica, int64_t replicaFirst, int64_t replicaCount) {
    cut(replicaFirst, replicaCount, times, [&](size_t, int64_t first, int64_t count) {
      Share share{batch, shards, first, count};
      if (share.rows() > 0)
        parts.push_back({int64_t(replica), share});
    });
  });
  return parts;
}

std::optional<Share> shareOf(mlir::func::FuncOp function) {
  auto numbers = function->getAttrOfType<mlir::DenseI64ArrayAttr>(sym::kShareAttr);
  if (!numbers)
    return std::nullopt;
  return Share{numbers[0], numbers[1], numbers[2], numbers[3]};
}

void setShare(mlir::func::FuncOp function, int64_t part, int64_t replica, const Share &share) {
  mlir::Builder builder(function.getContext());
  function->setAttr(sym::kPartAttr, builder.getDenseI64ArrayAttr({part, replica}));
  function->setAttr(sym::kShareAttr, builder.getDenseI64ArrayAttr(
                                         {share.batch, share.shards, share.first, share.count}));
}

static int64_t partNumber(mlir::func::FuncOp function, size_t which) {
  auto numbers = function->getAttrOfType<mlir::DenseI64ArrayAttr>(sym::kPartAttr);
  return numbers ? numbers[which] : 0;
}
int64_t partOf(mlir::func::FuncOp function) { return partNumber(function, 0); }
int64_t replicaOf(mlir::func::FuncOp function) { return partNumber(function, 1); }

int64_t deviceOf(mlir::func::FuncOp function) {
  auto device = function->getAttrOfType<mlir::IntegerAttr>(sym::kDeviceAttr);
  return device ? device.getInt() : 0;
}

llvm::StringRef entryOf(mlir::func::FuncOp function) { return function.getName().split('@').first; }

std::string partName(llvm::StringRef entry, int64_t part) {
  return part == 0 ? entry.str()
                   : entry.str() + "@" + (part == kWhole ? "whole" : std::to_string(part));
}

void sumPart(mlir::Operation *op, const Share &share) {
  op->setAttr("batch", mlir::Builder(op).getI64IntegerAttr(share.batch));
  llvm::cast<sym::ShardSum>(op).setPart(share.first, share.count);
}

bool sumsPart(mlir::Operation *op) {
  auto sum = llvm::dyn_cast<sym::ShardSum>(op);
  return sum && sum.getCount() != 0;
}

static llvm::ArrayRef<int64_t> shapeOf(mlir::Type type) {
  return llvm::cast<mlir::RankedTensorType>(type).getShape();
}

BatchPosition positionOfPart(mlir::Type whole, mlir::Type part, const Share &share) {
  for (auto [axis, extents] : llvm::enumerate(llvm::zip_equal(shapeOf(whole), shapeOf(part))))
    if (std::get<0>(extents) != std::get<1>(extents))
      return {int(axis), 1, share.rows(), 1};
  return BatchPosition::none();
}

/// A shape with the batch axis split in three: [.., outer, rows, inner, ..].
static llvm::SmallVector<int64_t> opened(mlir::Type type, BatchPosition position, int64_t rows) {
  llvm::ArrayRef<int64_t> shape = shapeOf(type);
  llvm::SmallVector<int64_t> open(shape.take_front(position.axis));
  open.append({position.outer, rows, position.inner});
  open.append(shape.begin() + position.axis + 1, shape.end());
  return open;
}

Value takeRows(mlir::OpBuilder &builder, mlir::Location loc, Value value, BatchPosition position,
               int64_t begin, int64_t end) {
  Value open =
      sym::createReshape(builder, loc, value, opened(value.getType(), position, position.batch));
  return sym::createSliceAxis(builder, loc, open, position.axis + 1, begin, end);
}

Value sliceRows(mlir::OpBuilder &builder, mlir::Location loc, Value whole, BatchPosition position,
                const Share &share) {
  position.batch = share.batch;
  llvm::SmallVector<int64_t> shape(shapeOf(whole.getType()));
  shape[size_t(position.axis)] = position.outer * share.rows() * position.inner;
  Value rows =
      takeRows(builder, loc, whole, position, firstRow(share), firstRow(share) + share.rows());
  return sym::createReshape(builder, loc, rows, shape);
}

Value joinRows(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<Value> parts,
               mlir::Type whole, BatchPosition position) {
  llvm::SmallVector<Value> open;
  for (Value part : parts) {
    int64_t rows = shapeOf(part.getType())[position.axis] / (position.outer * position.inner);
    open.push_back(sym::createReshape(builder, loc, part, opened(part.getType(), position, rows)));
  }
  return sym::createReshape(builder, loc, sym::createConcat(builder, loc, open, position.axis + 1),
                            shapeOf(whole));
}

} // namespace lstmc::passes

// split-layers: cuts the steps of layers into chunks, either as a wavefront over devices, in which
// a stage works on one chunk while the next stage works on the previous one, or as segments that
// backward recomputes.

#include <cmath>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/ShapeRelation.h"
#include "ir/sym/SymOps.h"
#include "passes/BatchPositions.h"
#include "passes/Chunks.h"
#include "passes/EntryMarks.h"
#include "passes/OperandSlices.h"
#include "passes/Passes.h"
#include "passes/PlacementListener.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_SPLITLAYERS
#include "passes/Passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;
using sym::BatchPosition;

/// Minimum number of steps per chunk, and a number of chunks for which filling and draining the
/// wavefront no longer matters.
constexpr int64_t kLeastSteps = 4, kMostChunks = 16;

constexpr llvm::StringRef kNotCut = "no recurrent layer can be cut between its steps";

bool isSplit(sym::RnnLayerOp layer) { return !layer.getReverse() && !layer.getBefore(); }

class Splitter {
public:
  /// `segments`: every chunk is a recompute group, except the last, with which backward begins.
  Splitter(mlir::func::FuncOp entry, int64_t steps, int64_t chunks, bool segments)
      : entry(entry), steps(steps), chunks(chunks), segments(segments),
        builder(entry.getContext(), &stage), rows(entry) {}

  /// Cuts the entry. Returns why nothing was cut; empty if something was.
  llvm::StringRef run() {
    for (Operation &op : entry.front().without_terminator())
      classify(&op);
    if (chunkedOps.empty())
      return kNotCut;
    if (!keepsSums())
      return "a gradient would be added in another order";
    if (segments)
      entry->setAttr(kSegmentsAttr, builder.getUnitAttr());
    llvm::SmallVector<llvm::SmallVector<Operation *>> levels;
    for (Operation &op : entry.front().without_terminator()) {
      auto level = size_t(levelOf.lookup(&op));
      if (levels.size() <= level)
        levels.resize(level + 1);
      levels[level].push_back(&op);
    }
    Operation *end = entry.front().getTerminator();
    builder.setInsertionPoint(end);
    for (llvm::ArrayRef<Operation *> level : levels) {
      for (Operation *op : level)
        if (!isChunked(op))
          moveWhole(op);
      for (int64_t chunk = 0; chunk < chunks; ++chunk)
        for (Operation *op : level)
          if (isChunked(op))
            makeChunk(op, chunk);
    }
    for (mlir::OpOperand &operand : end->getOpOperands())
      operand.set(wholeOf(operand.get()));
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
    return "";
  }

private:
  int64_t firstStep(int64_t chunk) const { return chunk * steps / chunks; }
  int64_t stepsOf(int64_t chunk) const { return firstStep(chunk + 1) - firstStep(chunk); }
  bool isChunked(Operation *op) const { return chunkedOps.contains(op); }

  /// An op is cut if it processes steps independently, or is a layer; other ops after a cut op wait
  /// for all chunks.
  void classify(Operation *op) {
    bool cut = canCut(op);
    int64_t level = 0;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp()) {
        bool chunkByChunk = cut && stepsIn.contains(operand);
        level =
            std::max(level, levelOf.lookup(maker) + (isChunked(maker) && !chunkByChunk ? 1 : 0));
      }
    levelOf[op] = level;
    if (cut) {
      numbers[op] = chunkedOps.size();
      chunkedOps.insert(op);
    }
  }

  // ---- what must not be cut ----

  /// Whether every sum of gradients keeps the order of the program (docs/numerics.md rules 4 and
  /// 8), last reader first. Two addends commute; uses of a parameter do not.
  bool keepsSums() {
    if (!entry->hasAttr(kTrainingAttr))
      return true;
    llvm::DenseMap<Value, llvm::SmallVector<Operation *>> readers; // in program order
    llvm::DenseSet<Value> trained;
    for (Operation &op : entry.front().without_terminator()) {
      bool trains = llvm::isa<sym::ReadOp>(op);
      for (Value operand : op.getOperands())
        if (trained.contains(operand)) {
          if (!llvm::isa<sym::AllRowsOp, sym::OwnRowsOp>(op))
            readers[gathers(operand)].push_back(&op);
          trains = true;
        }
      if (trains)
        trained.insert(op.result_begin(), op.result_end());
    }
    return llvm::all_of(readers, [&](auto &read) { return keepsSum(read.first, read.second); });
  }

  /// The value whose gradient receives an operand's contributions: moves of rows are skipped.
  static Value gathers(Value operand) {
    for (Operation *maker = operand.getDefiningOp();
         llvm::isa_and_nonnull<sym::AllRowsOp, sym::OwnRowsOp>(maker);
         maker = operand.getDefiningOp())
      operand = maker->getOperand(0);
    return operand;
  }

  bool keepsSum(Value value, llvm::ArrayRef<Operation *> readers) {
    bool parameter = value.getDefiningOp<sym::ReadOp>();
    if (readers.size() < 2 || (readers.size() < 3 && !parameter))
      return true;
    // Levels follow one another; in each, ops that are not cut precede the chunks.
    bool ordered = llvm::is_sorted(readers, [&](Operation *a, Operation *b) {
      return std::pair(levelOf.lookup(a), isChunked(a)) <
             std::pair(levelOf.lookup(b), isChunked(b));
    });
    auto cut = size_t(llvm::count_if(readers, [&](Operation *op) { return isChunked(op); }));
    if (parameter)
      return ordered && cut < 2; // consecutive chunks of one op are one use
    // Gradients of a value that is joined or cut are first summed over its readers.
    size_t together = stepsIn.contains(value) ? readers.size() - cut : cut;
    return ordered && (together < 2 || together == readers.size());
  }

  // ---- what can be cut ----

  bool canCut(Operation *op) {
    if (auto layer = llvm::dyn_cast<sym::RnnLayerOp>(op)) {
      llvm::SmallVector<BatchPosition> cut(op->getNumOperands());
      cut[0] = {0, 1, steps, 1}; // x
      if (!isSplit(layer) || sym::rankedType(layer.getX()).getDimSize(0) != steps ||
          !keepsRows(op, cut))
        return false;
      stepsIn[layer.getY()] = {0, 1, steps, 1};
      return true;
    }
    auto rule = llvm::dyn_cast<sym::BatchRule>(op);
    if (!rule || llvm::isa<sym::LossHead>(op) || op->getNumResults() == 0)
      return false;
    llvm::SmallVector<BatchPosition> operands;
    bool any = false;
    for (Value operand : op->getOperands()) {
      operands.push_back(stepsIn.lookup(operand));
      any |= bool(operands.back());
    }
    if (!any)
      return false;
    if (entry->hasAttr(kTrainingAttr))
      for (auto [i, position] : llvm::enumerate(operands))
        if (!position && op->getOperand(unsigned(i)).getDefiningOp() && sumsSteps(op, unsigned(i)))
          return false;
    // A factor or addend with the shape of the result has the same steps.
    for (auto [operand, position] : llvm::zip_equal(op->getOperands(), operands))
      if (!position && llvm::isa<sym::ScalarRule>(op) &&
          operand.getType() == op->getResult(0).getType())
        position = *llvm::find_if(operands, [](BatchPosition p) { return bool(p); });
    llvm::SmallVector<BatchPosition> results;
    for (mlir::OpResult result : op->getResults()) {
      results.push_back(rule.batchOfResult(result.getResultNumber(), operands));
      if (!leads(results.back()))
        return false;
    }
    if (!infersChunk(op, operands, results) || !keepsRows(op, operands))
      return false;
    for (auto [result, position] : llvm::zip_equal(op->getResults(), results))
      stepsIn[result] = position;
    for (auto [operand, position] : llvm::zip_equal(op->getOperands(), operands))
      if (position && !stepsIn.contains(operand))
        cutOperands[{op, operand}] = position;
    return true;
  }

  /// Whether the gradient of an operand without steps is one sum over all steps, which chunks would
  /// add in another order.
  static bool sumsSteps(Operation *op, unsigned operand) {
    if (llvm::isa<sym::ScalarRule>(op)) // broadcast over the steps
      return op->getOperand(operand).getType() != op->getResult(0).getType();
    auto rule = llvm::dyn_cast<sym::GradientRule>(op);
    return rule && rule.sumsRows(operand);
  }

  /// Whether chunks of an op's results have rows where the whole has them. If the steps are the
  /// rows, a cut goes through the rows, and gradients would be summed in another order.
  bool keepsRows(Operation *op, llvm::ArrayRef<BatchPosition> steps) {
    auto rule = llvm::cast<sym::BatchRule>(op);
    llvm::SmallVector<BatchPosition> whole, chunk;
    for (auto [operand, cut] : llvm::zip_equal(op->getOperands(), steps)) {
      whole.push_back(rows.of(operand));
      chunk.push_back(cut && partsRows(operand) ? BatchPosition::none() : whole.back());
    }
    return llvm::all_of(op->getResults(), [&](mlir::OpResult result) {
      unsigned i = result.getResultNumber();
      return bool(rule.batchOfResult(i, whole)) == bool(rule.batchOfResult(i, chunk));
    });
  }

  bool partsRows(Value value) {
    BatchPosition position = rows.of(value);
    if (!position || position.axis != 0)
      return false;
    int64_t extent = sym::rankedType(value).getDimSize(0);
    return extent % steps != 0 || extent / steps % (position.batch * position.inner) != 0;
  }

  /// With time as the leading axis, the order of a weight gradient's sum is that of its chunks
  /// (docs/numerics.md rule 4).
  static bool leads(BatchPosition position) {
    return position && position.axis == 0 && position.outer == 1;
  }

  mlir::RankedTensorType chunkType(Value value, BatchPosition position, int64_t chunk) const {
    auto type = sym::rankedType(value);
    llvm::SmallVector<int64_t> shape(type.getShape());
    shape[0] = stepsOf(chunk) * position.inner;
    return type.clone(shape);
  }

  /// Whether the op infers a chunk as its result from chunks as operands; its attributes may
  /// contain extents that prevent it.
  bool infersChunk(Operation *op, llvm::ArrayRef<BatchPosition> operands,
                   llvm::ArrayRef<BatchPosition> results) {
    mlir::ScopedDiagnosticHandler quiet(op->getContext(),
                                        [](mlir::Diagnostic &) { return mlir::success(); });
    for (int64_t chunk : {int64_t(0), chunks - 1}) {
      mlir::Block scratch;
      mlir::IRMapping map;
      for (auto [operand, position] : llvm::zip_equal(op->getOperands(), operands)) {
        if (position && !leads(position))
          return false;
        map.map(operand, scratch.addArgument(position ? chunkType(operand, position, chunk)
                                                      : operand.getType(),
                                             op->getLoc()));
      }
      mlir::OpBuilder inner(op->getContext());
      inner.setInsertionPointToEnd(&scratch);
      Operation *copy = inner.clone(*op, map);
      for (Value result : copy->getResults())
        result.setType(mlir::UnrankedTensorType::get(sym::rankedType(result).getElementType()));
      bool settled = succeeded(sym::ShapeSolver().settle(copy));
      for (auto [result, original, position] :
           llvm::zip_equal(copy->getResults(), op->getResults(), results))
        settled &= result.getType() == chunkType(original, position, chunk);
      if (!settled)
        return false;
    }
    return true;
  }

  // ---- cutting ----

  void moveWhole(Operation *op) {
    for (mlir::OpOperand &operand : op->getOpOperands())
      operand.set(wholeOf(operand.get()));
    op->moveBefore(entry.front().getTerminator());
  }

  /// The value with all steps.
  Value wholeOf(Value value) {
    auto found = pieces.find(value);
    if (found == pieces.end())
      return value;
    Value &joined = whole[value];
    if (!joined) {
      stage.setAs(value.getDefiningOp());
      joined = found->second.size() == 1
                   ? found->second.front()
                   : sym::createConcat(builder, value.getLoc(), found->second, 0);
    }
    return joined;
  }

  /// Chunk `chunk` of a value that has steps.
  Value pieceOf(Value value, BatchPosition position, int64_t chunk) {
    auto found = pieces.find(value);
    if (found != pieces.end())
      return found->second[size_t(chunk)];
    llvm::SmallVector<Value> &cuts = pieces[value];
    whole[value] = value;
    if (Operation *maker = value.getDefiningOp())
      stage.setAs(maker);
    if (auto mask = value.getDefiningOp<sym::DropoutMaskOp>()) {
      for (int64_t c = 0; c < chunks; ++c)
        cuts.push_back(drawSteps(mask, position, c));
      return cuts[size_t(chunk)];
    }
    llvm::SmallVector<mlir::Type> types;
    llvm::SmallVector<int64_t> sizes;
    for (int64_t c = 0; c < chunks; ++c) {
      types.push_back(chunkType(value, position, c));
      sizes.push_back(stepsOf(c) * position.inner);
    }
    auto cut = builder.create<sym::CutOp>(value.getLoc(), types, value, sizes);
    cuts.assign(cut.getPieces().begin(), cut.getPieces().end());
    return cuts[size_t(chunk)];
  }

  /// Random numbers belong to elements of the whole value.
  Value drawSteps(sym::DropoutMaskOp mask, BatchPosition position, int64_t chunk) {
    auto type = sym::rankedType(mask.getMask()), part = chunkType(mask.getMask(), position, chunk);
    int64_t stride = type.getNumElements();
    llvm::SmallVector<int64_t> window = {firstStep(chunk) * position.inner *
                                         (stride / type.getDimSize(0))};
    for (auto [extent, all] : llvm::zip_equal(part.getShape(), type.getShape()))
      window.append({extent, stride /= all});
    auto made = llvm::cast<sym::DropoutMaskOp>(builder.clone(*mask));
    made.getMask().setType(part);
    made.setWindow(window);
    markSegment(made, chunk);
    return made.getMask();
  }

  void makeChunk(Operation *op, int64_t chunk) {
    stage.setAs(op);
    if (auto layer = llvm::dyn_cast<sym::RnnLayerOp>(op))
      return makeLayer(layer, chunk);
    mlir::IRMapping map;
    for (Value operand : op->getOperands()) {
      BatchPosition position = stepsIn.lookup(operand);
      if (auto cut = cutOperands.find({op, operand}); cut != cutOperands.end())
        position = cut->second;
      Value piece = position ? pieceOf(operand, position, chunk) : wholeOf(operand);
      map.map(operand, piece);
    }
    stage.setAs(op);
    Operation *copy = builder.clone(*op, map);
    for (mlir::OpResult result : op->getResults()) {
      copy->getResult(result.getResultNumber())
          .setType(chunkType(result, stepsIn.lookup(result), chunk));
      pieces[result].push_back(copy->getResult(result.getResultNumber()));
    }
    markChunk(copy, op, chunk);
    if (chunk + 1 == chunks)
      replaced.push_back(op);
  }

  void markChunk(Operation *made, Operation *of, int64_t chunk) {
    made->setAttr(kChunkOfAttr, builder.getI64IntegerAttr(numbers.lookup(of)));
    made->setAttr(kChunkAttr,
                  builder.getDenseI64ArrayAttr({chunk, firstStep(chunk), stepsOf(chunk), steps}));
    markSegment(made, chunk);
    auto layer = llvm::dyn_cast<sym::RnnLayerOp>(made);
    llvm::SmallVector<bool> lead;
    for (Value result : made->getResults())
      lead.push_back(!layer || (result != layer.getHN() && result != layer.getCN()));
    made->setAttr(kStepsLeadAttr, builder.getDenseBoolArrayAttr(lead));
  }

  void markSegment(Operation *made, int64_t chunk) {
    if (segments && chunk + 1 < chunks)
      made->setAttr(sym::kRecomputeAttr, builder.getI64IntegerAttr(chunk));
  }

  /// A chunk begins with the final states of the previous one; the last chunk ends with those of
  /// the layer.
  void makeLayer(sym::RnnLayerOp layer, int64_t chunk) {
    BatchPosition all = {0, 1, steps, 1};
    mlir::IRMapping map;
    for (Value operand : layer->getOperands())
      map.map(operand, operand == layer.getX() ? pieceOf(operand, all, chunk) : wholeOf(operand));
    if (layer.getLength())
      map.map(layer.getLength(), lengthFrom(wholeOf(layer.getLength()), firstStep(chunk)));
    stage.setAs(layer);
    auto piece = [&](Value value) {
      return value ? mlir::Type(chunkType(value, all, chunk)) : mlir::Type();
    };
    auto mapped = [&](Value value) { return value ? map.lookup(value) : Value(); };
    sym::RnnLayerOp before = chunk > 0 ? lastChunk.lookup(layer) : sym::RnnLayerOp();
    auto made = builder.create<sym::RnnLayerOp>(
        layer.getLoc(), piece(layer.getY()), layer.getHN().getType(),
        layer.getCN() ? layer.getCN().getType() : mlir::Type(), piece(layer.getGates()),
        piece(layer.getCells()), mlir::Type(), mapped(layer.getX()), mapped(layer.getW()),
        mapped(layer.getR()), mapped(layer.getBi()), mapped(layer.getBh()),
        before ? before.getHN() : mapped(layer.getH0()),
        before && before.getCN() ? before.getCN() : mapped(layer.getC0()),
        mapped(layer.getLength()), layer.getModeAttr(), layer.getReverseAttr(),
        layer.getChunkAttr());
    made->setDiscardableAttrs(layer->getDiscardableAttrDictionary());
    markChunk(made, layer, chunk);
    lastChunk[layer] = made;
    pieces[layer.getY()].push_back(made.getY());
    if (chunk + 1 < chunks)
      return;
    layer.getHN().replaceAllUsesWith(made.getHN());
    if (layer.getCN())
      layer.getCN().replaceAllUsesWith(made.getCN());
    replaced.push_back(layer);
  }

  /// Sequence lengths relative to a chunk: clipped to 0 and to the steps of the chunk.
  Value lengthFrom(Value length, int64_t first) {
    if (first == 0)
      return length;
    Value &less = lengths[{length, first}];
    if (less)
      return less;
    Value wide = length; // so that the difference does not wrap around
    if (mlir::Type type = sym::rankedType(length).getElementType();
        type.isInteger() && type.getIntOrFloatBitWidth() < 32)
      wide = sym::createCast(builder, length.getLoc(), length, builder.getI32Type());
    less = builder.create<sym::MinusScalarOp>(length.getLoc(), wide.getType(), wide,
                                              builder.getF64FloatAttr(double(first)),
                                              builder.getBoolAttr(true));
    return less;
  }

  mlir::func::FuncOp entry;
  int64_t steps, chunks;
  bool segments;
  PlacementListener stage{sym::kStageAttr};
  mlir::OpBuilder builder;
  BatchPositions rows;
  llvm::DenseSet<Operation *> chunkedOps;
  llvm::DenseMap<Operation *, int64_t> levelOf, numbers;
  llvm::DenseMap<Value, BatchPosition> stepsIn; ///< of values that are made in chunks
  llvm::DenseMap<std::pair<Operation *, Value>, BatchPosition>
      cutOperands; ///< whole ones of ops that are cut
  llvm::DenseMap<Value, llvm::SmallVector<Value>> pieces;
  llvm::DenseMap<Value, Value> whole;
  llvm::DenseMap<Operation *, sym::RnnLayerOp> lastChunk;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> lengths;
  llvm::SmallVector<Operation *> replaced;
};

struct SplitLayers : impl::SplitLayersBase<SplitLayers> {
  using SplitLayersBase::SplitLayersBase;

  void runOnOperation() override {
    bool inSegments = segments != 0 && getOperation()->hasAttr(kTrainingAttr);
    llvm::SmallVector<int64_t> stages;
    int64_t steps = 0;
    for (auto layer : getOperation().getOps<sym::RnnLayerOp>()) {
      auto stage = layer->getAttrOfType<mlir::IntegerAttr>(sym::kStageAttr);
      if ((!stage && !inSegments) || !isSplit(layer))
        continue;
      if (steps == 0)
        steps = sym::rankedType(layer.getX()).getDimSize(0);
      if (stage && !llvm::is_contained(stages, stage.getInt()))
        stages.push_back(stage.getInt());
    }
    if (inSegments)
      return cutIntoSegments(steps);
    int64_t count = chunks > 0 ? int64_t(chunks) : std::min(kMostChunks, steps / kLeastSteps);
    count = std::min(count, steps);
    if (stages.size() > 1 && count > 1)
      Splitter(getOperation(), steps, count, false).run();
  }

  void cutIntoSegments(int64_t steps) {
    int64_t count = segments > 0 ? int64_t(segments) : std::llround(std::sqrt(double(steps)));
    count = std::min(count, steps);
    llvm::StringRef why = count > 1 ? Splitter(getOperation(), steps, count, true).run() : kNotCut;
    if (why.empty())
      return;
    sym::emitCoded(getOperation(), ErrorCode::E0402)
        << "backward cannot compute the steps again in segments: " << why;
    signalPassFailure();
  }
};

} // namespace
} // namespace lstmc::passes

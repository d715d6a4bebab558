// gradient: reverse-mode differentiation of a training entry. Fixes the order of every sum; see the
// record.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/GradientBuilder.h"
#include "ir/sym/OpText.h"
#include "ir/sym/WrittenOps.h"
#include "passes/Backward.h"
#include "passes/Chunks.h"
#include "passes/EntryMarks.h"
#include "passes/HeadDivisors.h"
#include "passes/OperandSlices.h"
#include "passes/Passes.h"
#include "passes/PlacementListener.h"
#include "passes/Replica.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_GRADIENT
#include "passes/Passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;
using sym::BatchPosition;

/// A use of a weight whose contributions are summed by shard.
struct WeightUse {
  enum Kind : int64_t { Product, Index, Delayed, Ahead } kind;
  Value dy, x, initial;
  BatchPosition rows;
  mlir::Attribute chunkOf = {};
  sym::AllRowsOp gathered =
      {};               ///< the weight is this, all rows of the value that the gradient is of
  int64_t segment = -1; ///< of steps, if the use stays apart from those by other chunks

  bool continues(const WeightUse &other) const {
    return chunkOf && chunkOf == other.chunkOf && kind == other.kind && segment == other.segment;
  }
};

struct BiasUse {
  Value dy;
  BatchPosition rows;
  mlir::Attribute chunkOf = {};
  sym::AllRowsOp gathered = {};
  int64_t segment = -1;

  bool continues(const BiasUse &other) const {
    return chunkOf && chunkOf == other.chunkOf && segment == other.segment;
  }
};

/// Uses by the chunks of one op, last chunk first, are one use by the whole op.
template <typename Use> llvm::SmallVector<llvm::ArrayRef<Use>> byOp(llvm::ArrayRef<Use> uses) {
  llvm::SmallVector<llvm::ArrayRef<Use>> runs;
  while (!uses.empty()) {
    size_t size = 1;
    while (size < uses.size() && uses[size].continues(uses.front()))
      ++size;
    runs.push_back(uses.take_front(size));
    uses = uses.drop_front(size);
  }
  return runs;
}

/// Shards divide one batch: uses with batches of different size (or none) form separate sums.
/// Groups are in order of first appearance.
template <typename Use>
llvm::SmallVector<llvm::SmallVector<Use>> byBatch(llvm::ArrayRef<Use> uses) {
  llvm::SmallVector<llvm::SmallVector<Use>> groups;
  for (const Use &use : uses) {
    auto *group = llvm::find_if(groups, [&](const auto &g) {
      return g.front().rows.batch == use.rows.batch && g.front().gathered == use.gathered;
    });
    if (group == groups.end())
      groups.push_back({use});
    else
      group->push_back(use);
  }
  return groups;
}

/// Contributions to a value so far, in order of arrival.
struct Contributions {
  llvm::SmallVector<Value, 1> direct;
  llvm::SmallVector<WeightUse, 0> weightUses;
  llvm::SmallVector<BiasUse, 0> biasUses;

  bool empty() const { return direct.empty() && weightUses.empty() && biasUses.empty(); }
};

/// Rows of a [rows..., features] value as [outer, batch, inner]. A value without a batch is one row
/// of batch after another: everything is `outer`.
struct Rows {
  int64_t outer, batch, inner;

  Rows(mlir::Type type, int64_t rowAxes, BatchPosition position) {
    auto shape = llvm::cast<mlir::RankedTensorType>(type).getShape().take_front(rowAxes);
    int64_t all = 1;
    for (int64_t extent : shape)
      all *= extent;
    if (!position || position.axis >= rowAxes) {
      outer = all, batch = 1, inner = 1;
      return;
    }
    outer = position.outer, batch = position.batch, inner = position.inner;
    for (int64_t extent : shape.take_front(position.axis))
      outer *= extent;
    for (int64_t extent : shape.drop_front(position.axis + 1))
      inner *= extent;
  }
};

class Reverse : public sym::GradientBuilder {
public:
  Reverse(mlir::func::FuncOp entry, int64_t shards, bool meanLoss)
      : GradientBuilder(entry.getContext()), entry(entry), shardCount(shards),
        divideHeads(meanLoss && !commonHeadDivisor(entry)), share(shareOf(entry)),
        symbols(entry->getParentOp()), positions(entry) {
    setListener(&stage);
    setInsertionPoint(entry.front().getTerminator());
    markTrained();
  }

  mlir::LogicalResult run() {
    llvm::SmallVector<Operation *> forward;
    for (Operation &op : entry.front().without_terminator())
      forward.push_back(&op);
    for (Operation *op : llvm::reverse(forward))
      if (mlir::failed(visit(op)))
        return mlir::failure();
    Operation *end = entry.front().getTerminator();
    for (Operation *op = forward.empty() ? end : forward.back()->getNextNode(); op != end;
         op = op->getNextNode())
      op->setAttr(kBackwardAttr, getUnitAttr());
    return mlir::success();
  }

  Value resultGradient(unsigned index) override { return complete(current->getResult(index)); }

  Value resultGradientOrZero(unsigned index) override {
    if (Value gradient = resultGradient(index))
      return gradient;
    Value result = current->getResult(index);
    Value zeros = sym::createZeros(*this, current->getLoc(), sym::rankedType(result));
    if (BatchPosition rows = batch(result))
      zeros.getDefiningOp()->setAttr(sym::kBatchAtAttr,
                                     getDenseI64ArrayAttr({rows.axis, rows.outer, rows.inner}));
    return zeros;
  }

  bool wants(Value operand) override { return operand && trained.contains(operand); }

  /// Gradients that pass through all_rows and own_rows go to their operand immediately, so that
  /// contributions are added in the order of the net as written.
  void add(Value operand, Value gradient) override {
    if (!wants(operand))
      return;
    if (int64_t divisor = divisorOfCurrent(); divisor != 1)
      gradient =
          create<sym::MulScalarOp>(current->getLoc(), gradient.getType(), gradient,
                                   getF64FloatAttr(1.0 / double(divisor)), getBoolAttr(true));
    for (Operation *maker = operand.getDefiningOp(); maker; maker = operand.getDefiningOp()) {
      mlir::Location loc = current->getLoc();
      auto own = llvm::dyn_cast<sym::OwnRowsOp>(maker);
      if (auto all = llvm::dyn_cast<sym::AllRowsOp>(maker)) {
        operand = all.getX();
        gradient = like<sym::OwnRowsOp>(loc, all, operand.getType(), gradient);
      } else if (own && !own.getX().hasOneUse()) {
        operand = own.getX();
        gradient = like<sym::AllRowsOp>(loc, own, operand.getType(), gradient);
      } else {
        break;
      }
    }
    flowing[operand].direct.push_back(gradient);
  }
  void addProductUse(Value weight, Value dy, Value x) override {
    addUse(weight, {WeightUse::Product, dy, x, {}, resultRows()});
  }
  void addRecurrentUse(Value weight, Value dy, Value y, Value h0, bool reverse) override {
    addUse(weight, {reverse ? WeightUse::Ahead : WeightUse::Delayed, dy, y, h0, resultRows()});
  }
  void addIndexUse(Value weight, Value dy, Value indices) override {
    addUse(weight, {WeightUse::Index, dy, indices, {}, resultRows()});
  }
  void addBiasUse(Value bias, Value dy) override {
    if (!wants(bias))
      return;
    auto all = bias.getDefiningOp<sym::AllRowsOp>();
    flowing[all ? all.getX() : bias].biasUses.push_back(
        {dy, resultRows(), current->getAttr(kChunkOfAttr), all, segmentOfCurrent()});
  }

  int64_t shards() override { return shardCount; }
  bool inParts() override { return bool(share); }
  BatchPosition batch(Value value) override { return positions.of(value); }
  llvm::SmallVector<int64_t> wholeShape(Value value) override {
    return passes::wholeShape(value, positions, share);
  }

private:
  /// The divisor to apply to the current op's gradient, if heads have different divisors.
  int64_t divisorOfCurrent() {
    auto divisor = current->getAttrOfType<mlir::IntegerAttr>(sym::kHeadDivisorAttr);
    return divideHeads && divisor && current->hasAttr(sym::kHeadAttr) ? divisor.getInt() : 1;
  }

  /// A value is trained if a parameter that trains reaches it.
  void markTrained() {
    entry.walk([&](Operation *op) {
      if (auto read = llvm::dyn_cast<sym::ReadOp>(op)) {
        if (trains(read))
          trained.insert(read.getValue());
      } else if (llvm::any_of(op->getOperands(), [&](Value v) { return trained.contains(v); })) {
        trained.insert(op->result_begin(), op->result_end());
      }
    });
  }

  bool trains(sym::ReadOp read) {
    auto parameter = symbols.lookup<sym::ParameterOp>(read.getSourceAttr().getAttr());
    return parameter && !sym::isAuxiliary(parameter) &&
           llvm::isa<mlir::FloatType>(parameter.getType().getElementType());
  }

  mlir::LogicalResult visit(Operation *op) {
    bool reached = op->hasAttr(sym::kHeadAttr);
    for (Value result : op->getResults())
      reached |= flowing.contains(result) && !flowing[result].empty();
    if (!reached)
      return mlir::success();
    current = op;
    stage.setAs(op);
    setInsertionPoint(entry.front().getTerminator());
    if (auto read = llvm::dyn_cast<sym::ReadOp>(op)) {
      Value gradient = complete(read.getValue());
      create<sym::GradientOp>(op->getLoc(), read.getSourceAttr(), gradient, mlir::IntegerAttr());
      return mlir::success();
    }
    if (op->hasTrait<sym::NoGradient>() ||
        llvm::none_of(op->getOperands(), [&](Value v) { return wants(v); }))
      return mlir::success();
    auto rule = llvm::dyn_cast<sym::GradientRule>(op);
    if (!rule)
      return sym::emitCoded(op, ErrorCode::E0403)
             << "no gradient is known for " << op->getName().stripDialect()
             << ", and a parameter trains through it";
    Operation *before = entry.front().getTerminator()->getPrevNode();
    mlir::LogicalResult built = rule.buildGradient(*this);
    for (Operation *made = before->getNextNode(); made != entry.front().getTerminator();
         made = made->getNextNode()) {
      if (op->hasAttr(kChunkAttr))
        markSteps(made);
      if (llvm::isa<sym::ScalarRule>(made))
        callAfter(made, op);
    }
    return built;
  }

  /// Records on the ops of a gradient's formula which op it differentiates: its operands come from
  /// the ops around that one.
  void callAfter(Operation *made, Operation *op) {
    made->setLoc(op->getLoc());
    auto called = op->getAttrOfType<mlir::StringAttr>(sym::kCalledAttr);
    std::string text = called ? called.str() : sym::labelOf(op);
    if (auto name = op->getAttrOfType<mlir::StringAttr>(sym::kNameAttr))
      text += " " + name.str();
    made->setAttr(sym::kCalledAttr, getStringAttr(text));
  }

  /// A gradient has the layout of its forward value: if time is the leading axis there, it is here.
  void markSteps(Operation *made) {
    auto leads = [](mlir::OpResult result) {
      auto lead = result.getOwner()->getAttrOfType<mlir::DenseBoolArrayAttr>(kStepsLeadAttr);
      return (lead && lead[result.getResultNumber()]) || llvm::isa<sym::CutOp>(result.getOwner());
    };
    llvm::SmallVector<bool> lead;
    for (Value result : made->getResults()) {
      auto alike = [&](Value value) {
        auto known = llvm::dyn_cast<mlir::OpResult>(value);
        return known && value.getType() == result.getType() && leads(known);
      };
      lead.push_back(llvm::any_of(current->getResults(), alike) ||
                     llvm::any_of(current->getOperands(), alike));
    }
    made->setAttr(kStepsLeadAttr, mlir::DenseBoolArrayAttr::get(getContext(), lead));
  }

  /// The recompute segment of the current op; -1 if it has none.
  int64_t segmentOfCurrent() {
    auto chunk = current->getAttrOfType<mlir::DenseI64ArrayAttr>(kChunkAttr);
    return chunk && entry->hasAttr(kSegmentsAttr) ? chunk[0] : -1;
  }

  void addUse(Value weight, WeightUse use) {
    if (!wants(weight))
      return;
    if (use.kind != WeightUse::Index) // each launch by index goes over the whole table
      use.segment = segmentOfCurrent();
    use.chunkOf = current->getAttr(kChunkOfAttr);
    use.gathered = weight.getDefiningOp<sym::AllRowsOp>();
    flowing[use.gathered ? use.gathered.getX() : weight].weightUses.push_back(use);
  }

  /// Concatenates the steps of chunks, given last chunk first. Returns the original value if they
  /// were cut from one, or an existing concatenation on the same device.
  template <typename Use> Value joined(llvm::ArrayRef<Use> chunks, Value Use::*which) {
    if (chunks.size() == 1)
      return chunks.front().*which;
    llvm::SmallVector<Value> parts;
    for (const Use &chunk : llvm::reverse(chunks))
      parts.push_back(chunk.*which);
    if (auto cut = parts.front().template getDefiningOp<sym::CutOp>();
        cut && llvm::equal(cut.getPieces(), parts))
      return cut.getX();
    for (Operation *user : parts.front().getUsers())
      if (auto concat = llvm::dyn_cast<sym::ConcatOp>(user);
          concat && llvm::equal(concat.getOperands(), parts) &&
          concat->getAttr(sym::kStageAttr) == current->getAttr(sym::kStageAttr))
        return concat.getResult();
    return sym::createConcat(*this, parts.front().getLoc(), parts, 0);
  }

  /// Batch position of the whole op, for a use by its chunks.
  template <typename Use> static BatchPosition rowsOf(llvm::ArrayRef<Use> chunks) {
    BatchPosition rows = chunks.front().rows;
    if (rows && rows.axis == 0)
      for (const Use &chunk : chunks.drop_front())
        rows.outer += chunk.rows.outer;
    return rows;
  }

  /// An op on the rows that another one moves.
  template <typename To, typename From>
  Value like(mlir::Location loc, From from, mlir::Type type, Value value) {
    return create<To>(loc, type, value, from.getAxisAttr(), from.getOuterAttr(),
                      from.getBatchAttr(), from.getInnerAttr());
  }

  /// The sum over uses of `value`, or of all its rows; each part sums its own rows.
  template <typename Sum, typename Use> Value finish(Value value, Sum sum, const Use &use) {
    if (share && use.rows && use.rows.batch == share->rows())
      sumPart(sum, *share);
    return use.gathered ? like<sym::OwnRowsOp>(value.getLoc(), use.gathered, value.getType(), sum)
                        : Value(sum);
  }
  template <typename Use> static mlir::Type typeOf(Value value, const Use &use) {
    return use.gathered ? sym::AllRowsOp(use.gathered).getType() : value.getType();
  }

  /// A use has the rows of the op's first result, however its operands were reshaped.
  BatchPosition resultRows() { return batch(current->getResult(0)); }

  /// The sum of the contributions to `value`, or null; built once.
  Value complete(Value value) {
    auto found = flowing.find(value);
    if (found == flowing.end() || found->second.empty())
      return {};
    Contributions parts = std::move(found->second);
    flowing.erase(found);
    llvm::SmallVector<Value> terms(parts.direct.begin(), parts.direct.end());
    for (const auto &uses : byBatch(llvm::ArrayRef<WeightUse>(parts.weightUses)))
      terms.push_back(sumOfWeightUses(value, uses));
    for (const auto &uses : byBatch(llvm::ArrayRef<BiasUse>(parts.biasUses)))
      terms.push_back(sumOfBiasUses(value, uses));
    Value sum = terms.front();
    for (Value term : llvm::drop_begin(terms))
      sum = create<sym::ElemwiseAddOp>(value.getLoc(), value.getType(), sum, term);
    flowing[value].direct.push_back(sum);
    return sum;
  }

  Value sumOfWeightUses(Value weight, llvm::ArrayRef<WeightUse> uses) {
    llvm::SmallVector<Value> dys, xs, initials;
    llvm::SmallVector<int64_t> kinds, hasInitial, outer, inner, segments;
    int64_t batch = 1;
    for (llvm::ArrayRef<WeightUse> chunks : byOp(uses)) {
      const WeightUse &use = chunks.back(); // the first chunk
      Value x = joined(chunks, &WeightUse::x);
      auto type = llvm::cast<mlir::RankedTensorType>(x.getType());
      Rows rows(type, type.getRank() - (use.kind == WeightUse::Index ? 0 : 1), rowsOf(chunks));
      dys.push_back(joined(chunks, &WeightUse::dy));
      xs.push_back(x);
      kinds.push_back(use.kind);
      hasInitial.push_back(bool(use.initial));
      if (use.initial)
        initials.push_back(use.initial);
      outer.push_back(rows.outer);
      inner.push_back(rows.inner);
      segments.push_back(use.segment);
      batch = std::max(batch, rows.batch);
    }
    auto sum = create<sym::WeightGradientOp>(weight.getLoc(), typeOf(weight, uses.front()), dys, xs,
                                             initials, Value(), kinds, hasInitial, outer, batch,
                                             inner, shardCount);
    noteSegments(sum, segments);
    return finish(weight, sum, uses.front());
  }

  Value sumOfBiasUses(Value bias, llvm::ArrayRef<BiasUse> uses) {
    llvm::SmallVector<Value> dys;
    llvm::SmallVector<int64_t> outer, inner, segments;
    int64_t batch = 1;
    for (llvm::ArrayRef<BiasUse> chunks : byOp(uses)) {
      Value dy = joined(chunks, &BiasUse::dy);
      auto type = llvm::cast<mlir::RankedTensorType>(dy.getType());
      Rows rows(type, type.getRank() - 1, rowsOf(chunks));
      dys.push_back(dy);
      outer.push_back(rows.outer);
      inner.push_back(rows.inner);
      segments.push_back(chunks.front().segment);
      batch = std::max(batch, rows.batch);
    }
    auto sum = create<sym::BiasGradientOp>(bias.getLoc(), typeOf(bias, uses.front()), dys, Value(),
                                           outer, batch, inner, shardCount);
    noteSegments(sum, segments);
    return finish(bias, sum, uses.front());
  }

  void noteSegments(Operation *sum, llvm::ArrayRef<int64_t> segments) {
    if (llvm::any_of(segments, [](int64_t segment) { return segment >= 0; }))
      sum->setAttr(kUseChunksAttr, getDenseI64ArrayAttr(segments));
  }

  mlir::func::FuncOp entry;
  PlacementListener stage{sym::kStageAttr, kChunkAttr}; ///< backward is where forward was
  int64_t shardCount;
  bool divideHeads;
  std::optional<Share> share; ///< of a replica
  mlir::SymbolTable symbols;
  BatchPositions positions;
  llvm::DenseSet<Value> trained;
  llvm::DenseMap<Value, Contributions> flowing;
  Operation *current = nullptr;
};

struct Gradient : impl::GradientBase<Gradient> {
  using GradientBase::GradientBase;

  void runOnOperation() override {
    if (!getOperation()->hasAttr(kTrainingAttr))
      return;
    if (mlir::failed(Reverse(getOperation(), shards, meanLoss).run()))
      signalPassFailure();
    else if (!shareOf(getOperation()))
      dropRowMarks();
  }

  /// Removes own_rows and all_rows from a net for the whole batch; unpack-rnn added them only to
  /// fix the order of sums.
  void dropRowMarks() {
    getOperation()->walk([](mlir::Operation *op) {
      if (!llvm::isa<sym::AllRowsOp, sym::OwnRowsOp>(op))
        return;
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    });
  }
};

} // namespace
} // namespace lstmc::passes

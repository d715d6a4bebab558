#include "passes/rolling/UnrolledLayer.h"

#include <fmt/format.h>

#include "llvm/ADT/StringExtras.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/ConstantValue.h"
#include "ir/sym/Create.h"
#include "ir/sym/Groups.h"
#include "passes/rolling/OtherLoops.h"

namespace lstmc::passes {

using mlir::Operation;
using mlir::Value;

static std::string nameOf(Operation *op) {
  if (auto name = op->getAttrOfType<mlir::StringAttr>(sym::kNameAttr))
    return name.str();
  return op->hasTrait<mlir::OpTrait::IsTerminator>() ? "the net's result"
                                                     : op->getName().stripDialect().str();
}

std::string UnrolledLayer::atStep(size_t step, const std::string &what) const {
  return fmt::format("step {}: {}", step, what);
}

std::string UnrolledLayer::readBy(size_t step, const char *what, Operation *reader) const {
  return atStep(step, fmt::format("{} is read by {}", what, nameOf(reader)));
}

std::string UnrolledLayer::name() const {
  Value weight = steps.front()->products[0] ? steps.front()->products[0].getWeight() : Value();
  if (auto variable = weight ? weight.getDefiningOp<sym::VariableOp>() : sym::VariableOp())
    return layerNameOf(variable.getName()).str();
  return nameOf(steps.front()->h.getDefiningOp());
}

std::string UnrolledLayer::whyNot() {
  constexpr Check kChecks[] = {
      &UnrolledLayer::areCells,     &UnrolledLayer::findProducts, &UnrolledLayer::shareWeights,
      &UnrolledLayer::beginAlike,   &UnrolledLayer::areClosed,    &UnrolledLayer::areInOneGroup,
      &UnrolledLayer::haveOneBatch, &UnrolledLayer::findInput,    &UnrolledLayer::keepOrder};
  for (Check check : kChecks)
    if (std::string reason = (this->*check)(); !reason.empty())
      return reason;
  if (order.trains())
    rounds = gradientsInAnotherOrder();
  return {};
}

//===---- what the steps are ------------------------------------------------------------------===//

std::string UnrolledLayer::areCells() {
  for (auto [t, step] : llvm::enumerate(steps))
    if (!step->reason.empty())
      return atStep(t, step->reason);
  return {};
}

/// Determines which product reads the input and which reads h: the latter reads the previous step's
/// h in every step but the first.
std::string UnrolledLayer::findProducts() {
  for (size_t t = 1; t < steps.size(); ++t) {
    auto &products = steps[t]->products;
    Value before = steps[t - 1]->h;
    bool first = products[0].getData() == before, second = products[1].getData() == before;
    if (first && second)
      return atStep(t, "its input is its own output");
    if (first && steps[t]->mode != RnnMode::Gru)
      std::swap(products[0], products[1]);
    else if (!second)
      return atStep(t, "it does not read the h of the step before");
  }
  auto &products = steps.front()->products;
  if (steps.front()->mode != RnnMode::Gru &&
      products[0].getWeight() == steps[1]->products[1].getWeight())
    std::swap(products[0], products[1]);
  return {};
}

std::string UnrolledLayer::shareWeights() {
  auto &first = steps.front()->products;
  for (auto [t, step] : llvm::enumerate(steps))
    for (int i = 0; i < 2; ++i)
      if (step->products[i].getWeight() != first[i].getWeight() ||
          step->products[i].getBias() != first[i].getBias())
        return atStep(t, "its weights are not those of the first step");
  for (auto [t, step] : llvm::enumerate(steps))
    if (step->blocks != steps.front()->blocks)
      return atStep(t, "its gates are not in the order of the first step");
  if (first[0].getWeight() == first[1].getWeight())
    return "input and h have one weight";
  if (first[0].getBias() && first[0].getBias() == first[1].getBias())
    return "input and h have one bias";
  return {};
}

std::string UnrolledLayer::beginAlike() {
  mlir::Type type = steps.front()->h.getType();
  for (const Cell *step : steps)
    if (step->h.getType() != type)
      return "its states have several shapes";
  if (beginH().getType() != type || (beginC() && beginC().getType() != type))
    return "what it begins with has another shape than h";
  if (steps.front()->mode == RnnMode::Gru && steps.front()->stateBefore->get() != beginH())
    return atStep(0, "the h that it keeps a part of is not the one that it multiplies");
  return {};
}

/// Only h, and the last c, may be read outside of the steps.
std::string UnrolledLayer::areClosed() {
  for (auto [t, step] : llvm::enumerate(steps)) {
    const bool last = t + 1 == steps.size();
    for (Operation *op : step->ops)
      for (Value result : op->getResults())
        for (mlir::OpOperand &use : result.getUses()) {
          if (result == step->h || step->ops.contains(use.getOwner()))
            continue;
          if (result != step->c)
            return readBy(t, "what it makes of its gates", use.getOwner());
          if (!last && &use != steps[t + 1]->stateBefore)
            return readBy(t, "its c", use.getOwner());
        }
    move.leaving.insert(step->ops.begin(), step->ops.end());
  }
  findReaders();
  for (auto [t, uses] : llvm::enumerate(readers))
    for (mlir::OpOperand *use : uses)
      if (move.leaving.contains(use->getOwner()))
        return atStep(t, "a later step reads its h as input");
  return {};
}

void UnrolledLayer::findReaders() {
  readers.assign(steps.size(), {});
  for (auto [t, step] : llvm::enumerate(steps))
    for (mlir::OpOperand &use : step->h.getUses())
      if (t + 1 == steps.size() || !steps[t + 1]->ops.contains(use.getOwner()))
        readers[t].push_back(&use);
}

std::string UnrolledLayer::areInOneGroup() {
  Operation *first = steps.front()->h.getDefiningOp();
  for (auto [t, step] : llvm::enumerate(steps))
    for (Operation *op : step->ops)
      for (llvm::StringRef group : {sym::kGroupAttr, sym::kRecomputeAttr})
        if (sym::groupOf(op, group) != sym::groupOf(first, group))
          return atStep(t, fmt::format("its ops are in several {} groups",
                                       group == sym::kGroupAttr ? "ctx" : "recompute"));
  return {};
}

/// A sum over the batch is by shards; in steps without rows it would be another sum.
std::string UnrolledLayer::haveOneBatch() {
  sym::BatchPosition rows = order.batch(steps.back()->h);
  for (auto [t, step] : llvm::enumerate(steps))
    for (Value value :
         {Value(step->products[0].getResult()), Value(step->products[1].getResult()), step->h})
      if (order.trains() && order.batch(value) != rows)
        return atStep(
            t, "not all that it reads has the rows of the batch (dim(\"batch\", N) names them)");
  return {};
}

//===---- where the layer can stand -----------------------------------------------------------===//

std::string UnrolledLayer::findInput() {
  move.place = steps.front()->h.getDefiningOp();
  llvm::SmallVector<Value> inputs;
  for (size_t t = 0; t < steps.size(); ++t) {
    inputs.push_back(inputOf(t));
    if (matrixOf(inputs.back()) != matrixOf(inputs.front()))
      return atStep(t, "its input has another shape than that of the first step");
  }
  slices = slicesOf(inputs);
  if (slices && takesSource())
    return {};
  slices.reset();
  return hoist();
}

/// Whether the layer can read the tensor itself instead of its slices.
bool UnrolledLayer::takesSource() {
  if (!order.wants(slices->source))
    return true;
  size_t most = 1; // gradients of an element, the layer's included
  llvm::DenseSet<Operation *> makers;
  for (auto [t, chain] : llvm::enumerate(slices->makers)) {
    size_t readers = 1;
    Value value = inputOf(t);
    for (Operation *maker : chain) {
      readers += size_t(std::distance(value.use_begin(), value.use_end())) - 1;
      makers.insert(maker);
      value = maker->getOperand(0);
    }
    most = std::max(most, readers);
  }
  const bool alone = most == 1;
  for (Operation *user : slices->source.getUsers())
    most += makers.contains(user) ? 0 : 1;
  if (most <= 2)
    return true;
  if (!alone)
    return false;
  Move all;
  all.place = move.place;
  all.leaving = makers;
  return order.keepsRun(slices->source, all);
}

/// Finds the ops to hoist so that all inputs are defined before the first step ends.
std::string UnrolledLayer::hoist() {
  for (size_t t = 0; t < steps.size(); ++t)
    if (!addNeeded(inputOf(t)))
      return atStep(t, "its input depends on the steps before");
  // Parameters and states keep their order among themselves.
  auto isDeclared = [](Operation *op) { return llvm::isa<sym::VariableOp, sym::BeginStateOp>(op); };
  Operation *last = nullptr;
  for (Operation *op : move.hoisted)
    if (isDeclared(op))
      last = !last || last->isBeforeInBlock(op) ? op : last;
  for (Operation *op = move.place; last && op != last; op = op->getNextNode())
    if (isDeclared(op))
      move.hoisted.insert(op);
  llvm::SmallVector<Operation *> ordered = move.hoisted.takeVector();
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  move.hoisted.insert(ordered.begin(), ordered.end());
  return {};
}

/// False if a step's result is needed.
bool UnrolledLayer::addNeeded(Value value) {
  llvm::SmallVector<Operation *> open = {value.getDefiningOp()};
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (!op || (!move.leaving.contains(op) && op->isBeforeInBlock(move.place)) ||
        move.hoisted.contains(op))
      continue;
    if (move.leaving.contains(op))
      return false;
    move.hoisted.insert(op);
    for (Value operand : op->getOperands())
      open.push_back(operand.getDefiningOp());
  }
  return true;
}

std::string UnrolledLayer::keepOrder() {
  if (!order.trains())
    return {};
  for (sym::FullyConnectedOp product : steps.front()->products)
    for (Value weight : {product.getWeight(), product.getBias()})
      if (weight && !order.keepsRun(weight, move))
        return "in training, gradients of its weights would be added in another order";
  for (Value begin : {beginH(), beginC()})
    if (begin && !order.keepsEach(begin, move))
      return "in training, gradients of what it begins with would be added in another order";
  if (!slices) {
    if (!order.keepsHoisted(move))
      return "in training, gradients of what its input is made of would be added in another order";
    for (size_t t = 0; t < steps.size(); ++t)
      if (!order.keepsEach(inputOf(t), move))
        return "in training, gradients of its input would be added in another order";
  }
  const bool gru = steps.front()->mode == RnnMode::Gru;
  return gru || readersKeepOrder() ? std::string()
                                   : "in training, gradients of h would be added in another order";
}

/// The sums are the same but for their order, which is that of the op: a gradient of x or h runs
/// over the gates of `sym.rnn`, one of a weight over the steps from the last to the first, a gru
/// adds what reads its h first, and rows [T * N] of all steps have the rows of the batch, of which
/// sums are by shards.
std::string UnrolledLayer::gradientsInAnotherOrder() const {
  llvm::SmallVector<llvm::StringRef, 3> which;
  if (!steps.front()->gatesInOrder())
    which.push_back("x and h");
  for (size_t t = 1; t < steps.size(); ++t)
    if (!steps[t - 1]->products[0]->isBeforeInBlock(steps[t]->products[0])) {
      which.push_back("its weights");
      break;
    }
  if (steps.front()->mode == RnnMode::Gru && !readersKeepOrder())
    which.push_back("h");
  if (order.batch(steps.front()->h) &&
      llvm::any_of(merges(), [](const MergedSteps &merged) { return merged.rows; }))
    which.push_back("what reads all steps as rows");
  return which.empty() ? std::string()
                       : "gradients of " + llvm::join(which, ", of ") + " are added in its order";
}

/// The gradient of a step's h is (contribution of the next step) + (contributions of its readers);
/// for gru the former is a sum itself.
bool UnrolledLayer::readersKeepOrder() const {
  const bool gru = steps.front()->mode == RnnMode::Gru;
  for (size_t t = 0; t + 1 < steps.size(); ++t) {
    Operation *product = steps[t + 1]->products[1];
    Operation *kept = gru ? steps[t + 1]->stateBefore->getOwner() : product;
    if (readers[t].size() < (gru ? 1 : 2))
      continue;
    for (mlir::OpOperand *use : readers[t])
      if (gru ? readers[t].size() > 1 || !use->getOwner()->isBeforeInBlock(product) ||
                    !use->getOwner()->isBeforeInBlock(kept)
              : !product->isBeforeInBlock(use->getOwner()))
        return false;
  }
  Value c = steps.back()->c;
  if (!c || !llvm::hasNItemsOrMore(c.getUses(), 3))
    return true;
  Operation *tanh = nullptr;
  for (Operation *user : c.getUsers())
    if (steps.back()->ops.contains(user))
      tanh = user;
  return llvm::all_of(c.getUsers(),
                      [&](Operation *user) { return user == tanh || tanh->isBeforeInBlock(user); });
}

//===---- the layer ---------------------------------------------------------------------------===//

Value UnrolledLayer::buildInput(mlir::OpBuilder &builder) const {
  mlir::Location loc = steps.front()->products[0].getLoc();
  auto [rows, inputs] = matrixOf(inputOf(0));
  if (slices)
    return slices->build(builder, loc, rows);
  llvm::SmallVector<Value> parts;
  for (size_t t = 0; t < steps.size(); ++t)
    parts.push_back(sym::createReshape(builder, loc, inputOf(t), {rows, inputs}));
  auto type = sym::rankedType(parts.front());
  return builder.create<sym::StackOp>(loc, type.clone({int64_t(steps.size()), rows, inputs}), parts,
                                      builder.getI64IntegerAttr(0));
}

/// The blocks of rows of a weight or bias, one a gate, in the order of `sym.rnn`.
Value UnrolledLayer::inOrder(mlir::OpBuilder &builder, Value rows) const {
  Cell &first = *steps.front();
  if (first.gatesInOrder())
    return rows;
  mlir::Location loc = first.products[0].getLoc();
  auto type = sym::rankedType(rows);
  const auto gates = size_t(gateCount(first.mode));
  llvm::SmallVector<int64_t> shape(type.getShape());
  shape[0] /= int64_t(gates);
  llvm::SmallVector<mlir::Type> types(gates, type.clone(shape));
  auto cut = builder.create<sym::SliceChannelOp>(
      loc, types, rows, builder.getI64IntegerAttr(int64_t(gates)), builder.getI64IntegerAttr(0),
      builder.getBoolAttr(false));
  llvm::SmallVector<Value> parts;
  for (size_t gate = 0; gate < gates; ++gate)
    parts.push_back(cut.getResult(unsigned(first.blocks[gate])));
  Value joined = sym::createConcat(builder, loc, parts, 0);
  order.note(cut.getResults(), rows);
  order.note({joined}, rows);
  return joined;
}

Value UnrolledLayer::buildParameters(mlir::OpBuilder &builder) const {
  auto &products = steps.front()->products;
  mlir::Location loc = products[0].getLoc();
  llvm::SmallVector<Value> parts;
  for (sym::FullyConnectedOp product : products)
    parts.push_back(inOrder(builder, product.getWeight()));
  for (sym::FullyConnectedOp product : products) {
    auto type = sym::rankedType(product.getWeight());
    parts.push_back(product.getBias()
                        ? inOrder(builder, product.getBias())
                        : sym::createZeros(builder, loc, type.clone({type.getDimSize(0)})));
  }
  int64_t elements = 0;
  for (Value part : parts)
    elements += sym::rankedType(part).getNumElements();
  return builder.create<sym::RnnParamConcatOp>(
      loc, sym::rankedType(parts.front()).clone({elements}), parts, builder.getI64IntegerAttr(0));
}

/// The state as [1, N, H]; null for zeros.
Value UnrolledLayer::buildState(mlir::OpBuilder &builder, Value begin) const {
  std::optional<double> known = begin ? sym::constantOf(begin) : std::nullopt;
  if (!begin || (known && *known == 0 && !std::signbit(*known)))
    return {};
  auto type = sym::rankedType(begin);
  return builder.create<sym::ExpandDimsOp>(steps.front()->products[0].getLoc(),
                                           type.clone({1, type.getDimSize(0), type.getDimSize(1)}),
                                           begin, builder.getI64IntegerAttr(0));
}

sym::RnnOp UnrolledLayer::buildLayer(mlir::OpBuilder &builder) {
  Cell &first = *steps.front();
  auto type = sym::rankedType(first.h);
  const int64_t rows = type.getDimSize(0), units = first.units();
  Value x = buildInput(builder), parameters = buildParameters(builder);
  Value h0 = buildState(builder, beginH()), c0 = buildState(builder, beginC());
  llvm::SmallVector<mlir::Type> results = {type.clone({int64_t(steps.size()), rows, units})};
  results.append(first.mode == RnnMode::Lstm ? 2 : 1, type.clone({1, rows, units}));
  auto mode = kRnnModeNames[size_t(first.mode)];
  auto layer = builder.create<sym::RnnOp>(
      first.products[0].getLoc(), results, x, parameters, h0, c0, Value(), uint64_t(units),
      /*num_layers=*/1, llvm::StringRef(mode.data(), mode.size()), /*bidirectional=*/false,
      llvm::APFloat(0.0), /*state_outputs=*/true, mlir::IntegerAttr(), mlir::FloatAttr(),
      mlir::FloatAttr(), /*lstm_state_clip_nan=*/false, /*use_sequence_length=*/false);
  layer->setAttr(sym::kNameAttr, builder.getStringAttr(name()));
  for (llvm::StringRef group : {sym::kGroupAttr, sym::kRecomputeAttr})
    if (mlir::Attribute given = first.h.getDefiningOp()->getAttr(group))
      layer->setAttr(group, given);
  order.note({x}, inputOf(0));
  order.note(layer->getResults(), first.h);
  return layer;
}

/// Removes an op without readers from the net.
static void takeOut(Operation *op, UnrolledLayer::Removed &removed) {
  if (!op->getBlock() || !op->use_empty())
    return;
  op->dropAllReferences();
  op->remove();
  removed.push_back(op);
}

/// The ops that join all steps and can read the layer's output instead.
llvm::SmallVector<MergedSteps> UnrolledLayer::merges() const {
  // With three gradients or more, slices and the whole would be added in another order.
  if (order.trains() && llvm::any_of(readers, [](const auto &uses) { return uses.size() > 2; }))
    return {};
  llvm::SmallVector<MergedSteps> found =
      mergesOf(llvm::map_to_vector(steps, [](const Cell *step) { return step->h; }));
  if (order.trains())
    llvm::erase_if(found, [](const MergedSteps &merged) {
      return !llvm::all_of(merged.views, [](Operation *view) { return view->hasOneUse(); });
    });
  return found;
}

/// Ops that join all steps read the layer's output, transposed as necessary.
void UnrolledLayer::replaceMerges(mlir::OpBuilder &builder, Value y, Removed &removed) {
  for (MergedSteps &merged : merges()) {
    builder.setInsertionPoint(merged.op);
    Value turned = merged.build(builder, y);
    order.note({turned}, steps.front()->h);
    merged.op->getResult(0).replaceAllUsesWith(turned);
    takeOut(merged.op, removed);
    for (Operation *view : merged.views)
      takeOut(view, removed);
  }
}

/// Other readers get slices; readers of the last step alone get the layer's final state.
void UnrolledLayer::replaceReaders(mlir::OpBuilder &builder, sym::RnnOp layer) {
  const Cell &first = *steps.front();
  auto type = sym::rankedType(first.h);
  mlir::Location loc = layer.getLoc();
  builder.setInsertionPointAfter(layer);
  auto row = [&](Value state) { return sym::createReshape(builder, loc, state, type.getShape()); };
  auto put = [&](Value from, Value to) {
    order.note({to}, from);
    from.replaceUsesWithIf(
        to, [&](mlir::OpOperand &use) { return !move.leaving.contains(use.getOwner()); });
  };
  llvm::SmallVector<size_t> read;
  findReaders();
  for (size_t t = 0; t < steps.size(); ++t)
    if (!readers[t].empty())
      read.push_back(t);
  if (read.size() == 1) {
    const auto t = int64_t(read.front());
    const bool last = read.front() + 1 == steps.size();
    put(steps[read.front()]->h,
        row(last ? layer.getOutputs()[1]
                 : sym::createSliceAxis(builder, loc, layer.getOutputs()[0], 0, t, t + 1)));
  } else if (!read.empty()) {
    llvm::SmallVector<mlir::Type> types(steps.size(), type);
    auto cut = builder.create<sym::SliceChannelOp>(
        loc, types, layer.getOutputs()[0], builder.getI64IntegerAttr(int64_t(steps.size())),
        builder.getI64IntegerAttr(0), builder.getBoolAttr(true));
    for (auto [step, slice] : llvm::zip_equal(steps, cut.getResults()))
      put(step->h, slice);
  }
  if (Value c = steps.back()->c; c && llvm::any_of(c.getUsers(), [&](Operation *user) {
                                   return !move.leaving.contains(user);
                                 }))
    put(c, row(layer.getOutputs()[2]));
}

void UnrolledLayer::roll(mlir::OpBuilder &builder, Removed &removed) {
  for (Operation *op : move.hoisted)
    op->moveBefore(move.place);
  builder.setInsertionPoint(move.place);
  sym::RnnOp layer = buildLayer(builder);
  replaceMerges(builder, layer.getOutputs()[0], removed);
  replaceReaders(builder, layer);
  for (Cell *step : steps)
    for (Operation *op : step->ops)
      op->dropAllReferences();
  for (Cell *step : steps)
    for (Operation *op : step->ops)
      takeOut(op, removed);
  if (slices)
    for (const auto &chain : slices->makers)
      for (Operation *maker : chain)
        takeOut(maker, removed);
}

} // namespace lstmc::passes

// Graph::apply: converts a bound call to an op, and infers shapes from it.
#include "frontend/symbol/Bind.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/FileRecord.h"
#include "ir/sym/InitialRule.h"
#include "ir/sym/Traits.h"
#include "ir/sym/WrittenOps.h"

namespace lstmc::symbol {

using llvm::StringRef;

namespace {

/// Adds one node. If inference rejects it, everything that it added to the graph is removed again.
class NodeMaker {
public:
  NodeMaker(Graph &graph, const Call &call, BoundCall bound)
      : graph_(graph), impl_(graph.impl()), call_(call), bound_(std::move(bound)) {}

  Checked<std::vector<Symbol>> run() {
    // Looked up before the name is counted, so that a refused call leaves the counts alone.
    name_ = call_.name.empty() ? impl_.scoped(hint() + std::to_string(impl_.counts.lookup(hint())))
                               : impl_.scoped(call_.name);
    if (auto error = impl_.checkNew(name_, call_.origin))
      return *error;
    if (auto error = makeInputs())
      return undone(std::move(*error));
    if (auto error = markAuxiliaries())
      return undone(std::move(*error));
    if (auto error = castInputs())
      return undone(std::move(*error));
    if (auto error = alignInputs())
      return undone(std::move(*error));
    mlir::Operation *op = build(impl_.locations.encode(origin()));
    if (failed(impl_.solver.settle(op))) {
      // Rejected: binds again with the locations of the arguments, which are expensive to find and
      // only needed now.
      impl_.collector.take();
      impl_.declareInputs();
      op->setLoc(impl_.locations.encode(origin(), argumentPlaces()));
      (void)impl_.solver.settle(op);
      impl_.dimNames.forget(op);
      op->erase();
      return undone(impl_.collector.take());
    }
    ++impl_.nodes;
    if (call_.name.empty())
      ++impl_.counts[hint()];
    return {visible(op), std::move(warnings_)};
  }

private:
  std::string hint() { return StringRef(call_.op).lower(); }

  SourceRange origin() {
    SourceRange range = call_.origin;
    if (range.what.empty())
      range.what = call_.shown;
    return range;
  }

  /// Creates the parameters and labels that the call omits.
  std::optional<Diagnostics> makeInputs() {
    for (BoundInput &input : bound_.inputs) {
      if (!input.make)
        continue;
      std::string made = name_ + "_" + std::string(input.record->name);
      bool known = impl_.named.contains(made);
      if (input.record->label) {
        if (known) {
          input.value = impl_.named[made].value;
          continue;
        }
        if (auto error = impl_.checkNew(made, call_.origin))
          return Diagnostics{*error};
        input.value = impl_.addInput(made, mlir::UnrankedTensorType::get(impl_.openType()),
                                     Role::Label, {}, impl_.locations.encode(origin()));
        impl_.named[made] = {input.value, true, {}, {}, {}};
        ++impl_.nodes;
        labels_.push_back(made);
        continue;
      }
      Checked<Symbol> variable = graph_.variable(made, {}, origin());
      if (!variable.ok())
        return std::move(variable.diagnostics());
      llvm::append_range(warnings_, variable.diagnostics());
      input.value = Graph::Impl::valueOf(*variable);
      if (!known)
        variables_.push_back(made);
    }
    return std::nullopt;
  }

  /// The initialiser of an input that is an auxiliary state; empty for other inputs.
  StringRef auxiliaryStart(const BoundInput &input) {
    const mlir::OperationName name(bound_.record->opName, impl_.builder.getContext());
    auto *rule = name.getInterface<sym::AuxiliaryRule>();
    return rule && input.record ? rule->auxiliaryStart(input.record->name) : StringRef();
  }

  /// Auxiliary states are Variables with that role, or inputs, which nobody renews. Without an
  /// initialiser and a name that says it, the first value is that of the op.
  std::optional<Diagnostics> markAuxiliaries() {
    for (const BoundInput &input : bound_.inputs) {
      const StringRef start = auxiliaryStart(input);
      if (start.empty() || !input.value)
        continue;
      auto variable = input.value.getDefiningOp<sym::VariableOp>();
      if (llvm::isa<mlir::BlockArgument>(input.value))
        continue;
      if (!variable)
        return Diagnostics{makeError(ErrorCode::E0204, placeOf(input),
                                     call_.op + ": " + std::string(input.record->name) +
                                         " is an auxiliary state, and has to be a Variable")};
      marked_.push_back({variable, variable->getAttrDictionary()});
      variable.setRole("auxiliary");
      if (!variable.getInit() && sym::ruleOfName(variable.getName()).empty())
        variable.setInitAttr(impl_.initAttr(Initialiser{start.str(), {}, {}, {}}));
    }
    return std::nullopt;
  }

  SourceRange placeOf(const BoundInput &input) {
    std::optional<SourceRange> place;
    if (call_.argumentPlace)
      place = call_.argumentPlace(std::string(input.record->name));
    return place.value_or(call_.origin);
  }

  //===---- with dtype(..) ------------------------------------------------------------------===//

  /// Casts float operands to the type of the scope. Parameters keep their own type, so that updates
  /// are not rounded; labels stay exact for measures, and auxiliary states are what the op writes.
  std::optional<Diagnostics> castInputs() {
    const std::optional<DType> wanted = impl_.computeType();
    if (!wanted || bound_.record->mxnetName == "Cast")
      return std::nullopt;
    for (auto [i, input] : llvm::enumerate(bound_.inputs)) {
      const bool kept = (input.record && input.record->label) || !auxiliaryStart(input).empty();
      if (!input.value || kept || !isCast(input.value, *wanted))
        continue;
      const std::string argument =
          input.record ? std::string(input.record->name) : "arg" + std::to_string(i);
      if (auto error = insert(input, "Cast", argument + "_cast",
                              {{"dtype", std::string(dtypeLongName(*wanted))}}))
        return error;
    }
    return std::nullopt;
  }

  /// Puts a node between the input and the op, named after this one.
  std::optional<Diagnostics> insert(BoundInput &input, const std::string &op,
                                    const std::string &suffix,
                                    std::vector<NamedAttribute> attributes) {
    Call call;
    call.op = op;
    call.name =
        (call_.name.empty() ? hint() + std::to_string(impl_.counts.lookup(hint())) : call_.name) +
        "_" + suffix;
    call.positional = {impl_.symbolOf(&graph_, input.value)};
    call.attributes = std::move(attributes);
    call.origin = call_.origin;
    call.shown = call_.shown;
    Checked<std::vector<Symbol>> made = graph_.apply(call);
    if (!made.ok())
      return std::move(made.diagnostics());
    input.value = Graph::Impl::valueOf(made->front());
    inserted_.push_back(input.value.getDefiningOp());
    return std::nullopt;
  }

  //===---- broadcasting --------------------------------------------------------------------===//

  /// Gives operands leading axes of extent 1 up to the highest rank, if the op wants that.
  std::optional<Diagnostics> alignInputs() {
    mlir::OperationName op(bound_.record->opName, impl_.builder.getContext());
    if (!op.hasTrait<sym::AlignsRanks>())
      return std::nullopt;
    auto rankOf = [](const BoundInput &input) {
      auto type = llvm::dyn_cast<mlir::RankedTensorType>(input.value.getType());
      return type ? type.getRank() : -1;
    };
    int64_t most = 0;
    for (const BoundInput &input : bound_.inputs)
      most = std::max(most, rankOf(input));
    for (BoundInput &input : bound_.inputs) {
      const int64_t rank = rankOf(input);
      for (int64_t axis = 0; rank >= 0 && axis < most - rank; ++axis)
        if (auto error = insert(input, "expand_dims",
                                std::string(input.record->name) + "_axis" + std::to_string(axis),
                                {{"axis", int64_t(0)}}))
          return error;
    }
    return std::nullopt;
  }

  /// Whether the value is a float of another type. An open type counts as float for parameters.
  static bool isCast(mlir::Value value, DType wanted) {
    std::optional<DType> dtype =
        sym::dtypeOf(llvm::cast<mlir::TensorType>(value.getType()).getElementType());
    if (!dtype)
      return value.getDefiningOp<sym::VariableOp>() != nullptr;
    return isFloat(*dtype) && *dtype != wanted;
  }

  mlir::Operation *build(mlir::Location location) {
    mlir::OperationState state(location, bound_.record->opName);
    llvm::SmallVector<int32_t> segments;
    for (const BoundInput &input : bound_.inputs) {
      segments.push_back(input.value ? 1 : 0);
      if (input.value)
        state.operands.push_back(input.value);
    }
    mlir::OpBuilder &builder = impl_.builder;
    state.addAttributes(bound_.attributes);
    if (state.name.hasTrait<mlir::OpTrait::AttrSizedOperandSegments>())
      state.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr(segments));
    int64_t results = bound_.record->results.size();
    if (auto *rule = state.name.getInterface<sym::ResultCountRule>())
      results = rule->resultCount(builder.getDictionaryAttr(bound_.attributes));
    state.types.assign(std::clamp<int64_t>(results, 1, kMostResults),
                       mlir::UnrankedTensorType::get(impl_.openType()));

    state.addAttribute(sym::kNameAttr, builder.getStringAttr(name_));
    if (const sym::FileRecord *file = sym::fileRecordOf(bound_.record->mxnetName);
        file && !file->outputOf(call_.op).empty())
      state.addAttribute(sym::kCalledAttr, builder.getStringAttr(call_.op));
    if (!call_.dims.empty())
      state.addAttribute(sym::kDimsAttr,
                         builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(call_.dims)));
    addScopes(state);
    return builder.create(state);
  }

  void addScopes(mlir::OperationState &state) {
    mlir::OpBuilder &builder = impl_.builder;
    mlir::NamedAttrList scopes;
    for (const Scope &scope : impl_.scopes) // the inner one comes later and wins
      switch (scope.kind) {
      case Scope::Kind::ContextGroup:
        scopes.set(sym::kGroupAttr, builder.getStringAttr(scope.value));
        break;
      case Scope::Kind::Recompute:
        if (scope.place.line > 0)
          scopes.set(sym::kRecomputeAttr, impl_.locations.encode(scope.place));
        else
          scopes.set(sym::kRecomputeAttr, builder.getUnitAttr());
        break;
      case Scope::Kind::DType:
      case Scope::Kind::NameScope:
        break;
      }
    state.addAttributes(scopes.getAttrs());
  }

  std::vector<SourceRange> argumentPlaces() {
    std::vector<SourceRange> places;
    if (!call_.argumentPlace)
      return places;
    for (auto [i, input] : llvm::enumerate(bound_.inputs)) {
      if (!input.value)
        continue;
      std::string name = input.record ? std::string(input.record->name) : "arg" + std::to_string(i);
      std::optional<SourceRange> place = input.make ? std::nullopt : call_.argumentPlace(name);
      places.push_back(place.value_or(SourceRange()));
    }
    return places;
  }

  Diagnostics undone(Diagnostics errors) {
    for (auto &[variable, attributes] : llvm::reverse(marked_))
      variable->setAttrs(attributes);
    for (mlir::Operation *op : llvm::reverse(inserted_)) {
      impl_.dimNames.forget(op);
      op->erase();
      --impl_.nodes;
    }
    for (const std::string &made : llvm::reverse(variables_)) {
      mlir::Operation *variable = impl_.named[made].value.getDefiningOp();
      impl_.dimNames.forget(variable);
      variable->erase();
      impl_.named.erase(made);
      --impl_.nodes;
    }
    for (const std::string &made : llvm::reverse(labels_)) {
      impl_.dropLastInput();
      impl_.named.erase(made);
      --impl_.nodes;
    }
    if (errors.empty())
      errors.push_back(
          makeError(ErrorCode::E0099, call_.origin, "inference failed without a message"));
    return errors;
  }

  std::vector<Symbol> visible(mlir::Operation *op) {
    std::vector<Symbol> symbols;
    const int wanted = sym::visibleResults(op, *bound_.record);
    for (mlir::Value result : op->getResults())
      if (wanted < 0 || int(symbols.size()) < wanted)
        symbols.push_back(impl_.symbolOf(&graph_, result));
    return symbols;
  }

  static constexpr int64_t kMostResults = 1'000'000;

  Graph &graph_;
  Graph::Impl &impl_;
  const Call &call_;
  BoundCall bound_;
  std::string name_;
  std::vector<std::string> variables_, labels_;
  /// Auxiliary states, and their attributes before.
  std::vector<std::pair<sym::VariableOp, mlir::DictionaryAttr>> marked_;
  std::vector<mlir::Operation *> inserted_; ///< casts and new axes before the op
  Diagnostics warnings_;
};

} // namespace

/// In a rehearsal: counts the nodes of a call that equals an earlier one.
static void countNodes(Graph::Impl &impl, const Call &call, const Rehearsal::Made &made) {
  impl.nodes += 1 + made.casts;
  if (call.name.empty()) { // it gets a new automatic name, so all its parameters are new
    impl.nodes += int64_t(made.inputs.size());
    return;
  }
  for (const std::string &input : made.inputs) {
    std::string name = impl.scoped(call.name) + "_" + input;
    if (!impl.named.contains(name) && impl.rehearsal->named.try_emplace(name).second)
      ++impl.nodes;
  }
}

Checked<std::vector<Symbol>> Graph::apply(const Call &call) {
  std::optional<Rehearsal> &rehearsal = impl_->rehearsal;
  auto keyOf = [&] {
    std::optional<DType> type = impl_->computeType();
    return Rehearsal::keyOf(call) + (type ? std::string(dtypeLongName(*type)) : "");
  };
  std::string key = rehearsal ? keyOf() : std::string();
  if (const Rehearsal::Made *made = rehearsing() ? rehearsal->find(key) : nullptr) {
    countNodes(*impl_, call, *made);
    return made->symbols;
  }
  Checked<BoundCall> bound = bind(*this, call);
  if (!bound.ok())
    return std::move(bound.diagnostics());
  Rehearsal::Made made;
  for (const BoundInput &input : bound->inputs)
    if (input.make)
      made.inputs.emplace_back(input.record->name);
  const int64_t nodes = impl_->nodes;
  const size_t named = impl_->named.size();
  // The rehearsal is suspended while this node is created, so that its parameters are created too.
  bool begun = rehearsal && std::exchange(rehearsal->begun, false);
  Checked<std::vector<Symbol>> symbols = NodeMaker(*this, call, std::move(*bound)).run();
  if (rehearsal)
    rehearsal->begun = begun;
  if (rehearsal && symbols.ok()) {
    made.symbols = *symbols;
    made.casts = impl_->nodes - nodes - int64_t(impl_->named.size() - named) - 1;
    // The call may have determined the types of its inputs, so a later equal call has other input
    // types: the result is stored under both keys.
    rehearsal->remember(keyOf(), made);
    rehearsal->remember(std::move(key), std::move(made));
  }
  return symbols;
}

} // namespace lstmc::symbol

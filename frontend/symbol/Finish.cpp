// Graph::finish: open dtypes become float32, open shapes are rejected. Also the lists of a finished
// graph.
#include "executor/base/Sha256.h"
#include "frontend/symbol/Impl.h"
#include "frontend/symbol/ValueText.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/FileRecord.h"
#include "ir/sym/OpText.h"
#include "ir/sym/SymOps.h"
#include "ir/sym/UniqueNames.h"

namespace lstmc::symbol {

using llvm::StringRef;
using mlir::Value;

namespace {

/// "fc1_output"; "split_output1" where an op has several without names.
std::string outputName(Value value, StringRef nodeName) {
  auto result = llvm::dyn_cast<mlir::OpResult>(value);
  if (!result || llvm::isa<sym::VariableOp, sym::BeginStateOp>(result.getOwner()))
    return nodeName.str();
  const sym::OpRecord *record = sym::recordOf(result.getOwner()->getName());
  unsigned index = result.getResultNumber();
  bool numbered =
      result.getOwner()->getNumResults() > 1 || llvm::isa<sym::SliceChannelOp>(result.getOwner());
  if (auto called = result.getOwner()->getAttrOfType<mlir::StringAttr>(sym::kCalledAttr))
    if (const sym::FileRecord *file = record ? sym::fileRecordOf(record->mxnetName) : nullptr)
      if (std::string_view output = file->outputOf(called.strref()); !output.empty())
        return nodeName.str() + "_" + std::string(output);
  if (record && index < record->outputNames.size())
    return nodeName.str() + "_" + std::string(record->outputNames[index]);
  if (record && sym::visibleResults(result.getOwner(), *record) == 1)
    numbered = false;
  return nodeName.str() + "_output" + (numbered ? std::to_string(index) : "");
}

} // namespace

std::string Symbol::outputName() const {
  return symbol::outputName(Graph::Impl::valueOf(*this), name());
}

namespace {

class Finisher {
public:
  Finisher(Graph &graph) : graph_(graph), impl_(graph.impl()) {}

  Diagnostics run(const std::vector<Symbol> &outputs) {
    for (const Symbol &symbol : outputs)
      impl_.outputs.push_back(Graph::Impl::valueOf(symbol));
    setAside();
    if (failed(impl_.solver.closeTypes(*impl_.body)) || failed(sym::checkClosed(*impl_.body)))
      return impl_.collector.take();
    if (auto error = checkOutputNames())
      return {*error};
    close();
    warnTwice();
    warnIdle();
    return std::move(warnings_);
  }

private:
  /// Removes the nodes that no output depends on.
  void setAside() {
    llvm::DenseSet<mlir::Operation *> used;
    llvm::SmallVector<mlir::Operation *> work;
    auto need = [&](Value value) {
      mlir::Operation *op = value.getDefiningOp();
      if (op && used.insert(op).second)
        work.push_back(op);
    };
    llvm::for_each(impl_.outputs, need);
    while (!work.empty())
      llvm::for_each(work.pop_back_val()->getOperands(), need);
    warnUnread(used);
    for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(*impl_.body)))
      if (!used.contains(&op)) {
        impl_.dimNames.forget(&op);
        op.dropAllReferences();
        op.moveBefore(&impl_.unused, impl_.unused.begin());
      }
  }

  static Diagnostic warningAt(mlir::Operation *op, ErrorCode code, std::string message,
                              std::string help) {
    Diagnostic warning = makeError(code, sym::decode(op->getLoc()), std::move(message));
    warning.severity = Severity::Warning;
    warning.help = std::move(help);
    return warning;
  }

  /// Layers whose parameters no output depends on. Of several that feed one another, only the last
  /// is named.
  void warnUnread(const llvm::DenseSet<mlir::Operation *> &used) {
    llvm::DenseSet<mlir::Operation *> layers; // ops that use an unused parameter, directly or not
    for (mlir::Operation &op : *impl_.body) {
      if (used.contains(&op) || llvm::isa<sym::VariableOp>(op))
        continue;
      bool layer = llvm::any_of(op.getOperands(), [&](Value value) {
        mlir::Operation *maker = value.getDefiningOp();
        return maker && !used.contains(maker) &&
               (llvm::isa<sym::VariableOp>(maker) || layers.contains(maker));
      });
      if (layer)
        layers.insert(&op);
      if (layer && op.use_empty())
        warnings_.push_back(
            warningAt(&op, ErrorCode::E0318,
                      "nothing reads this layer: it is left out, and its parameters "
                      "with it",
                      ""));
    }
  }

  /// Warns about a softmax before a head that computes a softmax itself.
  void warnTwice() {
    for (auto head : impl_.body->getOps<sym::SoftmaxOutputOp>())
      if (head.getData().getDefiningOp<sym::SoftmaxOp>())
        warnings_.push_back(warningAt(head, ErrorCode::E0319,
                                      "SoftmaxOutput makes probabilities of its data, which are "
                                      "those of a softmax already",
                                      "give it what the softmax reads"));
  }

  /// Warns about attributes that are set but have no effect.
  void warnIdle() {
    for (mlir::Operation &op : *impl_.body) {
      const sym::OpRecord *record = sym::recordOf(op.getName());
      if (!record || record->mxnetName.empty())
        continue;
      for (const sym::AttributeRecord &attribute : record->attributes) {
        mlir::Attribute set = op.getAttr(attribute.name);
        if (!set || isDefault(valueOf(set), attribute.defaultText))
          continue;
        if (std::string why = idleReason(&op, attribute.name); !why.empty())
          warnings_.push_back(warningAt(&op, ErrorCode::E0319,
                                        std::string(record->mxnetName) + ": " +
                                            std::string(attribute.name) + "=" +
                                            valueText(valueOf(set)) + " has no effect: " + why,
                                        ""));
      }
    }
  }

  /// E0315 if a name in the package would be too long: outputs of entries are named after the net's
  /// outputs with a suffix.
  std::optional<Diagnostic> checkOutputNames() {
    constexpr size_t kWord = sizeof("_metric");
    for (auto [name, value] : llvm::zip(graph_.outputNames(), impl_.outputs))
      if (name.size() + kWord > kLongestName)
        return makeError(ErrorCode::E0315, sym::decode(value.getLoc()),
                         "name of " + std::to_string(name.size()) +
                             " bytes, the limit for an output is " +
                             std::to_string(kLongestName - kWord));
    return std::nullopt;
  }

  void close() {
    mlir::OpBuilder &builder = impl_.builder;
    builder.setInsertionPointToEnd(impl_.body);
    builder.create<mlir::func::ReturnOp>(builder.getUnknownLoc(), impl_.outputs);
    llvm::SmallVector<mlir::Type> inputs(impl_.body->getArgumentTypes()), results;
    for (Value output : impl_.outputs)
      results.push_back(output.getType());
    impl_.function.setType(builder.getFunctionType(inputs, results));
    std::vector<std::string> names = graph_.outputNames();
    llvm::SmallVector<mlir::DictionaryAttr> attributes; // set all at once, see declareInputs()
    for (auto [i, name] : llvm::enumerate(names)) {
      mlir::NamedAttrList named;
      named.set(sym::kNameAttr, builder.getStringAttr(name));
      if (mlir::ArrayAttr dims = impl_.dimsOf(impl_.shapeOf(impl_.outputs[i])))
        named.set(sym::kDimsAttr, dims);
      attributes.push_back(named.getDictionary(builder.getContext()));
    }
    impl_.function.setAllResultAttrs(attributes);
    impl_.finished = true;
  }

  Graph &graph_;
  Graph::Impl &impl_;
  Diagnostics warnings_;
};

} // namespace

Diagnostics Graph::finish(const std::vector<Symbol> &outputs) {
  if (impl_->finished)
    return {makeError(ErrorCode::E0318, {}, "the net \"" + impl_->name + "\" is finished already")};
  if (auto error = Impl::checkText("the name of a net", impl_->name, {}))
    return {*error};
  for (const Symbol &symbol : outputs)
    if (symbol.graph() != this)
      return {makeError(ErrorCode::E0204, {},
                        "an output of \"" + impl_->name + "\" belongs to another net")};
  if (outputs.empty())
    return {makeError(ErrorCode::E0205, {}, "the net \"" + impl_->name + "\" has no output")};
  impl_->declareInputs();
  return Finisher(*this).run(outputs);
}

//===---- lists -------------------------------------------------------------------------------===//

/// Sources that the outputs depend on, as MXNet walks: depth first from the outputs, operands left
/// to right.
static std::vector<Value> sourcesOf(const std::vector<Value> &outputs) {
  std::vector<Value> sources;
  llvm::DenseSet<void *> seen;
  llvm::SmallVector<std::pair<mlir::Operation *, unsigned>> stack;
  auto visit = [&](Value value) {
    mlir::Operation *op = value.getDefiningOp();
    if (!op) {
      if (seen.insert(value.getAsOpaquePointer()).second)
        sources.push_back(value);
    } else if (seen.insert(op).second) {
      stack.push_back({op, 0});
    }
  };
  for (Value output : outputs) {
    visit(output);
    while (!stack.empty()) {
      auto &[op, next] = stack.back();
      if (next < op->getNumOperands()) {
        visit(op->getOperand(next++));
        continue;
      }
      if (llvm::isa<sym::VariableOp, sym::BeginStateOp>(op))
        sources.push_back(op->getResult(0));
      stack.pop_back();
    }
  }
  return sources;
}

static bool isAuxiliary(Value value) {
  auto variable = value.getDefiningOp<sym::VariableOp>();
  return variable && variable.getRole() == "auxiliary";
}

std::vector<std::string> Graph::listArguments() const {
  std::vector<std::string> names;
  for (Value value : sourcesOf(impl_->outputs))
    if (!isAuxiliary(value) && !value.getDefiningOp<sym::BeginStateOp>())
      names.push_back(Impl::symbolOf(const_cast<Graph *>(this), value).name());
  return names;
}

std::vector<std::string> Graph::listAuxiliaryStates() const {
  std::vector<std::string> names;
  for (Value value : sourcesOf(impl_->outputs))
    if (isAuxiliary(value))
      names.push_back(Impl::symbolOf(const_cast<Graph *>(this), value).name());
  return names;
}

std::vector<std::string> Graph::listOutputs() const {
  std::vector<std::string> names;
  for (Value value : impl_->outputs)
    names.push_back(outputName(value, Impl::symbolOf(const_cast<Graph *>(this), value).name()));
  return names;
}

std::vector<std::string> Graph::outputNames() const { return sym::uniqueNames(listOutputs()); }

std::vector<std::pair<std::string, Shape>> Graph::inferredShapes() const {
  std::vector<std::pair<std::string, Shape>> shapes;
  for (Value value : sourcesOf(impl_->outputs))
    if (!value.getDefiningOp<sym::BeginStateOp>())
      shapes.emplace_back(Impl::symbolOf(const_cast<Graph *>(this), value).name(),
                          impl_->shapeOf(value));
  std::vector<std::string> names = listOutputs();
  for (auto [name, value] : llvm::zip(names, impl_->outputs))
    shapes.emplace_back(name, impl_->shapeOf(value));
  return shapes;
}

//===---- text --------------------------------------------------------------------------------===//

std::string Graph::text(bool locations) const {
  impl_->declareInputs();
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  if (locations)
    flags.enableDebugInfo(true, false);
  impl_->module.get()->print(stream, flags);
  return text;
}

/// Whether the op's mark of a recompute scope is a place in a text.
static bool hasPlaceOfScope(mlir::Operation *op) {
  return bool(op->getAttrOfType<mlir::LocationAttr>(sym::kRecomputeAttr));
}

std::string Graph::hash() const {
  impl_->declareInputs();
  mlir::func::FuncOp function = impl_->function;
  // Where a scope stands in the text changes nothing.
  mlir::OwningOpRef<mlir::func::FuncOp> plain;
  if (llvm::any_of(*impl_->body, [](mlir::Operation &op) { return hasPlaceOfScope(&op); })) {
    plain = function.clone();
    plain->walk([](mlir::Operation *op) {
      if (hasPlaceOfScope(op))
        op->setAttr(sym::kRecomputeAttr, mlir::UnitAttr::get(op->getContext()));
    });
    function = *plain;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  function->print(stream, mlir::OpPrintingFlags().useLocalScope().assumeVerified());
  stream.flush();
  return sha256({reinterpret_cast<const uint8_t *>(text.data()), text.size()}).substr(0, 32);
}

} // namespace lstmc::symbol

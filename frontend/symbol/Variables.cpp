// Inputs, parameters and begin states.
#include "frontend/symbol/Impl.h"
#include "frontend/symbol/ValueText.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/SymOps.h"

namespace lstmc::symbol {

using llvm::StringRef;
using mlir::Value;

mlir::BlockArgument Graph::Impl::addInput(StringRef inputName, mlir::Type type, Role role,
                                          mlir::ArrayAttr dims, mlir::Location at) {
  llvm::SmallVector<mlir::NamedAttribute> attributes{
      builder.getNamedAttr(sym::kNameAttr, builder.getStringAttr(inputName)),
      builder.getNamedAttr(sym::kRoleAttr,
                           builder.getStringAttr(role == Role::Label ? "label" : "data"))};
  if (dims)
    attributes.push_back(builder.getNamedAttr(sym::kDimsAttr, dims));
  inputAttributes.push_back(builder.getDictionaryAttr(attributes));
  return body->addArgument(type, at);
}

void Graph::Impl::declareInputs() {
  if (finished || function.getNumArguments() == inputAttributes.size())
    return;
  function.setType(builder.getFunctionType(body->getArgumentTypes(), {}));
  function.setAllArgAttrs(inputAttributes);
}

void Graph::Impl::dropLastInput() {
  declareInputs();
  function.eraseArgument(function.getNumArguments() - 1);
  inputAttributes.pop_back();
}

Checked<Symbol> Graph::input(const std::string &name, DType dtype, const Shape &shape, Role role,
                             const Origin &origin) {
  Impl &impl = *impl_;
  if (auto error = impl.checkNew(name, origin))
    return *error;
  if (auto error = impl.checkShape(shape, origin))
    return *error;
  if (auto at = impl.named.find(name); at != impl.named.end()) {
    Diagnostic error =
        makeError(ErrorCode::E0210, origin, stringText(name) + " is already defined");
    error.message += sym::atText(at->second.value.getLoc());
    return error;
  }
  Value value = impl.addInput(name, impl.typeOf(shape, dtype), role, impl.dimsOf(shape),
                              impl.locations.encode(origin));
  impl.named[name].value = value;
  impl.named[name].shareIsMeant = true;
  ++impl.nodes;
  return Symbol(this, value.getAsOpaquePointer());
}

//===---- parameters --------------------------------------------------------------------------===//

/// The type that satisfies both declarations; null if they contradict each other.
static mlir::TensorType merged(mlir::TensorType known, mlir::TensorType declared) {
  mlir::Type element = known.getElementType();
  if (llvm::isa<sym::OpenType>(element))
    element = declared.getElementType();
  else if (!llvm::isa<sym::OpenType>(declared.getElementType()) &&
           declared.getElementType() != element)
    return {};
  if (!known.hasRank() || !declared.hasRank()) {
    mlir::TensorType shaped = known.hasRank() ? known : declared;
    return shaped.hasRank()
               ? mlir::TensorType(mlir::RankedTensorType::get(shaped.getShape(), element))
               : mlir::UnrankedTensorType::get(element);
  }
  if (known.getRank() != declared.getRank())
    return {};
  llvm::SmallVector<int64_t> extents(known.getShape());
  for (auto [mine, theirs] : llvm::zip(extents, declared.getShape())) {
    if (mine == sym::kOpen)
      mine = theirs;
    else if (theirs != sym::kOpen && theirs != mine)
      return {};
  }
  return mlir::RankedTensorType::get(extents, element);
}

static bool operator==(const NamedAttribute &a, const NamedAttribute &b) {
  return a.name == b.name && a.value == b.value;
}
static bool same(const Initialiser &a, const Initialiser &b) {
  return a.name == b.name && llvm::equal(a.arguments, b.arguments) && a.patterns == b.patterns &&
         a.initialisers.size() == b.initialisers.size() &&
         llvm::all_of(llvm::zip(a.initialisers, b.initialisers),
                      [](auto pair) { return same(std::get<0>(pair), std::get<1>(pair)); });
}

static Diagnostic declaredTwice(const Origin &origin, StringRef name, const std::string &here,
                                const std::string &there, mlir::Location at,
                                const std::string &help = {}) {
  return makeError(ErrorCode::E0209, origin,
                   stringText(name) + " is " + here + " here and " + there + sym::atText(at), help);
}

/// Short text for messages, without numbers.
static std::string shortText(const Initialiser &init) {
  if (init.name == "values")
    return "init=values of shape " + valueText(init.arguments[0].value);
  return init.name == "deferred" ? "init=a function or a file" : initialiserText(init);
}

/// A second declaration of a name: adds what the first left open; E0209 for a contradiction.
static std::optional<Diagnostic> declareAgain(Graph::Impl &impl, StringRef name,
                                              Graph::Impl::Named &known,
                                              const VariableOptions &options,
                                              const Origin &origin) {
  auto variable = known.value.getDefiningOp<sym::VariableOp>();
  if (!variable)
    return makeError(ErrorCode::E0209, origin,
                     stringText(name) + " is no parameter, but an input" +
                         sym::atText(known.value.getLoc()),
                     "use the parameter of the function: " + name.str());
  auto type = llvm::cast<mlir::TensorType>(known.value.getType());
  mlir::TensorType declared = impl.typeOf(options.shape, options.dtype);
  mlir::TensorType both = merged(type, declared);
  if (!both) {
    impl.declareInputs();
    impl.dimNames.update(*impl.body);
    std::string there = sym::typeText(type, known.value, impl.dimNames);
    if (!options.dtype)
      declared = declared.clone(type.getElementType());
    return declaredTwice(origin, name, sym::typeText(declared), there, variable.getLoc(),
                         options.layer.empty() ? ""
                                               : "layers of one name share their parameters: give "
                                                 "one of them another name");
  }
  if (both.hasRank())
    if (auto error = impl.checkSize(both.getShape(), origin))
      return error;
  if (!options.init.name.empty()) {
    if (!known.init.name.empty() && !same(known.init, options.init))
      return declaredTwice(origin, name, shortText(options.init), shortText(known.init),
                           variable.getLoc());
    known.init = options.init;
    variable.setInitAttr(impl.initAttr(options.init));
  }
  for (auto [mine, theirs, word] : {std::tuple(&known.lrMult, &options.lrMult, "lr_mult"),
                                    std::tuple(&known.wdMult, &options.wdMult, "wd_mult")}) {
    if (!*theirs)
      continue;
    if (*mine && **mine != **theirs)
      return declaredTwice(origin, name, std::string(word) + "=" + valueText(**theirs),
                           std::string(word) + "=" + valueText(**mine), variable.getLoc());
    *mine = *theirs;
    variable->setAttr(word, impl.builder.getF64FloatAttr(**theirs));
  }
  if (mlir::ArrayAttr dims = impl.dimsOf(options.shape); dims && !variable.getDimsAttr())
    variable.setDimsAttr(dims);
  if (both != type) {
    impl.declareInputs(); // messages name them
    known.value.setType(both);
    for (mlir::Operation *user : llvm::make_early_inc_range(known.value.getUsers()))
      if (failed(impl.solver.settle(user))) {
        known.value.setType(type);
        Diagnostics found = impl.collector.take();
        return found.empty()
                   ? makeError(ErrorCode::E0099, origin, "inference failed without a message")
                   : found.front();
      }
  }
  known.shareIsMeant |= options.shareIsMeant;
  return std::nullopt;
}

bool Graph::repeatCalls(bool repeated) { return std::exchange(impl_->callsRepeat, repeated); }

Checked<Symbol> Graph::variable(const std::string &name, const VariableOptions &options,
                                const Origin &origin) {
  Impl &impl = *impl_;
  if (auto error = impl.checkShape(options.shape, origin))
    return *error;
  if (auto at = impl.named.find(name); at != impl.named.end()) {
    bool warn = !impl.callsRepeat && !options.shareIsMeant && !options.followsInLayer &&
                !at->second.shareIsMeant;
    if (auto error = declareAgain(impl, name, at->second, options, origin))
      return *error;
    Symbol symbol(this, at->second.value.getAsOpaquePointer());
    if (!warn)
      return symbol;
    std::string shared = options.layer.empty() ? stringText(name) + " is shared with the call"
                                               : options.layer + " shares " + stringText(name) +
                                                     " and its like with the call";
    Diagnostic warning =
        makeError(ErrorCode::E0209, origin, shared + sym::atText(at->second.value.getLoc()));
    warning.severity = Severity::Warning;
    return {symbol, {warning}};
  }
  std::string key;
  if (impl.rehearsal) {
    key = Rehearsal::keyOf("variable", options.dtype, options.shape, options.init, origin);
    if (std::optional<Symbol> symbol = impl.rehearseNamed(this, name, key))
      return *symbol;
  }
  if (auto error = impl.checkNew(name, origin))
    return *error;
  if (name.empty())
    return makeError(ErrorCode::E0204, origin, "the name of a Variable is empty");
  auto number = [&](std::optional<double> value) {
    return value ? impl.builder.getF64FloatAttr(*value) : mlir::FloatAttr();
  };
  auto variable = impl.builder.create<sym::VariableOp>(
      impl.locations.encode(origin), impl.typeOf(options.shape, options.dtype),
      impl.builder.getStringAttr(name), impl.builder.getStringAttr("parameter"),
      impl.initAttr(options.init), number(options.lrMult), number(options.wdMult),
      impl.dimsOf(options.shape));
  impl.addGroup(variable);
  impl.named[name] = {variable.getOutput(), options.shareIsMeant, options.init, options.lrMult,
                      options.wdMult};
  ++impl.nodes;
  Symbol symbol(this, variable.getOutput().getAsOpaquePointer());
  if (impl.rehearsal)
    impl.rehearsal->remember(std::move(key), {{symbol}, {}});
  return symbol;
}

/// In a rehearsal: the symbol that is used in place of a parameter or state that was not made.
std::optional<Symbol> Graph::Impl::rehearseNamed(Graph *graph, StringRef wanted,
                                                 const std::string &key) {
  if (!rehearsal->begun)
    return std::nullopt;
  auto [known, isNew] = rehearsal->named.try_emplace(wanted);
  nodes += isNew; // otherwise it was counted before
  if (known->second)
    return symbolOf(graph, known->second);
  const Rehearsal::Made *made = rehearsal->find(key);
  if (!made) { // it has to be made, and is counted there
    --nodes;
    rehearsal->named.erase(wanted);
    return std::nullopt;
  }
  known->second = valueOf(made->symbols.front());
  return made->symbols.front();
}

std::string Graph::Impl::unusedStateName(const std::string &wanted) {
  auto isTaken = [&](const std::string &candidate) {
    return named.contains(candidate) || (rehearsal && rehearsal->named.contains(candidate));
  };
  std::string found = wanted;
  while (isTaken(found))
    found = wanted + "_" + std::to_string(++stateCounts[wanted]);
  return found;
}

Checked<Symbol> Graph::beginState(const std::string &wanted, DType dtype, const Shape &shape,
                                  const Origin &origin) {
  Impl &impl = *impl_;
  dtype = impl.computeType().value_or(dtype); // the final state has that type
  const std::string name = impl.unusedStateName(wanted);
  if (auto error = impl.checkNew(name, origin))
    return *error;
  if (auto error = impl.checkShape(shape, origin))
    return *error;
  std::string key;
  if (impl.rehearsal) {
    key = Rehearsal::keyOf("state", dtype, shape, {}, origin);
    if (std::optional<Symbol> symbol = impl.rehearseNamed(this, name, key))
      return *symbol;
  }
  auto state = impl.builder.create<sym::BeginStateOp>(
      impl.locations.encode(origin), impl.typeOf(shape, dtype), impl.builder.getStringAttr(name));
  impl.addGroup(state);
  impl.named[name].value = state.getOutput();
  impl.named[name].shareIsMeant = true;
  ++impl.nodes;
  Symbol symbol(this, state.getOutput().getAsOpaquePointer());
  if (impl.rehearsal)
    impl.rehearsal->remember(std::move(key), {{symbol}, {}});
  return symbol;
}

} // namespace lstmc::symbol

// Symbols, and queries of a graph.
#include "frontend/symbol/Symbol.h"

#include "executor/base/PlainText.h"
#include "executor/base/Quote.h"
#include "frontend/symbol/Impl.h"
#include "frontend/symbol/Module.h"
#include "frontend/symbol/ValueText.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/Extents.h"
#include "ir/sym/OpText.h"
#include "ir/sym/SymOps.h"

namespace lstmc::symbol {

using llvm::StringRef;

bool Shape::known() const {
  return ranked && llvm::none_of(dims, [](const Dim &dim) { return dim.extent == kUnknown; });
}

Diagnostic makeError(ErrorCode code, const Origin &origin, std::string message, std::string help) {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.place = origin;
  diagnostic.message = std::move(message);
  diagnostic.help = std::move(help);
  return diagnostic;
}

//===---- Symbol ------------------------------------------------------------------------------===//

Symbol::Symbol(Graph *graph, void *value)
    : graph_(graph), value_(value), lifetime_(graph->impl().lifetime.slot()),
      generation_(lifetime_->generation.load(std::memory_order_relaxed)) {}

Graph *Symbol::graph() const {
  return lifetime_ && lifetime_->generation.load(std::memory_order_acquire) == generation_
             ? graph_
             : nullptr;
}

std::string Symbol::name() const {
  if (!graph())
    return {};
  graph_->impl().declareInputs();
  return sym::userName(mlir::Value::getFromOpaquePointer(value_));
}

Shape Symbol::shape() const {
  if (!graph())
    return {};
  return graph_->impl().shapeOf(mlir::Value::getFromOpaquePointer(value_));
}

std::optional<DType> Symbol::dtype() const {
  if (!graph())
    return std::nullopt;
  auto type = llvm::cast<mlir::TensorType>(mlir::Value::getFromOpaquePointer(value_).getType());
  return sym::dtypeOf(type.getElementType());
}

bool Symbol::isOpUnread() const {
  if (!graph())
    return false;
  mlir::Value value = mlir::Value::getFromOpaquePointer(value_);
  mlir::Operation *op = value.getDefiningOp();
  return op && value.use_empty() && !llvm::isa<sym::VariableOp, sym::BeginStateOp>(op);
}

//===---- Graph::Impl -------------------------------------------------------------------------===//

Graph::Impl::Impl(std::string netName, GraphOptions graphOptions)
    : name(std::move(netName)), options(graphOptions),
      context(mlir::MLIRContext::Threading::DISABLED), collector(&context), builder(&context),
      locations(&context) {
  context.loadDialect<sym::SymDialect, mlir::func::FuncDialect>();
  auto unknown = builder.getUnknownLoc();
  module = mlir::ModuleOp::create(unknown);
  function = mlir::func::FuncOp::create(unknown, name, builder.getFunctionType({}, {}));
  module->push_back(function);
  body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  if (options.rehearsable)
    rehearsal.emplace();
}

mlir::Type Graph::Impl::openType() { return sym::OpenType::get(&context); }

std::optional<Diagnostic> Graph::Impl::checkShape(const Shape &shape, const Origin &origin) {
  for (const Dim &dim : shape.dims)
    if (auto error = checkText("the name of a dim", dim.name, origin))
      return error;
  for (const Dim &dim : shape.dims)
    if (dim.extent < 1 && dim.extent != kUnknown)
      return makeError(ErrorCode::E0206, origin,
                       "dimension " + std::to_string(dim.extent) + " (write _ for one to infer)");
  return checkSize(
      llvm::to_vector(llvm::map_range(shape.dims, [](const Dim &dim) { return dim.extent; })),
      origin);
}

std::optional<Diagnostic> Graph::Impl::checkSize(llvm::ArrayRef<int64_t> extents,
                                                 const Origin &origin) {
  if (std::optional<std::string> problem = sym::sizeProblem(extents))
    return makeError(ErrorCode::E0402, origin, "the tensor " + *problem);
  return std::nullopt;
}

mlir::TensorType Graph::Impl::typeOf(const Shape &shape, std::optional<DType> dtype) {
  mlir::Type element = dtype ? sym::elementType(&context, *dtype) : openType();
  if (!shape.ranked)
    return mlir::UnrankedTensorType::get(element);
  llvm::SmallVector<int64_t> extents;
  for (const Dim &dim : shape.dims)
    extents.push_back(dim.extent == kUnknown ? sym::kOpen : dim.extent);
  return mlir::RankedTensorType::get(extents, element);
}

mlir::ArrayAttr Graph::Impl::dimsOf(const Shape &shape) {
  if (llvm::all_of(shape.dims, [](const Dim &dim) { return dim.name.empty(); }))
    return {};
  llvm::SmallVector<StringRef> names;
  for (const Dim &dim : shape.dims)
    names.push_back(dim.name);
  return builder.getStrArrayAttr(names);
}

Shape Graph::Impl::shapeOf(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  if (!type)
    return {};
  declareInputs();
  dimNames.update(*body);
  Shape shape;
  shape.ranked = true;
  for (auto [axis, extent] : llvm::enumerate(type.getShape())) {
    mlir::StringAttr name = dimNames.find(value, axis);
    shape.dims.push_back(
        {extent == sym::kOpen ? kUnknown : extent, name ? name.str() : std::string()});
  }
  return shape;
}

mlir::Attribute Graph::Impl::attributeOf(const AttributeValue &value) {
  if (auto flag = std::get_if<bool>(&value))
    return builder.getBoolAttr(*flag);
  if (auto number = std::get_if<int64_t>(&value))
    return builder.getI64IntegerAttr(*number);
  if (auto number = std::get_if<double>(&value))
    return builder.getF64FloatAttr(*number);
  if (auto text = std::get_if<std::string>(&value))
    return builder.getStringAttr(*text);
  llvm::SmallVector<mlir::Attribute> entries;
  if (auto tuple = std::get_if<Tuple>(&value)) {
    for (std::optional<int64_t> entry : *tuple)
      entries.push_back(entry ? mlir::Attribute(builder.getI64IntegerAttr(*entry))
                              : builder.getUnitAttr());
    return builder.getArrayAttr(entries);
  }
  if (auto numbers = std::get_if<std::vector<double>>(&value)) {
    for (double number : *numbers)
      entries.push_back(builder.getF64FloatAttr(number));
    return builder.getArrayAttr(entries);
  }
  return builder.getUnitAttr();
}

mlir::ArrayAttr Graph::Impl::initAttr(const Initialiser &init) {
  if (init.name.empty())
    return {};
  llvm::SmallVector<mlir::NamedAttribute> arguments;
  if (init.name == "values") {
    llvm::SmallVector<int64_t> shape;
    for (std::optional<int64_t> extent : std::get<Tuple>(init.arguments[0].value))
      shape.push_back(*extent);
    return builder.getArrayAttr(
        {builder.getStringAttr(init.name),
         builder.getDictionaryAttr(builder.getNamedAttr(
             "values",
             mlir::DenseElementsAttr::get(
                 mlir::RankedTensorType::get(shape, builder.getF64Type()),
                 llvm::ArrayRef(std::get<std::vector<double>>(init.arguments[1].value)))))});
  }
  for (const NamedAttribute &argument : init.arguments)
    arguments.push_back(builder.getNamedAttr(argument.name, attributeOf(argument.value)));
  if (!init.initialisers.empty()) {
    llvm::SmallVector<mlir::Attribute> patterns, initialisers;
    for (const std::string &pattern : init.patterns)
      patterns.push_back(builder.getStringAttr(pattern));
    for (const Initialiser &initialiser : init.initialisers)
      initialisers.push_back(initAttr(initialiser));
    arguments.push_back(builder.getNamedAttr("patterns", builder.getArrayAttr(patterns)));
    arguments.push_back(builder.getNamedAttr("initializers", builder.getArrayAttr(initialisers)));
  }
  return builder.getArrayAttr(
      {builder.getStringAttr(init.name), builder.getDictionaryAttr(arguments)});
}

std::optional<DType> Graph::Impl::computeType() const {
  for (const Scope &scope : llvm::reverse(scopes))
    if (scope.kind == Scope::Kind::DType)
      return parseDType(scope.value);
  return std::nullopt;
}

std::string Graph::Impl::scoped(const std::string &plain) {
  std::string prefix;
  for (const Scope &scope : scopes)
    if (scope.kind == Scope::Kind::NameScope)
      prefix += scope.value + "_";
  return prefix + plain;
}

void Graph::Impl::addGroup(mlir::Operation *op) {
  for (const Scope &scope : llvm::reverse(scopes))
    if (scope.kind == Scope::Kind::ContextGroup) {
      op->setAttr(sym::kGroupAttr, builder.getStringAttr(scope.value));
      return;
    }
}

std::optional<Diagnostic> Graph::Impl::checkText(StringRef what, StringRef text,
                                                 const Origin &origin) {
  if (isPlainText(text))
    return std::nullopt;
  return makeError(ErrorCode::E0204, origin,
                   what.str() + " is UTF-8 without control characters, got " + inQuotes(text));
}

std::optional<Diagnostic> Graph::Impl::checkNew(StringRef wanted, const Origin &origin) {
  if (finished)
    return makeError(ErrorCode::E0318, origin,
                     "the net " + stringText(name) + " is finished, and takes no further calls");
  if (wanted.size() > kLongestName)
    return makeError(ErrorCode::E0315, origin,
                     "name of " + std::to_string(wanted.size()) + " bytes, the limit is " +
                         std::to_string(kLongestName));
  if (auto error = checkText("a name", wanted, origin))
    return error;
  for (const Scope &scope : scopes)
    if (auto error = checkText("the name of a scope", scope.value, origin))
      return error;
  if (nodes >= options.nodeLimit)
    return makeError(ErrorCode::E0311, origin,
                     "the graph has reached " + std::to_string(options.nodeLimit) +
                         " nodes, the limit",
                     "--limit nodes=N changes the limit");
  return std::nullopt;
}

//===---- Graph -------------------------------------------------------------------------------===//

Graph::Graph(std::string name, GraphOptions options)
    : impl_(std::make_unique<Impl>(std::move(name), options)) {}
Graph::~Graph() = default;

const std::string &Graph::name() const { return impl_->name; }
void Graph::push(Scope scope) { impl_->scopes.push_back(std::move(scope)); }
void Graph::pop() { impl_->scopes.pop_back(); }
int64_t Graph::nodeCount() const { return impl_->nodes; }
void Graph::rehearse() { impl_->rehearsal->begun = true; }
bool Graph::rehearsing() const { return impl_->rehearsal && impl_->rehearsal->begun; }

mlir::MLIRContext &contextOf(Graph &graph) { return graph.impl().context; }
mlir::OwningOpRef<mlir::ModuleOp> takeModule(Graph &graph) {
  return std::move(graph.impl().module);
}

//===---- settings ----------------------------------------------------------------------------===//

static mlir::ArrayAttr settingsAttr(Graph::Impl &impl, const std::vector<Setting> &settings) {
  mlir::OpBuilder &builder = impl.builder;
  llvm::SmallVector<mlir::Attribute> all;
  for (const Setting &setting : settings) {
    llvm::SmallVector<mlir::Attribute> row{builder.getStringAttr(setting.key),
                                           impl.attributeOf(setting.value)};
    llvm::SmallVector<mlir::NamedAttribute> arguments;
    for (const NamedAttribute &argument : setting.arguments)
      arguments.push_back(builder.getNamedAttr(argument.name, impl.attributeOf(argument.value)));
    if (setting.initialiser)
      row.push_back(impl.initAttr(*setting.initialiser));
    else if (!arguments.empty())
      row.push_back(builder.getDictionaryAttr(arguments));
    all.push_back(builder.getArrayAttr(row));
  }
  return builder.getArrayAttr(all);
}

/// Operands without a location get that of the call.
static std::vector<Setting> placed(std::vector<Setting> settings,
                                   const std::source_location &place) {
  for (Setting &setting : settings)
    if (setting.origin.line == 0) {
      setting.origin.file = place.file_name();
      setting.origin.line = int(place.line());
      setting.origin.column = int(place.column());
    }
  return settings;
}

void Graph::setFit(std::vector<Setting> settings, const std::source_location &place) {
  for (Setting &setting : settings)
    if (const auto *name = std::get_if<std::string>(&setting.value);
        name && setting.key == "initializer" && !setting.initialiser)
      setting.initialiser = Initialiser{.name = *name};
  impl_->fit = placed(std::move(settings), place);
  impl_->module.get()->setAttr(sym::kFitAttr, settingsAttr(*impl_, impl_->fit));
}

void Graph::setData(std::vector<Setting> settings, const std::source_location &place) {
  impl_->data = placed(std::move(settings), place);
  impl_->module.get()->setAttr(sym::kDataAttr, settingsAttr(*impl_, impl_->data));
}

const std::vector<Setting> &Graph::fit() const { return impl_->fit; }
const std::vector<Setting> &Graph::data() const { return impl_->data; }

void Graph::setSettings(const std::vector<std::pair<std::string, AttributeValue>> &settings) {
  llvm::SmallVector<mlir::Attribute> all;
  for (const auto &[key, value] : settings)
    all.push_back(impl_->builder.getArrayAttr(
        {impl_->builder.getStringAttr(key), impl_->attributeOf(value)}));
  impl_->module.get()->setAttr(sym::kSettingsAttr, impl_->builder.getArrayAttr(all));
}

} // namespace lstmc::symbol

#include "frontend/lnet/net/OpCall.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "frontend/lnet/evaluation/Collections.h"
#include "frontend/lnet/net/AttributeValues.h"

namespace lstmc::lnet {

namespace {

const symbol::OpInput *findInput(const symbol::OpSignature &op, std::string_view name) {
  for (const symbol::OpInput &input : op.inputs)
    if (input.name == name)
      return &input;
  return nullptr;
}
const symbol::OpAttribute *findAttribute(const symbol::OpSignature &op, std::string_view name) {
  for (const symbol::OpAttribute &attribute : op.attributes)
    if (attribute.name == name || std::find(attribute.aliases.begin(), attribute.aliases.end(),
                                            name) != attribute.aliases.end())
      return &attribute;
  return nullptr;
}

/// Whether the attribute's numbers are extents of the result: arange(n) has n numbers, arange(a, n)
/// ends before n.
bool holdsExtents(const symbol::OpSignature &op, std::string_view attribute) {
  return attribute == "shape" ||
         (op.name == "_arange" && (attribute == "start" || attribute == "stop"));
}

/// arange(a, n) for an a other than 0: fewer than n numbers.
bool startsElsewhere(const symbol::Call &call) {
  auto number = [&](std::string_view name) -> const double * {
    auto found = std::ranges::find(call.attributes, name, &symbol::NamedAttribute::name);
    return found == call.attributes.end() ? nullptr : std::get_if<double>(&found->value);
  };
  const double *start = number("start");
  return number("stop") && start && *start != 0;
}

/// Names of the dims used as extents, "" for plain numbers.
std::vector<std::string> dimsOf(const DimNames &names, const Value &extents) {
  std::vector<std::string> dims;
  auto add = [&](const Value &extent) { dims.push_back(names.name(extent.dim())); };
  if (extents.isSequence())
    std::ranges::for_each(extents.items(), add);
  else
    add(extents);
  return dims;
}

/// Whether the call may leave the input out.
bool mayBeAbsent(const symbol::OpInput &input) {
  return input.optional || input.parameter || input.label;
}

} // namespace

OpCall::OpCall(Run &run, Nodes &nodes, const DimNames &dims, const symbol::OpSignature &op,
               const Arguments &arguments, std::string_view shown)
    : run_(run), nodes_(nodes), dims_(dims), op_(op), arguments_(arguments), shown_(shown),
      span_(calleeSpan(arguments.call)), positional_(arguments.positional),
      places_(arguments.places), known_(!arguments.unknown) {
  call_.op = op.name;
  // As in NumPy, concatenate([a, b]) takes the tensors as one list.
  if (op.variadic && positional_.size() == 1 && positional_[0].isSequence()) {
    std::vector<Value> items = positional_[0].items();
    positional_.assign(items.begin(), items.end());
    places_.assign(items.size(), places_[0]);
  }
}

Value OpCall::make() {
  for (size_t i = 0; i < positional_.size() && takeInOrder(i);)
    ++i;
  for (const Arguments::Named &named : arguments_.named)
    takeByName(named);
  if (!arguments_.unknown && !misnamed_ && good_)
    refuseMissing();
  if (!good_ || !known_)
    return Value::unknown();
  if (op_.name == "_arange" && startsElsewhere(call_))
    call_.dims.clear();
  nameInputsAfterAbsent();
  call_.argumentPlace = [this](std::string_view argument) { return placeOf(argument); };
  return nodes_.apply(call_, span_);
}

void OpCall::fault(ErrorCode code, Span span, std::string message, std::string help) {
  run_.report(run_.makeError(code, span, std::move(message), std::move(help)));
  good_ = false;
}

//===---- arguments in order ----------------------------------------------------------------===//

bool OpCall::takeInOrder(size_t i) {
  known_ &= !positional_[i].isUnknown();
  // zeros((N, H)), full(shape, value), arange(n): where there are no inputs, attributes are meant.
  if (op_.inputs.empty() && !op_.variadic)
    return takeAttributeInOrder(i);
  return takeInputInOrder(i);
}

bool OpCall::takeAttributeInOrder(size_t i) {
  if (attributesInOrder_ >= op_.attributes.size()) {
    fault(ErrorCode::E0205, places_[i]->span,
          fmt::format("{} takes {} attributes, got {}", shown_, op_.attributes.size(),
                      positional_.size()));
    return false;
  }
  const symbol::OpAttribute &record = op_.attributes[attributesInOrder_++];
  given_.push_back(record.name);
  if (!positional_[i].isUnknown())
    takeAttribute(record, positional_[i], places_[i]);
  return true;
}

bool OpCall::takeInputInOrder(size_t i) {
  if (!op_.variadic && i >= op_.inputs.size()) {
    if (!arguments_.unknown && !positional_[i].is(ValueKind::Tensor))
      return takeAttributeInOrder(i); // clip(x, 0, 1): attributes follow the inputs
    if (!arguments_.unknown)
      fault(ErrorCode::E0205, places_[i]->span,
            fmt::format("{} takes {} input{}, got {}", shown_, op_.inputs.size(),
                        op_.inputs.size() == 1 ? "" : "s", positional_.size()));
    return false;
  }
  const Value &value = positional_[i];
  const symbol::OpInput *input = op_.variadic ? nullptr : &op_.inputs[i];
  if (input)
    given_.push_back(input->name);
  if (value.is(ValueKind::Tensor))
    call_.positional.push_back(value.as<TensorObject>().symbol);
  else if (value.is(ValueKind::None) && input && mayBeAbsent(*input))
    call_.positional.push_back({});
  else if (!value.isUnknown())
    fault(ErrorCode::E0204, places_[i]->span,
          fmt::format("{} is a tensor, got {}", input ? input->name : fmt::format("arg{}", i),
                      reprOf(value)),
          remedyFor(value, input));
  return true;
}

/// Help text for a value that is given as an input but is not a tensor.
std::string OpCall::remedyFor(const Value &value, const symbol::OpInput *input) const {
  if (value.isSequence())
    if (std::string outputs = outputNames(value.items()); !outputs.empty())
      return fmt::format("it holds {}: take one of them, x[0]", outputs);
  std::vector<std::string_view> attributes;
  for (const symbol::OpAttribute &each : op_.attributes)
    if (each.required || (input && mayBeAbsent(*input)))
      attributes.push_back(each.name);
  if ((!value.isNumber() && !value.is(ValueKind::String)) || attributes.empty())
    return {};
  return fmt::format("write attributes by name: {}={}", fmt::join(attributes, "=, "),
                     attributes.size() == 1 ? reprOf(value) : "");
}

//===---- arguments by name -----------------------------------------------------------------===//

void OpCall::takeByName(const Arguments::Named &named) {
  std::string_view name = named.argument->name;
  if (name == "name")
    return takeName(named);
  if (!op_.countAttribute.empty() && name == op_.countAttribute)
    return; // filled from the number of inputs
  const symbol::OpInput *input = findInput(op_, name);
  const symbol::OpAttribute *record = findAttribute(op_, name);
  if (!input && !record)
    return refuseName(*named.argument);
  if (record)
    name = record->name;
  if (has(name))
    return fault(ErrorCode::E0202, named.argument->nameSpan,
                 fmt::format("{} has {} twice", shown_, name));
  given_.push_back(name);
  known_ &= !named.value.isUnknown();
  if (named.value.isUnknown())
    return;
  if (input)
    takeInput(*input, named);
  else
    takeAttribute(*record, named.value, named.argument->value);
}

void OpCall::takeName(const Arguments::Named &named) {
  const Value &value = named.value;
  if (value.is(ValueKind::String))
    call_.name = value.string();
  else if (!value.isUnknown() && !value.is(ValueKind::None))
    fault(ErrorCode::E0204, named.argument->value->span,
          fmt::format("name is a string, got {}", reprOf(value)));
  known_ &= !value.isUnknown();
}

void OpCall::takeInput(const symbol::OpInput &input, const Arguments::Named &named) {
  if (named.value.is(ValueKind::Tensor))
    call_.named.emplace_back(input.name, named.value.as<TensorObject>().symbol);
  else if (!named.value.is(ValueKind::None) || !mayBeAbsent(input))
    fault(ErrorCode::E0204, named.argument->value->span,
          fmt::format("{} is a tensor, got {}", input.name, reprOf(named.value)));
}

void OpCall::takeAttribute(const symbol::OpAttribute &record, const Value &value,
                           const Expr *place) {
  std::optional<symbol::AttributeValue> converted = attributeValue(run_, op_, record, value, place);
  good_ &= converted.has_value();
  if (!converted)
    return;
  call_.attributes.push_back({record.name, std::move(*converted)});
  if (std::vector<std::string> dims = dimsOf(dims_, value);
      holdsExtents(op_, record.name) && !std::ranges::all_of(dims, &std::string::empty))
    call_.dims = std::move(dims);
}

void OpCall::refuseName(const Argument &argument) {
  std::vector<std::string_view> candidates;
  for (const symbol::OpInput &each : op_.inputs)
    candidates.push_back(each.name);
  for (const symbol::OpAttribute &each : op_.attributes)
    candidates.push_back(each.name);
  candidates.push_back("name");
  run_.unknownName(ErrorCode::E0202, argument.nameSpan,
                   fmt::format("{} has no attribute \"{}\"", shown_, argument.name),
                   NameKind::Attribute, argument.name, candidates);
  good_ = false;
  misnamed_ = true;
}

//===---- the whole call --------------------------------------------------------------------===//

bool OpCall::has(std::string_view name) const {
  return std::ranges::find(given_, name) != given_.end();
}

void OpCall::refuseMissing() {
  auto need = [&](std::string_view name) {
    const bool isInput = op_.variadic || (!op_.inputs.empty() && op_.inputs[0].name == name);
    fault(ErrorCode::E0203, span_, fmt::format("{} needs {}", shown_, name),
          isInput ? fmt::format("it is one call, with its input first: {}(x)", shown_) : "");
  };
  if (op_.variadic && positional_.empty() && call_.named.empty())
    need("arg0");
  for (const symbol::OpInput &input : op_.inputs)
    if (!op_.variadic && !mayBeAbsent(input) && !has(input.name))
      need(input.name);
  for (const symbol::OpAttribute &record : op_.attributes)
    if (record.required && !has(record.name) && record.name != op_.countAttribute)
      need(record.name);
}

void OpCall::nameInputsAfterAbsent() {
  auto absent = std::ranges::find_if(call_.positional, [](const auto &input) { return !input; });
  size_t first = absent - call_.positional.begin();
  for (size_t i = first; i < call_.positional.size(); ++i)
    if (call_.positional[i])
      call_.named.emplace_back(op_.inputs[i].name, call_.positional[i]);
  call_.positional.resize(first);
}

std::optional<SourceRange> OpCall::placeOf(std::string_view argument) const {
  if (run_.at.module->internal)
    return std::nullopt;
  for (const Arguments::Named &named : arguments_.named)
    if (named.argument->name == argument)
      return run_.place(named.argument->value->span);
  for (size_t i = 0; i < places_.size(); ++i)
    if (op_.variadic ? argument == fmt::format("arg{}", i)
                     : i < op_.inputs.size() && op_.inputs[i].name == argument)
      return run_.place(places_[i]->span);
  return std::nullopt;
}

} // namespace lstmc::lnet

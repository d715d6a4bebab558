// Calls of ops and operators on tensors: arguments to inputs and attributes, then a node of the
// graph.
#include "frontend/lnet/Evaluator.h"
#include "frontend/symbol/Suggest.h"

namespace lstmc::lnet {

namespace {

/// Operators of two tensors, of a tensor and a number, of a number and a tensor.
struct Operator {
  TokenKind sign;
  std::string_view tensors, number, numberFirst;
};
constexpr Operator kOperators[] = {
    {TokenKind::Plus, "elemwise_add", "_plus_scalar", "_plus_scalar"},
    {TokenKind::Minus, "elemwise_sub", "_minus_scalar", "_rminus_scalar"},
    {TokenKind::Star, "elemwise_mul", "_mul_scalar", "_mul_scalar"},
    {TokenKind::Slash, "elemwise_div", "_div_scalar", "_rdiv_scalar"},
    {TokenKind::Percent, "_mod", "_mod_scalar", "_rmod_scalar"},
    {TokenKind::DoubleStar, "_power", "_power_scalar", "_rpower_scalar"},
};
struct Comparison {
  CompareOp op;
  std::string_view tensors, number, numberFirst;
};
constexpr Comparison kComparisons[] = {
    {CompareOp::Equal, "_equal", "_equal_scalar", "_equal_scalar"},
    {CompareOp::NotEqual, "_not_equal", "_not_equal_scalar", "_not_equal_scalar"},
    {CompareOp::Less, "_lesser", "_lesser_scalar", "_greater_scalar"},
    {CompareOp::LessEqual, "_lesser_equal", "_lesser_equal_scalar", "_greater_equal_scalar"},
    {CompareOp::Greater, "_greater", "_greater_scalar", "_lesser_scalar"},
    {CompareOp::GreaterEqual, "_greater_equal", "_greater_equal_scalar", "_lesser_equal_scalar"},
};
/// Ops of two tensors that take a number for one as well, as MXNet's functions of the same name do.
constexpr std::string_view kWithNumbers[][3] = {
    {"_maximum", "_maximum_scalar", "_maximum_scalar"},
    {"_minimum", "_minimum_scalar", "_minimum_scalar"},
    {"_hypot", "_hypot_scalar", "_hypot_scalar"},
    {"_mod", "_mod_scalar", "_rmod_scalar"},
    {"_power", "_power_scalar", "_rpower_scalar"},
};

std::string_view kindText(symbol::OpAttribute::Kind kind) {
  using Kind = symbol::OpAttribute::Kind;
  switch (kind) {
  case Kind::Integer:
    return "an integer";
  case Kind::Float:
    return "a number";
  case Kind::Boolean:
    return "a bool";
  case Kind::String:
    return "a string";
  case Kind::Choice:
    return "a string";
  case Kind::Tuple:
    return "a tuple of integers";
  case Kind::DType:
    return "a dtype";
  }
  return "";
}

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

bool isFill(const symbol::OpSignature &op) {
  return op.name == "_zeros" || op.name == "_ones" || op.name == "_full";
}

/// Whether the attribute's numbers are extents of what the op makes: arange(n) has n numbers,
/// arange(a, n) is up to n.
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

} // namespace

bool Evaluator::mayDraw(std::string_view what, Span span) {
  if (graph_)
    return true;
  error(ErrorCode::E0319, span, "{} makes a tensor, and tensors are made in a net only", what);
  return false;
}

Value Evaluator::wrap(const std::vector<symbol::Symbol> &symbols) {
  if (symbols.size() == 1)
    return wrap(symbols[0]);
  std::vector<Value> items;
  items.reserve(symbols.size());
  for (const symbol::Symbol &symbol : symbols)
    items.push_back(wrap(symbol));
  return heap_.make<SequenceObject>(ValueKind::Tuple, std::move(items));
}

Value Evaluator::apply(symbol::Call &call, Span origin) {
  call.origin = place(origin);
  if (module_->internal) {
    call.shown = layerShown_;
    // layers.lnet names its parameters with the scopes in front, and its nodes too; the graph adds
    // them to nodes.
    std::string scopes;
    for (const std::string &scope : nameScopes_)
      scopes += scope + "_";
    if (call.name.starts_with(scopes))
      call.name.erase(0, scopes.size());
  }
  if (call.name.size() > options_.limits.name)
    return limitError(
        ErrorCode::E0315, origin,
        fmt::format("name of {} bytes, the limit is {}", call.name.size(), options_.limits.name),
        "name");
  Checked<std::vector<symbol::Symbol>> made = graph_->apply(call);
  reportGraph(std::move(made.diagnostics()));
  if (!made.ok())
    return Value::unknown();
  if (!checkNodes(origin))
    return Value::unknown();
  return wrap(*made);
}

Value Evaluator::applyOne(std::string_view op, std::vector<Value> inputs,
                          std::vector<symbol::NamedAttribute> attributes, Span origin,
                          std::vector<const Expr *> places) {
  if (!mayDraw(op, origin))
    return Value::unknown();
  const symbol::OpSignature *signature = symbol::findOp(op);
  if (!signature)
    return error(ErrorCode::E0215, origin, "{} is not built yet", op);
  symbol::Call call;
  call.op = signature->name;
  for (const Value &input : inputs) {
    if (!input.is(ValueKind::Tensor))
      return Value::unknown();
    call.positional.push_back(input.as<TensorObject>().symbol);
  }
  call.attributes = std::move(attributes);
  struct Places {
    Evaluator *evaluator;
    const symbol::OpSignature *op;
    const std::vector<const Expr *> *exprs;
  } where{this, signature, &places};
  call.argumentPlace = [&where](std::string_view name) -> std::optional<SourceRange> {
    for (size_t i = 0; i < where.exprs->size(); ++i)
      if (i < where.op->inputs.size() && where.op->inputs[i].name == name &&
          !where.evaluator->module_->internal)
        return where.evaluator->place((*where.exprs)[i]->span);
    return std::nullopt;
  };
  return apply(call, origin);
}

Value Evaluator::tensorBinary(TokenKind sign, const Value &left, const Value &right, Span opSpan,
                              const Expr *leftPlace, const Expr *rightPlace) {
  bool both = left.is(ValueKind::Tensor) && right.is(ValueKind::Tensor);
  if (both && sign == TokenKind::At)
    return applyOne("dot", {left, right}, {}, opSpan, {leftPlace, rightPlace});
  for (const Operator &op : kOperators) {
    if (op.sign != sign)
      continue;
    if (both)
      return applyOne(op.tensors, {left, right}, {}, opSpan, {leftPlace, rightPlace});
    if (right.isNumber())
      return applyOne(op.number, {left}, {{"scalar", right.number()}}, opSpan, {leftPlace});
    if (left.isNumber())
      return applyOne(op.numberFirst, {right}, {{"scalar", left.number()}}, opSpan, {rightPlace});
  }
  return error(ErrorCode::E0317, opSpan, "\"{}\" has no meaning for {} and {}", spelling(sign),
               kindName(left.kind()), kindName(right.kind()));
}

Value Evaluator::tensorCompare(CompareOp compare, const Value &left, const Value &right,
                               const CompareTerm &term, const Expr *leftPlace) {
  for (const Comparison &op : kComparisons) {
    if (op.op != compare)
      continue;
    if (left.is(ValueKind::Tensor) && right.is(ValueKind::Tensor))
      return applyOne(op.tensors, {left, right}, {}, term.opSpan, {leftPlace, term.right});
    if (right.isNumber())
      return applyOne(op.number, {left}, {{"scalar", right.number()}}, term.opSpan, {leftPlace});
    return applyOne(op.numberFirst, {right}, {{"scalar", left.number()}}, term.opSpan,
                    {term.right});
  }
  return Value::unknown();
}

std::optional<symbol::AttributeValue> Evaluator::attribute(const symbol::OpSignature &op,
                                                           const symbol::OpAttribute &record,
                                                           const Value &value, const Expr *place) {
  using Kind = symbol::OpAttribute::Kind;
  auto refuse = [&]() -> std::optional<symbol::AttributeValue> {
    std::string wanted(kindText(record.kind));
    Diagnostic diagnostic;
    if (record.kind == Kind::Choice) {
      wanted = "one of ";
      for (const std::string &choice : record.choices)
        wanted += (&choice == &record.choices.front() ? "" : ", ") + choice;
    }
    std::string found = value.is(ValueKind::Tensor) ? "a tensor" : reprOf(value);
    std::string help;
    if (record.kind == Kind::Choice && value.is(ValueKind::String))
      help = didYouMean(value.string(), {record.choices.begin(), record.choices.end()});
    report(makeError(ErrorCode::E0204, place->span,
                     fmt::format("{} is {}, got {}", record.name, wanted, found), help));
    return std::nullopt;
  };
  if (value.is(ValueKind::None))
    return record.nullable ? std::optional<symbol::AttributeValue>(symbol::AttributeValue())
                           : refuse();
  switch (record.kind) {
  case Kind::Integer:
    if (!value.is(ValueKind::Integer))
      return refuse();
    if (record.name == "num_outputs" && value.integer() > int64_t(options_.limits.list)) {
      limitError(ErrorCode::E0314, place->span,
                 fmt::format("tuple of {} elements, the limit is {}", grouped(value.integer()),
                             grouped(int64_t(options_.limits.list))),
                 "list");
      return std::nullopt;
    }
    return value.integer();
  case Kind::Float:
    return value.isNumber() ? std::optional<symbol::AttributeValue>(value.number()) : refuse();
  case Kind::Boolean:
    return value.is(ValueKind::Bool) ? std::optional<symbol::AttributeValue>(value.boolean())
                                     : refuse();
  case Kind::String:
    return value.is(ValueKind::String) ? std::optional<symbol::AttributeValue>(value.string())
                                       : refuse();
  case Kind::Choice:
    if (!value.is(ValueKind::String) || std::find(record.choices.begin(), record.choices.end(),
                                                  value.string()) == record.choices.end())
      return refuse();
    return value.string();
  case Kind::DType: {
    std::optional<DType> dtype =
        value.is(ValueKind::String) ? parseDType(value.string()) : std::nullopt;
    if (!dtype)
      return refuse();
    return std::string(dtypeLongName(*dtype));
  }
  case Kind::Tuple: {
    symbol::Tuple tuple;
    bool shape = record.name == "shape" && isFill(op);
    auto entry = [&](const Value &item) {
      if (item.is(ValueKind::Integer) && shape && item.integer() < 1) {
        error(ErrorCode::E0206, place->span, "dimension {} (write _ for one to infer)",
              item.integer());
        return false;
      }
      if (item.is(ValueKind::Infer) && shape)
        tuple.push_back(0);
      else if (item.is(ValueKind::Integer))
        tuple.push_back(item.integer());
      else if (item.is(ValueKind::None))
        tuple.push_back(std::nullopt);
      else
        return refuse(), false;
      return true;
    };
    if (!value.isSequence()) {
      if (!entry(value))
        return std::nullopt;
    } else {
      for (const Value &item : value.items()) {
        if (item.isUnknown())
          return std::nullopt;
        if (!entry(item))
          return std::nullopt;
      }
    }
    if (tuple.size() > options_.limits.rank && record.name != "axis") {
      report(makeError(ErrorCode::E0319, place->span,
                       fmt::format("tensor of {} dimensions, the limit is {}", tuple.size(),
                                   options_.limits.rank),
                       "--limit rank=N changes the limit"));
      return std::nullopt;
    }
    return tuple;
  }
  }
  return std::nullopt;
}

std::vector<std::string> Evaluator::dimsOf(const Value &extents) const {
  std::vector<std::string> dims;
  auto add = [&](const Value &extent) {
    dims.push_back(extent.dim() ? dims_[extent.dim() - 1] : std::string());
  };
  if (extents.isSequence())
    std::ranges::for_each(extents.items(), add);
  else
    add(extents);
  return dims;
}

Value Evaluator::callOp(const symbol::OpSignature &op, Arguments &arguments) {
  Span span = calleeSpan(arguments.call);
  std::string_view written = module_->file->text(span);
  std::string_view shown = written.empty() ? std::string_view(op.name) : written;
  if (op.name == "Custom")
    return builtinCustom(arguments);
  if (!mayDraw(shown, span))
    return Value::unknown();
  for (auto &row : kWithNumbers)
    if (row[0] == op.name && arguments.positional.size() == 2 && arguments.named.empty()) {
      const Value &left = arguments.positional[0], &right = arguments.positional[1];
      if (left.is(ValueKind::Tensor) && right.isNumber())
        return applyOne(row[1], {left}, {{"scalar", right.number()}}, span, {arguments.places[0]});
      if (left.isNumber() && right.is(ValueKind::Tensor))
        return applyOne(row[2], {right}, {{"scalar", left.number()}}, span, {arguments.places[1]});
    }

  bool good = true, known = !arguments.unknown;
  auto fault = [&](Diagnostic diagnostic) {
    report(std::move(diagnostic));
    good = false;
  };
  symbol::Call call;
  call.op = op.name;
  llvm::SmallVector<std::string_view, 8> given;
  llvm::SmallVector<Value, 6> positional = arguments.positional;
  llvm::SmallVector<const Expr *, 6> places = arguments.places;
  // NumPy's concatenate([a, b]): the tensors as one list.
  if (op.variadic && positional.size() == 1 && positional[0].isSequence()) {
    std::vector<Value> items = positional[0].items();
    positional.assign(items.begin(), items.end());
    places.assign(items.size(), places[0]);
  }

  auto addAttribute = [&](const symbol::OpAttribute &record, const Value &value,
                          const Expr *place) {
    auto converted = attribute(op, record, value, place);
    good &= converted.has_value();
    if (!converted)
      return;
    call.attributes.push_back({record.name, std::move(*converted)});
    if (std::vector<std::string> dims = dimsOf(value);
        holdsExtents(op, record.name) && !std::ranges::all_of(dims, &std::string::empty))
      call.dims = std::move(dims);
  };

  size_t attributesInOrder = 0;
  for (size_t i = 0; i < positional.size(); ++i) {
    const Value &value = positional[i];
    known &= !value.isUnknown();
    if (op.inputs.empty() && !op.variadic) {
      // zeros((N, H)), full(shape, value), arange(n): nothing else can be meant.
      if (attributesInOrder >= op.attributes.size()) {
        fault(makeError(ErrorCode::E0205, places[i]->span,
                        fmt::format("{} takes {} attributes, got {}", shown, op.attributes.size(),
                                    positional.size())));
        break;
      }
      const symbol::OpAttribute &record = op.attributes[attributesInOrder++];
      given.push_back(record.name);
      if (!value.isUnknown())
        addAttribute(record, value, places[i]);
      continue;
    }
    if (!op.variadic && i >= op.inputs.size()) {
      if (!arguments.unknown)
        fault(makeError(ErrorCode::E0205, places[i]->span,
                        fmt::format("{} takes {} input{}, got {}", shown, op.inputs.size(),
                                    op.inputs.size() == 1 ? "" : "s", positional.size())));
      break;
    }
    const symbol::OpInput *input = op.variadic ? nullptr : &op.inputs[i];
    if (input)
      given.push_back(input->name);
    if (value.is(ValueKind::Tensor)) {
      call.positional.push_back(value.as<TensorObject>().symbol);
    } else if (value.is(ValueKind::None) && input &&
               (input->optional || input->parameter || input->label)) {
      call.positional.push_back({});
    } else if (!value.isUnknown()) {
      fault(makeError(ErrorCode::E0204, places[i]->span,
                      fmt::format("{} is a tensor, got {}",
                                  input ? input->name : fmt::format("arg{}", i), reprOf(value))));
    }
  }

  bool misnamed = false;
  for (auto &named : arguments.named) {
    std::string_view name = named.argument->name;
    const Value &value = named.value;
    if (name == "name") {
      if (value.is(ValueKind::String))
        call.name = value.string();
      else if (!value.isUnknown() && !value.is(ValueKind::None))
        fault(makeError(ErrorCode::E0204, named.argument->value->span,
                        fmt::format("name is a string, got {}", reprOf(value))));
      known &= !value.isUnknown();
      continue;
    }
    if (!op.countAttribute.empty() && name == op.countAttribute)
      continue;
    const symbol::OpInput *input = findInput(op, name);
    const symbol::OpAttribute *record = findAttribute(op, name);
    if (!input && !record) {
      std::vector<std::string_view> candidates{"name"};
      for (const symbol::OpInput &each : op.inputs)
        candidates.push_back(each.name);
      for (const symbol::OpAttribute &each : op.attributes)
        candidates.push_back(each.name);
      fault(makeError(ErrorCode::E0202, named.argument->nameSpan,
                      fmt::format("{} has no attribute \"{}\"", shown, name),
                      didYouMean(name, candidates)));
      misnamed = true;
      continue;
    }
    if (record)
      name = record->name;
    if (std::find(given.begin(), given.end(), name) != given.end()) {
      fault(makeError(ErrorCode::E0202, named.argument->nameSpan,
                      fmt::format("{} has {} twice", shown, name)));
      continue;
    }
    given.push_back(name);
    known &= !value.isUnknown();
    if (value.isUnknown())
      continue;
    if (input) {
      if (value.is(ValueKind::Tensor))
        call.named.emplace_back(name, value.as<TensorObject>().symbol);
      else if (!value.is(ValueKind::None) || !(input->optional || input->parameter || input->label))
        fault(makeError(ErrorCode::E0204, named.argument->value->span,
                        fmt::format("{} is a tensor, got {}", name, reprOf(value))));
      continue;
    }
    addAttribute(*record, value, named.argument->value);
  }

  auto missing = [&](const std::string &name) {
    return std::find(given.begin(), given.end(), name) == given.end();
  };
  if (!arguments.unknown && !misnamed && good) {
    for (const symbol::OpInput &input : op.inputs)
      if (!op.variadic && !input.optional && !input.parameter && !input.label &&
          missing(input.name))
        fault(makeError(ErrorCode::E0203, span, fmt::format("{} needs {}", shown, input.name)));
    if (op.variadic && positional.empty() && call.named.empty())
      fault(makeError(ErrorCode::E0203, span, fmt::format("{} needs arg0", shown)));
    for (const symbol::OpAttribute &record : op.attributes)
      if (record.required && missing(record.name) && record.name != op.countAttribute)
        fault(makeError(ErrorCode::E0203, span, fmt::format("{} needs {}", shown, record.name)));
  }
  if (!good || !known)
    return Value::unknown();
  if (op.name == "_arange" && startsElsewhere(call))
    call.dims.clear();
  // What stands after an input that is absent goes by its name.
  for (size_t i = 0; i < call.positional.size(); ++i)
    if (!call.positional[i]) {
      for (size_t k = i + 1; k < call.positional.size(); ++k)
        if (call.positional[k])
          call.named.emplace_back(op.inputs[k].name, call.positional[k]);
      call.positional.resize(i);
    }

  struct Places {
    Evaluator *evaluator;
    const symbol::OpSignature *op;
    const Arguments *arguments;
    const llvm::SmallVector<const Expr *, 6> *exprs;
  } where{this, &op, &arguments, &places};
  call.argumentPlace = [&where](std::string_view name) -> std::optional<SourceRange> {
    if (where.evaluator->module_->internal)
      return std::nullopt;
    for (auto &named : where.arguments->named)
      if (named.argument->name == name)
        return where.evaluator->place(named.argument->value->span);
    for (size_t i = 0; i < where.exprs->size(); ++i)
      if (where.op->variadic ? name == fmt::format("arg{}", i)
                             : i < where.op->inputs.size() && where.op->inputs[i].name == name)
        return where.evaluator->place((*where.exprs)[i]->span);
    return std::nullopt;
  };
  return apply(call, span);
}

} // namespace lstmc::lnet

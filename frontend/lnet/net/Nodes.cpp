#include "frontend/lnet/net/Nodes.h"

namespace lstmc::lnet {

std::string Nodes::namePrefix() const {
  std::string prefix;
  for (const std::string &scope : nameScopes)
    prefix += scope + "_";
  return prefix;
}

Value Nodes::values(const std::vector<symbol::Symbol> &symbols) {
  if (symbols.size() == 1)
    return tensor(symbols[0]);
  std::vector<Value> items;
  items.reserve(symbols.size());
  for (symbol::Symbol symbol : symbols)
    items.push_back(tensor(symbol));
  return run_.heap.make<SequenceObject>(ValueKind::Tuple, std::move(items));
}

Value Nodes::apply(symbol::Call &call, Span origin) {
  ++calls_;
  call.origin = run_.place(origin);
  if (run_.at.module->internal) {
    call.shown = run_.at.layerShown;
    // Names in layers.lnet begin with the name scopes. The graph adds the scopes to names of nodes
    // itself, so they are taken off here.
    std::string prefix = namePrefix();
    if (call.name.starts_with(prefix))
      call.name.erase(0, prefix.size());
  }
  if (!checkNameLength(run_, call.name, origin))
    return Value::unknown();
  Checked<std::vector<symbol::Symbol>> outputs = run_.graph->apply(call);
  report(std::move(outputs.diagnostics()));
  if (!outputs.ok() || !run_.checkNodes(origin))
    return Value::unknown();
  return values(*outputs);
}

Value Nodes::applyOne(std::string_view op, const std::vector<Value> &inputs,
                      std::vector<symbol::NamedAttribute> attributes, Span origin,
                      std::vector<const Expr *> places) {
  if (!run_.mayDraw(op, origin))
    return Value::unknown();
  const symbol::OpSignature *signature = symbol::findOp(op);
  if (!signature)
    return run_.error(ErrorCode::E0215, origin, "{} is not built yet", op);
  symbol::Call call;
  call.op = signature->name;
  for (const Value &input : inputs) {
    if (!input.is(ValueKind::Tensor))
      return Value::unknown();
    call.positional.push_back(input.as<TensorObject>().symbol);
  }
  call.attributes = std::move(attributes);
  call.argumentPlace = [&](std::string_view name) -> std::optional<SourceRange> {
    if (run_.at.module->internal)
      return std::nullopt;
    for (size_t i = 0; i < places.size() && i < signature->inputs.size(); ++i)
      if (signature->inputs[i].name == name)
        return run_.place(places[i]->span);
    return std::nullopt;
  };
  return apply(call, origin);
}

Value Nodes::variable(const std::string &name, const symbol::VariableOptions &options,
                      Span origin) {
  ++declarations_;
  return made(run_.graph->variable(name, options, run_.place(origin)), origin);
}

Value Nodes::beginState(const std::string &name, DType dtype, const symbol::Shape &shape,
                        Span origin) {
  ++declarations_;
  return made(run_.graph->beginState(name, dtype, shape, run_.place(origin)), origin);
}

Value Nodes::made(Checked<symbol::Symbol> symbol, Span origin) {
  report(std::move(symbol.diagnostics()));
  return symbol.ok() && run_.checkNodes(origin) ? tensor(*symbol) : Value::unknown();
}

/// The diagnostics have the places that calls gave; only the text of very long lines is missing.
void Nodes::report(Diagnostics diagnostics) {
  if (!diagnostics.empty() && run_.giveUpRehearsal())
    return;
  for (Diagnostic &diagnostic : diagnostics) {
    files_.fillLine(diagnostic.place);
    for (SourceRange &range : diagnostic.also)
      files_.fillLine(range);
    if (!diagnostic.place.calls.empty())
      diagnostic.reasons.push_back({contextText(diagnostic.place), diagnostic.place});
    run_.problems().add(std::move(diagnostic));
  }
}

bool checkNameLength(Run &run, std::string_view name, Span span) {
  if (name.size() <= run.limits().name)
    return true;
  run.limitError(ErrorCode::E0315, span,
                 fmt::format("name of {} bytes, the limit is {}", name.size(), run.limits().name),
                 "name");
  return false;
}

} // namespace lstmc::lnet

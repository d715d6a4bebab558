#include "frontend/lnet/net/Scopes.h"

namespace lstmc::lnet {

namespace {

using Kind = symbol::Scope::Kind;

struct ScopeRow {
  std::string_view name, parameter; ///< no parameter: empty
  Kind kind;
};
constexpr ScopeRow kScopes[] = {{"ctx_group", "group", Kind::ContextGroup},
                                {"recompute", "", Kind::Recompute},
                                {"dtype", "dtype", Kind::DType},
                                {"name_scope", "prefix", Kind::NameScope}};

} // namespace

Scopes::Scopes(Interpreter &interpreter, Nodes &nodes)
    : interpreter_(interpreter), run_(interpreter.run), nodes_(nodes) {}

size_t Scopes::open(const WithStmt *stmt) {
  size_t before = open_.size();
  for (const ScopeItem &item : stmt->scopes) {
    Arguments arguments;
    interpreter_.calls.evaluateArguments(item.call, arguments);
    auto row = std::ranges::find(kScopes, item.name, &ScopeRow::name);
    if (row == std::end(kScopes)) {
      std::vector<std::string_view> names;
      for (const ScopeRow &each : kScopes)
        names.push_back(each.name);
      run_.unknownName(ErrorCode::E0201, item.nameSpan,
                       fmt::format("no scope is named \"{}\"", item.name), NameKind::Scope,
                       item.name, names);
      continue;
    }
    std::optional<std::string> text = argument(item, row->parameter, arguments);
    if (!text)
      continue;
    if (row->kind == Kind::NameScope)
      nodes_.nameScopes.push_back(*text);
    if (run_.graph)
      run_.graph->push({row->kind, *text, placeOf(item, row->kind)});
    open_.push_back({row->kind, &item, run_.graph, countFor(row->kind)});
  }
  return open_.size() - before;
}

void Scopes::close(size_t count) {
  for (; count > 0; --count) {
    if (open_.back().graph)
      open_.back().graph->pop();
    if (open_.back().kind == Kind::NameScope)
      nodes_.nameScopes.pop_back();
    const Open &last = open_.back();
    if (last.graph && countFor(last.kind) == last.before && !run_.problems().any())
      run_.warn(ErrorCode::E0319, last.item->nameSpan,
                fmt::format("{} has no effect: no op is called in it", last.item->name));
    open_.pop_back();
  }
}

SourceRange Scopes::placeOf(const ScopeItem &item, Kind kind) const {
  if (kind != Kind::Recompute)
    return {};
  SourceRange place = run_.place(item.nameSpan);
  place.loops.clear();
  place.calls.clear();
  return place;
}

int64_t Scopes::countFor(Kind kind) const {
  return nodes_.calls() + (kind == Kind::ContextGroup ? nodes_.declarations() : 0);
}

std::optional<std::string> Scopes::argument(const ScopeItem &item, std::string_view parameter,
                                            Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (parameter.empty())
    return bindBuiltin(run_, item.name, arguments, {}, values) ? std::optional<std::string>("")
                                                               : std::nullopt;
  if (!bindBuiltin(run_, item.name, arguments, {{parameter, true}}, values, &places) ||
      values[0].isUnknown())
    return std::nullopt;
  Span span = places[0]->span;
  if (!values[0].is(ValueKind::String)) {
    run_.error(ErrorCode::E0204, span, "{} of {} is a string, got {}", parameter, item.name,
               reprOf(values[0]));
    return std::nullopt;
  }
  const std::string &text = values[0].string();
  if (!checkNameLength(run_, text, span))
    return std::nullopt;
  if (item.name == "dtype") {
    std::optional<DType> dtype = parseDType(text);
    if (!dtype)
      run_.error(ErrorCode::E0204, span, "no dtype is named {}", reprOf(values[0]));
    else if (!isFloat(*dtype))
      run_.error(ErrorCode::E0204, span, "dtype(..) takes a type of floats, got {}",
                 reprOf(values[0]));
    return dtype && isFloat(*dtype) ? std::optional(text) : std::nullopt;
  }
  return text;
}

} // namespace lstmc::lnet

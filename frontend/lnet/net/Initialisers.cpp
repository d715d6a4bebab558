#include "frontend/lnet/net/Initialisers.h"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

namespace lstmc::lnet {

using symbol::InitialiserRow, symbol::kInitialisers;

std::span<const BuiltinRow<Initialisers>> Initialisers::functions() {
  static constexpr auto kTable = []<size_t... Rows>(std::index_sequence<Rows...>) {
    using Row = BuiltinRow<Initialisers>;
    return std::array{Row{kInitialisers[Rows].shown, &Initialisers::ofRow<Rows>}...,
                      Row{"Mixed", &Initialisers::mixed}, Row{"Load", &Initialisers::load}};
  }(std::make_index_sequence<std::size(kInitialisers)>());
  return kTable;
}

namespace {

/// The words that an argument accepts; empty for a number.
std::vector<std::string_view> wordsOf(std::string_view argument) {
  if (argument == "rnd_type")
    return {"uniform", "gaussian"};
  if (argument == "rand_type")
    return {"uniform", "normal"};
  if (argument == "factor_type")
    return {"avg", "in", "out"};
  return {};
}

/// E0204 and nullopt for a value of another kind.
std::optional<symbol::AttributeValue> argumentValue(Run &run, std::string_view name,
                                                    const Value &value, Span span) {
  std::vector<std::string_view> words = wordsOf(name);
  if (words.empty()) {
    if (value.isNumber())
      return value.number();
    run.error(ErrorCode::E0204, span, "{} is a number, got {}", name, reprOf(value));
    return std::nullopt;
  }
  if (value.is(ValueKind::String) && std::ranges::find(words, value.string()) != words.end())
    return value.string();
  run.error(ErrorCode::E0204, span, "{} is one of {}, got {}", name, fmt::join(words, ", "),
            reprOf(value));
  return std::nullopt;
}

} // namespace

Value Initialisers::simple(Arguments &arguments, const InitialiserRow &row) {
  std::vector<std::string_view> parameters(row.parameters.begin(),
                                           std::ranges::find(row.parameters, ""));
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (arguments.unknown ||
      !bindArguments(run_, row.shown, "attribute", arguments, parameters, values, &places))
    return Value::unknown();
  symbol::Initialiser init;
  init.name = row.name;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].is(ValueKind::Unset)) {
      if (i == 0 && row.required)
        return run_.error(ErrorCode::E0203, calleeSpan(arguments.call), "{} needs {}", row.shown,
                          parameters[i]);
      continue;
    }
    if (values[i].isUnknown())
      return values[i];
    std::optional<symbol::AttributeValue> taken =
        argumentValue(run_, parameters[i], values[i], places[i]->span);
    if (!taken)
      return Value::unknown();
    init.arguments.push_back({std::string(parameters[i]), std::move(*taken)});
  }
  return run_.heap.make<InitialiserObject>(std::move(init));
}

Value Initialisers::mixed(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin(run_, "Mixed", arguments, {{"patterns", true}, {"initializers", true}}, values,
                   &places) ||
      values[0].isUnknown() || values[1].isUnknown())
    return Value::unknown();
  for (size_t i : {size_t(0), size_t(1)})
    if (!values[i].isSequence())
      return run_.error(ErrorCode::E0204, places[i]->span, "{} is a list, got {}",
                        i ? "initializers" : "patterns", reprOf(values[i]));
  if (values[0].items().size() != values[1].items().size())
    return run_.error(ErrorCode::E0204, places[1]->span,
                      "Mixed has {} patterns and {} initializers", values[0].items().size(),
                      values[1].items().size());
  symbol::Initialiser init;
  init.name = "mixed";
  for (const Value &pattern : values[0].items()) {
    if (!pattern.is(ValueKind::String))
      return run_.error(ErrorCode::E0204, places[0]->span, "a pattern is a string, got {}",
                        reprOf(pattern));
    if (std::optional<std::string> problem = symbol::patternProblem(pattern.string()))
      return run_.error(ErrorCode::E0204, places[0]->span, "pattern {}: {}", reprOf(pattern),
                        *problem);
    init.patterns.push_back(pattern.string());
  }
  for (const Value &each : values[1].items()) {
    std::optional<symbol::Initialiser> inner = values_.initialiserOf(each, places[1]);
    if (!inner)
      return Value::unknown();
    init.initialisers.push_back(std::move(*inner));
  }
  return run_.heap.make<InitialiserObject>(std::move(init));
}

Value Initialisers::load(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin(run_, "Load", arguments, {{"param", true}, {"default_init"}}, values, &places) ||
      values[0].isUnknown() || values[1].isUnknown())
    return Value::unknown();
  if (!values[0].is(ValueKind::String))
    return run_.error(ErrorCode::E0204, places[0]->span, "param is the name of a file, got {}",
                      reprOf(values[0]));
  std::optional<symbol::Initialiser> otherwise;
  if (!values[1].is(ValueKind::Unset) && !values[1].is(ValueKind::None)) {
    otherwise = values_.initialiserOf(values[1], places[1]);
    if (!otherwise)
      return Value::unknown();
  }
  auto init = values_.ofWeights(values[0].string(), std::move(otherwise), places[0]);
  return init ? run_.heap.make<InitialiserObject>(std::move(*init)) : Value::unknown();
}

} // namespace lstmc::lnet

// abs, round, int, float, str, bool, list, tuple, dict.
#include <charconv>
#include <cmath>

#include "frontend/lnet/evaluation/Collections.h"
#include "frontend/lnet/evaluation/Interpreter.h"
#include "frontend/lnet/evaluation/Operators.h"
#include "frontend/lnet/evaluation/PythonFunctions.h"

namespace lstmc::lnet {

ConversionFunctions::ConversionFunctions(Interpreter &interpreter)
    : interpreter_(interpreter), run_(interpreter.run) {}

std::span<const BuiltinRow<ConversionFunctions>> ConversionFunctions::functions() {
  static constexpr BuiltinRow<ConversionFunctions> kTable[] = {
      {"abs", &ConversionFunctions::abs},   {"round", &ConversionFunctions::round},
      {"int", &ConversionFunctions::toInt}, {"float", &ConversionFunctions::toFloat},
      {"str", &ConversionFunctions::str},   {"bool", &ConversionFunctions::toBool},
      {"list", &ConversionFunctions::list}, {"tuple", &ConversionFunctions::tuple},
      {"dict", &ConversionFunctions::dict},
  };
  return kTable;
}

Value ConversionFunctions::abs(Arguments &arguments) {
  if (const symbol::OpSignature *op = opOnTensor(arguments, "abs"))
    return interpreter_.tensors.call(*op, arguments);
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin(run_, "abs", arguments, {{"of", true}}, values, &places))
    return Value::unknown();
  if (values[0].is(ValueKind::Float))
    return Value::number(std::fabs(values[0].number()));
  if (values[0].is(ValueKind::Integer)) {
    if (values[0].integer() == INT64_MIN)
      return run_.error(ErrorCode::E0304, places[0]->span, "abs({}) overflows",
                        values[0].integer());
    return Value::integer(std::abs(values[0].integer()));
  }
  if (values[0].isUnknown())
    return values[0];
  return run_.error(ErrorCode::E0317, places[0]->span, "abs has no meaning for {}",
                    kindName(values[0].kind()));
}

/// Python's round: halves to even; with `digits`, a float with that many decimals.
Value ConversionFunctions::round(Arguments &arguments) {
  if (const symbol::OpSignature *op = opOnTensor(arguments, "round"))
    return interpreter_.tensors.call(*op, arguments);
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin(run_, "round", arguments, {{"of", true}, {"digits"}}, values, &places) ||
      values[0].isUnknown() || values[1].isUnknown())
    return Value::unknown();
  if (!values[0].isNumber())
    return run_.error(ErrorCode::E0317, places[0]->span, "round has no meaning for {}",
                      kindName(values[0].kind()));
  if (values[1].is(ValueKind::Unset) || values[1].is(ValueKind::None)) {
    if (values[0].is(ValueKind::Integer))
      return values[0];
    double whole = std::nearbyint(values[0].number());
    if (std::fabs(whole) >= 0x1p63)
      return run_.error(ErrorCode::E0304, places[0]->span, "round({}) overflows",
                        reprOf(values[0]));
    return Value::integer(int64_t(whole));
  }
  if (!values[1].is(ValueKind::Integer) || values[1].integer() < 0 || values[1].integer() > 17)
    return run_.error(ErrorCode::E0204, places[1]->span,
                      "digits is an integer from 0 to 17, got {}", reprOf(values[1]));
  if (values[0].is(ValueKind::Integer))
    return values[0];
  return Value::number(
      std::stod(fmt::format("{:.{}f}", values[0].number(), int(values[1].integer()))));
}

Value ConversionFunctions::toInt(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin(run_, "int", arguments, {{"of", true}}, values, &places))
    return Value::unknown();
  const Value &value = values[0];
  switch (value.kind()) {
  case ValueKind::Unknown:
    return value;
  case ValueKind::Integer:
    return Value::integer(value.integer());
  case ValueKind::Bool:
    return Value::integer(value.boolean());
  case ValueKind::Float: {
    double whole = std::trunc(value.number());
    if (whole < -0x1p63 || whole >= 0x1p63)
      return run_.error(ErrorCode::E0304, places[0]->span, "int({}) overflows", reprOf(value));
    return Value::integer(int64_t(whole));
  }
  case ValueKind::String: {
    const std::string &text = value.string();
    size_t first = text.find_first_not_of(" \t\n"), last = text.find_last_not_of(" \t\n");
    int64_t number = 0;
    if (first != text.npos) {
      const char *begin = text.data() + first + (text[first] == '+'), *end = text.data() + last + 1;
      auto [stop, failure] = std::from_chars(begin, end, number);
      if (failure == std::errc::result_out_of_range)
        return run_.error(ErrorCode::E0304, places[0]->span, "int({}) overflows", reprOf(value));
      if (failure == std::errc() && stop == end)
        return Value::integer(number);
    }
    return run_.error(ErrorCode::E0317, places[0]->span, "{} is no integer", reprOf(value));
  }
  default:
    return run_.error(ErrorCode::E0317, places[0]->span, "int has no meaning for {}",
                      kindName(value.kind()));
  }
}

Value ConversionFunctions::toFloat(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin(run_, "float", arguments, {{"of", true}}, values, &places))
    return Value::unknown();
  const Value &value = values[0];
  if (value.isUnknown())
    return value;
  if (value.isNumber())
    return Value::number(value.number());
  if (!value.is(ValueKind::String))
    return run_.error(ErrorCode::E0317, places[0]->span, "float has no meaning for {}",
                      kindName(value.kind()));
  const std::string &text = value.string();
  size_t first = text.find_first_not_of(" \t\n"), last = text.find_last_not_of(" \t\n");
  double number = 0;
  if (first != text.npos) {
    const char *begin = text.data() + first + (text[first] == '+'), *end = text.data() + last + 1;
    auto [stop, failure] = std::from_chars(begin, end, number);
    if (failure == std::errc() && stop == end && std::isfinite(number))
      return Value::number(number);
  }
  return run_.error(ErrorCode::E0317, places[0]->span, "{} is no finite number", reprOf(value));
}

Value ConversionFunctions::str(Arguments &arguments) {
  std::vector<Value> values;
  if (!bindBuiltin(run_, "str", arguments, {{"of", true}}, values) || values[0].isUnknown())
    return Value::unknown();
  return makeString(run_, textOf(values[0], run_.limits().list), arguments.call->span);
}

Value ConversionFunctions::toBool(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin(run_, "bool", arguments, {{"of", true}}, values, &places))
    return Value::unknown();
  std::optional<bool> holds = truth(run_, values[0], places[0]->span);
  return holds ? Value::boolean(*holds) : Value::unknown();
}

Value ConversionFunctions::list(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin(run_, "list", arguments, {{"items"}}, values, &places))
    return Value::unknown();
  std::vector<Value> items;
  if (!values[0].is(ValueKind::Unset)) {
    auto given = elements(run_, values[0], places[0]);
    if (!given)
      return Value::unknown();
    items = std::move(*given);
  }
  return makeSequence(run_, ValueKind::List, std::move(items), arguments.call->span);
}

Value ConversionFunctions::tuple(Arguments &arguments) {
  Value items = list(arguments);
  return items.isUnknown()
             ? items
             : makeSequence(run_, ValueKind::Tuple, items.items(), arguments.call->span);
}

Value ConversionFunctions::dict(Arguments &arguments) {
  if (arguments.unknown)
    return Value::unknown();
  if (arguments.positional.size() > 1)
    return run_.error(ErrorCode::E0205, arguments.places[1]->span, "dict takes 1 argument, got {}",
                      arguments.positional.size());
  std::vector<std::pair<Value, Value>> entries;
  if (!arguments.positional.empty()) {
    const Value &value = arguments.positional[0];
    if (value.is(ValueKind::Dict)) {
      entries = value.as<DictObject>().entries;
    } else {
      auto items = elements(run_, value, arguments.places[0]);
      if (!items)
        return Value::unknown();
      for (Value &item : *items) {
        if (item.isUnknown())
          return item;
        if (!item.isSequence() || item.items().size() != 2)
          return run_.error(ErrorCode::E0317, arguments.places[0]->span, "dict takes pairs, got {}",
                            reprOf(item));
        entries.emplace_back(item.items()[0], item.items()[1]);
      }
    }
  }
  for (auto &named : arguments.named)
    entries.emplace_back(run_.heap.make<StringObject>(std::string(named.argument->name)),
                         named.value);
  return makeDict(run_, std::move(entries), arguments.call->span);
}

} // namespace lstmc::lnet

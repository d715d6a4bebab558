// setting(..) and dim(..): values that the command line may replace.
#include <charconv>
#include <cmath>

#include "frontend/lnet/Evaluator.h"
#include "frontend/symbol/Suggest.h"

namespace lstmc::lnet {

namespace {

symbol::AttributeValue attributeOf(const Value &value) {
  switch (value.kind()) {
  case ValueKind::Bool:
    return value.boolean();
  case ValueKind::Integer:
    return value.integer();
  case ValueKind::Float:
    return value.number();
  case ValueKind::String:
    return value.string();
  default:
    return {};
  }
}

std::string_view kindWord(const Value &value) {
  switch (value.kind()) {
  case ValueKind::Bool:
    return "a bool";
  case ValueKind::Integer:
    return "an integer";
  case ValueKind::Float:
    return "a number";
  default:
    return "a string";
  }
}

} // namespace

/// The text of `--set` as a value of the default's type; nothing after an error.
std::optional<Value> Evaluator::parseSetting(const std::string &name, const std::string &text,
                                             const Value &like, Span span) {
  const char *first = text.data(), *last = first + text.size();
  switch (like.kind()) {
  case ValueKind::String:
    return heap_.make<StringObject>(text);
  case ValueKind::Bool:
    if (text == "True" || text == "true" || text == "1")
      return Value::boolean(true);
    if (text == "False" || text == "false" || text == "0")
      return Value::boolean(false);
    break;
  case ValueKind::Integer: {
    int64_t value = 0;
    if (auto [end, failure] = std::from_chars(first, last, value);
        failure == std::errc() && end == last)
      return Value::integer(value);
    break;
  }
  default: {
    double value = 0;
    auto [end, failure] = std::from_chars(first, last, value);
    if (failure == std::errc() && end == last && std::isfinite(value))
      return Value::number(value);
  }
  }
  error(ErrorCode::E0001, span, "--set {}={}: {} is {}", name, text, name, kindWord(like));
  return std::nullopt;
}

Value Evaluator::declareSetting(SettingInForce record, const Value &fallback, Span span) {
  record.place = place(span);
  record.defaultValue = attributeOf(fallback);
  for (const SettingInForce &other : settings_)
    if (other.name == record.name) {
      if (other.isDim == record.isDim && other.defaultValue == record.defaultValue)
        return settingValues_[record.name];
      return error(ErrorCode::E0210, span, "\"{}\" is already defined at {}:{}:{}", record.name,
                   other.place.file, other.place.line, other.place.column);
    }
  Value value = fallback;
  record.origin = "file";
  const std::string *set = nullptr;
  for (auto &[name, text] : options_.settings)
    if (name == record.name)
      set = &text;
  auto shape = shapeDims_.find(record.name);
  if (set) {
    std::optional<Value> parsed = parseSetting(record.name, *set, fallback, span);
    value = parsed.value_or(Value::unknown());
    record.origin = "--set";
    if (record.isDim && parsed && value.integer() < 1)
      value = error(ErrorCode::E0001, span, "--set {}={}: a dim is at least 1", record.name, *set);
  } else if (!record.isDim && record.name == "vocab" && options_.offeredVocab &&
             fallback.is(ValueKind::Integer)) {
    value = Value::integer(*options_.offeredVocab);
    record.origin = "data";
  }
  if (record.isDim && shape != shapeDims_.end()) {
    if (set && value.is(ValueKind::Integer) && value.integer() != shape->second)
      value = error(ErrorCode::E0001, span, "dim \"{}\" is {} by --set and {} by --shape",
                    record.name, value.integer(), shape->second);
    else if (!set) {
      value = Value::integer(shape->second);
      record.origin = "--shape";
    }
  }
  if (record.isDim && value.is(ValueKind::Integer)) {
    dims_.push_back(record.name);
    value = Value::integer(value.integer(), uint32_t(dims_.size()));
  }
  record.value = attributeOf(value);
  settingValues_[record.name] = value;
  settings_.push_back(std::move(record));
  return value;
}

Value Evaluator::builtinSetting(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin("setting", arguments, {{"name", true}, {"default", true}, {"help"}}, values,
                   &places))
    return Value::unknown();
  if (values[0].isUnknown() || values[1].isUnknown())
    return Value::unknown();
  if (!values[0].is(ValueKind::String))
    return error(ErrorCode::E0204, places[0]->span, "name is a string, got {}", reprOf(values[0]));
  if (!values[1].isNumber() && !values[1].is(ValueKind::String) && !values[1].is(ValueKind::Bool))
    return error(ErrorCode::E0204, places[1]->span, "a setting is a number, string or bool, got {}",
                 reprOf(values[1]));
  SettingInForce record;
  record.name = values[0].string();
  if (values[2].is(ValueKind::String))
    record.help = values[2].string();
  Value plain = values[1].is(ValueKind::Integer) ? Value::integer(values[1].integer()) : values[1];
  return declareSetting(std::move(record), plain, calleeSpan(arguments.call));
}

Value Evaluator::builtinDim(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin("dim", arguments, {{"name", true}, {"value", true}, {"max"}, {"help"}}, values,
                   &places))
    return Value::unknown();
  if (values[0].isUnknown() || values[1].isUnknown())
    return Value::unknown();
  if (!values[2].is(ValueKind::Unset))
    return error(ErrorCode::E0215, places[2]->span, "dim with max= is not built yet");
  if (!values[0].is(ValueKind::String))
    return error(ErrorCode::E0204, places[0]->span, "name is a string, got {}", reprOf(values[0]));
  if (!values[1].is(ValueKind::Integer))
    return error(ErrorCode::E0204, places[1]->span, "a dim is an integer, got {}",
                 reprOf(values[1]));
  if (values[1].integer() < 1)
    return error(ErrorCode::E0206, places[1]->span, "dimension {} (write _ for one to infer)",
                 values[1].integer());
  SettingInForce record;
  record.name = values[0].string();
  record.isDim = true;
  if (values[3].is(ValueKind::String))
    record.help = values[3].string();
  return declareSetting(std::move(record), Value::integer(values[1].integer()),
                        calleeSpan(arguments.call));
}

void Evaluator::checkSettingsUsed() {
  std::vector<std::string_view> names;
  for (const SettingInForce &setting : settings_)
    names.push_back(setting.name);
  for (auto &[name, text] : options_.settings) {
    if (settingValues_.contains(name))
      continue;
    Diagnostic diagnostic;
    diagnostic.code = ErrorCode::E0001;
    diagnostic.message = fmt::format("--set {}: the file has no setting or dim of that name", name);
    diagnostic.help = didYouMean(name, names);
    problems_.add(std::move(diagnostic));
  }
}

} // namespace lstmc::lnet

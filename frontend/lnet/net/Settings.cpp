#include "frontend/lnet/net/Settings.h"

#include "executor/base/ParseNumber.h"
#include "executor/base/Suggest.h"
#include "frontend/names/Suggestion.h"

namespace lstmc::lnet {

std::span<const BuiltinRow<Settings>> Settings::functions() {
  static constexpr BuiltinRow<Settings> kTable[] = {{"setting", &Settings::setting},
                                                    {"dim", &Settings::dim}};
  return kTable;
}

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

Value Settings::setting(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin(run_, "setting", arguments, {{"name", true}, {"default", true}, {"help"}},
                   values, &places))
    return Value::unknown();
  if (values[0].isUnknown() || values[1].isUnknown())
    return Value::unknown();
  if (!values[0].is(ValueKind::String))
    return run_.error(ErrorCode::E0204, places[0]->span, "name is a string, got {}",
                      reprOf(values[0]));
  if (!values[1].isNumber() && !values[1].is(ValueKind::String) && !values[1].is(ValueKind::Bool))
    return run_.error(ErrorCode::E0204, places[1]->span,
                      "a setting is a number, string or bool, got {}", reprOf(values[1]));
  SettingInForce record;
  record.name = values[0].string();
  if (values[2].is(ValueKind::String))
    record.help = values[2].string();
  Value plain = values[1].is(ValueKind::Integer) ? Value::integer(values[1].integer()) : values[1];
  return declare(std::move(record), plain, calleeSpan(arguments.call));
}

Value Settings::dim(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin(run_, "dim", arguments, {{"name", true}, {"value", true}, {"max"}, {"help"}},
                   values, &places))
    return Value::unknown();
  if (values[0].isUnknown() || values[1].isUnknown())
    return Value::unknown();
  if (!values[2].is(ValueKind::Unset))
    return run_.report(run_.makeError(
        ErrorCode::E0215, places[2]->span, "dim with max= is not built yet",
        "fill up to the longest, and give LSTM, GRU, RNNLayer and SequenceMask the length of each "
        "row: length="));
  if (!values[0].is(ValueKind::String))
    return run_.error(ErrorCode::E0204, places[0]->span, "name is a string, got {}",
                      reprOf(values[0]));
  if (!values[1].is(ValueKind::Integer))
    return run_.error(ErrorCode::E0204, places[1]->span, "a dim is an integer, got {}",
                      reprOf(values[1]));
  if (!checkExtent(run_, values[1].integer(), places[1]->span))
    return Value::unknown();
  SettingInForce record;
  record.name = values[0].string();
  record.isDim = true;
  if (values[3].is(ValueKind::String))
    record.help = values[3].string();
  return declare(std::move(record), Value::integer(values[1].integer()),
                 calleeSpan(arguments.call));
}

std::optional<Value> Settings::declaredBefore(const SettingInForce &record, Span span) {
  for (const SettingInForce &other : inForce_) {
    if (other.name != record.name)
      continue;
    if (other.isDim == record.isDim && other.defaultValue == record.defaultValue)
      return values_[record.name];
    return run_.error(ErrorCode::E0210, span, "\"{}\" is already defined at {}:{}:{}", record.name,
                      other.place.file, other.place.line, other.place.column);
  }
  return std::nullopt;
}

Value Settings::declare(SettingInForce record, const Value &fallback, Span span) {
  record.place = run_.place(span);
  record.defaultValue = attributeOf(fallback);
  if (std::optional<Value> before = declaredBefore(record, span))
    return *before;
  Value value = choose(record, fallback, span);
  if (record.isDim && value.is(ValueKind::Integer))
    value = Value::integer(value.integer(), dims_.add(record.name));
  record.value = attributeOf(value);
  values_[record.name] = value;
  inForce_.push_back(std::move(record));
  return value;
}

const std::string *Settings::textOfSet(const std::string &name) const {
  const std::string *found = nullptr;
  for (auto &[set, text] : options_.settings)
    if (set == name)
      found = &text;
  return found;
}

Value Settings::choose(SettingInForce &record, const Value &fallback, Span span) {
  record.origin = "file";
  const std::string *set = textOfSet(record.name);
  Value value = fallback;
  if (set) {
    record.origin = "--set";
    value = parse(record.name, *set, fallback, span).value_or(Value::unknown());
    if (record.isDim && value.is(ValueKind::Integer) && value.integer() < 1)
      value =
          run_.error(ErrorCode::E0001, span, "--set {}={}: a dim is at least 1", record.name, *set);
  } else if (!record.isDim && record.name == "vocab" && options_.offeredVocab &&
             fallback.is(ValueKind::Integer)) {
    record.origin = "data";
    value = Value::integer(*options_.offeredVocab);
  }
  return record.isDim ? chooseDim(record, value, set, span) : value;
}

Value Settings::chooseDim(SettingInForce &record, const Value &value, bool set, Span span) {
  auto shape = shapeDims_.find(record.name);
  if (shape == shapeDims_.end())
    return value;
  if (!set) {
    record.origin = "--shape";
    return Value::integer(shape->second);
  }
  if (value.is(ValueKind::Integer) && value.integer() != shape->second)
    return run_.error(ErrorCode::E0001, span, "dim \"{}\" is {} by --set and {} by --shape",
                      record.name, value.integer(), shape->second);
  return value;
}

std::optional<Value> Settings::parse(const std::string &name, const std::string &text,
                                     const Value &like, Span span) {
  switch (like.kind()) {
  case ValueKind::String:
    return run_.heap.make<StringObject>(text);
  case ValueKind::Bool:
    if (text == "True" || text == "true" || text == "1")
      return Value::boolean(true);
    if (text == "False" || text == "false" || text == "0")
      return Value::boolean(false);
    break;
  case ValueKind::Integer:
    if (std::optional<int64_t> value = parseNumber<int64_t>(text))
      return Value::integer(*value);
    break;
  default:
    if (std::optional<double> value = parseFinite(text))
      return Value::number(*value);
  }
  run_.error(ErrorCode::E0001, span, "--set {}={}: {} is {}", name, text, name, kindWord(like));
  return std::nullopt;
}

void Settings::checkUsed() {
  std::vector<std::string_view> names;
  for (const SettingInForce &setting : inForce_)
    names.push_back(setting.name);
  for (auto &[name, text] : options_.settings) {
    if (values_.contains(name))
      continue;
    Diagnostic diagnostic;
    diagnostic.code = ErrorCode::E0001;
    diagnostic.message = fmt::format("--set {}: the file has no setting or dim of that name", name);
    diagnostic.help = didYouMean(name, names);
    if (diagnostic.help.empty())
      diagnostic.help = names.empty() ? "setting(\"name\", 1) and dim(\"name\", 1) give it one"
                                      : "it has " + listed(name, names);
    run_.problems().add(std::move(diagnostic));
  }
}

} // namespace lstmc::lnet

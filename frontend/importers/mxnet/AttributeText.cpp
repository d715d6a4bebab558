#include "frontend/importers/mxnet/AttributeText.h"

#include <algorithm>

#include "executor/base/LowerCase.h"
#include "executor/base/ParseNumber.h"
#include "frontend/symbol/ValueText.h"

namespace lstmc::importers::mxnet {

using symbol::AttributeValue, symbol::OpAttribute, symbol::Tuple;

static std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  return begin == text.npos ? std::string_view()
                            : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// Python writes no "+", but MXNet's own parser takes one.
static std::string_view withoutPlus(std::string_view text) {
  return text.size() > 1 && text[0] == '+' && text[1] != '-' ? text.substr(1) : text;
}

static std::optional<int64_t> integerOf(std::string_view text) {
  return parseNumber<int64_t>(withoutPlus(trimmed(text)));
}

static std::optional<AttributeValue> numberOf(std::string_view text) {
  text = withoutPlus(trimmed(text));
  if (std::optional<int64_t> integer = parseNumber<int64_t>(text))
    return AttributeValue(*integer);
  if (std::optional<double> number = parseFinite(text))
    return AttributeValue(*number);
  return std::nullopt;
}

static std::optional<AttributeValue> flagOf(std::string_view text) {
  const std::string lower = lowerCase(trimmed(text));
  if (lower == "true" || lower == "1")
    return AttributeValue(true);
  if (lower == "false" || lower == "0")
    return AttributeValue(false);
  return std::nullopt;
}

/// "3", "3L" as Python 2 wrote it, "None".
static bool addEntry(std::string_view text, Tuple &tuple) {
  text = trimmed(text);
  if (text == "None") {
    tuple.push_back(std::nullopt);
    return true;
  }
  if (text.size() > 1 && text.back() == 'L')
    text.remove_suffix(1);
  std::optional<int64_t> integer = integerOf(text);
  tuple.push_back(integer);
  return integer.has_value();
}

std::optional<Tuple> tupleOf(std::string_view text) {
  text = trimmed(text);
  Tuple tuple;
  const bool round = text.starts_with('('), square = text.starts_with('[');
  if (!round && !square)
    return addEntry(text, tuple) && tuple[0] ? std::optional(tuple) : std::nullopt;
  if (text.size() < 2 || text.back() != (round ? ')' : ']'))
    return std::nullopt;
  std::string_view inner = trimmed(text.substr(1, text.size() - 2));
  while (!inner.empty()) {
    const size_t comma = inner.find(',');
    if (!addEntry(inner.substr(0, comma), tuple))
      return std::nullopt;
    inner = comma == inner.npos ? std::string_view() : trimmed(inner.substr(comma + 1));
  }
  return tuple;
}

std::optional<AttributeValue> attributeValue(std::string_view text, OpAttribute::Kind kind) {
  if (trimmed(text) == "None")
    return AttributeValue();
  switch (kind) {
  case OpAttribute::Kind::Integer: {
    std::optional<int64_t> integer = integerOf(text);
    return integer ? std::optional<AttributeValue>(*integer) : std::nullopt;
  }
  case OpAttribute::Kind::Float:
    return numberOf(text);
  case OpAttribute::Kind::Boolean:
    return flagOf(text);
  case OpAttribute::Kind::Tuple: {
    std::optional<Tuple> tuple = tupleOf(text);
    return tuple ? std::optional<AttributeValue>(std::move(*tuple)) : std::nullopt;
  }
  case OpAttribute::Kind::String:
  case OpAttribute::Kind::Choice:
  case OpAttribute::Kind::DType:
    break;
  }
  return AttributeValue(std::string(text));
}

std::string attributeText(const AttributeValue &value) {
  const auto *text = std::get_if<std::string>(&value);
  return text ? *text : symbol::valueText(value);
}

// Element types by MXNet's number; those in between are types that lstmc does not have.
static constexpr DType kTypes[] = {DType::F32, DType::F64, DType::F16, DType::U8,
                                   DType::I32, DType::I8,  DType::I64, DType::Bool};
static constexpr int32_t kBFloat16 = 12;

int32_t codeOf(DType dtype) {
  const auto *found = std::ranges::find(kTypes, dtype);
  return found == std::end(kTypes) ? kBFloat16 : int32_t(found - kTypes);
}

std::optional<std::variant<std::monostate, DType>> typeOf(std::string_view text) {
  if (std::optional<int64_t> code = integerOf(text)) {
    if (*code == -1)
      return std::monostate();
    if (*code == kBFloat16)
      return DType::BF16;
    if (*code >= 0 && size_t(*code) < std::size(kTypes))
      return kTypes[*code];
    return std::nullopt;
  }
  std::optional<DType> dtype = parseDType(trimmed(text));
  if (!dtype)
    return std::nullopt;
  return *dtype;
}

} // namespace lstmc::importers::mxnet

#include "frontend/lnet/net/AttributeValues.h"

#include <algorithm>
#include <limits>

#include "executor/base/Suggest.h"
#include "frontend/lnet/evaluation/Numbers.h"
#include "frontend/lnet/net/Extents.h"

namespace lstmc::lnet {

namespace {

using Kind = symbol::OpAttribute::Kind;

std::optional<symbol::AttributeValue> refuse(Run &run, const symbol::OpAttribute &record,
                                             const Value &value, Span span) {
  std::string help;
  if (record.kind == Kind::Choice && value.is(ValueKind::String))
    help = didYouMean(value.string(), {record.choices.begin(), record.choices.end()});
  else if (record.kind == Kind::Integer && value.is(ValueKind::Float))
    help = "// divides integers, and int(x) cuts off";
  std::string found = value.is(ValueKind::Tensor) ? "a tensor" : reprOf(value);
  run.report(run.makeError(
      ErrorCode::E0204, span,
      fmt::format("{} is {}, got {}", record.name, symbol::wantedText(record), found), help));
  return std::nullopt;
}

/// An item as an entry of a tuple; nullopt if it cannot be one. `fill`: the entries are extents and
/// may be `_`.
std::optional<std::optional<int64_t>> tupleEntry(const Value &item, bool fill) {
  if (item.is(ValueKind::Infer) && fill)
    return 0;
  if (item.is(ValueKind::Integer))
    return item.integer();
  if (item.is(ValueKind::None))
    return std::optional<int64_t>();
  return std::nullopt;
}

std::optional<symbol::AttributeValue> tupleValue(Run &run, const symbol::OpSignature &op,
                                                 const symbol::OpAttribute &record,
                                                 const Value &value, Span span) {
  symbol::Tuple tuple;
  bool fill = record.name == "shape" && isFill(op);
  std::vector<Value> items = value.isSequence() ? value.items() : std::vector<Value>{value};
  for (const Value &item : items) {
    if (item.isUnknown())
      return std::nullopt;
    if (fill && item.is(ValueKind::Integer) && !checkExtent(run, item.integer(), span))
      return std::nullopt;
    std::optional<std::optional<int64_t>> entry = tupleEntry(item, fill);
    if (!entry)
      return refuse(run, record, value, span);
    tuple.push_back(*entry);
  }
  if (record.name != "axis" && !checkRank(run, tuple.size(), span))
    return std::nullopt;
  return tuple;
}

/// Numbers that are not finite have no literals: an op takes them as text, as in symbol.json.
symbol::AttributeValue notFinite(const Value &value) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (!value.is(ValueKind::String))
    return {};
  const std::string &text = value.string();
  if (text == "inf" || text == "-inf")
    return text == "inf" ? kInf : -kInf;
  return text == "nan" ? symbol::AttributeValue(std::numeric_limits<double>::quiet_NaN())
                       : symbol::AttributeValue();
}

/// The value if it is of the kind, else monostate. Not for tuples.
symbol::AttributeValue plainValue(const symbol::OpAttribute &record, const Value &value) {
  switch (record.kind) {
  case Kind::Integer:
    if (value.is(ValueKind::Integer))
      return value.integer();
    break;
  case Kind::Float:
    if (value.is(ValueKind::Integer) && compareExactly(value.integer(), value.number()) != 0)
      return value.integer(); // the graph knows whether a double will do
    return value.isNumber() ? symbol::AttributeValue(value.number()) : notFinite(value);
  case Kind::Boolean:
    if (value.is(ValueKind::Bool))
      return value.boolean();
    break;
  case Kind::String:
    if (value.is(ValueKind::String))
      return value.string();
    break;
  case Kind::Choice:
    if (value.is(ValueKind::String) &&
        std::ranges::find(record.choices, value.string()) != record.choices.end())
      return value.string();
    break;
  case Kind::DType:
    if (value.is(ValueKind::String))
      if (std::optional<DType> dtype = parseDType(value.string()))
        return std::string(dtypeLongName(*dtype));
    break;
  case Kind::Tuple:
    break;
  }
  return {};
}

} // namespace

bool isFill(const symbol::OpSignature &op) {
  return op.name == "_zeros" || op.name == "_ones" || op.name == "_full";
}

std::optional<symbol::AttributeValue> attributeValue(Run &run, const symbol::OpSignature &op,
                                                     const symbol::OpAttribute &record,
                                                     const Value &value, const Expr *place) {
  if (value.is(ValueKind::None) && record.nullable)
    return symbol::AttributeValue();
  if (record.kind == Kind::Tuple && !value.is(ValueKind::None))
    return tupleValue(run, op, record, value, place->span);
  symbol::AttributeValue plain = plainValue(record, value);
  if (std::holds_alternative<std::monostate>(plain))
    return refuse(run, record, value, place->span);
  // The outputs become a tuple of the language, so its size limit applies.
  if (record.kind == Kind::Integer && record.name == "num_outputs" &&
      !run.fits("tuple", "elements", uint64_t(std::max<int64_t>(0, value.integer())), place->span))
    return std::nullopt;
  return plain;
}

} // namespace lstmc::lnet

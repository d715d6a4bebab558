#include "frontend/lnet/evaluation/Collections.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lstmc::lnet {

size_t characterEnd(const std::string &text, size_t begin) {
  size_t end = begin + 1;
  while (end < text.size() && (text[end] & 0xC0) == 0x80)
    ++end;
  return end;
}

Value makeSequence(Run &run, ValueKind kind, std::vector<Value> items, Span span) {
  if (!run.fits(kind == ValueKind::List ? "list" : "tuple", "elements", items.size(), span) ||
      !run.stepMany(items.size(), span))
    return Value::unknown();
  Value result = run.heap.make<SequenceObject>(kind, std::move(items));
  auto &sequence = result.as<SequenceObject>();
  sequence.owner = run.at.frame->run;
  sequence.maker = run.at.owner;
  return result;
}

Value makeString(Run &run, std::string text, Span span) {
  if (!run.fits("string", "bytes", text.size(), span) || !run.stepMany(text.size() / 4, span))
    return Value::unknown();
  return run.heap.make<StringObject>(std::move(text));
}

std::optional<size_t> keyHash(Run &run, const Value &key, Span span) {
  std::optional<size_t> hash = hashOf(key);
  if (!hash)
    run.error(ErrorCode::E0317, span, "{} can be no key of a dict", kindName(key.kind()));
  return hash;
}

std::pair<Value, Value> *findEntry(DictObject &dict, const Value &key, size_t hash) {
  auto [from, to] = dict.index.equal_range(hash);
  for (auto at = from; at != to; ++at)
    if (equal(dict.entries[at->second].first, key).value_or(false))
      return &dict.entries[at->second];
  return nullptr;
}

Value makeDict(Run &run, std::vector<std::pair<Value, Value>> entries, Span span) {
  if (!run.fits("dict", "elements", entries.size(), span) ||
      !run.stepMany(entries.size() * 2, span))
    return Value::unknown();
  Value result = run.heap.make<DictObject>();
  auto &dict = result.as<DictObject>();
  for (auto &[key, value] : entries) {
    if (key.isUnknown())
      return Value::unknown();
    std::optional<size_t> hash = keyHash(run, key, span);
    if (!hash)
      return Value::unknown();
    if (auto *known = findEntry(dict, key, *hash)) {
      known->second = value;
      continue;
    }
    dict.index.emplace(*hash, dict.entries.size());
    dict.entries.emplace_back(std::move(key), std::move(value));
  }
  return result;
}

namespace {

std::vector<Value> integersOf(const RangeObject &range) {
  std::vector<Value> items;
  uint64_t size = range.size();
  for (uint64_t i = 0; i < size; ++i)
    items.push_back(Value::integer(range.at(i)));
  return items;
}

std::vector<Value> charactersOf(Run &run, const std::string &text) {
  std::vector<Value> items;
  for (size_t at = 0, end; at < text.size(); at = end) {
    end = characterEnd(text, at);
    items.push_back(run.heap.make<StringObject>(text.substr(at, end - at)));
  }
  return items;
}

std::vector<Value> keysOf(const DictObject &dict) {
  std::vector<Value> items;
  for (auto &entry : dict.entries)
    items.push_back(entry.first);
  return items;
}

} // namespace

std::optional<std::vector<Value>> elements(Run &run, const Value &value, const Expr *source) {
  Span span = source->span;
  switch (value.kind()) {
  case ValueKind::Unknown:
    return std::nullopt;
  case ValueKind::Tuple:
  case ValueKind::List:
    if (!run.stepMany(value.items().size(), span))
      return std::nullopt;
    return value.items();
  case ValueKind::Range: {
    auto &range = value.as<RangeObject>();
    if (!run.fits("list", "elements", range.size(), span) || !run.stepMany(range.size(), span))
      return std::nullopt;
    return integersOf(range);
  }
  case ValueKind::Dict: {
    auto &dict = value.as<DictObject>();
    if (!run.stepMany(dict.entries.size(), span))
      return std::nullopt;
    return keysOf(dict);
  }
  case ValueKind::String:
    if (!run.stepMany(value.string().size(), span))
      return std::nullopt;
    return charactersOf(run, value.string());
  default:
    run.report(run.makeError(ErrorCode::E0317, span,
                             fmt::format("{} has no elements to go over", kindName(value.kind())),
                             elementsHelp(value)));
    return std::nullopt;
  }
}

std::string elementsHelp(const Value &value) {
  return value.is(ValueKind::Tensor) ? "for i in range(x.shape[0]): goes over x[i]; "
                                       "split(x, num_outputs=N, axis=0) gives all parts"
         : value.isNumber()          ? "for i in range(n): goes over 0 to n - 1"
                                     : "";
}

std::string outputNames(const std::vector<Value> &values) {
  std::string names;
  for (const Value &value : values) {
    if (!value.is(ValueKind::Tensor))
      return {};
    names += (names.empty() ? "" : ", ") + value.as<TensorObject>().symbol.outputName();
  }
  return names;
}

std::string unpackingHelp(const std::vector<Value> &values, std::string_view maker) {
  constexpr std::string_view kNames[] = {"x", "h", "c"}; // as the documents name a layer's outputs
  const std::string outputs = outputNames(values);
  if (outputs.empty() || values.size() > std::size(kNames))
    return outputs.empty() ? "" : fmt::format("the values are {}", outputs);
  return fmt::format("the values are {}: {} = {}", outputs,
                     fmt::join(kNames, kNames + values.size(), ", "), maker);
}

} // namespace lstmc::lnet

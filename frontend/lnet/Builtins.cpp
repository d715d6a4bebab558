// Python's functions on build-time values, and the table of all functions that are built in.
#include "frontend/lnet/Builtins.h"

#include <charconv>
#include <cmath>

#include "frontend/lnet/Evaluator.h"

namespace lstmc::lnet {

struct Evaluator::Builtins {
  static constexpr BuiltinRecord kTable[] = {
      {"range", &Evaluator::builtinRange},
      {"len", &Evaluator::builtinLen},
      {"enumerate", &Evaluator::builtinEnumerate},
      {"zip", &Evaluator::builtinZip},
      {"reversed", &Evaluator::builtinReversed},
      {"sorted", &Evaluator::builtinSorted},
      {"min", &Evaluator::builtinMin},
      {"max", &Evaluator::builtinMax},
      {"abs", &Evaluator::builtinAbs},
      {"sum", &Evaluator::builtinSum},
      {"int", &Evaluator::builtinInt},
      {"float", &Evaluator::builtinFloat},
      {"str", &Evaluator::builtinStr},
      {"bool", &Evaluator::builtinBool},
      {"list", &Evaluator::builtinList},
      {"tuple", &Evaluator::builtinTuple},
      {"dict", &Evaluator::builtinDict},
      {"setting", &Evaluator::builtinSetting},
      {"dim", &Evaluator::builtinDim},
      {"fit", &Evaluator::builtinFit},
      {"data", &Evaluator::builtinData},
      {"Variable", &Evaluator::builtinVariable},
      {"Uniform", &Evaluator::builtinUniform},
      {"Normal", &Evaluator::builtinNormal},
      {"Xavier", &Evaluator::builtinXavier},
      {"MSRAPrelu", &Evaluator::builtinMsraPrelu},
      {"Orthogonal", &Evaluator::builtinOrthogonal},
      {"Constant", &Evaluator::builtinConstant},
      {"Zero", &Evaluator::builtinZero},
      {"One", &Evaluator::builtinOne},
      {"LSTMBias", &Evaluator::builtinLstmBias},
      {"Mixed", &Evaluator::builtinMixed},
      {"Load", &Evaluator::builtinLoad},
#define LSTMC_SCHEDULE(ID, NAME, SHOWN, MEANING, ...)                                              \
  {SHOWN, &Evaluator::builtinSchedule<size_t(ScheduleKind::ID) - 1>},
#include "executor/abi/Schedules.def"
      {"foreach", &Evaluator::builtinNotBuilt},
      {"place", &Evaluator::builtinPlace},
      {"Custom", &Evaluator::builtinCustom},
      {"_layer_name", &Evaluator::builtinLayerName, true},
      {"_begin_state", &Evaluator::builtinBeginState},
      {"_expect", &Evaluator::builtinExpect, true},
  };
};

namespace {
constexpr std::string_view kLayers[] = {"LSTM", "GRU", "RNNLayer"};
}

const BuiltinRecord *findBuiltin(std::string_view name) {
  for (const BuiltinRecord &record : Evaluator::Builtins::kTable)
    if (record.name == name)
      return &record;
  return nullptr;
}

bool isLayer(std::string_view name) {
  return std::find(std::begin(kLayers), std::end(kLayers), name) != std::end(kLayers);
}

std::vector<std::string_view> builtinNames() {
  std::vector<std::string_view> names(std::begin(kLayers), std::end(kLayers));
  for (const BuiltinRecord &record : Evaluator::Builtins::kTable)
    if (!record.internal)
      names.push_back(record.name);
  return names;
}

bool isUnbuiltOp(std::string_view name) {
  constexpr std::string_view kOps[] = {"Convolution",
                                       "BatchNorm",
                                       "Pooling",
                                       "LeakyReLU",
                                       "SoftmaxActivation",
                                       "CTCLoss",
                                       "ctc_loss",
                                       "_contrib_CTCLoss",
                                       "WarpCTC",
                                       "Pad",
                                       "pad",
                                       "L2Normalization",
                                       "LRN",
                                       "Deconvolution",
                                       "UpSampling",
                                       "Crop",
                                       "InstanceNorm",
                                       "ROIPooling",
                                       "BilinearSampler",
                                       "SVMOutput",
                                       "slice_like",
                                       "reshape_like",
                                       "broadcast_like",
                                       "arange_like",
                                       "_contrib_arange_like",
                                       "gather_nd",
                                       "scatter_nd",
                                       "softmin",
                                       "IdentityAttachKLSparseReg",
                                       "_contrib_ctc_loss",
                                       "random_uniform",
                                       "random_normal",
                                       "uniform",
                                       "normal",
                                       "sort",
                                       "argsort",
                                       "topk",
                                       "argmin",
                                       "linalg_gemm",
                                       "linalg_gemm2",
                                       "Bilinear",
                                       "FusedRNN"};
  return std::find(std::begin(kOps), std::end(kOps), name) != std::end(kOps);
}

/// The elements of a list, tuple, range, dict (its keys) or string (its characters).
std::optional<std::vector<Value>> Evaluator::elements(const Value &value, const Expr *source) {
  std::vector<Value> items;
  switch (value.kind()) {
  case ValueKind::Unknown:
    return std::nullopt;
  case ValueKind::Tuple:
  case ValueKind::List:
    if (!stepMany(value.items().size(), source->span))
      return std::nullopt;
    return value.items();
  case ValueKind::Range: {
    auto &range = value.as<RangeObject>();
    uint64_t size = range.size();
    if (size > options_.limits.list) {
      limitError(ErrorCode::E0314, source->span,
                 fmt::format("list of {} elements, the limit is {}",
                             grouped(int64_t(std::min<uint64_t>(size, INT64_MAX))),
                             grouped(int64_t(options_.limits.list))),
                 "list");
      return std::nullopt;
    }
    if (!stepMany(size, source->span))
      return std::nullopt;
    for (uint64_t i = 0; i < size; ++i)
      items.push_back(Value::integer(range.at(i)));
    return items;
  }
  case ValueKind::Dict:
    for (auto &entry : value.as<DictObject>().entries)
      items.push_back(entry.first);
    return stepMany(items.size(), source->span) ? std::optional(std::move(items)) : std::nullopt;
  case ValueKind::String: {
    const std::string &text = value.string();
    if (!stepMany(text.size(), source->span))
      return std::nullopt;
    for (size_t at = 0, end; at < text.size(); at = end) {
      end = at + 1;
      while (end < text.size() && (text[end] & 0xC0) == 0x80)
        ++end;
      items.push_back(heap_.make<StringObject>(text.substr(at, end - at)));
    }
    return items;
  }
  default:
    error(ErrorCode::E0317, source->span, "{} has no elements to go over", kindName(value.kind()));
    return std::nullopt;
  }
}

Value Evaluator::builtinRange(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin("range", arguments, {{"start", true}, {"stop"}, {"step"}}, values, &places))
    return Value::unknown();
  int64_t numbers[3] = {0, 0, 1};
  for (size_t i = 0; i < 3; ++i) {
    if (values[i].is(ValueKind::Unset))
      continue;
    if (values[i].isUnknown())
      return values[i];
    if (!values[i].is(ValueKind::Integer))
      return error(ErrorCode::E0204, places[i]->span, "range takes integers, got {}",
                   reprOf(values[i]));
    numbers[i] = values[i].integer();
  }
  if (values[1].is(ValueKind::Unset))
    std::swap(numbers[0], numbers[1]);
  if (numbers[2] == 0)
    return error(ErrorCode::E0204, places[2]->span, "step of range is other than 0, got 0");
  return heap_.make<RangeObject>(numbers[0], numbers[1], numbers[2]);
}

Value Evaluator::builtinLen(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin("len", arguments, {{"of", true}}, values, &places))
    return Value::unknown();
  const Value &value = values[0];
  switch (value.kind()) {
  case ValueKind::Unknown:
    return value;
  case ValueKind::Tuple:
  case ValueKind::List:
    return Value::integer(int64_t(value.items().size()));
  case ValueKind::Dict:
    return Value::integer(int64_t(value.as<DictObject>().entries.size()));
  case ValueKind::Range: {
    uint64_t size = value.as<RangeObject>().size();
    if (size > uint64_t(INT64_MAX))
      return error(ErrorCode::E0304, places[0]->span, "the length of {} overflows", reprOf(value));
    return Value::integer(int64_t(size));
  }
  case ValueKind::String: {
    const std::string &text = value.string();
    if (!stepMany(text.size() / 16, places[0]->span))
      return Value::unknown();
    return Value::integer(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  }
  default:
    return error(ErrorCode::E0317, places[0]->span, "{} has no length", kindName(value.kind()));
  }
}

Value Evaluator::builtinEnumerate(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin("enumerate", arguments, {{"items", true}, {"start"}}, values, &places))
    return Value::unknown();
  auto items = elements(values[0], places[0]);
  if (!items || values[1].isUnknown())
    return Value::unknown();
  int64_t start = values[1].is(ValueKind::Integer) ? values[1].integer() : 0;
  if (start > INT64_MAX - int64_t(items->size()))
    return error(ErrorCode::E0304, places[1]->span, "{} + {} overflows", start, items->size());
  for (size_t i = 0; i < items->size(); ++i)
    (*items)[i] = makeSequence(ValueKind::Tuple, {Value::integer(start + int64_t(i)), (*items)[i]},
                               places[0]->span);
  return makeSequence(ValueKind::List, std::move(*items), places[0]->span);
}

Value Evaluator::builtinZip(Arguments &arguments) {
  if (!arguments.named.empty())
    return error(ErrorCode::E0202, arguments.named[0].argument->nameSpan,
                 "zip has no attribute \"{}\"", arguments.named[0].argument->name);
  std::vector<std::vector<Value>> columns;
  size_t rows = SIZE_MAX;
  for (size_t i = 0; i < arguments.positional.size(); ++i) {
    auto items = elements(arguments.positional[i], arguments.places[i]);
    if (!items)
      return Value::unknown();
    rows = std::min(rows, items->size());
    columns.push_back(std::move(*items));
  }
  if (arguments.unknown)
    return Value::unknown();
  std::vector<Value> result;
  for (size_t row = 0; !columns.empty() && row < rows; ++row) {
    std::vector<Value> tuple;
    for (auto &column : columns)
      tuple.push_back(std::move(column[row]));
    result.push_back(makeSequence(ValueKind::Tuple, std::move(tuple), arguments.call->span));
  }
  return makeSequence(ValueKind::List, std::move(result), arguments.call->span);
}

Value Evaluator::builtinReversed(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin("reversed", arguments, {{"items", true}}, values, &places))
    return Value::unknown();
  auto items = elements(values[0], places[0]);
  if (!items)
    return Value::unknown();
  std::reverse(items->begin(), items->end());
  return makeSequence(ValueKind::List, std::move(*items), arguments.call->span);
}

/// Stable, by `keys`; false after an error.
bool Evaluator::sort(std::vector<Value> &items, std::vector<Value> &keys, bool reverse, Span span) {
  std::vector<size_t> order(items.size()), merged(items.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  for (size_t width = 1; width < order.size(); width *= 2) {
    for (size_t low = 0; low < order.size(); low += 2 * width) {
      size_t middle = std::min(low + width, order.size()),
             high = std::min(low + 2 * width, order.size());
      size_t left = low, right = middle;
      for (size_t out = low; out < high; ++out) {
        bool takeRight = left >= middle;
        if (left < middle && right < high) {
          if (!step(span))
            return false;
          std::optional<int> compared =
              this->order(keys[order[right]], keys[order[left]], "<", span);
          if (!compared)
            return false;
          takeRight = reverse ? *compared > 0 : *compared < 0;
        }
        merged[out] = takeRight ? order[right++] : order[left++];
      }
    }
    order.swap(merged);
  }
  std::vector<Value> sorted;
  for (size_t i : order)
    sorted.push_back(std::move(items[i]));
  items = std::move(sorted);
  return true;
}

Value Evaluator::builtinSorted(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin("sorted", arguments, {{"items", true}, {"key"}, {"reverse"}}, values, &places))
    return Value::unknown();
  auto items = elements(values[0], places[0]);
  if (!items || values[1].isUnknown() || values[2].isUnknown())
    return Value::unknown();
  std::vector<Value> keys = *items;
  if (values[1].is(ValueKind::Function))
    for (Value &key : keys) {
      Arguments one;
      one.call = arguments.call;
      one.positional.push_back(std::move(key));
      one.places.push_back(places[0]);
      key = callFunction(values[1], one);
      if (key.isUnknown())
        return key;
    }
  else if (!values[1].is(ValueKind::Unset) && !values[1].is(ValueKind::None))
    return error(ErrorCode::E0204, places[1]->span, "key is a function, got {}", reprOf(values[1]));
  bool reverse = values[2].is(ValueKind::Bool) && values[2].boolean();
  if (!sort(*items, keys, reverse, arguments.call->span))
    return Value::unknown();
  return makeSequence(ValueKind::List, std::move(*items), arguments.call->span);
}

/// The op, where what is given first, or as `data`, is a tensor: Python's function has no such
/// argument.
static const symbol::OpSignature *opOnTensor(const Arguments &arguments, std::string_view name) {
  bool tensor = !arguments.positional.empty() && arguments.positional[0].is(ValueKind::Tensor);
  for (const auto &named : arguments.named)
    tensor |= named.argument->name == "data" && named.value.is(ValueKind::Tensor);
  return tensor ? symbol::findOp(name) : nullptr;
}

Value Evaluator::extreme(Arguments &arguments, std::string_view name, bool largest) {
  if (const symbol::OpSignature *op = opOnTensor(arguments, name))
    return callOp(*op, arguments);
  if (arguments.unknown)
    return Value::unknown();
  if (!arguments.named.empty())
    return error(ErrorCode::E0202, arguments.named[0].argument->nameSpan,
                 "{} has no attribute \"{}\"", name, arguments.named[0].argument->name);
  if (arguments.positional.empty())
    return error(ErrorCode::E0203, calleeSpan(arguments.call), "{} needs items", name);
  std::vector<Value> items(arguments.positional.begin(), arguments.positional.end());
  if (items.size() == 1) {
    auto inner = elements(items[0], arguments.places[0]);
    if (!inner)
      return Value::unknown();
    items = std::move(*inner);
  }
  if (items.empty())
    return error(ErrorCode::E0305, arguments.places[0]->span, "{} of no elements", name);
  Value best = items[0];
  for (const Value &item : items) {
    if (item.isUnknown() || !step(arguments.call->span))
      return Value::unknown();
    std::optional<int> compared = order(item, best, largest ? ">" : "<", arguments.call->span);
    if (!compared)
      return Value::unknown();
    if (largest ? *compared > 0 : *compared < 0)
      best = item;
  }
  return best;
}

Value Evaluator::builtinMin(Arguments &arguments) { return extreme(arguments, "min", false); }
Value Evaluator::builtinMax(Arguments &arguments) { return extreme(arguments, "max", true); }

Value Evaluator::builtinAbs(Arguments &arguments) {
  if (const symbol::OpSignature *op = opOnTensor(arguments, "abs"))
    return callOp(*op, arguments);
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin("abs", arguments, {{"of", true}}, values, &places))
    return Value::unknown();
  if (values[0].is(ValueKind::Float))
    return Value::number(std::fabs(values[0].number()));
  if (values[0].is(ValueKind::Integer)) {
    if (values[0].integer() == INT64_MIN)
      return error(ErrorCode::E0304, places[0]->span, "abs({}) overflows", values[0].integer());
    return Value::integer(std::abs(values[0].integer()));
  }
  if (values[0].isUnknown())
    return values[0];
  return error(ErrorCode::E0317, places[0]->span, "abs has no meaning for {}",
               kindName(values[0].kind()));
}

Value Evaluator::builtinSum(Arguments &arguments) {
  if (const symbol::OpSignature *op = opOnTensor(arguments, "sum"))
    return callOp(*op, arguments);
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin("sum", arguments, {{"items", true}, {"start"}}, values, &places))
    return Value::unknown();
  auto items = elements(values[0], places[0]);
  if (!items || values[1].isUnknown())
    return Value::unknown();
  // Tensors are added to one another, not to a 0 in front.
  bool tensors =
      !items->empty() && items->front().is(ValueKind::Tensor) && values[1].is(ValueKind::Unset);
  Value total = values[1].is(ValueKind::Unset) ? Value::integer(0) : values[1];
  if (total.is(ValueKind::String))
    return error(ErrorCode::E0317, places[1]->span, "sum has no meaning for a string");
  for (size_t i = 0; i < items->size(); ++i) {
    if (!step(arguments.call->span))
      return Value::unknown();
    total = tensors && i == 0 ? (*items)[0]
                              : binary(TokenKind::Plus, total, (*items)[i],
                                       calleeSpan(arguments.call), places[0], places[0]);
    if (total.isUnknown())
      return total;
  }
  return total;
}

Value Evaluator::builtinInt(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin("int", arguments, {{"of", true}}, values, &places))
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
      return error(ErrorCode::E0304, places[0]->span, "int({}) overflows", reprOf(value));
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
        return error(ErrorCode::E0304, places[0]->span, "int({}) overflows", reprOf(value));
      if (failure == std::errc() && stop == end)
        return Value::integer(number);
    }
    return error(ErrorCode::E0317, places[0]->span, "{} is no integer", reprOf(value));
  }
  default:
    return error(ErrorCode::E0317, places[0]->span, "int has no meaning for {}",
                 kindName(value.kind()));
  }
}

Value Evaluator::builtinFloat(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin("float", arguments, {{"of", true}}, values, &places))
    return Value::unknown();
  const Value &value = values[0];
  if (value.isUnknown())
    return value;
  if (value.isNumber())
    return Value::number(value.number());
  if (!value.is(ValueKind::String))
    return error(ErrorCode::E0317, places[0]->span, "float has no meaning for {}",
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
  return error(ErrorCode::E0317, places[0]->span, "{} is no finite number", reprOf(value));
}

Value Evaluator::builtinStr(Arguments &arguments) {
  std::vector<Value> values;
  if (!bindBuiltin("str", arguments, {{"of", true}}, values) || values[0].isUnknown())
    return Value::unknown();
  return makeString(textOf(values[0], options_.limits.list), arguments.call->span);
}

Value Evaluator::builtinBool(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin("bool", arguments, {{"of", true}}, values, &places))
    return Value::unknown();
  std::optional<bool> holds = truth(values[0], places[0]->span);
  return holds ? Value::boolean(*holds) : Value::unknown();
}

Value Evaluator::builtinList(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin("list", arguments, {{"items"}}, values, &places))
    return Value::unknown();
  std::vector<Value> items;
  if (!values[0].is(ValueKind::Unset)) {
    auto given = elements(values[0], places[0]);
    if (!given)
      return Value::unknown();
    items = std::move(*given);
  }
  return makeSequence(ValueKind::List, std::move(items), arguments.call->span);
}

Value Evaluator::builtinTuple(Arguments &arguments) {
  Value list = builtinList(arguments);
  return list.isUnknown() ? list
                          : makeSequence(ValueKind::Tuple, list.items(), arguments.call->span);
}

Value Evaluator::builtinDict(Arguments &arguments) {
  if (arguments.unknown)
    return Value::unknown();
  if (arguments.positional.size() > 1)
    return error(ErrorCode::E0205, arguments.places[1]->span, "dict takes 1 argument, got {}",
                 arguments.positional.size());
  std::vector<std::pair<Value, Value>> entries;
  if (!arguments.positional.empty()) {
    const Value &value = arguments.positional[0];
    if (value.is(ValueKind::Dict)) {
      entries = value.as<DictObject>().entries;
    } else {
      auto items = elements(value, arguments.places[0]);
      if (!items)
        return Value::unknown();
      for (Value &item : *items) {
        if (item.isUnknown())
          return item;
        if (!item.isSequence() || item.items().size() != 2)
          return error(ErrorCode::E0317, arguments.places[0]->span, "dict takes pairs, got {}",
                       reprOf(item));
        entries.emplace_back(item.items()[0], item.items()[1]);
      }
    }
  }
  for (auto &named : arguments.named)
    entries.emplace_back(heap_.make<StringObject>(std::string(named.argument->name)), named.value);
  return makeDict(std::move(entries), arguments.call);
}

} // namespace lstmc::lnet

#include "executor/session/Values.h"

#include <cmath>

#include <fmt/ranges.h>

#include "executor/base/Numeric.h"
#include "executor/base/ParseNumber.h"
#include "executor/base/Philox.h"
#include "executor/base/Quote.h"
#include "executor/data/ArrayFile.h"
#include "executor/data/Elements.h"
#include "executor/data/Npy.h"
#include "executor/data/Npz.h"
#include "executor/data/Outside.h"
#include "executor/session/Binding.h"
#include "executor/session/NonFinite.h"

namespace lstmc::session {

namespace {

Error inFile(const std::string &file, Error error) {
  error.place.file = file;
  return error;
}

Error missing(const std::string &file, std::string_view parameter) {
  return failAt({file}, ErrorCode::E0610, "parameter {}: found no tensor of that name, want one",
                inQuotes(parameter));
}

/// Weights that are not finite would make every result not finite.
Status checkFinite(const std::string &file, std::string_view parameter, const Tensor &value) {
  std::optional<NonFinite> first = firstNonFinite(value);
  if (!first)
    return {};
  return failAt({file}, ErrorCode::E0701, "parameter {}: found {} at [{}], want finite numbers",
                inQuotes(parameter), first->nan ? "NaN" : "an infinity",
                fmt::join(first->index.begin(), first->index.begin() + first->rank, ", "));
}

const data::Array *find(const std::vector<data::NamedArray> &arrays, std::string_view name) {
  for (const data::NamedArray &array : arrays)
    if (array.name == name)
      return &array.array;
  return nullptr;
}

template <typename Value> void fillElements(const Tensor &to, Value value) {
  for (int64_t i = 0; i < to.elements(); ++i)
    writeElement(to.data, to.dtype, i, value(i));
}

/// E0604 if `to`, filled with `number`, holds another one: beyond its type's range. Fractions of
/// integers are cut off, and digits that a float does not have.
Status checkHeld(std::string_view name, const Tensor &to, double number, std::string_view text) {
  if (to.elements() == 0 || to.dtype == DType::Bool || !std::isfinite(number))
    return {};
  const auto held = readElement<double>(to.data, to.dtype, 0);
  if (isFloat(to.dtype) ? std::isfinite(held) : std::abs(held - number) < 1)
    return {};
  return fail(ErrorCode::E0604, "input {}: found {}, want a number that {} has", inQuotes(name),
              text, dtypeName(to.dtype));
}

/// "2x4xf32"; nothing if the text has another form.
std::optional<std::string> typeOf(std::string_view text) {
  std::vector<int64_t> shape;
  while (true) {
    std::string_view part = text.substr(0, text.find('x'));
    if (std::optional<int64_t> extent = parseNumber<int64_t>(part)) {
      shape.push_back(*extent);
    } else {
      std::optional<DType> dtype = parseDType(text);
      if (!dtype)
        return std::nullopt;
      Tensor tensor;
      tensor.dtype = *dtype;
      if (shape.size() > size_t(kMaxRank))
        return std::nullopt;
      tensor.rank = int(shape.size());
      std::copy(shape.begin(), shape.end(), tensor.shape.begin());
      return typeText(tensor);
    }
    if (part.size() == text.size())
      return std::nullopt;
    text.remove_prefix(part.size() + 1);
  }
}

Status assignArray(std::string_view name, const std::string &file, data::Array array,
                   const Tensor &to) {
  Tensor from = array.tensor();
  if (from.dtype != to.dtype || from.rank != to.rank || from.shape != to.shape)
    return failAt({file}, ErrorCode::E0610, "input {}: found {}, want {}", inQuotes(name),
                  typeText(from), typeText(to));
  copyTensor(from, to);
  return {};
}

Status assignFile(std::string_view name, const std::string &file, const Tensor &to,
                  const Limits &limits) {
  if (!file.ends_with(".npz")) {
    LSTMC_ASSIGN(data::Array array, data::loadNpy(file, limits));
    return assignArray(name, file, std::move(array), to);
  }
  LSTMC_ASSIGN(std::vector<data::NamedArray> arrays, data::loadNpz(file, limits));
  const data::Array *array = find(arrays, name);
  if (!array)
    return failAt({file}, ErrorCode::E0610, "input {}: found no array of that name, want one",
                  inQuotes(name));
  return assignArray(name, file, *array, to);
}

} // namespace

/// `find` gives a copy of the array of a name, or nullopt.
template <typename Find>
static Status bindAll(Session &session, const std::string &file, Find &&find) {
  for (const package::Parameter &parameter : session.package().data().parameters) {
    std::optional<data::Array> array = find(parameter.name);
    if (!array)
      return missing(file, parameter.name);
    LSTMC_TRY(checkFinite(file, parameter.name, array->tensor()));
    if (Status status = session.setParameter(parameter.name, array->tensor()); !status.ok())
      return inFile(file, status.error());
  }
  return {};
}

Status bindWeights(Session &session, const data::SafeTensors &weights) {
  return bindAll(session, weights.file(), [&](std::string_view name) {
    const data::TensorRecord *record = weights.find(name);
    return record ? std::optional(weights.array(*record)) : std::nullopt;
  });
}

Status bindWeights(Session &session, const std::string &path, const Limits &limits) {
  LSTMC_ASSIGN(data::ArrayFile::Pointer weights, data::ArrayFile::load(path, limits));
  return bindAll(session, path, [&](std::string_view name) { return weights->find(name); });
}

/// Sets `to` to the value of NAME=VALUE.
static Status assign(std::string_view assignment, const Tensor &to,
                     const std::optional<ValueRange> &range, const Limits &limits) {
  size_t equals = assignment.find('=');
  std::string_view name = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  if (value.starts_with('@'))
    return assignFile(name, std::string(value.substr(1)), to, limits);

  std::string_view number = value;
  if (size_t second = value.find('='); second != std::string_view::npos) {
    std::optional<std::string> type = typeOf(value.substr(0, second));
    if (!type)
      return fail(ErrorCode::E0001, "input {}: found {}, want a type such as 32x35xi32",
                  inQuotes(name), inQuotes(value.substr(0, second)));
    if (*type != typeText(to))
      return fail(ErrorCode::E0610, "input {}: found {}, want {}", inQuotes(name), *type,
                  typeText(to));
    number = value.substr(second + 1);
  }
  constexpr std::string_view kRandom = "random:";
  if (number.starts_with(kRandom)) {
    std::optional<uint64_t> seed = parseNumber<uint64_t>(number.substr(kRandom.size()));
    if (!seed)
      return fail(ErrorCode::E0001, "input {}: found {}, want random:SEED", inQuotes(name),
                  inQuotes(number));
    double low = range ? double(range->low) : 0;
    bool real = isFloat(to.dtype) && low == 0;
    double scale = real ? 1 : to.dtype == DType::Bool ? 2 : 10;
    if (range && !real)
      scale = std::min(scale, double(range->high) - low + 1);
    fillElements(to, [&](int64_t i) {
      double uniform = randomUniform(*seed, uint64_t(i), 0, 0) * scale;
      return real ? uniform : low + std::floor(uniform);
    });
    return {};
  }
  if (std::optional<int64_t> integer = parseNumber<int64_t>(number)) {
    fillElements(to, [&](int64_t) { return *integer; });
    return checkHeld(name, to, double(*integer), number);
  }
  std::optional<double> real = parseNumber<double>(number);
  if (!real)
    return fail(ErrorCode::E0001,
                "input {}: found {}, want @FILE.npy, @FILE.npz, a number, or TYPE=NUMBER",
                inQuotes(name), inQuotes(value));
  fillElements(to, [&](int64_t) { return *real; });
  return checkHeld(name, to, *real, number);
}

/// The input of that name, or nothing: the session then reports the error.
static const package::Binding *findInput(const Session &session, std::string_view entry,
                                         std::string_view name) {
  std::optional<size_t> index = session.package().findEntry(entry);
  if (!index)
    return nullptr;
  for (const package::Binding &input : session.package().data().entries[*index].inputs)
    if (input.name == name)
      return &input;
  return nullptr;
}

Status setInput(Session &session, std::string_view entry, std::string_view assignment,
                const Limits &limits) {
  size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return fail(ErrorCode::E0001, "input {}: found no \"=\", want NAME=VALUE",
                inQuotes(assignment));
  std::string_view name = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  LSTMC_ASSIGN(Tensor to, session.input(entry, name));
  const package::Binding *input = findInput(session, entry, name);
  if (std::optional<double> number = parseNumber<double>(value);
      number && input && input->role == "scalar" && isFloat(to.dtype)) {
    session.setScalar(name, *number); // with digits that its view has not
    return {};
  }
  std::optional<ValueRange> range = input ? input->range : std::nullopt;
  LSTMC_TRY(assign(assignment, to, range, limits));
  if (!range)
    return {};
  return checkRange(name, to, *range,
                    value.starts_with('@') ? std::string(value.substr(1)) : std::string());
}

Status checkRange(std::string_view name, const Tensor &values, const ValueRange &range,
                  const std::string &file) {
  const std::optional<int64_t> at =
      data::firstOutside(values.data, values.dtype, values.elements(), range);
  if (!at)
    return {};
  const int64_t row = values.rank > 0 ? values.elements() / values.shape[0] : 1;
  return failAt({file}, ErrorCode::E0604, "input {} row {}{}: found {}, want {}", inQuotes(name),
                *at / row, data::placeText(data::shapeOf(values), *at),
                readElement<double>(values.data, values.dtype, *at), range.text());
}

void setMissing(const Tensor &values, const std::optional<ValueRange> &range) {
  data::eachIndexBut(values, -1, [&](int64_t, int64_t offset) {
    writeElement(values.data, values.dtype, offset, range ? range->low : int64_t(0));
  });
}

std::string describeValue(std::string_view name, const Tensor &tensor, int64_t values) {
  std::string text = fmt::format("{} {}", name, typeText(tensor));
  int64_t shown = std::min(values, tensor.elements());
  for (int64_t i = 0; i < shown; ++i)
    text += isFloat(tensor.dtype)
                ? fmt::format(" {:.9g}", readElement<double>(tensor.data, tensor.dtype, i))
                : fmt::format(" {}", readElement<int64_t>(tensor.data, tensor.dtype, i));
  return text + (shown < tensor.elements() ? " ..." : "");
}

} // namespace lstmc::session

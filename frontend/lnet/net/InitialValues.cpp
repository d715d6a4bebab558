#include "frontend/lnet/net/InitialValues.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/ranges.h>

#include "executor/base/LowerCase.h"
#include "executor/base/NestedFile.h"
#include "executor/base/Numeric.h"
#include "executor/data/Npy.h"
#include "frontend/symbol/Initialisers.h"

namespace lstmc::lnet {

static symbol::Initialiser valuesOf(const std::vector<int64_t> &shape,
                                    std::vector<double> numbers) {
  return {"values",
          {{"shape", symbol::Tuple(shape.begin(), shape.end())}, {"data", std::move(numbers)}},
          {},
          {}};
}

std::optional<symbol::Initialiser> InitialValues::initialiserOf(const Value &value,
                                                                const Expr *place) {
  switch (value.kind()) {
  case ValueKind::Initialiser:
    return value.as<InitialiserObject>().init;
  case ValueKind::Unknown:
    return std::nullopt;
  case ValueKind::Integer:
  case ValueKind::Float:
    return symbol::Initialiser{"constant", {{"value", value.number()}}, {}, {}};
  case ValueKind::Tuple:
  case ValueKind::List:
    return ofList(value, place);
  case ValueKind::Function:
    deferred_.push_back({value, place, run_.at.module});
    return symbol::Initialiser{"deferred", {{"number", int64_t(deferred_.size() - 1)}}, {}, {}};
  case ValueKind::String:
    if (value.string().starts_with('@'))
      return ofFile(value.string().substr(1), place);
    if (auto init = named(value.string()))
      return init;
    break;
  default:
    break;
  }
  Diagnostic error = run_.makeError(ErrorCode::E0204, place->span,
                                    fmt::format("init is an initialiser, got {}", reprOf(value)));
  std::string shown;
  for (const symbol::InitialiserRow &row : symbol::kInitialisers)
    shown += fmt::format("{}{}(..)", shown.empty() ? "" : ", ", row.shown);
  error.help = fmt::format("one of {}; or a number, a list of numbers, a function of the indices, "
                           "\"@w.npy\"",
                           shown);
  run_.report(std::move(error));
  return std::nullopt;
}

/// MXNet's name of an initialiser that needs no arguments.
std::optional<symbol::Initialiser> InitialValues::named(const std::string &name) {
  const std::string written = lowerCase(name);
  for (const symbol::InitialiserRow &row : symbol::kInitialisers)
    if (!row.required && !written.empty() && (written == row.name || written == row.otherName))
      return symbol::Initialiser{std::string(row.name), {}, {}, {}};
  return std::nullopt;
}

//===---- lists -----------------------------------------------------------------------------===//

bool InitialValues::flatten(const Value &value, size_t axis, const Expr *place,
                            std::vector<int64_t> &shape, std::vector<double> &numbers) {
  if (value.isUnknown())
    return false;
  if (value.isNumber() && axis == shape.size()) {
    numbers.push_back(value.number());
    return true;
  }
  const bool first = numbers.empty();
  if (!value.isSequence() || (axis == shape.size() && !first)) {
    run_.error(ErrorCode::E0204, place->span, "init is a list of numbers, and {} is in it",
               reprOf(value));
    return false;
  }
  if (axis == run_.limits().rank) {
    run_.limitError(ErrorCode::E0206, place->span,
                    fmt::format("init has lists {} deep, the limit is {}", axis + 1, axis), "rank");
    return false;
  }
  const auto length = int64_t(value.items().size());
  if (axis == shape.size())
    shape.push_back(length);
  if (length != shape[axis] || length == 0) {
    run_.error(ErrorCode::E0206, place->span, "init has lists of {} and {} elements in one axis",
               shape[axis], length);
    return false;
  }
  for (const Value &item : value.items())
    if (!run_.step(place->span) || !flatten(item, axis + 1, place, shape, numbers))
      return false;
  return true;
}

std::optional<symbol::Initialiser> InitialValues::ofList(const Value &list, const Expr *place) {
  std::vector<int64_t> shape;
  std::vector<double> numbers;
  if (!flatten(list, 0, place, shape, numbers))
    return std::nullopt;
  return valuesOf(shape, std::move(numbers));
}

//===---- files -----------------------------------------------------------------------------===//

std::optional<symbol::Initialiser> InitialValues::ofFile(const std::string &path,
                                                         const Expr *place) {
  std::vector<std::string> folders{run_.at.module->folder};
  folders.insert(folders.end(), folders_.begin(), folders_.end());
  Result<Bytes> bytes = readNestedFile(folders, path);
  Result<data::Array> array = bytes.ok()
                                  ? data::parseNpy(std::move(*bytes), path, lstmc::Limits(), 0)
                                  : Result<data::Array>(bytes.error());
  if (!array.ok()) {
    const Error &error = array.error();
    run_.error(error.code, place->span, "{}{}: {}", path,
               error.place.byte < 0 ? "" : fmt::format(", byte {}", error.place.byte),
               error.message);
    return std::nullopt;
  }
  const Tensor tensor = array->tensor();
  std::vector<double> numbers(size_t(tensor.elements()));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = readElement<double>(tensor.data, tensor.dtype, int64_t(i));
  if (std::ranges::any_of(numbers, [](double number) { return !std::isfinite(number); })) {
    run_.error(ErrorCode::E0604, place->span, "{}: found a number that is not finite", path);
    return std::nullopt;
  }
  return valuesOf(array->shape, std::move(numbers));
}

//===---- functions -------------------------------------------------------------------------===//

std::optional<symbol::Initialiser> InitialValues::call(const Deferred &deferred,
                                                       std::string_view parameter,
                                                       const std::vector<int64_t> &shape) {
  const auto &function = deferred.function.as<FunctionObject>();
  const Span span = deferred.place->span;
  const size_t taken = function.defaults.size();
  if (taken != shape.size()) {
    run_.report(run_.makeError(
        ErrorCode::E0205, span,
        fmt::format("{} takes {} {}, and \"{}\" is [{}]", function.name(), taken,
                    taken == 1 ? "index" : "indices", parameter, fmt::join(shape, ", ")),
        "a function of init= takes an index for each axis and returns a number"));
    return std::nullopt;
  }
  CallExpr expr{};
  expr.kind = ExprKind::Call;
  expr.span = span;
  expr.callee = const_cast<Expr *>(deferred.place);
  std::vector<int64_t> at(shape.size(), 0);
  std::vector<double> numbers;
  const int64_t count =
      std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<int64_t>());
  while (int64_t(numbers.size()) < count) {
    if (!run_.step(span))
      return std::nullopt;
    Arguments arguments;
    arguments.call = &expr;
    for (int64_t index : at) {
      arguments.positional.push_back(Value::integer(index));
      arguments.places.push_back(deferred.place);
    }
    const Value value = interpreter_.calls.callFunction(deferred.function, arguments);
    if (value.isUnknown() || run_.aborted())
      return std::nullopt;
    if (!value.isNumber() || !std::isfinite(value.number())) {
      run_.error(ErrorCode::E0204, span, "{}({}) is a finite number, got {}", function.name(),
                 fmt::join(at, ", "), reprOf(value));
      return std::nullopt;
    }
    numbers.push_back(value.number());
    for (size_t axis = shape.size(); axis > 0; --axis) {
      if (++at[axis - 1] < shape[axis - 1])
        break;
      at[axis - 1] = 0;
    }
  }
  return valuesOf(shape, std::move(numbers));
}

void InitialValues::callFunctions(symbol::Graph &graph, std::vector<symbol::Setting> &fit) {
  const auto setting = std::ranges::find(fit, "initializer", &symbol::Setting::key);
  const symbol::Initialiser *fallback =
      setting != fit.end() && setting->initialiser ? &*setting->initialiser : nullptr;
  run_.graph = nullptr; // it is finished: an op in such a function is refused
  run_.fileGraph = nullptr;
  const bool isGiven = graph.fillDeferred(
      fallback, [&](int64_t number, std::string_view name, const std::vector<int64_t> &shape) {
        const Deferred &deferred = deferred_[size_t(number)];
        run_.at.module = deferred.module;
        return run_.aborted() ? std::nullopt : call(deferred, name, shape);
      });
  if (isGiven)
    fit.erase(setting);
}

} // namespace lstmc::lnet

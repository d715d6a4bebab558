#include "frontend/lnet/net/InitialValues.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/ranges.h>

#include "executor/base/LowerCase.h"
#include "frontend/names/Suggestion.h"
#include "frontend/symbol/Initialisers.h"

namespace lstmc::lnet {

static symbol::Initialiser valuesOf(const std::vector<int64_t> &shape,
                                    std::vector<double> numbers) {
  return {"values",
          {{"shape", symbol::Tuple(shape.begin(), shape.end())}, {"data", std::move(numbers)}},
          {},
          {}};
}

static std::string listedNames(const std::vector<data::NamedArray> &arrays,
                               std::string_view nearest) {
  std::vector<std::string_view> names;
  for (const data::NamedArray &each : arrays)
    names.push_back(each.name);
  return names.empty() ? "none" : listed(nearest, names);
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
    return defer({value, place, run_.at.module, {}});
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

symbol::Initialiser InitialValues::defer(Deferred deferred) {
  symbol::Initialiser init{"deferred", {{"number", int64_t(deferred_.size())}}, {}, {}};
  if (deferred.weights)
    init.arguments.push_back({"by_name", true});
  deferred_.push_back(std::move(deferred));
  return init;
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

std::vector<std::string> InitialValues::folders() const {
  std::vector<std::string> folders{run_.at.module->folder};
  folders.insert(folders.end(), folders_.begin(), folders_.end());
  return folders;
}

std::optional<symbol::Initialiser> InitialValues::ofFile(const std::string &path,
                                                         const Expr *place) {
  if (path.ends_with(".npz") || path.ends_with(".safetensors"))
    return ofWeights(path, std::nullopt, place);
  auto arrays = readArrays(run_, folders(), path, place->span);
  if (!arrays)
    return std::nullopt;
  data::Array &array = arrays->front().array;
  auto numbers = numbersOf(run_, array, path, place->span);
  if (!numbers)
    return std::nullopt;
  return valuesOf(array.shape, std::move(*numbers));
}

std::optional<symbol::Initialiser>
InitialValues::ofWeights(const std::string &path, std::optional<symbol::Initialiser> otherwise,
                         const Expr *place) {
  auto arrays = readArrays(run_, folders(), path, place->span);
  if (!arrays)
    return std::nullopt;
  return defer(
      {{}, place, run_.at.module, Weights{path, std::move(*arrays), std::move(otherwise)}});
}

std::optional<symbol::Initialiser> InitialValues::find(Deferred &deferred,
                                                       std::string_view parameter,
                                                       const std::vector<int64_t> &shape) {
  Weights &weights = *deferred.weights;
  const Span span = deferred.place->span;
  ++weights.asked;
  auto at = std::ranges::find(weights.arrays, parameter, &data::NamedArray::name);
  if (at == weights.arrays.end() &&
      weights.otherwise) // applies the rules for names, also if it has explicit values
    return symbol::Initialiser{"mixed", {}, {".*"}, {*weights.otherwise}};
  if (at == weights.arrays.end()) {
    run_.report(run_.makeError(
        ErrorCode::E0604, span, fmt::format("{} has no array for \"{}\"", weights.path, parameter),
        fmt::format("Load(\"{}\", default_init=Xavier()) says how such parameters begin; it has {}",
                    weights.path, listedNames(weights.arrays, parameter))));
    return std::nullopt;
  }
  if (at->array.shape != shape) {
    run_.error(ErrorCode::E0207, span, "\"{}\" is [{}] in {}, the parameter is [{}]", parameter,
               fmt::join(at->array.shape, ", "), weights.path, fmt::join(shape, ", "));
    return std::nullopt;
  }
  ++weights.found;
  auto numbers = numbersOf(run_, at->array, weights.path, span);
  if (!numbers)
    return std::nullopt;
  return valuesOf(shape, std::move(*numbers));
}

/// A file without any parameter of the net is the wrong file, even if there is a default.
void InitialValues::checkFound() {
  for (const Deferred &deferred : deferred_)
    if (const auto &weights = deferred.weights;
        weights && weights->otherwise && weights->asked > 0 && weights->found == 0)
      run_.report(run_.makeError(ErrorCode::E0604, deferred.place->span,
                                 fmt::format("{} has none of the {} parameters that begin with it",
                                             weights->path, weights->asked),
                                 fmt::format("it has {}", listedNames(weights->arrays, ""))));
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

void InitialValues::makeDeferred(symbol::Graph &graph, std::vector<symbol::Setting> &fit) {
  const auto setting = std::ranges::find(fit, "initializer", &symbol::Setting::key);
  const symbol::Initialiser *fallback =
      setting != fit.end() && setting->initialiser ? &*setting->initialiser : nullptr;
  run_.graph = nullptr; // it is finished: an op in such a function is refused
  run_.fileGraph = nullptr;
  const bool isGiven = graph.fillDeferred(
      fallback, [&](int64_t number, std::string_view name, const std::vector<int64_t> &shape) {
        Deferred &deferred = deferred_[size_t(number)];
        run_.at.module = deferred.module;
        if (run_.aborted())
          return std::optional<symbol::Initialiser>();
        return deferred.weights ? find(deferred, name, shape) : call(deferred, name, shape);
      });
  checkFound();
  if (isGiven)
    fit.erase(setting);
}

} // namespace lstmc::lnet

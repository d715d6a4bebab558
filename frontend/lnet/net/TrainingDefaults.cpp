#include "frontend/lnet/net/TrainingDefaults.h"

#include <algorithm>

#include "executor/abi/Optimizers.h"
#include "executor/base/LowerCase.h"
#include "frontend/lnet/Load.h"
#include "frontend/lnet/net/FileNet.h"
#include "frontend/lnet/net/NetChoice.h"
#include "frontend/lnet/net/Schedules.h"

namespace lstmc::lnet {

std::span<const BuiltinRow<TrainingDefaults>> TrainingDefaults::functions() {
  static constexpr BuiltinRow<TrainingDefaults> kTable[] = {{"fit", &TrainingDefaults::fit},
                                                            {"data", &TrainingDefaults::giveData},
                                                            {"place", &TrainingDefaults::place}};
  return kTable;
}

std::vector<symbol::Setting> TrainingDefaults::of(const std::vector<NetDefaults> &all,
                                                  std::string_view net) {
  for (const NetDefaults &each : all)
    if (each.net == net)
      return each.settings;
  return {};
}

//===---- the keys --------------------------------------------------------------------------===//

namespace {

enum class KeyKind {
  Text,
  Number,
  Integer,
  Strings,
  Integers,
  NumberOrText,
  YesNo,
  Bool,
  Initialiser,
  Scheduler
};
struct TrainingKey {
  std::string_view name;
  KeyKind kind;
  std::optional<int> least = {}; ///< minimum, for numbers of the loop; optimizers define their own
};

constexpr TrainingKey kLoopKeys[] = {
    {"optimizer", KeyKind::Text},         {"learning_rate", KeyKind::Number, 0},
    {"lr_scheduler", KeyKind::Scheduler}, {"initializer", KeyKind::Initialiser},
    {"eval_metric", KeyKind::Strings},    {"num_epoch", KeyKind::Integer, 1},
    {"num_update", KeyKind::Integer, 1},  {"carry", KeyKind::Strings},
    {"seed", KeyKind::Integer, 0},
};

/// The keys of fit(..): of the training loop and of all optimizers.
const std::vector<TrainingKey> &allFitKeys() {
  static const std::vector<TrainingKey> kKeys = [] {
    std::vector<TrainingKey> keys(std::begin(kLoopKeys), std::end(kLoopKeys));
    auto add = [&](const OptimizerKey &key) {
      bool there = std::ranges::find(keys, key.name, &TrainingKey::name) != keys.end();
      if (!there && !key.name.empty())
        keys.push_back({key.name, key.yesNo ? KeyKind::Bool : KeyKind::Number});
    };
    for (const OptimizerKey &key : kCommonOptimizerKeys)
      add(key);
    for (const Optimizer &row : kOptimizers)
      for (const OptimizerKey &key : row.keys)
        add(key);
    return keys;
  }();
  return kKeys;
}

/// Any key of place(..): a ctx_group; its value is a device.
constexpr TrainingKey kGroup = {"", KeyKind::Text};

constexpr TrainingKey kDataKeys[] = {
    {"train", KeyKind::Text},       {"valid", KeyKind::NumberOrText}, {"test", KeyKind::Text},
    {"unit", KeyKind::Text},        {"vocab", KeyKind::Text},         {"lines", KeyKind::YesNo},
    {"buckets", KeyKind::Integers}, {"inputs", KeyKind::Strings},     {"target", KeyKind::Text},
    {"window", KeyKind::Integer},   {"horizon", KeyKind::Integer},    {"sequence", KeyKind::Text},
    {"na", KeyKind::Text},          {"fill", KeyKind::Text},          {"shuffle", KeyKind::YesNo},
    {"classes", KeyKind::Integer},
};

std::string_view kindText(KeyKind kind) {
  switch (kind) {
  case KeyKind::Text:
    return "a string";
  case KeyKind::Number:
    return "a number";
  case KeyKind::Integer:
    return "an integer";
  case KeyKind::Strings:
    return "a string or a list of strings";
  case KeyKind::Integers:
    return "a list of integers";
  case KeyKind::NumberOrText:
    return "a number or a string";
  case KeyKind::YesNo:
  case KeyKind::Bool:
    return "a bool";
  case KeyKind::Initialiser:
    return "an initialiser";
  case KeyKind::Scheduler:
    return "a schedule";
  }
  return "";
}

} // namespace

std::vector<std::string_view> fitKeys() {
  std::vector<std::string_view> names;
  for (const TrainingKey &key : allFitKeys())
    names.push_back(key.name);
  return names;
}

std::vector<std::string_view> dataKeys() {
  std::vector<std::string_view> names;
  for (const TrainingKey &key : kDataKeys)
    names.push_back(key.name);
  return names;
}

//===---- the value of a key ----------------------------------------------------------------===//

namespace {

/// Converts the value of a key to what the training loop reads.
class KeyValue {
public:
  KeyValue(Run &run, InitialValues &values, const TrainingKey &key, const Arguments::Named &named)
      : run_(run), values_(values), key_(key), name_(named.argument->name),
        place_(named.argument->value), value_(named.value) {
    setting_.key = name_;
    setting_.origin = run.place(named.argument->nameSpan);
  }

  /// Nullopt after an error: E0204 for a value of another kind.
  std::optional<symbol::Setting> read() {
    if (key_.kind == KeyKind::Initialiser) {
      std::optional<symbol::Initialiser> init = values_.initialiserOf(value_, place_);
      if (!init)
        return std::nullopt;
      setting_.value = init->name;
      setting_.initialiser = std::move(init);
      return setting_;
    }
    if (readPlain())
      return setting_;
    run_.report(
        run_.makeError(ErrorCode::E0204, place_->span,
                       fmt::format("{} is {}, got {}", name_, kindText(key_.kind), reprOf(value_)),
                       key_.kind == KeyKind::Scheduler ? "one of " + scheduleNames() : ""));
    return std::nullopt;
  }

private:
  bool set(symbol::AttributeValue value) {
    setting_.value = std::move(value);
    return true;
  }

  /// False for a value of another kind.
  bool readPlain() {
    bool string = value_.is(ValueKind::String), boolean = value_.is(ValueKind::Bool);
    switch (key_.kind) {
    case KeyKind::Text:
      return string && set(value_.string());
    case KeyKind::NumberOrText:
      if (string)
        return set(value_.string());
      [[fallthrough]];
    case KeyKind::Number:
      return value_.isNumber() && set(value_.number());
    case KeyKind::Integer:
      return value_.is(ValueKind::Integer) && set(value_.integer());
    case KeyKind::YesNo:
      return boolean && set(std::string(value_.boolean() ? "yes" : "no"));
    case KeyKind::Bool:
      return boolean && set(value_.boolean());
    case KeyKind::Strings:
      return string ? set(value_.string()) : value_.isSequence() && readStrings();
    case KeyKind::Integers:
      return value_.isSequence() && readIntegers();
    case KeyKind::Scheduler:
      if (!value_.is(ValueKind::Scheduler))
        return false;
      setting_.arguments = value_.as<SchedulerObject>().arguments;
      return set(value_.as<SchedulerObject>().name);
    case KeyKind::Initialiser:
      break; // read() has dealt with it
    }
    return false;
  }

  bool readIntegers() {
    symbol::Tuple numbers;
    for (const Value &item : value_.items()) {
      if (!item.is(ValueKind::Integer))
        return false;
      numbers.push_back(item.integer());
    }
    return set(std::move(numbers));
  }

  /// A list becomes one text: `inputs` with "|" as in a data SPEC, others with "," as on the
  /// command line.
  bool readStrings() {
    std::string_view separator = name_ == "inputs" ? "|" : ",";
    std::string text;
    for (const Value &item : value_.items()) {
      if (!item.is(ValueKind::String) || item.string().find(separator) != std::string::npos)
        return false;
      text += (text.empty() ? "" : std::string(separator)) + item.string();
    }
    return set(text);
  }

  Run &run_;
  InitialValues &values_;
  const TrainingKey &key_;
  std::string_view name_;
  const Expr *place_;
  const Value &value_;
  symbol::Setting setting_;
};

//===---- the calls -------------------------------------------------------------------------===//

/// One call of fit, data or place.
class DefaultsCall {
public:
  /// `keys`: the allowed keys; empty if all are allowed (place).
  DefaultsCall(Run &run, InitialValues &values, std::string_view function,
               std::span<const TrainingKey> keys, Arguments &arguments)
      : run_(run), values_(values), function_(function), keys_(keys), arguments_(arguments),
        span_(calleeSpan(arguments.call)), fit_(function == "fit") {}

  std::string_view exampleCall() const {
    return function_ == "fit"    ? "fit(net, optimizer=\"adam\", learning_rate=0.001)"
           : function_ == "data" ? "data(net, train=\"csv:F.csv\", target=\"y\")"
                                 : "place(net, encoder=\"cpu:1\")";
  }

  /// Adds what the call sets to the defaults of other nets.
  Value addTo(std::vector<NetDefaults> &all) {
    if (arguments_.unknown || !mayStandHere())
      return Value::unknown();
    if (arguments_.positional.size() > 1)
      run_.report(run_.makeError(
          ErrorCode::E0205, arguments_.places[1]->span,
          fmt::format("{} takes one net, got {}", function_, arguments_.positional.size()),
          fmt::format("the rest is given by name: {}", exampleCall())));
    for (const Arguments::Named &named : arguments_.named)
      take(named);
    if (fit_ && has("num_epoch") && has("num_update"))
      run_.error(ErrorCode::E0214, span_, "fit has num_epoch and num_update, want one of them");
    return addForNet(all);
  }

private:
  bool mayStandHere() {
    if (!run_.at.calls.empty())
      run_.error(ErrorCode::E0214, span_, "{} stands at file level, not in a function", function_);
    else if (!run_.at.module->main)
      run_.error(ErrorCode::E0214, span_,
                 "{} stands in the file named on the command line, not in one that it imports",
                 function_);
    else
      return true;
    return false;
  }

  void take(const Arguments::Named &named) {
    // MXNet's float32 copies of parameters of other types, which do not exist here.
    if (fit_ && named.argument->name == "multi_precision" && named.value.is(ValueKind::Bool)) {
      if (named.value.boolean())
        run_.warn(ErrorCode::E0214, named.argument->value->span,
                  "multi_precision has no effect: parameters are float32 or float64");
      return;
    }
    const TrainingKey *key = keyOf(*named.argument);
    if (!key || named.value.isUnknown() || named.value.is(ValueKind::None))
      return;
    std::optional<symbol::Setting> setting = KeyValue(run_, values_, *key, named).read();
    if (setting && (!fit_ || checkFit(*key, *setting, named)))
      defaults_.settings.push_back(std::move(*setting));
  }

  /// E0214 for a key that the function does not take.
  const TrainingKey *keyOf(const Argument &argument) {
    if (keys_.empty())
      return &kGroup;
    auto found = std::ranges::find(keys_, argument.name, &TrainingKey::name);
    if (found != keys_.end())
      return &*found;
    std::vector<std::string_view> names;
    for (const TrainingKey &key : keys_)
      names.push_back(key.name);
    run_.unknownName(ErrorCode::E0214, argument.nameSpan,
                     fmt::format("{} has no key \"{}\"", function_, argument.name), NameKind::Key,
                     argument.name, names);
    return nullptr;
  }

  /// The range of an optimizer's number, and the name of the optimizer.
  bool checkFit(const TrainingKey &key, symbol::Setting &setting, const Arguments::Named &named) {
    Span span = named.argument->value->span;
    if (const OptimizerKey *range = findOptimizerKey(setting.key);
        range && !range->yesNo && !range->takes(named.value.number())) {
      run_.error(ErrorCode::E0204, span, "{} is a number from {}{}, got {}", setting.key,
                 range->least,
                 range->below == kNoBound ? "" : fmt::format(" to below {}", range->below),
                 reprOf(named.value));
      return false;
    }
    if (key.least && named.value.number() < *key.least) {
      run_.error(ErrorCode::E0204, span, "{} is a number from {}, got {}", key.name, *key.least,
                 reprOf(named.value));
      return false;
    }
    if (setting.key != "optimizer")
      return true;
    std::string name = lowerCase(named.value.string()); // MXNet takes its names in any case
    if (!findOptimizer(name)) {
      refuseOptimizer(named.value, span);
      return false;
    }
    setting.value = std::move(name);
    return true;
  }

  /// E0215 for an optimizer of MXNet that is missing here, else E0204 with a similar name.
  void refuseOptimizer(const Value &name, Span span) {
    if (std::ranges::find(kOptimizersNotBuilt, name.string()) != std::end(kOptimizersNotBuilt)) {
      run_.error(ErrorCode::E0215, span, "optimizer {} is not built yet", reprOf(name));
      return;
    }
    std::vector<std::string_view> names;
    for (const Optimizer &row : kOptimizers)
      names.push_back(row.name);
    run_.unknownName(ErrorCode::E0204, span, fmt::format("no optimizer is named {}", reprOf(name)),
                     NameKind::Attribute, name.string(), names);
  }

  bool has(std::string_view key) const {
    return std::ranges::find(defaults_.settings, key, &symbol::Setting::key) !=
           defaults_.settings.end();
  }

  Value addForNet(std::vector<NetDefaults> &all) {
    if (arguments_.positional.empty())
      return run_.error(ErrorCode::E0214, span_, "{} names no net", function_);
    const Value &net = arguments_.positional[0];
    if (net.isUnknown())
      return net;
    if (net.is(ValueKind::Tensor))
      defaults_.net = kFileNetName;
    else if (!net.is(ValueKind::Function) || !isNet(net.as<FunctionObject>()))
      return run_.report(run_.makeError(
          ErrorCode::E0214, arguments_.places[0]->span,
          fmt::format("{} is for a net, got {}", function_, reprOf(net)),
          "a net is a function whose parameters have types: def net(data: float32[N, 10]):"));
    else
      defaults_.net = net.as<FunctionObject>().name();
    if (std::ranges::find(all, defaults_.net, &NetDefaults::net) != all.end())
      return run_.error(ErrorCode::E0214, span_, "{} of \"{}\" stands twice", function_,
                        defaults_.net);
    all.push_back(std::move(defaults_));
    return Value::none();
  }

  Run &run_;
  InitialValues &values_;
  std::string_view function_;
  std::span<const TrainingKey> keys_;
  Arguments &arguments_;
  Span span_;
  bool fit_;
  NetDefaults defaults_;
};

} // namespace

Value TrainingDefaults::fit(Arguments &arguments) {
  return DefaultsCall(run_, values_, "fit", allFitKeys(), arguments).addTo(fits);
}
Value TrainingDefaults::giveData(Arguments &arguments) {
  return DefaultsCall(run_, values_, "data", kDataKeys, arguments).addTo(data);
}
Value TrainingDefaults::place(Arguments &arguments) {
  return DefaultsCall(run_, values_, "place", {}, arguments).addTo(places);
}

} // namespace lstmc::lnet

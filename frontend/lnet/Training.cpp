// fit(..), data(..) and place(..): a file's own defaults for training and for the devices of its
// groups.
#include <algorithm>

#include "executor/abi/Optimizers.h"
#include "executor/base/LowerCase.h"
#include "frontend/lnet/Evaluator.h"
#include "frontend/lnet/Load.h"
#include "frontend/symbol/Suggest.h"

namespace lstmc::lnet {

namespace {

enum class KeyKind {
  Text,
  Number,
  Integer,
  Strings,
  NumberOrText,
  YesNo,
  Bool,
  Initialiser,
  Scheduler
};
struct TrainingKey {
  std::string_view name;
  KeyKind kind;
};

constexpr TrainingKey kLoopKeys[] = {
    {"optimizer", KeyKind::Text},         {"learning_rate", KeyKind::Number},
    {"lr_scheduler", KeyKind::Scheduler}, {"initializer", KeyKind::Initialiser},
    {"eval_metric", KeyKind::Strings},    {"num_epoch", KeyKind::Integer},
    {"num_update", KeyKind::Integer},     {"carry", KeyKind::Strings},
    {"seed", KeyKind::Integer},
};

/// Those of fit(..): the loop's, and those of all optimizers.
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
/// Any key of place(..): a ctx_group, given a device.
constexpr TrainingKey kGroup = {"", KeyKind::Text};
constexpr TrainingKey kDataKeys[] = {
    {"train", KeyKind::Text},      {"valid", KeyKind::NumberOrText}, {"test", KeyKind::Text},
    {"unit", KeyKind::Text},       {"vocab", KeyKind::Text},         {"inputs", KeyKind::Strings},
    {"target", KeyKind::Text},     {"window", KeyKind::Integer},     {"horizon", KeyKind::Integer},
    {"na", KeyKind::Text},         {"fill", KeyKind::Text},          {"shuffle", KeyKind::YesNo},
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

/// E0215 for one that MXNet has, else E0204 with a name that is near.
void Evaluator::noSuchOptimizer(const Argument &argument, const Value &value) {
  if (std::ranges::find(kOptimizersNotBuilt, value.string()) != std::end(kOptimizersNotBuilt)) {
    error(ErrorCode::E0215, argument.value->span, "optimizer {} is not built yet", reprOf(value));
    return;
  }
  std::vector<std::string_view> names;
  for (const Optimizer &row : kOptimizers)
    names.push_back(row.name);
  report(makeError(ErrorCode::E0204, argument.value->span,
                   fmt::format("no optimizer is named {}", reprOf(value)),
                   didYouMean(value.string(), names)));
}

Value Evaluator::training(Arguments &arguments, std::string_view function,
                          std::vector<NetDefaults> &into) {
  const bool fit = &into == &fit_, groups = &into == &place_;
  Span span = calleeSpan(arguments.call);
  if (arguments.unknown)
    return Value::unknown();
  if (!calls_.empty())
    return error(ErrorCode::E0214, span, "{} stands at file level, not in a function", function);
  if (!module_->main)
    return error(ErrorCode::E0214, span,
                 "{} stands in the file named on the command line, not in one that it imports",
                 function);
  if (arguments.positional.size() > 1)
    error(ErrorCode::E0205, arguments.places[1]->span, "{} takes one net, got {}", function,
          arguments.positional.size());
  std::span<const TrainingKey> keys =
      fit ? std::span<const TrainingKey>(allFitKeys()) : std::span<const TrainingKey>(kDataKeys);
  NetDefaults defaults;
  for (auto &named : arguments.named) {
    std::string_view name = named.argument->name;
    const Value &value = named.value;
    const TrainingKey *key = nullptr;
    std::vector<std::string_view> names;
    for (const TrainingKey &each : keys) {
      names.push_back(each.name);
      if (each.name == name)
        key = &each;
    }
    if (groups)
      key = &kGroup;
    if (!key) {
      report(makeError(ErrorCode::E0214, named.argument->nameSpan,
                       fmt::format("{} has no key \"{}\"", function, name),
                       didYouMean(name, names)));
      continue;
    }
    if (value.isUnknown() || value.is(ValueKind::None))
      continue;
    symbol::Setting setting;
    setting.key = name;
    setting.origin = place(named.argument->nameSpan);
    bool good = false;
    switch (key->kind) {
    case KeyKind::NumberOrText:
    case KeyKind::Text:
    case KeyKind::Number:
      if (value.is(ValueKind::String) && key->kind != KeyKind::Number) {
        setting.value = value.string();
        good = true;
      } else if (value.isNumber() && key->kind != KeyKind::Text) {
        setting.value = value.number();
        good = true;
      }
      break;
    case KeyKind::Integer:
      good = value.is(ValueKind::Integer);
      if (good)
        setting.value = value.integer();
      break;
    case KeyKind::YesNo:
      good = value.is(ValueKind::Bool);
      if (good)
        setting.value = std::string(value.boolean() ? "yes" : "no");
      break;
    case KeyKind::Bool:
      good = value.is(ValueKind::Bool);
      if (good)
        setting.value = value.boolean();
      break;
    case KeyKind::Strings: {
      // As a data SPEC writes a list of columns, and as the command line writes every other list.
      std::string_view separator = name == "inputs" ? "|" : ",";
      std::string text;
      good = value.is(ValueKind::String) || value.isSequence();
      if (value.is(ValueKind::String))
        text = value.string();
      else if (good)
        for (const Value &item : value.items()) {
          good &= item.is(ValueKind::String) && item.string().find(separator) == std::string::npos;
          if (good)
            text += (text.empty() ? "" : std::string(separator)) + item.string();
        }
      setting.value = text;
      break;
    }
    case KeyKind::Initialiser: {
      std::optional<symbol::Initialiser> init = initialiserOf(value, named.argument->value);
      if (!init)
        continue;
      setting.value = init->name;
      setting.initialiser = std::move(init);
      good = true;
      break;
    }
    case KeyKind::Scheduler:
      good = value.is(ValueKind::Scheduler);
      if (good) {
        setting.value = value.as<SchedulerObject>().name;
        setting.arguments = value.as<SchedulerObject>().arguments;
      }
      break;
    }
    if (!good) {
      error(ErrorCode::E0204, named.argument->value->span, "{} is {}, got {}", name,
            kindText(key->kind), reprOf(value));
      continue;
    }
    if (const OptimizerKey *range = fit ? findOptimizerKey(name) : nullptr;
        range && !range->yesNo && !range->takes(value.number())) {
      error(ErrorCode::E0204, named.argument->value->span, "{} is a number from {}{}, got {}", name,
            range->least, range->below == kNoBound ? "" : fmt::format(" to below {}", range->below),
            reprOf(value));
      continue;
    }
    if (fit && name == "optimizer") // MXNet's registry has its names in any case
      setting.value = lowerCase(value.string());
    if (const auto *chosen = std::get_if<std::string>(&setting.value);
        fit && name == "optimizer" && !findOptimizer(*chosen)) {
      noSuchOptimizer(*named.argument, value);
      continue;
    }
    defaults.settings.push_back(std::move(setting));
  }
  auto has = [&](std::string_view key) -> const symbol::Setting * {
    for (const symbol::Setting &setting : defaults.settings)
      if (setting.key == key)
        return &setting;
    return nullptr;
  };
  if (fit && has("num_epoch") && has("num_update"))
    error(ErrorCode::E0214, span, "fit has num_epoch and num_update, want one of them");

  if (arguments.positional.empty())
    return error(ErrorCode::E0214, span, "{} names no net", function);
  const Value &net = arguments.positional[0];
  if (net.isUnknown())
    return net;
  if (!net.is(ValueKind::Function) || !isNet(net.as<FunctionObject>()))
    return error(ErrorCode::E0214, arguments.places[0]->span, "{} is for a net, got {}", function,
                 reprOf(net));
  defaults.net = net.as<FunctionObject>().name();
  for (const NetDefaults &other : into)
    if (other.net == defaults.net)
      return error(ErrorCode::E0214, span, "{} of \"{}\" stands twice", function, defaults.net);
  into.push_back(std::move(defaults));
  return Value::none();
}

Value Evaluator::builtinFit(Arguments &arguments) { return training(arguments, "fit", fit_); }
Value Evaluator::builtinData(Arguments &arguments) { return training(arguments, "data", data_); }
Value Evaluator::builtinPlace(Arguments &arguments) { return training(arguments, "place", place_); }

Value Evaluator::builtinNotBuilt(Arguments &arguments) {
  Span span = calleeSpan(arguments.call);
  return error(ErrorCode::E0215, span, "{} is not built yet", module_->file->text(span));
}

Value Evaluator::builtinCustom(Arguments &arguments) {
  std::string type = "?";
  Span span = calleeSpan(arguments.call);
  for (auto &named : arguments.named)
    if (named.argument->name == "op_type" && named.value.is(ValueKind::String)) {
      type = named.value.string();
      span = named.argument->value->span;
    }
  return error(ErrorCode::E0213, span, "op type \"{}\" is Python code", type);
}

} // namespace lstmc::lnet

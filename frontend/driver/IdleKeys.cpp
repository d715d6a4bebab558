#include "frontend/driver/IdleKeys.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "executor/session/UpdateScalars.h"
#include "frontend/driver/Model.h"
#include "frontend/driver/SettingText.h"

namespace lstmc::driver {

namespace {

/// A calculus that computes nothing and keeps what the formulas of a form read.
struct Reads {
  /// Whether the value is a gradient as it came, or with another factor above 0.
  using Value = bool;

  std::set<std::string_view> names;
  bool gradientIsName = true;
  bool size = false; ///< more of a gradient than its sign

  Value number(double) { return false; }
  Value name(std::string_view name) {
    names.insert(name);
    return name == "g" && gradientIsName;
  }
  Value apply(ScalarOp op, std::span<const Value> operands) {
    size |= op != ScalarOp::Sign && std::ranges::find(operands, true) != operands.end();
    return false;
  }
  void assign(std::string_view name, Value value) {
    size |= value;
    if (name == "g")
      gradientIsName = false;
  }
};

Reads readsOf(const Optimizer &row, const OptimizerForm &form) {
  Reads reads;
  readFormula(row.perUpdate, reads);
  reads.names.erase("lr"); // it is read where a form reads what comes of it
  readFormula(form.formula, reads);
  readFormula(form.finish, reads);
  return reads;
}

double valueOf(const OptimizerKey &key, const std::vector<package::Setting> &fit) {
  const std::optional<std::string> text = findSetting(fit, key.name);
  if (!text || *text == "None")
    return key.fallback;
  const Result<double> value = session::parseOptimizerKey(key, *text);
  return value.ok() ? *value : key.fallback;
}

bool isInForce(const OptimizerForm &form, const Optimizer &row,
               const std::vector<package::Setting> &fit) {
  return form.when.empty() || valueOf(*row.key(form.when), fit) != 0;
}

/// Whether an update in a form reads what `key` of fit(..) sets, which may have chosen the form.
bool reads(const Optimizer &row, const OptimizerForm &form, std::string_view key) {
  const Reads found = readsOf(row, form);
  if (key == "rescale_grad" || key == "clip_gradient_norm")
    return found.size;
  const bool rate = key == "learning_rate" || key == "lr_scheduler";
  return std::ranges::find(row.forms, key, &OptimizerForm::when) != std::end(row.forms) ||
         found.names.contains(rate ? "lr" : key);
}

bool isOwnValue(const Optimizer &row, std::string_view key,
                const std::vector<package::Setting> &fit) {
  const std::optional<std::string> text = findSetting(fit, key);
  if (!text || *text == "None")
    return false;
  if (key == "lr_scheduler" || key == "learning_rate")
    return true;
  const OptimizerKey *own = row.key(key);
  const OptimizerKey &record = own ? *own : *findOptimizerKey(key);
  const double value = valueOf(record, fit);
  const bool isNoBound = key.starts_with("clip_gradient") && value <= 0;
  return value != record.fallback && !isNoBound;
}

std::string reasonOf(const Optimizer &row, std::string_view key) {
  for (const OptimizerForm &form : row.forms)
    if (!form.formula.empty() && reads(row, form, key))
      return form.when.empty()
                 ? fmt::format("optimizer \"{}\" reads it without {} alone", row.name,
                               row.forms[0].when)
                 : fmt::format("optimizer \"{}\" reads it with {} alone", row.name, form.when);
  return fmt::format("optimizer \"{}\" does not read it", row.name);
}

} // namespace

std::vector<IdleKey> idleKeys(const Optimizer &row, const std::vector<package::Setting> &fit) {
  const OptimizerForm &form = *std::ranges::find_if(
      row.forms, [&](const OptimizerForm &each) { return isInForce(each, row, fit); });
  std::vector<std::string_view> names = {"learning_rate", "lr_scheduler"};
  for (const OptimizerKey &key : kCommonOptimizerKeys)
    names.push_back(key.name);
  for (const OptimizerKey &key : row.keys)
    if (!key.name.empty())
      names.push_back(key.name);
  std::vector<IdleKey> idle;
  for (std::string_view name : names)
    if (!reads(row, form, name) && isOwnValue(row, name, fit))
      idle.push_back({name, reasonOf(row, name)});
  return idle;
}

} // namespace lstmc::driver

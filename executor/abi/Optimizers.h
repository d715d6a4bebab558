// The types and the table of optimizers.
#pragma once

#include <limits>
#include <optional>
#include <string_view>

#include "executor/abi/Formula.h"

namespace lstmc {

inline constexpr double kNoBound = std::numeric_limits<double>::infinity();

/// A key of fit(..). Its value is a number in [least, below), or a bool, which formulas read as 0
/// or 1. A default of kNoBound is written None: there is no bound.
struct OptimizerKey {
  std::string_view name;
  double fallback = 0;
  double least = 0, below = kNoBound;
  std::string_view meaning;
  bool yesNo = false;

  constexpr bool takes(double value) const {
    return yesNo ? value == 0 || value == 1 : value >= least && value < below;
  }
};

/// A state that an optimizer keeps of each parameter: a tensor of the parameter's shape, zero at
/// first. Formulas call it `symbol`, checkpoints `name`.
struct OptimizerState {
  std::string_view symbol, name;
};

/// Arrays have a fixed length; unused entries at the end have an empty name.
inline constexpr size_t kMostKeys = 6, kMostState = 3, kMostInputs = 3, kMostForms = 2,
                        kMostNorms = 2;

/// How a parameter is updated, element by element. Of several forms, the first one is used whose
/// key `when` is not 0 (empty: always).
///
/// `formula` reads w (the parameter), g (the gradient, times rescale_grad and the factor of
/// clip_gradient_norm, not yet clipped element by element), lr (the rate of the update times
/// lr_mult), wd (times wd_mult), clip_gradient, the row's keys, its inputs and the symbols of its
/// state. The values that it assigns to w and to state become the new ones.
///
/// With norms, `formula` does not assign w; `finish` does. It reads w, lr, wd, the keys, the
/// tensors named by `norms` (the old w, or what the formula has assigned), and norm_NAME for each:
/// the root of the sum of its squares over the whole parameter, added in the order of
/// docs/numerics.md rule 9.
struct OptimizerForm {
  std::string_view when = "";
  OptimizerState state[kMostState] = {};
  std::string_view formula;
  std::string_view norms[kMostNorms] = {};
  std::string_view finish = "";
};

/// A row of Optimizers.def.
///
/// `perUpdate` is computed once per update, by the session in f64, from lr (the schedule's rate), t
/// (the number of the update, from 1) and the row's keys. What it assigns to lr is what the program
/// of `step` reads as `learning_rate`; what it assigns to one of `inputs` becomes a scalar
/// `optimizer.NAME`. If `perUpdate` reads `product`, that is 1 before the first update, and then
/// the value assigned in the update before. It follows from t, so no checkpoint stores it.
struct Optimizer {
  std::string_view name;
  double rate; ///< learning_rate, if fit(..) gives none
  OptimizerKey keys[kMostKeys] = {};
  std::string_view perUpdate = "";
  std::string_view inputs[kMostInputs] = {};
  OptimizerForm forms[kMostForms] = {};

  constexpr const OptimizerKey *key(std::string_view wanted) const {
    for (const OptimizerKey &key : keys)
      if (!key.name.empty() && key.name == wanted)
        return &key;
    return nullptr;
  }
};

// Keys that several rows share.
inline constexpr OptimizerKey kMomentum = {"momentum", 0, 0, 1, "share of the last move kept"};
inline constexpr OptimizerKey kBeta1 = {"beta1", 0.9, 0, 1, "share of the mean kept"};
inline constexpr OptimizerKey kBeta2 = {"beta2", 0.999, 0, 1, "share of the mean square kept"};

/// Keys of every row, besides learning_rate. Where the default is None, the net decides the value,
/// so none is given here.
inline constexpr OptimizerKey kCommonOptimizerKeys[] = {
    {"wd", 0, 0, kNoBound, "weight decay, for names that end in _weight or _gamma"},
    {"rescale_grad", 1, 0, kNoBound,
     "factor on gradients; not given: 1/batch, or 1 where the heads' gradients are means"},
    {"clip_gradient", kNoBound, -1, kNoBound,
     "bound on each element of a gradient; 0 or below: none"},
    {"clip_gradient_norm", kNoBound, -1, kNoBound,
     "bound on the norm of all gradients; 0 or below: none"},
};

inline constexpr Optimizer kOptimizers[] = {
#include "executor/abi/Optimizers.def"
};

/// Optimizers of MXNet that this table does not have yet.
inline constexpr std::string_view kOptimizersNotBuilt[] = {"sgld", "dcasgd", "lbsgd", "lars",
                                                           "test"};

constexpr const Optimizer *findOptimizer(std::string_view name) {
  for (const Optimizer &row : kOptimizers)
    if (row.name == name)
      return &row;
  return nullptr;
}

/// Finds a key of any row, else a common key. Rows that share a key's name share its range.
constexpr const OptimizerKey *findOptimizerKey(std::string_view name) {
  for (const Optimizer &row : kOptimizers)
    if (const OptimizerKey *key = row.key(name))
      return key;
  for (const OptimizerKey &key : kCommonOptimizerKeys)
    if (key.name == name)
      return &key;
  return nullptr;
}

// Compile-time checks: a row with an error does not compile.
namespace optimizers {

/// A calculus that checks names and computes no values.
struct NameCheck {
  using Value = bool;

  const Optimizer &row;
  std::string_view known[24] = {};
  size_t count = 0;
  std::string_view normed[kMostNorms] = {};

  constexpr void add(std::string_view name) {
    if (!name.empty())
      known[count++] = name;
  }
  constexpr bool has(std::string_view name) const {
    if (name.starts_with("norm_"))
      return isNormed(name.substr(5));
    for (std::string_view each : known)
      if (!each.empty() && each == name)
        return true;
    return row.key(name) != nullptr;
  }

  constexpr bool isNormed(std::string_view name) const {
    for (std::string_view each : normed)
      if (!each.empty() && each == name)
        return true;
    return false;
  }

  constexpr Value number(double) { return true; }
  constexpr Value name(std::string_view name) {
    if (!has(name))
      throw "a formula reads a name that it is not given";
    return true;
  }
  constexpr Value apply(ScalarOp, std::span<const Value>) { return true; }
  constexpr void assign(std::string_view name, Value) {
    if (row.key(name))
      throw "a formula assigns to a key";
    add(name);
  }
};

constexpr void checkPerUpdate(const Optimizer &row) {
  NameCheck names{row};
  for (std::string_view given : {"lr", "t", "product"})
    names.add(given);
  readFormula(row.perUpdate, names);
  for (std::string_view input : row.inputs)
    if (!input.empty())
      names.name(input);
}

constexpr void checkForm(const Optimizer &row, const OptimizerForm &form) {
  NameCheck names{row};
  for (std::string_view given : {"w", "g", "lr", "wd", "clip_gradient"})
    names.add(given);
  for (std::string_view input : row.inputs)
    names.add(input);
  for (const OptimizerState &state : form.state)
    names.add(state.symbol);
  readFormula(form.formula, names);
  if (!form.when.empty() && !row.key(form.when))
    throw "a form holds for a key that its row does not have";
  NameCheck last{row};
  for (std::string_view given : {"w", "lr", "wd"})
    last.add(given);
  for (const std::string_view &norm : form.norms)
    if (!norm.empty()) {
      names.name(norm);
      last.add(norm);
      last.normed[&norm - form.norms] = norm;
    }
  readFormula(form.finish, last);
  if (form.finish.empty() != form.norms[0].empty())
    throw "a formula is finished where there are norms";
}

constexpr bool checkAll() {
  for (const Optimizer &row : kOptimizers) {
    checkPerUpdate(row);
    for (const OptimizerForm &form : row.forms)
      checkForm(row, form);
    for (const OptimizerKey &key : row.keys)
      if (const OptimizerKey *first = findOptimizerKey(key.name);
          !key.name.empty() &&
          (first->least != key.least || first->below != key.below || first->yesNo != key.yesNo))
        throw "rows disagree on the range of a key";
  }
  return true;
}
#ifdef __clang__ // gcc 12 mistakes reading a default member of a row for a modification of it
static_assert(checkAll());
#endif

} // namespace optimizers

} // namespace lstmc

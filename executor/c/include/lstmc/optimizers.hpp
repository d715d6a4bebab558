// Optimizers, for the compiler.
//
// Made from executor/abi/Optimizers.def by tests/executor/c/aggregates.cpp; a test compares them.
// clang-format off
#ifndef LSTMC_OPTIMIZERS_HPP
#define LSTMC_OPTIMIZERS_HPP

#include <lstmc/error.hpp>

#include <cstdint>
#include <limits>
#include <variant>

namespace lstmc {
inline namespace LSTMC_ABI {

/// The value of a bound that does not limit.
inline constexpr double no_bound = std::numeric_limits<double>::infinity();

/// The optimizer "sgd"; its rate is 0.01 unless one is given.
struct Sgd {
  /// share of the last move kept
  double momentum = 0;
  /// weight decay, for names that end in _weight or _gamma
  double wd = 0;

  static constexpr std::string_view name = "sgd";
  template <typename F> void each(F f) const {
    f("momentum", momentum);
    f("wd", wd);
  }
};

/// The optimizer "nag"; its rate is 0.01 unless one is given.
struct Nag {
  /// share of the last move kept
  double momentum = 0;
  /// weight decay, for names that end in _weight or _gamma
  double wd = 0;

  static constexpr std::string_view name = "nag";
  template <typename F> void each(F f) const {
    f("momentum", momentum);
    f("wd", wd);
  }
};

/// The optimizer "signum"; its rate is 0.01 unless one is given.
struct Signum {
  /// share of the last move kept
  double momentum = 0.9;
  /// weight decay, for names that end in _weight or _gamma
  double wd = 0;
  /// decay beside the sign (Loshchilov and Hutter)
  double wd_lh = 0;

  static constexpr std::string_view name = "signum";
  template <typename F> void each(F f) const {
    f("momentum", momentum);
    f("wd", wd);
    f("wd_lh", wd_lh);
  }
};

/// The optimizer "adagrad"; its rate is 0.01 unless one is given.
struct Adagrad {
  /// added to the sum under the root
  double eps = 1e-07;
  /// weight decay, for names that end in _weight or _gamma
  double wd = 0;

  static constexpr std::string_view name = "adagrad";
  template <typename F> void each(F f) const {
    f("eps", eps);
    f("wd", wd);
  }
};

/// The optimizer "rmsprop"; its rate is 0.001 unless one is given.
struct RmsProp {
  /// the square of the mean is taken off the mean square
  bool centered = false;
  /// bound on each element of a parameter
  double clip_weights = no_bound;
  /// added where it keeps a division finite
  double epsilon = 1e-08;
  /// share of the mean square kept, and of the mean
  double gamma1 = 0.9;
  /// centered: share of the last move kept
  double gamma2 = 0.9;
  /// weight decay, for names that end in _weight or _gamma
  double wd = 0;

  static constexpr std::string_view name = "rmsprop";
  template <typename F> void each(F f) const {
    f("centered", centered);
    f("clip_weights", clip_weights);
    f("epsilon", epsilon);
    f("gamma1", gamma1);
    f("gamma2", gamma2);
    f("wd", wd);
  }
};

/// The optimizer "adadelta"; its rate is 0.01 unless one is given.
struct Adadelta {
  /// added where it keeps a division finite
  double epsilon = 1e-05;
  /// share of the mean squares kept
  double rho = 0.9;
  /// weight decay, for names that end in _weight or _gamma
  double wd = 0;

  static constexpr std::string_view name = "adadelta";
  template <typename F> void each(F f) const {
    f("epsilon", epsilon);
    f("rho", rho);
    f("wd", wd);
  }
};

/// The optimizer "ftrl"; its rate is 0.1 unless one is given.
struct Ftrl {
  /// added to the root
  double beta = 1;
  /// what draws weights to 0 (MXNet's spelling)
  double lamda1 = 0.01;
  /// weight decay, for names that end in _weight or _gamma
  double wd = 0;

  static constexpr std::string_view name = "ftrl";
  template <typename F> void each(F f) const {
    f("beta", beta);
    f("lamda1", lamda1);
    f("wd", wd);
  }
};

/// The optimizer "adam"; its rate is 0.001 unless one is given.
struct Adam {
  /// share of the mean kept
  double beta1 = 0.9;
  /// share of the mean square kept
  double beta2 = 0.999;
  /// added where it keeps a division finite
  double epsilon = 1e-08;
  /// weight decay, for names that end in _weight or _gamma
  double wd = 0;

  static constexpr std::string_view name = "adam";
  template <typename F> void each(F f) const {
    f("beta1", beta1);
    f("beta2", beta2);
    f("epsilon", epsilon);
    f("wd", wd);
  }
};

/// The optimizer "adamw"; its rate is 0.001 unless one is given.
struct AdamW {
  /// share of the mean kept
  double beta1 = 0.9;
  /// share of the mean square kept
  double beta2 = 0.999;
  /// as if the means had not begun at 0
  bool correct_bias = true;
  /// added where it keeps a division finite
  double epsilon = 1e-06;
  /// weight decay, for names that end in _weight or _gamma
  double wd = 0;

  static constexpr std::string_view name = "adamw";
  template <typename F> void each(F f) const {
    f("beta1", beta1);
    f("beta2", beta2);
    f("correct_bias", correct_bias);
    f("epsilon", epsilon);
    f("wd", wd);
  }
};

/// The optimizer "adamax"; its rate is 0.002 unless one is given.
struct Adamax {
  /// share of the mean kept
  double beta1 = 0.9;
  /// share of the mean square kept
  double beta2 = 0.999;
  /// weight decay, for names that end in _weight or _gamma
  double wd = 0;

  static constexpr std::string_view name = "adamax";
  template <typename F> void each(F f) const {
    f("beta1", beta1);
    f("beta2", beta2);
    f("wd", wd);
  }
};

/// The optimizer "ftml"; its rate is 0.01 unless one is given.
struct Ftml {
  /// share of the mean kept
  double beta1 = 0.6;
  /// share of the mean square kept
  double beta2 = 0.999;
  /// added where it keeps a division finite
  double epsilon = 1e-08;
  /// weight decay, for names that end in _weight or _gamma
  double wd = 0;

  static constexpr std::string_view name = "ftml";
  template <typename F> void each(F f) const {
    f("beta1", beta1);
    f("beta2", beta2);
    f("epsilon", epsilon);
    f("wd", wd);
  }
};

/// The optimizer "nadam"; its rate is 0.001 unless one is given.
struct Nadam {
  /// share of the mean kept
  double beta1 = 0.9;
  /// share of the mean square kept
  double beta2 = 0.999;
  /// added where it keeps a division finite
  double epsilon = 1e-08;
  /// how fast the momentum's schedule comes to beta1
  double schedule_decay = 0.004;
  /// weight decay, for names that end in _weight or _gamma
  double wd = 0;

  static constexpr std::string_view name = "nadam";
  template <typename F> void each(F f) const {
    f("beta1", beta1);
    f("beta2", beta2);
    f("epsilon", epsilon);
    f("schedule_decay", schedule_decay);
    f("wd", wd);
  }
};

/// The optimizer "lamb"; its rate is 0.001 unless one is given.
struct Lamb {
  /// share of the mean kept
  double beta1 = 0.9;
  /// share of the mean square kept
  double beta2 = 0.999;
  /// as if the means had not begun at 0
  bool bias_correction = true;
  /// added where it keeps a division finite
  double epsilon = 1e-06;
  /// least norm of a parameter that counts
  double lower_bound = 0;
  /// greatest norm of a parameter that counts
  double upper_bound = no_bound;
  /// weight decay, for names that end in _weight or _gamma
  double wd = 0;

  static constexpr std::string_view name = "lamb";
  template <typename F> void each(F f) const {
    f("beta1", beta1);
    f("beta2", beta2);
    f("bias_correction", bias_correction);
    f("epsilon", epsilon);
    f("lower_bound", lower_bound);
    f("upper_bound", upper_bound);
    f("wd", wd);
  }
};

/// None: the network's own.
using Optimizer = std::variant<std::monostate, Sgd, Nag, Signum, Adagrad, RmsProp, Adadelta, Ftrl, Adam, AdamW, Adamax, Ftml, Nadam, Lamb>;

} // namespace LSTMC_ABI
} // namespace lstmc

#endif

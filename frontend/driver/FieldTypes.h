// What a field of a request can be: how often its flag may be given, and what its values are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/abi/DType.h"
#include "executor/base/Commas.h"
#include "executor/base/Status.h"
#include "executor/training/Amount.h"
#include "frontend/symbol/Network.h"

namespace lstmc::driver {

// Values. `parse` reads one; E0001 names the flag and shows what was given.

struct Text {
  using Type = std::string;
  static Result<Type> parse(std::string_view flag, std::string_view text);
};
/// A whole number that is the value of a dim, as text.
struct Extent : Text {};
/// A learning rate, as text.
struct Rate : Text {};
/// With K, M and G, which are powers of 1,000.
struct Count {
  using Type = int64_t;
  static Result<Type> parse(std::string_view flag, std::string_view text);
};
/// With K, M and G, which are powers of 1,024.
struct ByteCount {
  using Type = int64_t;
  static Result<Type> parse(std::string_view flag, std::string_view text);
};
struct Number {
  using Type = double;
  static Result<Type> parse(std::string_view flag, std::string_view text);
};
/// Separated by commas; empty ones are left out.
struct Words {
  using Type = std::vector<std::string>;
  static Result<Type> parse(std::string_view flag, std::string_view text);
};
struct Counts {
  using Type = std::vector<int64_t>;
  static Result<Type> parse(std::string_view flag, std::string_view text);
};
struct NameValue {
  using Type = std::pair<std::string, std::string>;
  static Result<Type> parse(std::string_view flag, std::string_view text);
};
struct NamedCount {
  using Type = std::pair<std::string, int64_t>;
  static Result<Type> parse(std::string_view flag, std::string_view text);
};
/// NAME:32x35, NAME=32x35xi32, NAME:[32,35].
struct Shape {
  using Type = symbol::InputShape;
  static Result<Type> parse(std::string_view flag, std::string_view text);
};
/// f32 or f64: what a net can be computed in.
struct FloatType {
  using Type = DType;
  static Result<Type> parse(std::string_view flag, std::string_view text);
};
struct Amount {
  using Type = training::Amount;
  static Result<Type> parse(std::string_view flag, std::string_view text);
};

// Choices: their words as they are typed, in the order of the enumerators.

enum class UpdatePlace { Auto, Devices, Store };
/// Who has the files of a job.
enum class FilesOn { All, Rank0 };
enum class Numerics { Exact, Strict };

template <typename E> inline constexpr std::string_view kWords = "";
template <> inline constexpr std::string_view kWords<UpdatePlace> = "auto|0|1";
template <> inline constexpr std::string_view kWords<FilesOn> = "all|rank0";
template <> inline constexpr std::string_view kWords<Numerics> = "exact|strict";

/// The words of "a|b|c".
std::vector<std::string_view> wordsIn(std::string_view words);
/// The place of `text` among them; E0001 with "did you mean".
Result<size_t> placeAmong(std::string_view words, std::string_view flag, std::string_view text);

template <typename E> std::string_view wordOf(E choice) {
  return wordsIn(kWords<E>)[size_t(choice)];
}

template <typename E> struct Choice {
  using Type = E;
  static_assert(!kWords<E>.empty(), "kWords has no words for this enum");
  static Result<Type> parse(std::string_view flag, std::string_view text) {
    LSTMC_ASSIGN(size_t place, placeAmong(kWords<E>, flag, text));
    return E(place);
  }
};

/// All that a value of that type may be; empty where it is free.
template <typename Value> inline constexpr std::string_view kChoices = "";
template <typename E> inline constexpr std::string_view kChoices<Choice<E>> = kWords<E>;

// How often. `Field` is the type in the request, `take` puts a value into it.

struct Switch {
  using Field = bool;
  static constexpr bool kSwitch = true, kRepeats = false, kSwept = false;
  static constexpr std::string_view kChoiceWords = "";
  static Field initial(std::string_view, std::string_view) { return false; }
  static Status take(Field &field, std::string_view, std::string_view) {
    field = true;
    return {};
  }
  static bool given(const Field &field) { return field; }
};

/// A switch that counts.
struct Tally {
  using Field = int;
  static constexpr bool kSwitch = true, kRepeats = true, kSwept = false;
  static constexpr std::string_view kChoiceWords = "";
  static Field initial(std::string_view, std::string_view) { return 0; }
  static Status take(Field &field, std::string_view, std::string_view) {
    ++field;
    return {};
  }
  static bool given(const Field &field) { return field > 0; }
};

template <typename Value> struct ValueFlag {
  static constexpr bool kSwitch = false, kRepeats = false, kSwept = false;
  static constexpr std::string_view kChoiceWords = kChoices<Value>;
};

/// E0001 for an empty value, which a variable of the shell has that is not set.
Status refuseEmpty(std::string_view flag, std::string_view text);

/// A value, or none.
template <typename Value> struct Once : ValueFlag<Value> {
  using Field = std::optional<typename Value::Type>;
  static Field initial(std::string_view, std::string_view) { return std::nullopt; }
  static Status take(Field &field, std::string_view flag, std::string_view text) {
    LSTMC_TRY(refuseEmpty(flag, text));
    LSTMC_ASSIGN(field, Value::parse(flag, text));
    return {};
  }
  static bool given(const Field &field) { return field.has_value(); }
};

/// What is given, else the table's default.
template <typename T> class OrDefault {
public:
  OrDefault(T value, bool given) : value_(std::move(value)), given_(given) {}
  OrDefault &operator=(T value) {
    value_ = std::move(value);
    given_ = true;
    return *this;
  }
  const T &operator*() const { return value_; }
  const T *operator->() const { return &value_; }
  bool given() const { return given_; }

private:
  T value_;
  bool given_;
};

template <typename Value> struct InForce : ValueFlag<Value> {
  using Field = OrDefault<typename Value::Type>;
  static Field initial(std::string_view flag, std::string_view fallback) {
    return {*Value::parse(flag, fallback), false};
  }
  static Status take(Field &field, std::string_view flag, std::string_view text) {
    LSTMC_ASSIGN(field, Value::parse(flag, text));
    return {};
  }
  static bool given(const Field &field) { return field.given(); }
};

/// As often as it is given, in order.
template <typename Value> struct Many : ValueFlag<Value> {
  using Field = std::vector<typename Value::Type>;
  static constexpr bool kRepeats = true;
  static Field initial(std::string_view, std::string_view) { return {}; }
  static Status take(Field &field, std::string_view flag, std::string_view text) {
    LSTMC_TRY(refuseEmpty(flag, text));
    LSTMC_ASSIGN(field.emplace_back(), Value::parse(flag, text));
    return {};
  }
  static bool given(const Field &field) { return !field.empty(); }
};

/// As often as it is given, else the table's default.
template <typename Value> struct ManyInForce : ValueFlag<Value> {
  using Field = OrDefault<std::vector<typename Value::Type>>;
  static constexpr bool kRepeats = true;
  static Field initial(std::string_view flag, std::string_view fallback) {
    return {{*Value::parse(flag, fallback)}, false};
  }
  static Status take(Field &field, std::string_view flag, std::string_view text) {
    LSTMC_TRY(refuseEmpty(flag, text));
    auto values = field.given() ? *field : std::vector<typename Value::Type>();
    LSTMC_ASSIGN(values.emplace_back(), Value::parse(flag, text));
    field = std::move(values);
    return {};
  }
  static bool given(const Field &field) { return field.given(); }
};

/// A value of which `bench` takes several, repeated or with commas, and times each.
template <typename T> struct SweptValues {
  std::vector<T> values; ///< of every other command at most one
  T fallback{};

  SweptValues &operator=(T value) {
    values = {std::move(value)};
    return *this;
  }
  const T &operator*() const { return values.empty() ? fallback : values.back(); }
  bool given() const { return !values.empty(); }
};

template <typename Value> struct Swept : ValueFlag<Value> {
  using Field = SweptValues<typename Value::Type>;
  static constexpr bool kRepeats = true, kSwept = true;
  static Field initial(std::string_view flag, std::string_view fallback) {
    Field field;
    if (!fallback.empty())
      field.fallback = *Value::parse(flag, fallback);
    return field;
  }
  static Status take(Field &field, std::string_view flag, std::string_view text) {
    LSTMC_ASSIGN(field.values.emplace_back(), Value::parse(flag, text));
    return {};
  }
  static bool given(const Field &field) { return field.given(); }
};

/// Whether a record says the same of the argument as the type does.
template <typename Type> constexpr bool argumentFits(std::string_view argument) {
  return Type::kSwitch ? argument.empty()
         : Type::kChoiceWords.empty()
             ? !argument.empty() && argument.find('|') == std::string_view::npos
             : argument == Type::kChoiceWords;
}

/// "; did you mean "--NAME"?" where there is one nearest candidate, else "".
std::string didYouMean(std::string_view word, const std::vector<std::string_view> &candidates,
                       std::string_view prefix = "");

} // namespace lstmc::driver

// How the runtime reports that something failed, and where.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "executor/base/Errors.h"

namespace lstmc {

/// The place that an error is about. Text has line and column (from 1, display cells); a binary
/// file has a byte offset (from 0). Fields that do not apply keep their defaults.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  int64_t byte = -1;
};

/// An error: a code of Errors.def, a place and a message. The message starts lower case, names the
/// thing, what was found and what was wanted, and ends without a full stop.
struct Error {
  ErrorCode code;
  std::string message;
  Place place;

  /// `FILE:LINE:COL: error[E0601]: MESSAGE`, or `FILE: byte N: error[...]: ...` for a binary file.
  std::string text() const;
};

/// Success, or an Error. Every caller has to check it.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_; }
  const Error &error() const { return *error_; }
  Error &error() { return *error_; }

private:
  std::optional<Error> error_;
};

/// A value, or the Error that prevented it.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  Result(Status status) : state_(std::in_place_index<1>, std::move(status.error())) {}

  bool ok() const { return state_.index() == 0; }
  T &operator*() { return std::get<0>(state_); }
  const T &operator*() const { return std::get<0>(state_); }
  T *operator->() { return &std::get<0>(state_); }
  const T *operator->() const { return &std::get<0>(state_); }
  const Error &error() const { return std::get<1>(state_); }
  Status status() const { return ok() ? Status() : Status(error()); }

private:
  std::variant<T, Error> state_;
};

/// Builds an Error: `return fail(ErrorCode::E0601, "{}: found {}, want {}", field, x, y);`
template <typename... Args>
Error fail(ErrorCode code, fmt::format_string<Args...> format, Args &&...args) {
  return Error{code, fmt::format(format, std::forward<Args>(args)...), {}};
}

/// As above, with the place.
template <typename... Args>
Error failAt(Place place, ErrorCode code, fmt::format_string<Args...> format, Args &&...args) {
  return Error{code, fmt::format(format, std::forward<Args>(args)...), std::move(place)};
}

} // namespace lstmc

/// Returns from the enclosing function when the Status is an error.
#define LSTMC_TRY(expr)                                                                            \
  do {                                                                                             \
    if (::lstmc::Status tryStatus_ = (expr); !tryStatus_.ok())                                     \
      return tryStatus_.error();                                                                   \
  } while (false)

#define LSTMC_CONCAT_(a, b) a##b
#define LSTMC_CONCAT(a, b) LSTMC_CONCAT_(a, b)

/// `LSTMC_ASSIGN(auto x, f());` declares x from a Result, or returns its error.
#define LSTMC_ASSIGN(decl, expr) LSTMC_ASSIGN_(decl, expr, LSTMC_CONCAT(tryResult_, __LINE__))
#define LSTMC_ASSIGN_(decl, expr, name)                                                            \
  auto name = (expr);                                                                              \
  if (!name.ok())                                                                                  \
    return name.error();                                                                           \
  decl = std::move(*name)

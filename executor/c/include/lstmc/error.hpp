// Errors of the C++ interface, and Result, which has a value or an error.
//
// Each call that can fail has two spellings: open() throws an Error, try_open() is noexcept and
// returns a Result. With -fno-exceptions only the second exists, except where a class says more.
#ifndef LSTMC_ERROR_HPP
#define LSTMC_ERROR_HPP

#include <lstmc/lstmc.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Classes have other names in the linker's eyes with and without exceptions, so that objects of the
// two kinds do not share inline functions that differ.
#if defined(__cpp_exceptions)
#define LSTMC_EXCEPTIONS 1
#define LSTMC_ABI v0
#else
#define LSTMC_EXCEPTIONS 0
#define LSTMC_ABI v0_noexcept
#endif

namespace lstmc {
inline namespace LSTMC_ABI {

/// What kind of error; the numbers are the exit codes of the command.
enum class Status {
  ok = 0,
  usage = 2, ///< an argument is wrong: an unknown name, a type, a size
  invalid_model = 3,
  does_not_fit = 4, ///< the plan needs more memory than there is
  no_device = 5,    ///< a device or library is missing
  bad_file = 6,     ///< a file is missing, damaged or refused; a value is out of range (E0604)
  bad_numbers = 7,  ///< a value that is not finite; copies that differ
  job_failed = 8,   ///< a device stopped answering
  out_of_memory = 9,
  stopped = 10, ///< a std::stop_token has asked for it, or a Pool has ended
  internal = 70 ///< a bug of lstmc
};

/// What went wrong. Copies share one text.
class Error : public std::exception {
public:
  /// Out of memory, without memory.
  Error() noexcept = default;

  /// The message is the parts, one after the other. Without `place`: "".
  static Error make(Status status, std::string_view code,
                    std::initializer_list<std::string_view> message,
                    std::string_view place = {}) noexcept {
    Error error;
#if LSTMC_EXCEPTIONS
    try {
      error.fill(status, code, message, place);
    } catch (const std::bad_alloc &) {
    }
#else
    error.fill(status, code, message, place);
#endif
    return error;
  }

  /// An argument that the caller has to change (E0001).
  static Error usage(std::initializer_list<std::string_view> message) noexcept {
    return make(Status::usage, "E0001", message);
  }

  /// One that a compiler drew: with its line, what explains it, and the remedy.
  static Error drawn(Status status, std::string_view code, std::string_view message,
                     std::string_view place, std::string_view whole,
                     std::vector<std::string> reasons) {
    Error error;
    error.fill(status, code, {message}, place);
    if (error.text_) {
      auto text = std::make_shared<Text>(*error.text_);
      text->whole = whole;
      text->reasons = std::move(reasons);
      error.text_ = std::move(text);
    }
    return error;
  }

  /// The error of the last call of the C interface that failed in this thread.
  static Error last() noexcept {
    lstmc_error found = {};
    found.size = sizeof found;
    lstmc_last_error(&found);
    return make(static_cast<Status>(found.status), found.code, {found.message}, found.place);
  }

  /// The whole text, as the command prints it: "net.lnet:3:9: error[E0604]: ...".
  const char *what() const noexcept override {
    return text_ ? text_->whole.c_str() : "error[E0901]: out of memory";
  }
  Status status() const noexcept { return text_ ? text_->status : Status::out_of_memory; }
  /// "E0604", as `lstmc explain` takes it; "" of Status::stopped.
  std::string_view code() const noexcept { return part(&Text::code, "E0901"); }
  /// Without code and place.
  std::string_view message() const noexcept { return part(&Text::message, "out of memory"); }
  /// "net.lnet:3:9", or "".
  std::string_view place() const noexcept { return part(&Text::place, ""); }

  /// Facts that explain an error of the compiler: of Status::does_not_fit the largest tensors.
  std::vector<std::string> reasons() const {
    return text_ ? text_->reasons : std::vector<std::string>();
  }

private:
  struct Text {
    Status status = Status::internal;
    std::string code, message, place, whole;
    std::vector<std::string> reasons{};
  };

  std::string_view part(std::string Text::*member, std::string_view otherwise) const noexcept {
    return text_ ? std::string_view((*text_).*member) : otherwise;
  }

  void fill(Status status, std::string_view code, std::initializer_list<std::string_view> message,
            std::string_view place) {
    auto text = std::make_shared<Text>();
    text->status = status;
    text->code = code;
    text->place = place;
    for (std::string_view part : message)
      text->message += part;
    text->whole = place;
    text->whole += place.empty() ? "error" : ": error";
    if (!code.empty())
      text->whole.append("[").append(code).append("]");
    text->whole.append(": ").append(text->message);
    text_ = std::move(text);
  }

  std::shared_ptr<const Text> text_;
};

/// A value, or the Error that prevented it. Moved, not copied.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) noexcept : has_(true), value_(std::move(value)) {}
  Result(Error error) noexcept : has_(false), error_(std::move(error)) {}
  Result(Result &&other) noexcept : has_(other.has_) { take(other); }
  Result &operator=(Result &&other) noexcept {
    if (this != &other) {
      clear();
      has_ = other.has_;
      take(other);
    }
    return *this;
  }
  ~Result() { clear(); }

  explicit operator bool() const noexcept { return has_; }
  // Only where there is a value:
  T &operator*() & noexcept { return value_; }
  const T &operator*() const & noexcept { return value_; }
  T &&operator*() && noexcept { return std::move(value_); }
  T *operator->() noexcept { return &value_; }
  const T *operator->() const noexcept { return &value_; }
  /// Only where there is none.
  const Error &error() const noexcept { return error_; }

#if LSTMC_EXCEPTIONS
  /// The value; throws the error where there is none.
  T value() && {
    if (!has_)
      throw error_;
    return std::move(value_);
  }
#endif

private:
  void take(Result &other) noexcept {
    if (has_)
      new (&value_) T(std::move(other.value_));
    else
      new (&error_) Error(std::move(other.error_));
  }
  void clear() noexcept {
    if (has_)
      value_.~T();
    else
      error_.~Error();
  }

  // No std::optional or std::variant: each would be compiled for every type of value.
  bool has_;
  union {
    T value_;
    Error error_;
  };
};

/// Success, or an Error.
template <> class [[nodiscard]] Result<void> {
public:
  Result() noexcept = default;
  Result(Error error) noexcept : error_(std::move(error)) {}

  explicit operator bool() const noexcept { return !error_; }
  const Error &error() const noexcept { return *error_; }

#if LSTMC_EXCEPTIONS
  /// Throws the error, if there is one.
  void value() const {
    if (error_)
      throw *error_;
  }
#endif

private:
  std::optional<Error> error_;
};

namespace detail {

/// Success, or the last error of the C interface.
inline Result<void> checked(lstmc_status status) noexcept {
  return status == LSTMC_OK ? Result<void>() : Result<void>(Error::last());
}

/// What `work` returns, a Result; an exception of the standard library becomes its error.
template <typename Work> auto attempt(Work work) noexcept -> decltype(work()) {
#if LSTMC_EXCEPTIONS
  try {
    return work();
  } catch (const Error &error) {
    return error;
  } catch (const std::bad_alloc &) {
    return Error();
  } catch (const std::exception &error) {
    return Error::make(Status::internal, "E0099", {error.what()});
  }
#else
  return work();
#endif
}

} // namespace detail

} // namespace LSTMC_ABI
} // namespace lstmc

#endif

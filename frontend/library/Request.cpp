#include "frontend/library/Request.h"

#include <fmt/ranges.h>

namespace lstmc {

namespace {

// The text of a value as the flag has it, so that the checks and messages are the flag's.

std::string textOf(const std::string &value) { return value; }
std::string textOf(int64_t value) { return std::to_string(value); }
std::string textOf(double value) { return fmt::format("{}", value); }
std::string textOf(DType value) { return std::string(dtypeName(value)); }
std::string textOf(const std::vector<std::string> &values) {
  return fmt::format("{}", fmt::join(values, ","));
}
std::string textOf(const std::vector<int64_t> &values) {
  return fmt::format("{}", fmt::join(values, ","));
}
std::string textOf(const std::pair<std::string, std::string> &value) {
  return value.first + "=" + value.second;
}
std::string textOf(const std::pair<std::string, int64_t> &value) {
  return fmt::format("{}={}", value.first, value.second);
}
std::string textOf(const std::pair<std::string, std::vector<int64_t>> &value) {
  return fmt::format("{}:{}", value.first, fmt::join(value.second, "x"));
}

/// Gives a field of the request what the program has set.
template <typename TYPE, typename Given>
Status take(typename TYPE::Field &field, std::string_view flag, const Given &given) {
  if constexpr (std::is_same_v<Given, bool>) {
    if (given)
      LSTMC_TRY(TYPE::take(field, flag, ""));
  } else if constexpr (requires { given.has_value(); }) {
    if (given)
      LSTMC_TRY(TYPE::take(field, flag, textOf(*given)));
  } else if constexpr (TYPE::kRepeats) {
    for (const auto &value : given)
      LSTMC_TRY(TYPE::take(field, flag, textOf(value)));
  } else if (!given.empty()) {
    LSTMC_TRY(TYPE::take(field, flag, textOf(given)));
  }
  return {};
}

} // namespace

Result<driver::CompileRequest> requestOf(const CompileOptions &options, Source source) {
  using namespace driver;
  CompileRequest request;
#define LSTMC_FIELD(FIELD, NAME, LETTER, TYPE, ARGUMENT, DEFAULT, GROUP, HELP, COMMANDS)           \
  LSTMC_TRY(take<TYPE>(request.FIELD, NAME, options.FIELD));
#define LSTMC_INPUT(FIELD, NAME, LETTER, TYPE, ...)                                                \
  LSTMC_TRY(take<TYPE>(request.FIELD, NAME, options.FIELD));                                       \
  if (source == Source::Graph && TYPE::given(request.FIELD))                                       \
    return fail(ErrorCode::E0001,                                                                  \
                "--{} is for files: a graph has the shapes and values that it "                    \
                "was built with",                                                                  \
                NAME);
#define LSTMC_LAYOUT LSTMC_FIELD
#define LSTMC_MEMORY LSTMC_FIELD
#define LSTMC_NUMERICS LSTMC_FIELD
#define LSTMC_OPTIMIZER LSTMC_FIELD
#define LSTMC_PROGRAM LSTMC_FIELD
#include "frontend/driver/request.def"
#undef LSTMC_FIELD
  return request;
}

} // namespace lstmc

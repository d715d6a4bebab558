#include "frontend/lnet/text/Limits.h"

namespace lstmc::lnet {

bool isLimit(std::string_view name) {
#define LSTMC_X(NAME, DEFAULT, WHAT)                                                               \
  if (name == #NAME)                                                                               \
    return true;
  LSTMC_LNET_LIMITS(LSTMC_X)
#undef LSTMC_X
  return false;
}

Status setLimit(Limits &limits, std::string_view name, uint64_t value) {
  if (!isLimit(name))
    return fail(ErrorCode::E0001, "no limit is named \"{}\"", name);
  uint64_t highest = name == "source"  ? uint64_t(1) << 31
                     : name == "depth" ? 10'000
                                       : 1'000'000'000'000;
  if (value == 0 || value > highest)
    return fail(ErrorCode::E0001, "limit {} is {}, want 1 to {}", name, value, highest);
#define LSTMC_X(NAME, DEFAULT, WHAT)                                                               \
  if (name == #NAME)                                                                               \
    limits.NAME = value;
  LSTMC_LNET_LIMITS(LSTMC_X)
#undef LSTMC_X
  return {};
}

std::optional<Diagnostic> checkLength(const std::string &path, size_t bytes, const Limits &limits) {
  if (bytes <= limits.source)
    return std::nullopt;
  Diagnostic diagnostic;
  diagnostic.code = ErrorCode::E0316;
  diagnostic.message = fmt::format("text of {} bytes, the limit is {}", bytes, limits.source);
  diagnostic.help = "--limit source=N changes the limit";
  diagnostic.place.file = path;
  return diagnostic;
}

} // namespace lstmc::lnet

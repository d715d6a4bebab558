#include "executor/session/UnknownName.h"

#include <algorithm>
#include <string>

#include <fmt/ranges.h>

#include "executor/base/Quote.h"
#include "executor/base/Suggest.h"

namespace lstmc::session {

Error unknownName(std::string_view what, std::string_view name, std::string_view where,
                  std::vector<std::string_view> names) {
  constexpr size_t kMost = 12;
  const std::string near = didYouMean(name, names);
  const size_t all = names.size();
  names = nearestFirst(name, std::move(names));
  names.resize(std::min(all, kMost));
  std::string list = all == 0 ? "none" : fmt::format("{}", fmt::join(names, ", "));
  if (all > kMost)
    list += fmt::format(" and {} more", all - kMost);
  return fail(ErrorCode::E0001, "{} {}: {} has none of that name{}{}; there {} {}", what,
              inQuotes(name), where, near.empty() ? "" : ", ", near, all == 1 ? "is" : "are", list);
}

} // namespace lstmc::session

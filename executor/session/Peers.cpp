#include "executor/session/Peers.h"

#include <algorithm>

#include "executor/base/Quote.h"

namespace lstmc {

Status agree(Peers &peers, std::string_view what, std::string_view value) {
  LSTMC_ASSIGN(std::vector<std::string> said, peers.gather(value));
  auto holders = [&](const std::string &text) { return std::ranges::count(said, text); };
  // With two ranks, rank 0 is taken as correct; with more, the majority.
  const std::string &most = *std::ranges::max_element(
      said, [&](const auto &a, const auto &b) { return holders(a) < holders(b); });
  auto odd = std::ranges::find_if(said, [&](const auto &text) { return text != most; });
  if (odd == said.end())
    return {};
  return fail(ErrorCode::E0804, "{}: rank {} has {}, rank {} has {}", what, odd - said.begin(),
              inQuotes(*odd), std::ranges::find(said, most) - said.begin(), inQuotes(most));
}

} // namespace lstmc

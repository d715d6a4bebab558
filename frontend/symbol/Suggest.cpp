#include "frontend/symbol/Suggest.h"

#include <algorithm>

#include <fmt/format.h>
#include <llvm/ADT/StringRef.h>

namespace lstmc {

namespace {
constexpr size_t kLongestName = 80; ///< beyond, nobody mistypes a letter
}

std::string nearest(std::string_view written, const std::vector<std::string_view> &candidates) {
  if (written.size() > kLongestName)
    return {};
  unsigned best = unsigned(written.size() / 3) + 1;
  std::string_view found;
  bool tie = false;
  for (std::string_view candidate : candidates) {
    if (candidate.size() > written.size() + best || candidate == found)
      continue;
    unsigned distance = llvm::StringRef(written.data(), written.size())
                            .edit_distance({candidate.data(), candidate.size()}, true, best);
    if (distance > best || distance > written.size() / 3)
      continue;
    tie = distance == best;
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return tie ? std::string() : std::string(found);
}

std::vector<std::string_view> nearestFirst(std::string_view written,
                                           std::vector<std::string_view> candidates) {
  std::ranges::stable_sort(candidates, {}, [&](std::string_view candidate) {
    return llvm::StringRef(written.data(), written.size())
        .edit_distance({candidate.data(), candidate.size()});
  });
  return candidates;
}

std::string didYouMean(std::string_view written, const std::vector<std::string_view> &candidates) {
  std::string name = nearest(written, candidates);
  return name.empty() ? name : fmt::format("did you mean \"{}\"?", name);
}

} // namespace lstmc

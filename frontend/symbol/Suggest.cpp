#include "frontend/symbol/Suggest.h"

#include "llvm/ADT/StringRef.h"

namespace lstmc::symbol {

std::string didYouMean(std::string_view written, const std::vector<std::string_view> &candidates) {
  unsigned best = written.size() / 3 + 1;
  std::string_view found;
  bool tie = false;
  for (std::string_view candidate : candidates) {
    unsigned distance = llvm::StringRef(written).edit_distance(candidate, true, best);
    if (distance == best && candidate != found)
      tie = true;
    if (distance < best) {
      best = distance;
      found = candidate;
      tie = false;
    }
  }
  return found.empty() || tie ? std::string() : "did you mean \"" + std::string(found) + "\"?";
}

} // namespace lstmc::symbol

#include "ir/sym/Extents.h"

#include "executor/base/Tensor.h"

namespace lstmc::sym {

std::optional<std::string> sizeProblem(llvm::ArrayRef<int64_t> extents) {
  if (extents.size() > size_t(kMaxRank))
    return "has " + std::to_string(extents.size()) + " axes, and at most " +
           std::to_string(kMaxRank) + " can be planned";
  int64_t elements = 1;
  for (int64_t extent : extents)
    elements = product({elements, extent < 0 ? 1 : extent});
  if (elements <= kMaxElements)
    return std::nullopt;
  bool exact = elements < std::numeric_limits<int64_t>::max();
  return "has " + std::to_string(elements) + (exact ? "" : " or more") + " elements, and at most " +
         std::to_string(kMaxElements) + " can be planned";
}

} // namespace lstmc::sym

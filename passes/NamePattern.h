// Matching of names against patterns, as in fit(carry=["lstm*"]).
#pragma once

#include "llvm/ADT/StringRef.h"

namespace lstmc::passes {

/// Whether `name` matches `pattern`; `*` matches any run of characters.
inline bool matchesPattern(llvm::StringRef name, llvm::StringRef pattern) {
  auto [head, rest] = pattern.split('*');
  if (head.size() == pattern.size())
    return name == pattern;
  if (!name.consume_front(head))
    return false;
  for (size_t skip = 0; skip <= name.size(); ++skip)
    if (matchesPattern(name.drop_front(skip), rest))
      return true;
  return false;
}

} // namespace lstmc::passes

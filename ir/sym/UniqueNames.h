// Makes names unique by appending numbers to repeated ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace lstmc::sym {

class UniqueNames {
public:
  /// `wanted`, or "wanted_1" and so on if that is taken. Takes the name.
  std::string take(llvm::StringRef wanted) {
    std::string name = wanted.str();
    // Counted by name, so that many equal ones take linear time.
    for (int64_t &count = counts_[wanted]; !names_.insert(name).second;)
      name = wanted.str() + "_" + std::to_string(++count);
    return name;
  }
  /// Keeps a name from being taken.
  void reserve(llvm::StringRef name) { names_.insert(name); }

private:
  llvm::StringSet<> names_;
  llvm::StringMap<int64_t> counts_;
};

/// `names` made unique. Names that occur once are unchanged.
inline std::vector<std::string> uniqueNames(std::vector<std::string> names) {
  llvm::StringMap<int64_t> times;
  for (const std::string &name : names)
    ++times[name];
  UniqueNames unique;
  for (const auto &entry : times)
    unique.reserve(entry.getKey());
  llvm::StringSet<> seen;
  for (std::string &name : names)
    if (!seen.insert(name).second)
      name = unique.take(name);
  return names;
}

} // namespace lstmc::sym

// Collects the diagnostics of one run, without duplicates, and returns them in source order.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "executor/base/Diagnostic.h"

namespace lstmc::lnet {

class Problems {
public:
  /// Adds one, unless the same message about the same place was added before.
  void add(Diagnostic diagnostic);
  /// Registers a file; its messages come after those of files registered before.
  void nameFile(const std::string &path) { fileOrder_.try_emplace(path, fileOrder_.size()); }

  bool any() const { return errors_ > 0; }
  uint64_t errors() const { return errors_; }

  /// In order of file and place; of the errors the first `shown`, then a note with the count of the
  /// rest. Warnings are errors if `werror`.
  Diagnostics take(uint64_t shown, bool werror);

private:
  /// Diagnostics kept; those that come after so many are only counted.
  static constexpr size_t kKept = 5000;

  Diagnostics kept_;
  std::set<std::tuple<std::string, int64_t, ErrorCode, std::string>> seen_;
  std::map<std::string, size_t> fileOrder_;
  uint64_t errors_ = 0;
};

} // namespace lstmc::lnet

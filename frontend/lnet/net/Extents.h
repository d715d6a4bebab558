// Extents as files write them: the names of dims, and the checks that all extents share.
#pragma once

#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

/// The dims of a run. An integer that is the value of a dim carries the dim's number, from 1.
class DimNames {
public:
  uint32_t add(std::string name) {
    names_.push_back(std::move(name));
    return uint32_t(names_.size());
  }
  /// Empty for 0, which is no dim.
  std::string name(uint32_t number) const { return number ? names_[number - 1] : std::string(); }
  /// 0 if no dim has the name.
  uint32_t number(std::string_view name) const {
    for (size_t i = 0; i < names_.size(); ++i)
      if (names_[i] == name)
        return uint32_t(i) + 1;
    return 0;
  }

private:
  std::vector<std::string> names_;
};

/// E0206 for an extent below 1.
bool checkExtent(Run &run, int64_t extent, Span span);
/// E0319 for more dimensions than `--limit rank` allows.
bool checkRank(Run &run, size_t rank, Span span);

/// A tuple of extents, `_` or None where one is to be inferred; an integer stands for one extent.
/// Nothing after an error.
std::optional<symbol::Shape> shapeArgument(Run &run, const DimNames &dims, const Value &value,
                                           const Expr *place);

} // namespace lstmc::lnet

#include "frontend/lnet/text/Problems.h"

#include <algorithm>

#include <fmt/format.h>

namespace lstmc::lnet {

void Problems::add(Diagnostic diagnostic) {
  if (kept_.size() >= kKept) {
    errors_ += diagnostic.severity == Severity::Error;
    return;
  }
  if (!seen_
           .emplace(diagnostic.place.file, diagnostic.place.byte, diagnostic.code,
                    diagnostic.message)
           .second)
    return;
  errors_ += diagnostic.severity == Severity::Error;
  kept_.push_back(std::move(diagnostic));
}

Diagnostics Problems::take(uint64_t shown, bool werror) {
  if (werror)
    for (Diagnostic &diagnostic : kept_)
      if (diagnostic.severity == Severity::Warning) {
        diagnostic.severity = Severity::Error;
        ++errors_;
      }
  std::vector<std::tuple<size_t, int64_t, size_t>> order;
  for (size_t i = 0; i < kept_.size(); ++i) {
    auto at = fileOrder_.find(kept_[i].place.file);
    order.emplace_back(at == fileOrder_.end() ? fileOrder_.size() : at->second, kept_[i].place.byte,
                       i);
  }
  std::sort(order.begin(), order.end());
  Diagnostics result;
  uint64_t given = 0;
  for (auto [file, byte, index] : order) {
    if (kept_[index].severity == Severity::Error && ++given > shown)
      continue;
    result.push_back(std::move(kept_[index]));
  }
  if (errors_ > shown) {
    Diagnostic rest;
    rest.severity = Severity::Note;
    rest.message = fmt::format("{} more error{}", errors_ - shown, errors_ - shown == 1 ? "" : "s");
    result.push_back(std::move(rest));
  }
  kept_.clear();
  return result;
}

} // namespace lstmc::lnet

#include "executor/session/IndexWarning.h"

#include <algorithm>

#include "executor/base/NumberText.h"
#include "executor/session/NonFinite.h"
#include "executor/session/UserOps.h"

namespace lstmc::session {

namespace {

constexpr size_t kMostOps = 5; ///< that are named

/// An op of which launches of any entry read values that were out of range.
struct Op {
  const IndexCounter::Count *count; ///< of one of the launches
  uint32_t location;
  uint64_t outside;

  bool isOf(const Op &other) const {
    return location == other.location && count->use == other.count->use &&
           count->valid == other.count->valid;
  }
};

std::vector<Op> opsOf(const UserOps &names, std::span<const IndexCounter::Count *const> counts,
                      std::span<const uint64_t> totals) {
  std::vector<Op> ops;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (totals[i] == 0)
      continue;
    const Op one{counts[i], names.of(*counts[i]->source), totals[i]};
    auto same = std::ranges::find_if(ops, [&](const Op &op) { return op.isOf(one); });
    if (same == ops.end())
      ops.push_back(one);
    else
      same->outside += one.outside;
  }
  return ops;
}

/// "3 computed indices were outside 0 to 4: the nearest is read"; "3 indices …" of an input
std::string textOf(const Op &op) {
  const bool one = op.outside == 1;
  const char *what = "", *then = "";
  switch (op.count->use) {
  case Use::Nearest:
  case Use::Refused:
  case Use::OneHot:
    what = one ? "index was" : "indices were";
    then = op.count->use == Use::OneHot ? "such a row has no one" : "the nearest is read";
    break;
  case Use::Label:
    what = one ? "label was" : "labels were";
    then = "for the gradient such a row is of no class, for the loss of the nearest";
    break;
  case Use::Length:
    what = one ? "length was" : "lengths were";
    then = "the nearest counts";
    break;
  }
  return fmt::format("{}{} {} outside {}: {}", grouped(int64_t(op.outside)),
                     op.count->given ? "" : " computed", what, op.count->valid.text(), then);
}

std::string nameOf(const package::PackageData &data, const Op &op) {
  package::Launch named = *op.count->source;
  named.location = op.location;
  return opText(data, named);
}

std::string reasonOf(const package::PackageData &data, const Op &op) {
  const SourceRange place = rangeOf(data.locations[op.location]);
  return fmt::format(
      "{}{}: {}", nameOf(data, op),
      place.line > 0 ? fmt::format(" at {}:{}:{}", place.file, place.line, place.column) : "",
      textOf(op));
}

} // namespace

Diagnostics describe(const package::PackageData &data,
                     std::span<const IndexCounter::Count *const> counts,
                     std::span<const uint64_t> totals) {
  const std::vector<Op> ops = opsOf(UserOps(data), counts, totals);
  if (ops.empty())
    return {};
  Diagnostic warning;
  warning.code = ErrorCode::E0703;
  warning.severity = Severity::Warning;
  warning.message = nameOf(data, ops[0]) + ": " + textOf(ops[0]);
  warning.place = rangeOf(data.locations[ops[0].location]);
  for (size_t i = 1; i < std::min(ops.size(), kMostOps); ++i)
    warning.reasons.push_back({reasonOf(data, ops[i]), {}});
  if (ops.size() > kMostOps)
    warning.reasons.push_back({fmt::format("and {} more ops", ops.size() - kMostOps), {}});
  return {std::move(warning)};
}

} // namespace lstmc::session

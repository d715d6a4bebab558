#include "executor/base/Suggest.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace lstmc {

namespace {
constexpr size_t kLongestName = 80; ///< longer names are not taken for typing errors

/// Letters that must be put in, left out or exchanged to make the one of the other (Levenshtein).
size_t editDistance(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1); // from the letters of `from` so far to each begin of `to`
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < to.size(); ++j) {
      size_t exchanged = diagonal + (from[i] != to[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({exchanged, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[to.size()];
}
} // namespace

std::string nearest(std::string_view written, const std::vector<std::string_view> &candidates) {
  if (written.size() > kLongestName)
    return {};
  size_t best = written.size() / 3 + 1;
  std::string_view found;
  bool tie = false;
  for (std::string_view candidate : candidates) {
    if (candidate.size() > written.size() + best || candidate == found)
      continue;
    size_t distance = editDistance(written, candidate);
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
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](std::string_view a, std::string_view b) {
                     return editDistance(written, a) < editDistance(written, b);
                   });
  return candidates;
}

std::string didYouMean(std::string_view written, const std::vector<std::string_view> &candidates) {
  std::string name = nearest(written, candidates);
  return name.empty() ? name : fmt::format("did you mean \"{}\"?", name);
}

} // namespace lstmc

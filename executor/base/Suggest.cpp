#include "executor/base/Suggest.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace lstmc {

namespace {

/// Edit distances from one name to many (Levenshtein): a column of the table is two words of bits,
/// which say where it rises and where it falls. Source: Hyyrö, "Explaining and extending the
/// bit-parallel approximate string matching algorithm of Myers", 2001, figure 9 for whole strings.
class Distances {
public:
  static constexpr size_t kLongest = 64; ///< one bit a letter

  /// `from` has 1 to kLongest letters.
  explicit Distances(std::string_view from) : size_(from.size()) {
    for (size_t i = 0; i < size_; ++i)
      places_[static_cast<unsigned char>(from[i])] |= uint64_t(1) << i;
  }

  size_t to(std::string_view name) const {
    uint64_t rises = ~uint64_t(0), falls = 0, last = uint64_t(1) << (size_ - 1);
    size_t distance = size_;
    for (char letter : name) {
      uint64_t equal = places_[static_cast<unsigned char>(letter)];
      uint64_t diagonal = (((equal & rises) + rises) ^ rises) | equal | falls;
      uint64_t right = falls | ~(diagonal | rises), left = rises & diagonal;
      distance += (right & last) != 0;
      distance -= (left & last) != 0;
      right = right << 1 | 1; // the first row counts the letters of `name`
      left <<= 1;
      rises = left | ~(diagonal | right);
      falls = right & diagonal;
    }
    return distance;
  }

private:
  const size_t size_;
  std::array<uint64_t, 256> places_{}; ///< by letter: bit i where `from` has it at i
};

size_t between(size_t a, size_t b) { return a > b ? a - b : b - a; }

} // namespace

std::string nearest(std::string_view written, const std::vector<std::string_view> &candidates) {
  const size_t farthest = written.size() / 3;
  if (farthest == 0 || written.size() > Distances::kLongest)
    return {};
  Distances distances(written);
  size_t best = farthest + 1;
  std::string_view found;
  bool tie = false;
  for (std::string_view candidate : candidates) {
    if (between(candidate.size(), written.size()) > std::min(best, farthest) || candidate == found)
      continue;
    size_t distance = distances.to(candidate);
    if (distance > best || distance > farthest)
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
  if (written.empty() || written.size() > Distances::kLongest)
    return candidates;
  Distances distances(written);
  std::vector<std::pair<size_t, size_t>> rows; // distance and position
  rows.reserve(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i)
    rows.emplace_back(distances.to(candidates[i]), i);
  std::ranges::sort(rows);
  std::vector<std::string_view> ordered;
  ordered.reserve(rows.size());
  for (const auto &[distance, position] : rows)
    ordered.push_back(candidates[position]);
  return ordered;
}

std::string didYouMean(std::string_view written, const std::vector<std::string_view> &candidates) {
  std::string name = nearest(written, candidates);
  return name.empty() ? name : fmt::format("did you mean \"{}\"?", name);
}

} // namespace lstmc

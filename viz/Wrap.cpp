#include "viz/Wrap.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace lstmc::viz {

namespace {

/// Maximum length in boxes. A net with branches is easier to read in one piece than a chain, so it
/// may be longer.
constexpr size_t kLong = 14, kLongBranched = 30, kWide = 8;

/// Level of each box: the longest path below it. A box that reads nothing is just below its first
/// reader. Back edges of cycles are ignored.
std::vector<size_t> levels(const Diagram &diagram) {
  size_t n = diagram.boxes.size();
  std::vector<std::vector<size_t>> readers(n);
  std::vector<size_t> open(n, 0), level(n, 0);
  for (const Edge &edge : diagram.edges)
    if (edge.from != edge.to) {
      readers[edge.from].push_back(edge.to);
      ++open[edge.to];
    }
  const std::vector<size_t> reads = open;
  std::vector<size_t> ready;
  std::vector<bool> seen(n, false);
  auto settle = [&](size_t box) {
    seen[box] = true;
    ready.push_back(box);
  };
  for (size_t i = 0; i < n; ++i)
    if (open[i] == 0)
      settle(i);
  for (size_t next = 0, begin = 0; next < n; ++next) {
    if (next == ready.size()) { // all others are in or above a cycle
      while (seen[begin])
        ++begin;
      settle(begin);
    }
    for (size_t reader : readers[ready[next]])
      if (!seen[reader]) {
        level[reader] = std::max(level[reader], level[ready[next]] + 1);
        if (--open[reader] == 0)
          settle(reader);
      }
  }
  for (size_t i = 0; i < n; ++i)
    if (reads[i] == 0 && !readers[i].empty()) {
      size_t lowest = level[readers[i][0]];
      for (size_t reader : readers[i])
        lowest = std::min(lowest, level[reader]);
      level[i] = lowest > 0 ? lowest - 1 : 0;
    }
  return level;
}

} // namespace

std::optional<std::vector<Place>> wrap(const Diagram &diagram) {
  for (const Box &box : diagram.boxes)
    if (!box.frame.empty())
      return std::nullopt;
  std::map<size_t, std::vector<size_t>> byLevel;
  std::vector<size_t> level = levels(diagram);
  for (size_t i = 0; i < level.size(); ++i)
    byLevel[level[i]].push_back(i);
  std::vector<std::vector<size_t>> rows;
  size_t widest = 0;
  for (const auto &[number, boxes] : byLevel) {
    widest = std::max(widest, boxes.size());
    for (size_t i = 0; i < boxes.size(); i += kWide)
      rows.emplace_back(boxes.begin() + long(i),
                        boxes.begin() + long(std::min(boxes.size(), i + kWide)));
  }
  bool branches = 2 * diagram.boxes.size() > 3 * rows.size();
  if (rows.size() <= (branches ? kLongBranched : kLong) && widest <= kWide)
    return std::nullopt;
  // A box needs about 2.2 times as much space horizontally as vertically, and a picture should
  // be 1.2 times as wide as high.
  double across = double(diagram.boxes.size()) / double(rows.size());
  size_t height = size_t(std::ceil(std::sqrt(1.85 * double(rows.size()) * across)));
  height = std::clamp<size_t>(height, 8, 60);
  size_t columns = (rows.size() + height - 1) / height;
  height = (rows.size() + columns - 1) / columns;
  std::vector<Place> places(diagram.boxes.size());
  for (size_t r = 0; r < rows.size(); ++r) {
    size_t column = r / height, row = r % height;
    for (size_t i = 0; i < rows[r].size(); ++i)
      places[rows[r][i]] = {column, column % 2 == 0 ? row : height - 1 - row, i};
  }
  return places;
}

} // namespace lstmc::viz

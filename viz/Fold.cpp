#include "viz/Fold.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lstmc::viz {

namespace {

constexpr size_t kFewestParts = 3, kFewestSaved = 6;
/// Maximum number of box comparisons in a search; parts too long for it are not found.
constexpr size_t kMostCompared = 400'000'000;

/// A run of parts of `period` boxes each.
struct Run {
  size_t begin, period, count;
  size_t saved() const { return (count - 1) * period; }
  size_t end() const { return begin + period * count; }
  bool holds(size_t box) const { return begin <= box && box < end(); }
};

class Folding {
public:
  explicit Folding(Diagram &diagram) : diagram_(diagram) {
    for (size_t i = 0; i < diagram.boxes.size(); ++i)
      (diagram.boxes[i].kind == Box::Kind::Op ? ops_ : others_).push_back(i);
    std::map<std::string, int> numbers;
    for (size_t op : ops_) {
      const std::string &like = diagram.boxes[op].like;
      int unique = -1 - int(like_.size());
      like_.push_back(like.empty() ? unique
                                   : numbers.try_emplace(like, int(numbers.size())).first->second);
    }
    position_.assign(diagram.boxes.size(), kOutside);
    for (size_t i = 0; i < ops_.size(); ++i)
      position_[ops_[i]] = i;
    reads_.resize(ops_.size());
    for (const Edge &edge : diagram.edges)
      if (position_[edge.to] != kOutside)
        reads_[position_[edge.to]].push_back(edge.from);
  }

  /// The run that saves most boxes; none if no run saves enough.
  std::optional<Run> best() const {
    std::vector<Run> runs = candidates();
    std::sort(runs.begin(), runs.end(), [](const Run &a, const Run &b) {
      return std::tuple(b.saved(), a.period, a.begin) < std::tuple(a.saved(), b.period, b.begin);
    });
    std::optional<Run> best;
    for (const Run &run : runs) {
      if (best && run.saved() <= best->saved())
        break;
      if (std::optional<Run> equal = equalPart(run);
          equal && (!best || equal->saved() > best->saved()))
        best = equal;
    }
    return best;
  }

  void fold(const Run &run);

private:
  static constexpr size_t kOutside = size_t(-1);

  static bool isWorth(const Run &run) {
    return run.count >= kFewestParts && run.saved() >= kFewestSaved;
  }

  std::vector<Run> candidates() const {
    std::vector<Run> runs;
    size_t n = like_.size(), longest = std::min(n / kFewestParts, kMostCompared / (n + 1));
    for (size_t period = 1; period <= longest; ++period)
      for (size_t i = 0, equal = 0; i + period <= n; ++i) {
        if (i + period < n && like_[i] == like_[i + period]) {
          ++equal;
          continue;
        }
        if (Run run{i - equal, period, equal / period + 1}; isWorth(run))
          runs.push_back(run);
        equal = 0;
      }
    return runs;
  }

  /// Whether the part reads the same as the part before it. `own`: by producer, the values that
  /// each part reads for itself.
  bool readsAlike(const Run &run, size_t part,
                  std::map<std::pair<size_t, size_t>, std::set<size_t>> &own) const {
    for (size_t i = 0; i < run.period; ++i) {
      size_t at = run.begin + part * run.period + i;
      const std::vector<size_t> &now = reads_[at], &before = reads_[at - run.period];
      if (now.size() != before.size())
        return false;
      for (size_t k = 0; k < now.size(); ++k)
        if (!isAlike(run, now[k], before[k], own[{i, k}]))
          return false;
    }
    return true;
  }

  bool isAlike(const Run &run, size_t now, size_t before, std::set<size_t> &own) const {
    if (now == before)
      return own.empty();
    size_t here = position_[now], there = position_[before];
    bool isHere = here != kOutside && run.holds(here),
         isThere = there != kOutside && run.holds(there);
    if (isHere) // what the part before made, or, at the begin, what was there in its place
      return isThere ? here == there + run.period : here < run.begin + run.period;
    const Box &one = diagram_.boxes[now], &other = diagram_.boxes[before];
    own.insert(before);
    return !isThere && own.insert(now).second && one.kind == other.kind && !one.like.empty() &&
           one.like == other.like;
  }

  /// The longest run of parts with similar boxes that also read similar values.
  std::optional<Run> equalPart(const Run &run) const {
    std::optional<Run> best;
    for (size_t first = 0; first + kFewestParts <= run.count;) {
      Run equal{run.begin + first * run.period, run.period, run.count - first};
      std::map<std::pair<size_t, size_t>, std::set<size_t>> own;
      size_t parts = 1;
      while (parts < equal.count && readsAlike(equal, parts, own))
        ++parts;
      equal.count = parts;
      if (isWorth(equal) && (!best || equal.saved() > best->saved()))
        best = equal;
      first += parts;
    }
    return best;
  }

  /// The box of a run's first part with the most output.
  const Box &largest(const Run &run) const {
    size_t best = ops_[run.begin];
    for (size_t i = run.begin; i < run.begin + run.period; ++i)
      if (diagram_.boxes[ops_[i]].bytes > diagram_.boxes[best].bytes)
        best = ops_[i];
    return diagram_.boxes[best];
  }

  Box boxOf(const Run &run) const;
  std::string title(const Run &run) const;

  Diagram &diagram_;
  std::vector<size_t> ops_, others_; ///< boxes, in order
  std::vector<int> like_;            ///< by position among the ops: equal for boxes that are alike
  std::vector<size_t> position_;     ///< by box
  std::vector<std::vector<size_t>> reads_; ///< by position: boxes, in the order of the operands
};

std::string firstLine(const std::string &label) { return label.substr(0, label.find('\n')); }

/// The function that most ops of a part come from, else the first and last name.
std::string Folding::title(const Run &run) const {
  std::map<std::string, size_t> calls;
  for (size_t i = run.begin; i < run.begin + run.period; ++i)
    ++calls[diagram_.boxes[ops_[i]].call];
  for (const auto &[call, count] : calls)
    if (!call.empty() && 2 * count > run.period)
      return call;
  return fmt::format("{} … {}", firstLine(diagram_.boxes[ops_[run.begin]].label),
                     firstLine(diagram_.boxes[ops_[run.end() - 1]].label));
}

/// "2 FullyConnected, 3 sigmoid", by kind of box; lines of about 30 letters, at most three.
std::string contents(const std::vector<std::string> &whats) {
  std::vector<std::pair<std::string, size_t>> counts;
  for (const std::string &what : whats) {
    auto found = std::find_if(counts.begin(), counts.end(),
                              [&](const auto &pair) { return pair.first == what; });
    if (found == counts.end())
      counts.emplace_back(what, 1);
    else
      ++found->second;
  }
  std::string text;
  size_t line = 0, lines = 1;
  for (size_t i = 0; i < counts.size(); ++i) {
    std::string word = counts[i].second == 1
                           ? counts[i].first
                           : fmt::format("{} {}", counts[i].second, counts[i].first);
    if (i > 0)
      text += ",";
    if (i > 0 && line + word.size() > 30) {
      if (lines == 3)
        return text + " …";
      ++lines;
      line = 0;
      text += "\n";
    } else if (i > 0) {
      text += " ";
    }
    text += word;
    line += word.size() + 2;
  }
  return text;
}

Box Folding::boxOf(const Run &run) const {
  Box box;
  std::vector<std::string> whats;
  box.like = "[";
  const Box &first = diagram_.boxes[ops_[run.begin]], &last = diagram_.boxes[ops_[run.end() - 1]];
  for (size_t i = run.begin; i < run.end(); ++i) {
    const Box &part = diagram_.boxes[ops_[i]];
    if (i < run.begin + run.period) {
      whats.push_back(part.what);
      box.like += part.like + ";";
    }
    box.places.insert(box.places.end(), part.places.begin(), part.places.end());
    box.bytes += part.bytes;
    box.parameterBytes += part.parameterBytes;
    box.seconds += part.seconds;
    box.devices.insert(part.devices.begin(), part.devices.end());
  }
  box.like += fmt::format("]{}", run.count);
  box.name = first.name;
  box.color = largest(run).color;
  box.call = first.call;
  box.group = first.group == last.group ? first.group : first.group + " … " + last.group;
  box.what = fmt::format("{} × {}", title(run), run.count);
  box.label = box.what + "\n" + contents(whats);
  return box;
}

void Folding::fold(const Run &run) {
  Box box = boxOf(run);
  size_t first = ops_[run.begin];
  std::vector<bool> keep(diagram_.boxes.size(), true);
  std::vector<size_t> into(diagram_.boxes.size());
  for (size_t i = 0; i < into.size(); ++i)
    into[i] = i;
  for (size_t i = run.begin; i < run.end(); ++i) {
    into[ops_[i]] = first;
    keep[ops_[i]] = ops_[i] == first;
  }
  auto partOf = [&](size_t at) {
    size_t position = position_[at];
    return position != kOutside && run.holds(position) ? (position - run.begin) / run.period
                                                       : kOutside;
  };
  std::map<std::pair<size_t, size_t>, std::vector<std::string>> labels; ///< by both ends
  std::set<std::string> carried;
  bool chain = false;
  for (const Edge &edge : diagram_.edges) {
    size_t from = into[edge.from], to = into[edge.to];
    if (from == first && to == first) {
      if (partOf(edge.from) != partOf(edge.to)) {
        chain = true;
        carried.insert(edge.label);
      }
      continue;
    }
    if (from == first || to == first)
      labels[{from, to}].push_back(edge.label);
  }
  std::vector<Edge> edges;
  for (Edge &edge : diagram_.edges) {
    size_t from = into[edge.from], to = into[edge.to];
    if (from == first && to == first)
      continue;
    if (from == first || to == first) {
      std::vector<std::string> &texts = labels[{from, to}];
      if (texts.empty())
        continue; // the edge exists already
      bool same = std::all_of(texts.begin(), texts.end(),
                              [&](const std::string &text) { return text == texts[0]; });
      std::string label = texts[0];
      if (!label.empty() && !same)
        label += ", …";
      else if (!label.empty() && from == first && texts.size() > 1) // a value of each part
        label = fmt::format("{} × {}", texts.size(), label);
      texts.clear();
      edges.push_back({from, to, std::move(label), edge.tail, edge.head});
      continue;
    }
    edges.push_back(std::move(edge));
  }
  if (chain) {
    carried.erase("");
    box.loop = carried.empty() ? fmt::format("{} times", run.count)
                               : fmt::format("{} times\n{}", run.count, fmt::join(carried, ", "));
  }
  diagram_.boxes[first] = std::move(box);
  diagram_.edges = std::move(edges);
  keepBoxes(diagram_, keep);
}

} // namespace

void foldRepeats(Diagram &diagram) {
  while (true) {
    Folding folding(diagram);
    std::optional<Run> run = folding.best();
    if (!run)
      return;
    folding.fold(*run);
  }
}

} // namespace lstmc::viz

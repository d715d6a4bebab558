// A net while it grows: the graph, and the values that the next call may use.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/symbol/Symbol.h"
#include "tests/nets/Draw.h"

namespace lstmc::nets {

using Extents = std::vector<int64_t>;

struct Item {
  symbol::Symbol symbol;
  Extents extents;
  DType dtype = DType::F32;
  int reads = 0;

  int64_t rank() const { return int64_t(extents.size()); }
};

/// The sizes in a net. The batch differs from the others, so that an axis of its extent usually is
/// it.
struct Sizes {
  int64_t batch, steps;
  std::vector<int64_t> features;
};

class Pool {
public:
  Pool(uint64_t seed);

  symbol::Graph graph;
  Draw draw;
  Sizes sizes;
  std::vector<Item> items;
  int64_t calls = 0; ///< accepted calls

  std::string newName(const char *stem) { return stem + std::to_string(names_++); }

  /// Adds a node with a new name. Nullopt if the op's own rule rejects it; the graph is then
  /// unchanged. Small results are added to the items.
  std::optional<std::vector<Item>> put(symbol::Call call);
  /// The item of a symbol, added to the others.
  std::optional<Item> take(symbol::Symbol symbol);

  /// One of the items that `fits`, preferably one that nothing reads yet, and a late one.
  template <typename Fits> const Item *find(Fits fits) {
    std::vector<size_t> found;
    for (size_t i = 0; i < items.size(); ++i)
      if (fits(items[i]))
        found.push_back(i);
    if (found.empty())
      return nullptr;
    size_t best = draw.oneOf(found);
    for (int look = 0; look < 2; ++look)
      if (size_t other = draw.oneOf(found);
          items[other].reads < items[best].reads ||
          (items[other].reads == items[best].reads && other > best))
        best = other;
    return &items[best];
  }

  /// A new parameter or input of this shape.
  Item parameter(const Extents &extents);
  Item input(const char *stem, const Extents &extents, DType dtype, bool label = false);

  /// Records the calls that are accepted from here on, so that they can be repeated.
  std::vector<std::pair<symbol::Call, std::vector<symbol::Symbol>>> *record = nullptr;

private:
  symbol::Shape shapeOf(const Extents &extents) const;
  int names_ = 0;
};

/// Thrown if the graph fails in a way that is not a refusal.
struct Finding {
  std::string judge, what;
};

bool isFloating(DType dtype);

} // namespace lstmc::nets

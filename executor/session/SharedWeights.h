// Weights that several sessions read from the same memory.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "executor/base/SharedPages.h"
#include "executor/package/Package.h"
#include "executor/session/BoundEntry.h"

namespace lstmc::session {

/// Parameters, auxiliaries and packed weights of one session, constant from now on. They are shared
/// page by page: what shares its page with other values (less than two pages for each run of
/// neighbouring buffers) is copied.
///
/// Sessions of other packages of the network (other extents, other entries) have a variant: weights
/// at other places, whose pages are the same memory wherever they have the same contents.
class SharedWeights {
public:
  using Pointer = std::shared_ptr<const SharedWeights>;

  /// Takes the weights out of the arenas of a session whose entries are all prepared; it reads them
  /// as the others do. Pages that `like`, unless null, has with equal contents are held once. E0901
  /// if the system has no memory.
  static Result<Pointer> take(const package::PackageData &data,
                              const std::vector<BoundEntry> &entries, const Devices &devices,
                              const SharedWeights *like = nullptr);

  /// Lets another session of the package, with arenas of the same sizes, read them. E0901 as above.
  Status giveTo(const Devices &devices) const;

  /// Those of sessions of `package` that can run the `selected` entries; `make` makes them where no
  /// session has them. One thread at a time makes some, others wait.
  Result<Pointer> variant(const package::Package::Pointer &package,
                          const std::vector<bool> &selected,
                          const std::function<Result<Pointer>()> &make) const;

private:
  /// Whole pages within a stretch.
  struct Run {
    uint64_t begin, bytes; ///< in the arena
    std::shared_ptr<const SharedPages> pages;
    uint64_t offset; ///< of the first in `pages`
  };
  /// Neighbouring bytes of an arena.
  struct Stretch {
    size_t device;
    uint64_t begin, end;
    std::vector<std::byte> head = {}, tail = {}; ///< outside of whole pages
    std::vector<Run> runs = {};                  ///< all whole pages, in order
  };
  struct Variant {
    std::weak_ptr<const package::Package> package;
    std::vector<bool> selected;
    std::weak_ptr<const SharedWeights> weights;
  };
  class EqualPages;

  std::vector<Stretch> stretches_;
  mutable std::mutex variantsMutex_;
  mutable std::vector<Variant> variants_;
};

/// Whether a session whose weights are shared may not run the entry, because it writes them.
bool writesWeights(const BoundEntry &entry);

} // namespace lstmc::session

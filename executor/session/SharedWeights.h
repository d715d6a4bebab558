// Weights that several sessions read from the same memory.
#pragma once

#include <memory>
#include <vector>

#include "executor/base/SharedPages.h"
#include "executor/package/Package.h"
#include "executor/session/BoundEntry.h"

namespace lstmc::session {

/// Parameters, auxiliaries and packed weights of one session, constant from now on. They are shared
/// page by page: what shares its page with other values (less than two pages for each run of
/// neighbouring buffers) is copied.
class SharedWeights {
public:
  /// Takes the weights out of the arenas of a session whose entries are all prepared; it reads them
  /// as the others do. E0901 if the system has no memory.
  static Result<std::shared_ptr<const SharedWeights>> take(const package::PackageData &data,
                                                           const std::vector<BoundEntry> &entries,
                                                           const Devices &devices);

  /// Lets another session of the package, with arenas of the same sizes, read them. E0901 as above.
  Status giveTo(const Devices &devices) const;

private:
  /// Neighbouring bytes of an arena.
  struct Stretch {
    size_t device;
    uint64_t begin, end;
    std::vector<std::byte> head = {}, tail = {}; ///< outside of whole pages
    std::shared_ptr<const SharedPages> pages = {};
  };

  std::vector<Stretch> stretches_;
};

/// Whether a session whose weights are shared may not run the entry, because it writes them.
bool writesWeights(const BoundEntry &entry);

} // namespace lstmc::session

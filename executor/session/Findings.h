// What the ranks of a job found of numbers that are not finite.
#pragma once

#include <cstdint>
#include <optional>

#include "executor/base/Diagnostic.h"
#include "executor/session/Peers.h"

namespace lstmc::session {

/// A value that is not finite, and how early it was written.
struct Found {
  int64_t order = 0; ///< the earlier of two has the lesser one, whichever rank it is of
  Diagnostic diagnostic;
};

/// The earliest that any of the ranks has found, the same in all; nothing where none has. All come
/// here.
Result<std::optional<Diagnostic>> earliest(Peers &peers, const std::optional<Found> &mine);

} // namespace lstmc::session

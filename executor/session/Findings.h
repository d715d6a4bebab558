// What the ranks of a job found of numbers that are not finite.
#pragma once

#include <cstdint>
#include <optional>

#include "executor/base/Diagnostic.h"
#include "executor/session/Peers.h"

namespace lstmc::session {

/// A value that is not finite, and when it was written.
struct Found {
  int64_t order = 0; ///< sort key: program order, comparable across ranks
  Diagnostic diagnostic;
};

/// The earliest finding of all ranks, the same on each; nullopt if there is none. Collective.
Result<std::optional<Diagnostic>> earliest(Peers &peers, const std::optional<Found> &mine);

} // namespace lstmc::session

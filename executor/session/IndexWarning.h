// What is said of indices, labels and lengths that were out of range.
#pragma once

#include <cstdint>
#include <span>

#include "executor/base/Diagnostic.h"
#include "executor/session/IndexCounter.h"

namespace lstmc::session {

/// The warning W0703 at the first of these ops, with the others as reasons: how many values of
/// each were out of range, and what the op does with them. Empty if there were none. `totals` has
/// the number of each count.
Diagnostics describe(const package::PackageData &data,
                     std::span<const IndexCounter::Count *const> counts,
                     std::span<const uint64_t> totals);

} // namespace lstmc::session

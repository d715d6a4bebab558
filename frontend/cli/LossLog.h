// The losses that a training told as JSON lines: train --format jsonl.
#pragma once

#include "executor/base/Status.h"
#include "viz/Losses.h"

namespace lstmc::cli {

/// Losses of the events `update` and `valid` of schema lstmc.train/1; other lines are passed over,
/// and so is a last line that a killed run left without an end. E0603 at a line that is no JSON,
/// E0610 for a file without such events.
Result<viz::Losses> readLosses(const std::string &path);

} // namespace lstmc::cli

// Hosts that are more than a network is compiled for: a few replicas are, and stand for all.
#pragma once

#include "frontend/cli/Options.h"
#include "frontend/cli/Planned.h"
#include "passes/planning/Scaling.h"

namespace lstmc::cli {

/// Compiles for the devices of a pattern, with its rows, shards and stages over those of the flags.
Checked<Model> compilePattern(const planning::Pattern &pattern, const Options &options);

/// Whether --cluster has so many hosts that a few replicas may stand for all.
bool areMany(const Target &target, const Options &options);

/// The plan of a few replicas and the forecast of all. E0001 where rows or shards are not shared
/// out evenly, or hosts are not alike.
Checked<Planned> planMany(const Target &target, const Options &options);

/// --what scaling: efficiency on 2 to 512 hosts like the first of --cluster.
Checked<planning::Scaling> scalingAsked(const Options &options);

} // namespace lstmc::cli

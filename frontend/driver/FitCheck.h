// What `fit(..)` asks of a net that cannot have it.
#pragma once

#include "frontend/driver/Model.h"

namespace lstmc::driver {

/// A state that a layer begins with.
struct BeginState {
  std::string name;
  bool bidirectional = false; ///< the layer runs backwards too
};

/// Errors, at their lines where the file says it, E0001 where a flag does: carry= that matches no
/// state or one of a bidirectional layer, a key that the optimizer does not have, a metric that no
/// head of the net measures. Warnings: a key of the file that another --optimizer does not have,
/// one that has no effect beside the others. `states` are statesOf() the net.
Diagnostics checkFit(const symbol::Network &net, const std::vector<package::Setting> &fit,
                     const std::vector<BeginState> &states, const package::PackageData &package);

/// The states that the layers of a net begin with; before its module is taken.
std::vector<BeginState> statesOf(const symbol::Graph &graph);

/// A warning where the file gives an initializer and no parameter of the net takes it; before its
/// module is taken.
std::optional<Diagnostic> idleInitializer(const symbol::Network &net);

/// What the loss heads of a package measure.
std::vector<training::Head> headsOf(const package::PackageData &package);

/// E0001, with all names, for a metric that there is not.
Status checkMetricName(std::string_view name);
/// The same, or for one that none of `heads` measures.
Status checkMetric(std::string_view name, const std::vector<training::Head> &heads);
/// The same of a model that is to measure it: E0001 too where its package was compiled without what
/// the metric needs.
Status checkMetric(std::string_view name, const Model &model);

/// Warnings: devices to which the batch, the groups or the work loads give nothing.
Diagnostics idleDevices(const package::PackageData &package);

} // namespace lstmc::driver

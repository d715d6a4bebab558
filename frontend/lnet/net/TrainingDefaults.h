// fit(..), data(..) and place(..): a file's own defaults for training and for the devices of its
// groups.
#pragma once

#include "frontend/lnet/evaluation/Builtins.h"
#include "frontend/lnet/net/InitialValues.h"

namespace lstmc::lnet {

/// Settings of a net from one of these calls.
struct NetDefaults {
  std::string net;
  std::vector<symbol::Setting> settings;
};

class TrainingDefaults {
public:
  TrainingDefaults(Run &run, InitialValues &values) : run_(run), values_(values) {}
  static std::span<const BuiltinRow<TrainingDefaults>> functions();

  std::vector<NetDefaults> fits, data, places;
  /// Those of a net; empty if the file has none.
  static std::vector<symbol::Setting> of(const std::vector<NetDefaults> &all, std::string_view net);

private:
  Value fit(Arguments &arguments), giveData(Arguments &arguments), place(Arguments &arguments);

  Run &run_;
  InitialValues &values_;
};

} // namespace lstmc::lnet

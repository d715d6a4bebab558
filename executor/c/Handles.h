// The types of the handles that lstmc.h declares.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "executor/c/include/lstmc/lstmc.h"
#include "executor/data/Vocabulary.h"
#include "executor/package/Package.h"
#include "executor/session/Session.h"

struct lstmc_package {
  lstmc::package::Package::Pointer package;
  std::vector<lstmc::package::Package::Pointer> others = {}; ///< the network with other extents
  std::vector<std::string> slots = {}; ///< "PARAMETER/SLOT" of what an optimizer keeps
};

struct lstmc_session {
  std::unique_ptr<lstmc::Session> session;
  lstmc_package package; ///< the plan that it has memory for
  void (*log)(void *user, const char *message) = nullptr;
  void *user = nullptr;
  std::vector<std::vector<bool>> given = {}; ///< by entry and input: whether the caller has had it
  bool clips = false;                        ///< what is out of range, in place of refusing it
  std::atomic<bool> shares = false;          ///< its weights, so that it cannot train

  const lstmc::package::PackageData &data() const { return package.package->data(); }
};

namespace lstmc::c {

/// A handle of one plan.
lstmc_package handleOf(package::Package::Pointer opened);

} // namespace lstmc::c

struct lstmc_vocabulary {
  lstmc::data::Vocabulary vocabulary;
};

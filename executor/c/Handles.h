// The types of the handles that lstmc.h declares.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "executor/c/include/lstmc/lstmc.h"
#include "executor/data/Vocabulary.h"
#include "executor/package/Package.h"
#include "executor/session/Session.h"

namespace lstmc::c {

/// Extents by their names.
using Extents = std::map<std::string, int64_t, std::less<>>;

/// Plans that a package was given after it was opened, by what they were asked for.
struct AddedPlans {
  std::mutex mutex;
  std::map<Extents, package::Package::Pointer> plans;
};

} // namespace lstmc::c

struct lstmc_package {
  lstmc::package::Package::Pointer package;
  std::vector<lstmc::package::Package::Pointer> others = {}; ///< the network with other extents
  std::shared_ptr<lstmc::c::AddedPlans> added = std::make_shared<lstmc::c::AddedPlans>();
  std::vector<std::string> slots = {}; ///< "PARAMETER/SLOT" of what an optimizer keeps
};

struct lstmc_session {
  std::unique_ptr<lstmc::Session> session;
  lstmc_package package; ///< the plan that it has memory for
  void (*log)(void *user, const char *message) = nullptr;
  void *user = nullptr;
  std::vector<std::vector<bool>> given = {}; ///< by entry and input: whether the caller has had it
  bool clips = false;                        ///< what is out of range, in place of refusing it
  /// Where it clips and has a log: values out of range in inputs of runs so far.
  std::map<std::string, uint64_t, std::less<>> outside = {};
  std::atomic<bool> shares = false; ///< its weights, so that it cannot train
  uint64_t weightChanges = 0;       ///< calls that gave it weights
  bool inTraining = false;          ///< a trainer has its inputs

  const lstmc::package::PackageData &data() const { return package.package->data(); }
};

namespace lstmc::c {

/// A handle of one plan.
lstmc_package handleOf(package::Package::Pointer opened);

/// Gives no strides, because buffers of inputs, outputs and states are dense.
void describe(const Tensor &tensor, lstmc_tensor *to);

/// Before a run: E0001 for inputs that were never given (unless these are labels that are known to
/// be missing), E0604 for values out of range.
Status checkInputs(lstmc_session &session, const char *entry, bool labelsMissing);

} // namespace lstmc::c

struct lstmc_vocabulary {
  lstmc::data::Vocabulary vocabulary;
  lstmc::data::TextUnit unit = lstmc::data::TextUnit::Char; ///< of its symbols
};

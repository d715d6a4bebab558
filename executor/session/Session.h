// A package with memory, weights and states: what runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Diagnostic.h"
#include "executor/base/RowWindow.h"
#include "executor/base/Status.h"
#include "executor/base/Tensor.h"
#include "executor/device/Device.h"
#include "executor/device/DeviceTensor.h"
#include "executor/device/StoredTensor.h"
#include "executor/package/Package.h"
#include "executor/session/DeviceHook.h"
#include "executor/session/LaunchWatch.h"
#include "executor/session/Peers.h"

namespace lstmc {

namespace session {
class SplitStep;
}

struct SessionOptions {
  uint64_t seed = 0;
  /// Checks every value that a launch writes, in every run. Slow.
  bool checkNan = false;
  /// Runs the programs of several devices launch by launch on the calling thread, in a fixed order,
  /// instead of in parallel.
  bool oneThread = false;
  /// How long a device waits for another one while no device makes progress.
  std::chrono::milliseconds deadline{60'000};
  LaunchWatch watch = {}; ///< for launches that do not finish
  DeviceHook hook = {};   ///< for tests of several devices
  /// The job of which the session is a rank; null if there are no other processes. Devices of other
  /// processes are represented by session::makeRemoteDevice().
  std::shared_ptr<Peers> peers = {};
  /// The entries that are run; empty: all of the package. Arenas are sized for these, the entries
  /// that prepare them, and persistent buffers; other entries do not exist for the session.
  std::vector<std::string> entries = {};
  /// Packages whose sessions share these arenas (see beside()); arenas are sized for the largest.
  std::vector<package::Package::Pointer> neighbours = {};
};

/// A launch about to run or just run, for observers.
struct LaunchView {
  std::string_view entry;
  std::string_view device;
  size_t index; ///< index in the device's program
  const package::Launch &launch;
  const package::Location &location;
  std::span<const DeviceTensor> operands;
};

/// Observes launches one at a time (--verbose-ops, bench --calibrate).
class SessionObserver {
public:
  virtual ~SessionObserver() = default;
  virtual void before(const LaunchView &) {}
  virtual void after(const LaunchView &) {}
};

/// Receives the times of launches (--trace, plot --measured). Devices still run in parallel.
class SessionTimer {
public:
  virtual ~SessionTimer() = default;
  /// Called after an entry has run. `times` has an element per program, with one interval per
  /// launch. For a launch that did not run because the entry failed, begin and end are the clock's
  /// 0.
  virtual void ran(const package::Package &package, const package::Entry &entry,
                   std::span<const std::span<const LaunchInterval>> times) = 0;
};

struct DevicePeak {
  std::string device;
  uint64_t plannedBytes; ///< of its arena, and for messages (package::messageBytes())
  uint64_t touchedBytes; ///< bytes of pages that were really used, and what messages hold
  /// Where the host does not see the device's memory, the host's for messages, not in the others.
  uint64_t plannedOfHost = 0, heldOfHost = 0;
};

/// Memory of the process, as counted by the system.
struct MemoryUse {
  std::vector<DevicePeak> devices;
  /// Peak resident memory besides the arenas: code, heap, stacks.
  uint64_t residentBeyondBytes = 0;
};

/// Owns the devices' arenas and what persists between calls (weights, gradients, optimizer slots,
/// states), and runs entries. Used by one thread at a time.
///
/// The host can read and write the tensors that a session returns. If the host sees a device's
/// memory, they are views of the arena: parameters, gradients, slots and states keep their address
/// and contents; inputs and outputs of an entry keep theirs until another entry runs. Otherwise
/// they are copies, made at the first call: inputs, outputs and states keep their address and are
/// copied in before a run and out after it; a parameter, gradient or slot is valid until an entry
/// runs, which first copies it back. The latter holds on any device for a slot of which several
/// devices have slices.
///
/// In a job of several processes every rank has a session of the same package and makes the same
/// calls in the same order. Inputs and weights must be set in every rank. Outputs requested by
/// output(), and hashes, are equal in every rank. Values that persist are readable in the process
/// of their device, and in rank 0 after collect().
class Session {
public:
  /// E0501 if the devices are not as many as the package was compiled for; E0001 for a name of an
  /// entry that the package does not have; E0401 if the arenas are larger than the memory they are
  /// in; E0901 if an arena or a thread cannot be had. Several devices work side by side, the first
  /// on the caller's thread, each other one on a thread made here. Everything is zero until
  /// initialise() or setParameter().
  static Result<std::unique_ptr<Session>> create(package::Package::Pointer package,
                                                 std::vector<std::unique_ptr<Device>> devices,
                                                 SessionOptions options = {});
  /// Of another package, in the arenas and on the devices of `owner`, which has it as a neighbour,
  /// for the same entries.
  /// One of the two is used at a time, and before it is, continueFrom() the other. E0605 if the
  /// packages do not have the same parameters, optimizer slots and states in the same places.
  static Result<std::unique_ptr<Session>> beside(Session &owner, package::Package::Pointer package,
                                                 SessionOptions options = {});
  ~Session();

  /// Takes over parameters, slots and states as `other` has left them in the arenas that both are
  /// in. Inputs and outputs of this session are lost.
  void continueFrom(Session &other);

  const package::Package &package() const;
  const Device &device(size_t index) const;

  /// Gives all parameters the initial values of the source for `seed`, and optimizer slots and
  /// states 0. Like every function here that changes parameters or slots, it changes the first
  /// copy; the next run() sends the value to the others.
  Status initialise(uint64_t seed);

  // By name; E0001 if the package has none of that name. If there are several copies, the first.
  Result<Tensor> parameter(std::string_view name) const;
  Result<Tensor> gradient(std::string_view name) const;
  Result<Tensor> slot(std::string_view parameter, std::string_view slot) const;
  Result<Tensor> state(std::string_view name) const;
  /// The same in device memory, to be read or set piece by piece without a copy of the whole (a
  /// slot may be in slices). Call parametersChanged() after setting one. Valid until an entry runs.
  Result<StoredTensor> storedParameter(std::string_view name) const;
  Result<StoredTensor> storedSlot(std::string_view parameter, std::string_view slot) const;
  Result<StoredTensor> storedState(std::string_view name) const;

  /// Copies a value in. E0610 for another shape or dtype; any strides.
  Status setParameter(std::string_view name, const Tensor &value);
  /// The same piece by piece, for example from another session. E0001 for both if the weights are
  /// shared.
  Status setParameter(std::string_view name, const StoredTensor &value);
  Status setSlot(std::string_view parameter, std::string_view slot, const Tensor &value);
  Status setState(std::string_view name, const Tensor &value);
  void resetStates();
  /// Must be called after writing through parameter() or slot(): copies and packed weights are then
  /// refreshed before the next run.
  void parametersChanged();

  /// Reads the weights of `from`, a session of the same network, packed ones too, from `from`'s
  /// memory, and gives back its own; with other extents or entries, pages of equal contents. The
  /// weights of both are constant from now on: what would change them is refused (E0001). Each may
  /// go before the other. Prepares all entries of `from`, unless it shares already: then it is only
  /// read, and may run meanwhile. E0001 for other parameters, a rank of a job, a GPU or trap.
  Status shareWeights(Session &from);

  // Inputs and outputs. E0001 for an unknown entry or name. Scalars are kept by the host: the later
  // of setScalar() and of what is written to a view counts.
  Result<Tensor> input(std::string_view entry, std::string_view name);
  /// Along an axis of that input, the rows that this process must fill; all without other
  /// processes.
  Result<RowWindow> inputRows(std::string_view entry, std::string_view name, int axis) const;
  Result<Tensor> output(std::string_view entry, std::string_view name) const;
  /// The same in device memory, to be set or read piece by piece. Nothing is copied around runs for
  /// these. An input must be set before each run: the plan may use its memory for other values
  /// during one. An output is valid until an entry runs, and is not sent to other ranks. E0001 also
  /// for a scalar.
  Result<StoredTensor> storedInput(std::string_view entry, std::string_view name) const;
  Result<StoredTensor> storedOutput(std::string_view entry, std::string_view name) const;

  bool hasEntry(std::string_view entry) const;
  /// Sets the scalar in every entry that has it (`learning_rate`, `update`, `seed`, ...); it keeps
  /// its value until it is set again. False if no entry has it. An update of the weights reads what
  /// the package's optimizer makes of `learning_rate`, the schedule's, and of `update`, from 1.
  bool setScalar(std::string_view name, double value);
  bool setScalar(std::string_view name, int64_t value);

  /// E0001 with their names where an update needs scalars that were never given. Runs an entry:
  /// first `init` if parameters or slots were changed from outside, and `prepare:ENTRY` if
  /// parameters changed since it ran, then the launches. An entry that changes parameters stops at
  /// `commit`; if an output of role metric, or named loss or gradient_norm, is not finite, the
  /// launches run again one at a time and E0701 names op, line, update and first index; then only
  /// gradients have changed of what persists. All devices reach `commit` before any continues; if
  /// one waits too long (E0802) or throws (E0803, E0901), all stop, and the part after `commit` may
  /// be incomplete. Allocates nothing.
  Status run(std::string_view entry);
  /// The same. While devices work, calls `fillNext`, which may write the inputs of the entry's next
  /// run, as input() gave them, and returns whether it has. They are copied to the devices
  /// meanwhile. What is written to them later, before that run, is lost, unless this one fails or
  /// input() is asked again. Called before `commit` where the plan has places for the next values
  /// (a run that fails leaves its own inputs then), and else after it. Not called where the host
  /// sees the memory of all inputs that input() was asked for, where something after `commit` uses
  /// the only place of one, and in runs launch by launch.
  Status run(std::string_view entry, const std::function<bool()> &fillNext);

  /// The full diagnostic of the last E0701; null if there was none.
  const Diagnostic *fault() const;
  /// Whether the last run that failed did so after `commit`, so that what persists had begun to
  /// change.
  bool faultAfterCommit() const;

  /// Null removes it.
  void setObserver(SessionObserver *observer);
  /// Null removes it. Runs allocate while there is one.
  void setTimer(SessionTimer *timer);

  /// Compares 64-bit hashes of the copies of every parameter and auxiliary: E0702 (exit 7) names
  /// the first one that differs, the devices and the update. Values changed from outside are
  /// compared only after the next run, which makes the copies equal.
  Status compareReplicas();

  /// The job of which this session is a rank; null if there is none.
  Peers *peers() const;
  /// How far its devices have come; from any thread.
  Standing standing() const;
  /// Sends what persists on devices of other processes to rank 0, where it can be read until the
  /// next run. All ranks must call it. E0801 if the job has broken. Does nothing without a job.
  Status collect();
  /// XXH3-64 over the names and values of the parameters set since create(), in their order.
  uint64_t givenHash() const;

  /// XXH3-64 over parameters and auxiliaries in declared order.
  uint64_t weightsHash() const;
  /// Per parameter, in declared order.
  std::vector<uint64_t> weightHashes() const;

  /// The warning W0703 that says how many indices, which a network computed, were outside what
  /// they index since create(), by op; empty if none were. The count is the same for any devices
  /// and threads. In a job all ranks must call it and get the same; E0801 if the job has broken.
  Result<Diagnostics> indexWarning() const;

  /// Planned bytes of every device of this process, and the bytes that entries have touched since
  /// create(): at most the planned ones, and less than a page fewer once the entry with the peak
  /// has run.
  std::vector<DevicePeak> peaks() const;
  /// The same, and the resident memory of the process beyond them.
  MemoryUse memory() const;

private:
  friend class session::SplitStep;
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace lstmc

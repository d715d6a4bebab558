// A package with memory, weights and states: what runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Diagnostic.h"
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

struct SessionOptions {
  uint64_t seed = 0;
  /// Looks at every value that a launch writes, in every run; the slower path.
  bool checkNan = false;
  /// Carries the programs of several devices out launch by launch on the calling thread, in a fixed
  /// order, instead of side by side.
  bool oneThread = false;
  /// How long a device waits for another one while none gets on.
  std::chrono::milliseconds deadline{60'000};
  LaunchWatch watch = {}; ///< of a launch that does not end
  DeviceHook hook = {};   ///< for tests of several devices
  /// The job that the session is a rank of; null: there are no other processes. The devices of
  /// others are stood for by session::makeRemoteDevice().
  std::shared_ptr<Peers> peers = {};
};

/// A launch about to run or just run, for observers.
struct LaunchView {
  std::string_view entry;
  std::string_view device;
  size_t index; ///< in the device's program
  const package::Launch &launch;
  const package::Location &location;
  std::span<const DeviceTensor> operands;
};

/// Sees launches one at a time (--verbose-ops, bench --calibrate).
class SessionObserver {
public:
  virtual ~SessionObserver() = default;
  virtual void before(const LaunchView &) {}
  virtual void after(const LaunchView &) {}
};

/// Is told when launches ran (--trace, plot --measured). Nothing waits for it: devices work side by
/// side as ever.
class SessionTimer {
public:
  virtual ~SessionTimer() = default;
  /// An entry has been run. `times`: of each of its programs, and in these of each launch; of one
  /// that did not run, since the entry failed, begin and end are the clock's 0.
  virtual void ran(const package::Package &package, const package::Entry &entry,
                   std::span<const std::span<const LaunchInterval>> times) = 0;
};

struct DevicePeak {
  std::string device;
  uint64_t plannedBytes;
  uint64_t touchedBytes; ///< in pages that were really used
};

/// What a process needed, as the system counted it.
struct MemoryUse {
  std::vector<DevicePeak> devices;
  /// The most that was resident at one time besides the arenas: code, heap, stacks.
  uint64_t residentBeyondBytes = 0;
};

/// Owns the devices' arenas, what persists between calls (weights, gradients, optimizer slots,
/// states), and the order of a call. Used by one thread at a time.
///
/// Tensors that it gives are for the host to read and write. Where the host sees a device's memory
/// they are views of the arena: parameters, gradients, slots and states keep their place and
/// contents; inputs and outputs of an entry hold theirs until another entry runs. Where it does not
/// they are copies, made when they are first asked for: inputs, outputs and states keep their place
/// and are copied in before a run and out after it; a parameter, gradient or slot is good until an
/// entry runs, which takes back what was written to it. So is a slot that devices have slices of,
/// on any device.
///
/// In a job of several processes every rank has a session of the same package and makes the same
/// calls in the same order. Inputs are given in every rank; outputs that output() was asked for,
/// and hashes, are those of the job in every rank. What persists is known where its device is, and
/// in rank 0 after collect(); what is set has to be set in every rank.
class Session {
public:
  /// E0501 if the devices are not as many as the package was compiled for; E0401 if the arenas are
  /// larger than the memory they are in; E0901 if an arena or a thread cannot be had. Several
  /// devices work side by side, the first on the caller's thread, each other one on a thread made
  /// here. Everything is zero until initialise() or setParameter().
  static Result<std::unique_ptr<Session>> create(package::Package::Pointer package,
                                                 std::vector<std::unique_ptr<Device>> devices,
                                                 SessionOptions options = {});
  ~Session();

  const package::Package &package() const;
  const Device &device(size_t index) const;

  /// Initial values of all parameters from `seed`, as the source says; optimizer slots and states
  /// become 0. Like everything here that changes parameters or slots it changes the first of their
  /// copies; the next run() brings the others to the same value.
  Status initialise(uint64_t seed);

  // By name; E0610 when the package has none of that name. Of several copies, the first.
  Result<Tensor> parameter(std::string_view name) const;
  Result<Tensor> gradient(std::string_view name) const;
  Result<Tensor> slot(std::string_view parameter, std::string_view slot) const;
  Result<Tensor> state(std::string_view name) const;
  /// The same where they lie, to be read or set as a whole without a copy in between (a slot may be
  /// in slices). Who sets a parameter or slot calls parametersChanged(). Good until an entry runs.
  Result<StoredTensor> storedParameter(std::string_view name) const;
  Result<StoredTensor> storedSlot(std::string_view parameter, std::string_view slot) const;
  Result<StoredTensor> storedState(std::string_view name) const;

  /// Copies a value in; of the same shape and dtype, else E0610. Any strides.
  Status setParameter(std::string_view name, const Tensor &value);
  /// From another session, say, piece by piece.
  Status setParameter(std::string_view name, const StoredTensor &value);
  Status setSlot(std::string_view parameter, std::string_view slot, const Tensor &value);
  Status setState(std::string_view name, const Tensor &value);
  void resetStates();
  /// To be called by who writes through parameter() or slot(): copies and packed weights are made
  /// anew before the next run.
  void parametersChanged();

  // Inputs and outputs. E0001 for an entry or name that is not there.
  Result<Tensor> input(std::string_view entry, std::string_view name);
  Result<Tensor> output(std::string_view entry, std::string_view name) const;

  bool hasEntry(std::string_view entry) const;
  /// Sets the scalar in every entry that has it (`learning_rate`, `update`, `seed`, ...); it keeps
  /// its value until it is set again. False when none has it.
  bool setScalar(std::string_view name, double value);
  bool setScalar(std::string_view name, int64_t value);

  /// Runs an entry: first `init` if parameters or slots were changed from outside, and
  /// `prepare:ENTRY` if parameters changed since it ran, then the launches. An entry that changes
  /// parameters stops at `commit`; when an output of role metric, or named loss or gradient_norm,
  /// is not finite, the launches run again one at a time and E0701 names op, line, update and first
  /// index, with nothing that persists changed but gradients. Of several devices, all come to
  /// `commit` before any goes on; where one waits too long (E0802) or throws
  /// (E0803, E0901), all stop, and what comes after `commit` may be half done. Allocates nothing.
  Status run(std::string_view entry);

  /// What E0701 was about, in full; null before one.
  const Diagnostic *fault() const;
  /// Whether what persists had begun to change when the last run that failed did so: after
  /// `commit`.
  bool faultBehindCommit() const;

  /// Null: none.
  void setObserver(SessionObserver *observer);
  /// Null: none, as before the first. Runs allocate while there is one.
  void setTimer(SessionTimer *timer);

  /// Compares 64-bit hashes of the copies of every parameter and auxiliary: E0702 (exit 7) names
  /// the first one that differs, the devices and the update. What was changed from outside is not
  /// compared before the run that brings the copies to the same value.
  Status compareReplicas();

  /// The job that this session is a rank of; null where it is none.
  Peers *peers() const;
  /// Brings what persists and lies on devices of other processes to rank 0, to be read there until
  /// the next run. E0801 where the job has fallen apart. All ranks come here; of one process,
  /// nothing.
  Status collect();
  /// XXH3-64 over the names and values of the parameters set since create(), in their order.
  uint64_t givenHash() const;

  /// XXH3-64 over parameters and auxiliaries in declared order.
  uint64_t weightsHash() const;
  /// Per parameter, in declared order.
  std::vector<uint64_t> weightHashes() const;

  /// Planned bytes of every device of this process, and those that entries have touched since
  /// create(): never more, and once the entry with the peak has run less by under a page.
  std::vector<DevicePeak> peaks() const;
  /// The same, and what the process had resident beyond them.
  MemoryUse memory() const;

private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace lstmc

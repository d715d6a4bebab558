// What a session holds.
#pragma once

#include <atomic>
#include <mutex>

#include "executor/base/Hash.h"
#include "executor/package/Plan.h"
#include "executor/session/BoundEntry.h"
#include "executor/session/DeviceThreads.h"
#include "executor/session/HostScalars.h"
#include "executor/session/HostViews.h"
#include "executor/session/ParallelRun.h"
#include "executor/session/Replicas.h"
#include "executor/session/Session.h"
#include "executor/session/SharedWeights.h"
#include "executor/session/Transport.h"
#include "executor/session/Watchdog.h"
#include "executor/session/WatchedRun.h"

namespace lstmc {

namespace session {

/// Those of an entry's next run, to be filled while devices work.
struct NextInputs {
  const std::function<void()> *fill; ///< called once all launches are given to the first device
  bool afterCommit;                  ///< not before all devices have come to `commit`
};

/// Some launches of an entry, to be run by themselves.
struct PartialEntry {
  package::Entry source;
  BoundEntry bound;
};

} // namespace session

struct Session::Impl {
  /// Where a parameter's initial values are made.
  struct InitialLaunch {
    size_t device;
    size_t launch; ///< of those made ready on it
  };

  package::Package::Pointer package;
  session::Devices devices;
  SessionOptions options;
  SessionObserver *observer = nullptr;
  SessionTimer *timer = nullptr;

  std::vector<session::BoundEntry> entries;
  std::vector<session::HostScalars> scalars;                   ///< by entry
  session::UpdateFormula formula{kOptimizers[0], {}};          ///< of the package's optimizer
  Status formulaStatus;                                        ///< why there is none of it
  std::vector<std::unique_ptr<session::PartialEntry>> partial; ///< of SplitStep
  std::vector<std::unique_ptr<PreparedProgram>> initialise;    ///< by device
  std::vector<std::optional<InitialLaunch>> initialiseAt;      ///< by parameter
  std::vector<DeviceTensor> seeds;                             ///< what those launches read
  uint64_t parametersVersion = 1;
  std::vector<uint64_t> tablesAt; ///< by device: where those of a plan without a place for them are
  std::optional<size_t> init;     ///< the entry of that name
  std::vector<bool> selected;     ///< by entry: whether it can be run
  bool copiesAreStale = false;
  session::SharedWeights::Pointer sharedWeights; ///< null: its own
  uint64_t given = 0;                            ///< hash of the parameters set
  std::optional<Diagnostic> fault;
  bool faultAfterCommit = false;
  std::atomic<bool> running = false; ///< an entry, asked for by the caller
  std::optional<session::Replicas> replicas;
  std::optional<session::HostViews> views;
  std::mutex lateMutex;
  std::optional<Error> late;                       ///< why the watchdog ended the run
  std::unique_ptr<session::DeviceThreads> threads; ///< of several devices
  std::unique_ptr<session::Transport> transport;
  std::unique_ptr<session::Watchdog> watchdog;
  std::optional<session::ParallelRun> parallel; ///< where there are threads
  std::vector<std::vector<bool>> shared; ///< by entry and output: whether output() was asked for it

  ~Impl() {
    if (options.peers)
      options.peers->watch(nullptr);
    if (watchdog)
      watchdog->leave(); // it ends runs by what goes before it
  }

  const package::PackageData &data() const { return package->data(); }
  Peers *peers() const { return options.peers.get(); }
  void clear(const std::vector<uint32_t> &buffers) {
    for (uint32_t index : buffers) {
      const package::Buffer &buffer = data().buffers[index];
      MemoryRange(*devices[buffer.device], buffer.offset, buffer.bytes).clear();
    }
  }

  // Making one.
  Status selectEntries();
  /// Entries asked for, and what prepares them, of those that the package has; all where none was.
  std::vector<bool> selectedIn(const package::Package &package) const;
  // That this session and its neighbours need.
  uint64_t arenaBytes(size_t device) const;
  uint64_t plannedBytes(size_t device) const;
  /// For tables that a plan has no place for: they are after all that is planned.
  uint64_t tableBytes(size_t device) const;
  uint64_t tablesOffset(size_t device) const;
  /// Planned for messages with other processes.
  uint64_t messageBytes(size_t device) const;
  /// The rest, once there are devices with arenas.
  Status bind();
  void tellNotices();
  void tellChoices();
  uint64_t bytesOfCard(size_t device) const;
  Status checkMemory() const;
  void giveTables();
  void placeTablesAgain();
  Status startDevices();
  Status bindEntries();
  Status startThreads(const SessionOptions &options);
  Status bindInitialise();

  // What has a name; E0001 where the package has none of that name.
  /// The entry of that name, if it can be run.
  std::optional<size_t> findEntry(std::string_view name) const {
    std::optional<size_t> at = package->findEntry(name);
    return at && selected[*at] ? at : std::nullopt;
  }
  /// Of several copies the first.
  session::Value firstOf(const std::vector<uint32_t> &buffers) const {
    return {std::span(buffers).first(1), data().buffers[buffers[0]]};
  }
  Error unknownEntry(std::string_view name) const;
  Result<session::Value> parameterValue(std::string_view name) const;
  Result<session::Value> slotValue(std::string_view parameter, std::string_view slot) const;
  Result<session::Value> stateValue(std::string_view name) const;
  /// An input or an output; E0001 where there is none.
  Result<session::Value> bindingValue(std::string_view entry, std::string_view name,
                                      bool input) const;
  template <typename T> bool setScalar(std::string_view name, T value);
  void remember(std::string_view name, const StoredTensor &value) {
    if (options.peers)
      given = hashBytes(name.data(), name.size(), given ^ value.hash());
  }

  // Running (SessionRun.cpp).
  /// `next`, unless null, is filled meanwhile.
  Status run(session::BoundEntry &entry, const session::NextInputs *next = nullptr);
  /// E0001 if other sessions read them too.
  Status checkOwnWeights(std::string_view what) const;
  /// E0001 if its weights cannot be shared at all.
  Status checkMayShare() const;
  /// Brings copies and packed weights of all entries up to date that may run once weights are
  /// constant.
  Status prepareEntries();
  Status freezeWeights();
  /// E0001 unless `from` has all parameters of this session, of these types and shapes.
  Status checkSameParameters(const Session &from) const;
  /// The weights of `from`, whose package or entries are others, in the arenas of this session.
  Result<session::SharedWeights::Pointer> takeVariant(const Session &from, Session &self);
  /// Brings copies, packed weights and scalars up to date. E0001 for scalars that an update needs
  /// and was not given.
  Status prepareRun(session::BoundEntry &entry, session::Part part = session::Part::All);
  session::HostScalars &scalarsOf(const session::BoundEntry &entry) {
    return scalars[size_t(&entry - entries.data())];
  }
  /// Up to `commit` and no further; `instead`, unless null, is run for that. E0701.
  Status runToCommit(session::BoundEntry &entry, session::BoundEntry *instead = nullptr);
  Status runTimed(session::BoundEntry &entry, const session::NextInputs *next = nullptr);
  Status runParts(session::BoundEntry &entry, const session::NextInputs *next);
  // `meanwhile` is called, unless null, when all launches have been given to the first device.
  Status runPart(session::BoundEntry &entry, session::Part part,
                 const std::function<void()> *meanwhile = nullptr);
  Status runInTurn(session::BoundEntry &entry, session::Part part,
                   const std::function<void()> *meanwhile);
  Status runStreams(const session::BoundEntry &entry, const session::BoundProgram &program,
                    session::Part part, const std::function<void()> *meanwhile);
  Status runWatched(session::BoundEntry &entry);
  void beginRun();
  void endRun(const Error &error);
  Status lateStatus();
  bool isInit(const session::BoundEntry &entry) const { return init && &entry == &entries[*init]; }
  Error explain(session::BoundEntry &entry);
  Status foundBy(const session::WatchedRun &watched, const session::BoundEntry &entry, bool well);
  std::string when(const session::BoundEntry &entry) const;

  // With the other processes of the job, and for reports (SessionJob.cpp).
  SharedRange sharedRange(uint32_t buffer) const;
  Status shareOutputs(size_t entry);
  Result<std::vector<uint64_t>> gatherNumbers(const std::vector<uint64_t> &mine,
                                              std::span<const uint32_t> devices) const;
  /// "after update 1,041", by the scalar of that name; "now" where no entry has it.
  std::string lastUpdate() const;
};

} // namespace lstmc

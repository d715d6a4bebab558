#include "executor/session/Session.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "executor/base/Hash.h"
#include "executor/base/NumberText.h"
#include "executor/base/Numeric.h"
#include "executor/base/Pages.h"
#include "executor/base/Quote.h"
#include "executor/base/Threads.h"
#include "executor/device/ThreadTeam.h"
#include "executor/package/Plan.h"
#include "executor/session/Binding.h"
#include "executor/session/BoundEntry.h"
#include "executor/session/DeviceThreads.h"
#include "executor/session/Findings.h"
#include "executor/session/HostViews.h"
#include "executor/session/InProcessTransport.h"
#include "executor/session/ParallelRun.h"
#include "executor/session/RemoteDevice.h"
#include "executor/session/Replicas.h"
#include "executor/session/Watchdog.h"
#include "executor/session/WatchedRun.h"

namespace lstmc {

using package::PackageData;
using session::BoundEntry;
using session::Part;

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

  std::vector<BoundEntry> entries;
  std::vector<std::unique_ptr<PreparedProgram>> initialise; ///< by device
  std::vector<std::optional<InitialLaunch>> initialiseAt;   ///< by parameter
  std::vector<DeviceTensor> seeds;                          ///< what those launches read
  uint64_t parametersVersion = 1;
  std::optional<size_t> init; ///< the entry of that name
  bool copiesAreStale = false;
  uint64_t given = 0; ///< hash of the parameters set
  std::optional<Diagnostic> fault;
  bool faultBehindCommit = false;
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

  const PackageData &data() const { return package->data(); }
  void clear(const std::vector<uint32_t> &buffers) {
    for (uint32_t index : buffers) {
      const package::Buffer &buffer = data().buffers[index];
      MemoryRange(*devices[buffer.device], buffer.offset, buffer.bytes).clear();
    }
  }

  // What has a name; E0610 where the package has none of that name.
  /// Of several copies the first.
  session::Value firstOf(const std::vector<uint32_t> &buffers) const {
    return {std::span(buffers).first(1), data().buffers[buffers[0]]};
  }
  Result<session::Value> parameterValue(std::string_view name) const;
  Result<session::Value> slotValue(std::string_view parameter, std::string_view slot) const;
  Result<session::Value> stateValue(std::string_view name) const;

  void remember(std::string_view name, const StoredTensor &value) {
    if (options.peers)
      given = hashBytes(name.data(), name.size(), given ^ value.hash());
  }
  SharedRange sharedRange(uint32_t buffer) const;
  Status shareOutputs(size_t entry);
  Result<std::vector<uint64_t>> gatherHashes(const std::vector<uint64_t> &mine,
                                             std::span<const uint32_t> devices) const;
  Status checkMemory() const;
  Status bindEntries();
  Status startThreads(const SessionOptions &options);
  Status bindInitialise();

  Status run(BoundEntry &entry);
  Status runPart(BoundEntry &entry, Part part);
  Status runInTurn(BoundEntry &entry, Part part);
  void runStreams(const BoundEntry &entry, const session::BoundProgram &program, Part part);
  void beginRun();
  void endRun(const Error &error);
  Status lateStatus();
  Status runParts(BoundEntry &entry);
  Status runTimed(BoundEntry &entry);
  Status runWatched(BoundEntry &entry);
  bool isInit(const BoundEntry &entry) const { return init && &entry == &entries[*init]; }
  Error explain(BoundEntry &entry);
  Status foundBy(const session::WatchedRun &watched, const BoundEntry &entry, bool well);
  Peers *peers() const { return options.peers.get(); }
  std::string when(const BoundEntry &entry) const;
  /// "after update 1,041", by the scalar of that name; "now" where no entry has it.
  std::string lastUpdate() const;

  template <typename T> bool setScalar(std::string_view name, T value);
};

// ---- making one ----

Status Session::Impl::checkMemory() const {
  uint64_t hosts = 0; // all that the host sees is its own
  size_t visible = 0;
  for (size_t i = 0; i < devices.size(); ++i) {
    const uint64_t needed = data().devices[i].arenaBytes, has = devices[i]->memoryBytes();
    if (session::isRemote(*devices[i]))
      continue;
    if (devices[i]->hostVisible()) {
      ++visible;
      hosts += needed;
    } else if (needed > has) {
      return fail(ErrorCode::E0401, "the plan needs {} bytes on {}, which has {}", needed,
                  devices[i]->name(), has);
    }
  }
  for (const std::unique_ptr<Device> &device : devices)
    if (!session::isRemote(*device) && device->hostVisible() && hosts > device->memoryBytes())
      return fail(ErrorCode::E0401, "the plan needs {} bytes on {}, which {} {}", hosts,
                  package::deviceList(data()), visible > 1 ? "share" : "has",
                  device->memoryBytes());
  return {};
}

Status Session::Impl::bindEntries() {
  auto wake = [this](size_t device) {
    if (threads)
      threads->wake(device);
  };
  if (options.peers)
    transport = options.peers->transport(*package, devices, wake);
  else
    transport = std::make_unique<session::InProcessTransport>(devices, wake);
  for (size_t i = 0; i < data().entries.size(); ++i) {
    LSTMC_ASSIGN(BoundEntry entry, session::bindEntry(*package, i, devices));
    for (session::BoundMessage &message : entry.messages) {
      LSTMC_ASSIGN(message.id, transport->add(message.message));
    }
    entries.push_back(std::move(entry));
  }
  return {};
}

/// If all of so many ranks are on one host, each with a thread that moves bytes.
static session::Parker::Crowd crowdOf(const session::Devices &devices, int ranks) {
  using Crowd = session::Parker::Crowd;
  int threads = 0;
  for (const std::unique_ptr<Device> &device : devices)
    threads += device->threads();
  if (ranks == 1)
    return threads > availableProcessors() ? Crowd::Crowded : Crowd::Fits;
  return (threads + 1) * ranks > availableProcessors() ? Crowd::Others : Crowd::Fits;
}

static std::vector<size_t> devicesHere(const session::Devices &devices) {
  std::vector<size_t> here;
  for (size_t i = 0; i < devices.size(); ++i)
    if (!session::isRemote(*devices[i]))
      here.push_back(i);
  return here;
}

Status Session::Impl::startThreads(const SessionOptions &options) try {
  const int ranks = options.peers ? options.peers->ranks() : 1;
  if (devices.size() > 1 && !options.oneThread)
    threads = std::make_unique<session::DeviceThreads>(devicesHere(devices), devices.size(),
                                                       crowdOf(devices, ranks));
  watchdog = std::make_unique<session::Watchdog>(*package, devices, options.watch, options.deadline,
                                                 [this](const Error &error) { endRun(error); });
  if (threads)
    parallel.emplace(*package, devices, *threads, *transport, *watchdog, options.hook);
  if (options.peers) {
    watchdog->elsewhere([&peers = *options.peers] { return peers.progressElsewhere(); });
    options.peers->watch([this] { return watchdog->standing(); });
  }
  return {};
} catch (const std::system_error &error) {
  return noThread(devices.size() == 1
                      ? "a thread that watches launches"
                      : fmt::format("a thread for each of {} devices and one that watches launches",
                                    devices.size()),
                  error);
}

Status Session::Impl::bindInitialise() {
  std::vector<std::vector<LaunchSpec>> specs(devices.size());
  for (const package::Parameter &parameter : data().parameters) {
    initialiseAt.push_back(std::nullopt);
    if (parameter.initialise.operands.empty())
      continue;
    size_t device = data().buffers[parameter.buffers[0]].device;
    initialiseAt.back() = {device, specs[device].size()};
    LaunchSpec spec = session::bind(*package, parameter.initialise, *devices[device]);
    for (size_t i = 0; i < spec.operands.size(); ++i)
      if (spec.operands[i] && !package::writes(data(), parameter.initialise, i))
        seeds.push_back(session::view(data(), parameter.initialise.operands[i], *devices[device]));
    specs[device].push_back(std::move(spec));
  }
  for (size_t i = 0; i < devices.size(); ++i) {
    LSTMC_ASSIGN(auto prepared, devices[i]->prepare(std::move(specs[i])));
    initialise.push_back(std::move(prepared));
  }
  return {};
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::create(package::Package::Pointer package,
                                                 std::vector<std::unique_ptr<Device>> devices,
                                                 SessionOptions options) {
  auto impl = std::make_unique<Impl>();
  const PackageData &data = package->data();
  if (devices.size() != data.devices.size())
    return fail(ErrorCode::E0501, "devices: found {}, want the package's {}: -d {}", devices.size(),
                data.devices.size(), package::deviceList(data));
  impl->package = std::move(package);
  impl->devices = std::move(devices);
  impl->options = std::move(options);
  LSTMC_TRY(impl->checkMemory());
  for (size_t i = 0; i < impl->devices.size(); ++i)
    LSTMC_TRY(impl->devices[i]->allocate(data.devices[i].arenaBytes));
  LSTMC_TRY(impl->bindEntries());
  impl->init = impl->package->findEntry(package::kInitEntry);
  LSTMC_TRY(impl->bindInitialise());
  impl->replicas.emplace(*impl->package, impl->devices);
  impl->views.emplace(*impl->package, impl->devices);
  for (const package::Entry &entry : data.entries)
    impl->shared.emplace_back(entry.outputs.size());
  LSTMC_TRY(impl->startThreads(impl->options));
  impl->setScalar("seed", int64_t(impl->options.seed));
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

const package::Package &Session::package() const { return *impl_->package; }
const Device &Session::device(size_t index) const { return *impl_->devices[index]; }

Status Session::initialise(uint64_t seed) {
  impl_->views->forget();
  impl_->beginRun();
  for (const DeviceTensor &place : impl_->seeds)
    place.set(int64_t(seed));
  for (size_t i = 0; i < impl_->initialiseAt.size(); ++i) {
    const package::Parameter &parameter = impl_->data().parameters[i];
    if (auto launch = impl_->initialiseAt[i])
      impl_->devices[launch->device]->run(*impl_->initialise[launch->device], launch->launch,
                                          launch->launch + 1);
    for (const package::Slot &slot : parameter.slots)
      impl_->clear(slot.buffers);
  }
  impl_->setScalar("seed", int64_t(seed));
  resetStates();
  parametersChanged();
  return {};
}

// ---- what persists, by name ----

Result<session::Value> Session::Impl::parameterValue(std::string_view name) const {
  if (auto at = package->findParameter(name))
    return firstOf(data().parameters[*at].buffers);
  return fail(ErrorCode::E0610, "parameter {}: the package has none of that name", inQuotes(name));
}

Result<session::Value> Session::Impl::slotValue(std::string_view name,
                                                std::string_view slot) const {
  if (auto at = package->findParameter(name)) {
    const package::Parameter &parameter = data().parameters[*at];
    for (const package::Slot &candidate : parameter.slots)
      if (candidate.name == slot)
        return package::isSliced(data(), parameter, candidate)
                   ? session::Value{candidate.buffers, data().buffers[parameter.buffers[0]]}
                   : firstOf(candidate.buffers);
  }
  return fail(ErrorCode::E0610, "parameter {}: the package has no {} of it", inQuotes(name),
              inQuotes(slot));
}

Result<session::Value> Session::Impl::stateValue(std::string_view name) const {
  if (auto at = package->findState(name))
    return firstOf(data().states[*at].buffers);
  return fail(ErrorCode::E0610, "state {}: the package has none of that name", inQuotes(name));
}

Result<Tensor> Session::parameter(std::string_view name) const {
  LSTMC_ASSIGN(session::Value value, impl_->parameterValue(name));
  return impl_->views->view(value, session::Kept::UntilRun);
}

Result<Tensor> Session::gradient(std::string_view name) const {
  auto at = package().findParameter(name);
  if (!at || package().data().parameters[*at].gradients.empty())
    return fail(ErrorCode::E0610, "parameter {}: the package has no gradient of it",
                inQuotes(name));
  return impl_->views->view(impl_->firstOf(package().data().parameters[*at].gradients),
                            session::Kept::UntilRun);
}

Result<Tensor> Session::slot(std::string_view parameter, std::string_view slot) const {
  LSTMC_ASSIGN(session::Value value, impl_->slotValue(parameter, slot));
  return impl_->views->view(value, session::Kept::UntilRun);
}

Result<Tensor> Session::state(std::string_view name) const {
  LSTMC_ASSIGN(session::Value value, impl_->stateValue(name));
  return impl_->views->view(value, session::Kept::State);
}

Result<StoredTensor> Session::storedParameter(std::string_view name) const {
  LSTMC_ASSIGN(session::Value value, impl_->parameterValue(name));
  return impl_->views->stored(std::string(name), value);
}

Result<StoredTensor> Session::storedSlot(std::string_view parameter, std::string_view slot) const {
  LSTMC_ASSIGN(session::Value value, impl_->slotValue(parameter, slot));
  return impl_->views->stored(fmt::format("{}/{}", parameter, slot), value);
}

Result<StoredTensor> Session::storedState(std::string_view name) const {
  LSTMC_ASSIGN(session::Value value, impl_->stateValue(name));
  return impl_->views->stored(std::string(name), value);
}

static Status checkShape(const Tensor &value, const Tensor &want, std::string_view what,
                         std::string_view name) {
  if (value.dtype == want.dtype && value.rank == want.rank && value.shape == want.shape)
    return {};
  return fail(ErrorCode::E0610, "{} {}: found {}, want {}", what, inQuotes(name),
              session::typeText(value), session::typeText(want));
}

static Status assign(const Result<StoredTensor> &to, const Tensor &value, std::string_view what,
                     std::string_view name) {
  if (!to.ok())
    return to.error();
  LSTMC_TRY(checkShape(value, to->tensor, what, name));
  if (value.dense()) {
    to->write({value.as<const std::byte>(), size_t(to->bytes())});
    return {};
  }
  std::vector<std::byte> copy(to->tensor.data ? 0 : size_t(to->bytes()));
  Tensor dense = to->tensor;
  if (!dense.data)
    dense.data = copy.data();
  session::copyTensor(value, dense);
  if (!to->tensor.data)
    to->write(copy);
  return {};
}

Status Session::setParameter(std::string_view name, const Tensor &value) {
  parametersChanged();
  const Result<StoredTensor> to = storedParameter(name);
  LSTMC_TRY(assign(to, value, "parameter", name));
  impl_->remember(name, *to);
  return {};
}
Status Session::setParameter(std::string_view name, const StoredTensor &value) {
  parametersChanged();
  LSTMC_ASSIGN(StoredTensor to, storedParameter(name));
  LSTMC_TRY(checkShape(value.tensor, to.tensor, "parameter", name));
  uint64_t begin = 0; // a parameter is in one range
  LSTMC_TRY(value.eachPiece([&](std::span<const uint8_t> piece) {
    to.ranges[0].write(begin, std::as_bytes(piece));
    begin += piece.size();
    return Status();
  }));
  impl_->remember(name, to);
  return {};
}
Status Session::setSlot(std::string_view parameter, std::string_view slot, const Tensor &value) {
  impl_->copiesAreStale = true;
  return assign(storedSlot(parameter, slot), value, "optimizer state of", parameter);
}
Status Session::setState(std::string_view name, const Tensor &value) {
  return assign(storedState(name), value, "state", name);
}

void Session::resetStates() {
  for (const package::State &state : package().data().states)
    impl_->clear(state.buffers);
  impl_->views->takeStates();
}

void Session::parametersChanged() {
  ++impl_->parametersVersion;
  impl_->copiesAreStale = true;
}

// ---- inputs and outputs ----

/// The input or output of that name.
static Result<session::Value> bound(const package::Package &package, std::string_view entry,
                                    std::string_view name, bool input) {
  const PackageData &data = package.data();
  auto at = package.findEntry(entry);
  if (!at)
    return fail(ErrorCode::E0001, "entry {}: the package has none of that name", inQuotes(entry));
  const package::Entry &source = data.entries[*at];
  for (const package::Binding &binding : input ? source.inputs : source.outputs)
    if (binding.name == name)
      return session::Value{std::span(&binding.buffer, 1), data.buffers[binding.buffer]};
  return fail(ErrorCode::E0001, "{} {}: {} has none of that name", input ? "input" : "output",
              inQuotes(name), entry);
}

Result<Tensor> Session::input(std::string_view entry, std::string_view name) {
  LSTMC_ASSIGN(session::Value value, bound(package(), entry, name, true));
  return impl_->views->view(value, session::Kept::Input);
}
Result<Tensor> Session::output(std::string_view entry, std::string_view name) const {
  LSTMC_ASSIGN(session::Value value, bound(package(), entry, name, false));
  Tensor view = impl_->views->view(value, session::Kept::Output);
  if (!impl_->options.peers)
    return view;
  // From now on all ranks get it after every run, and now what there is.
  const size_t at = *package().findEntry(entry);
  const auto &outputs = package().data().entries[at].outputs;
  const auto output =
      size_t(std::ranges::find(outputs, name, &package::Binding::name) - outputs.begin());
  if (!impl_->shared[at][output]) {
    impl_->shared[at][output] = true;
    const SharedRange range = impl_->sharedRange(outputs[output].buffer);
    LSTMC_TRY(impl_->options.peers->share({&range, 1}, impl_->devices.size(), Receivers::All));
    impl_->views->take(at);
  }
  return view;
}

bool Session::hasEntry(std::string_view entry) const {
  return package().findEntry(entry).has_value();
}

template <typename T> bool Session::Impl::setScalar(std::string_view name, T value) {
  bool found = false;
  for (BoundEntry &entry : entries)
    for (session::ScalarInput &scalar : entry.scalars)
      if (scalar.name == name) {
        scalar.isInteger = std::is_integral_v<T>;
        scalar.integer = convert<int64_t>(value);
        scalar.real = double(value);
        found = true;
      }
  return found;
}

bool Session::setScalar(std::string_view name, double value) {
  return impl_->setScalar(name, value);
}
bool Session::setScalar(std::string_view name, int64_t value) {
  return impl_->setScalar(name, value);
}

// ---- running ----

void Session::Impl::beginRun() {
  std::lock_guard lock(lateMutex);
  if (late)
    for (const std::unique_ptr<Device> &device : devices)
      device->stop(false);
  late.reset();
}

/// From the watchdog's thread.
void Session::Impl::endRun(const Error &error) {
  std::lock_guard lock(lateMutex);
  late = error;
  for (const std::unique_ptr<Device> &device : devices)
    device->stop(true);
  transport->abort(error);
}

Status Session::Impl::lateStatus() {
  std::lock_guard lock(lateMutex);
  return late ? Status(*late) : Status();
}

Status Session::Impl::runPart(BoundEntry &entry, Part part) {
  Status status = (entry.programs.size() > 1 || options.peers) && parallel
                      ? parallel->run(entry, part)
                      : runInTurn(entry, part);
  if (status.ok())
    status = lateStatus(); // what the launches have left is not what they should
  if (!status.ok())
    faultBehindCommit = part != Part::BeforeCommit && entry.changesParameters;
  return status;
}

Status Session::Impl::runInTurn(BoundEntry &entry, Part part) {
  for (session::BoundProgram &program : entry.programs) { // one: nothing to wait for
    Device &device = *devices[program.device];
    if (program.streams > 1) {
      runStreams(entry, program, part);
      continue;
    }
    size_t commit = program.source->commit, end = program.launches->size();
    size_t first = part == Part::Committed ? commit : 0;
    session::Watchdog::Stretch stretch(*watchdog, entry, program, first);
    device.run(*program.launches, first, part == Part::BeforeCommit ? commit : end,
               program.timesFrom(first));
  }
  return {};
}

/// A program without transfers.
void Session::Impl::runStreams(const BoundEntry &entry, const session::BoundProgram &program,
                               Part part) {
  Device &device = *devices[program.device];
  for (size_t i = program.firstSegment(part); i < program.lastSegment(part); ++i) {
    const session::Segment &segment = program.segments[i];
    session::Watchdog::Stretch stretch(*watchdog, entry, program, segment.launch);
    if (i == program.commitSegment)
      device.finish(); // where all streams come together
    program.begin(device, segment);
    program.launch(device, segment);
    program.end(device, segment);
  }
  device.finish();
}

Status Session::Impl::runParts(BoundEntry &entry) {
  if (observer || options.checkNan || (entry.programs.size() > 1 && options.oneThread))
    return runWatched(entry);
  if (!entry.looksAtNumbers)
    return runPart(entry, Part::All);
  LSTMC_TRY(runPart(entry, Part::BeforeCommit));
  if (!transport->vote(entry.finite())) {
    LSTMC_TRY(transport->status());
    return explain(entry);
  }
  return runPart(entry, Part::Committed);
}

/// And tells the timer, if there is one.
Status Session::Impl::runTimed(BoundEntry &entry) {
  if (!timer)
    return runParts(entry);
  std::vector<std::span<const LaunchInterval>> times;
  for (session::BoundProgram &program : entry.programs) {
    program.times->assign(program.source->launches.size(), {});
    times.push_back(*program.times);
  }
  Status status = runParts(entry);
  timer->ran(*package, *entry.source, times);
  return status;
}

Status Session::Impl::run(BoundEntry &entry) {
  if (init && copiesAreStale) {
    LSTMC_TRY(runTimed(entries[*init]));
    copiesAreStale = false;
  }
  if (entry.prepare && entry.preparedFor != parametersVersion) {
    LSTMC_TRY(run(entries[*entry.prepare]));
    entry.preparedFor = parametersVersion;
  }
  for (const session::ScalarInput &scalar : entry.scalars)
    scalar.write();
  Status status = runTimed(entry);
  // One that failed may have changed some of them.
  if (entry.changesParameters)
    ++parametersVersion;
  if (!status.ok())
    copiesAreStale = true;
  return status;
}

Status Session::run(std::string_view name) {
  auto found = std::ranges::find(impl_->entries, name, &BoundEntry::name);
  if (found == impl_->entries.end())
    return fail(ErrorCode::E0001, "entry {}: the package has none of that name", inQuotes(name));
  const auto index = size_t(found - impl_->entries.begin());
  impl_->views->giveBack(index);
  impl_->beginRun();
  Status status = impl_->run(*found);
  if (status.ok() && impl_->options.peers)
    status = impl_->shareOutputs(index);
  impl_->views->take(index); // also of one that failed: what it left counts
  return status;
}

std::string Session::Impl::when(const BoundEntry &entry) const {
  // What prepares an entry is a part of it to the user.
  for (const BoundEntry &prepared : entries)
    if (prepared.prepare && &entries[*prepared.prepare] == &entry)
      return when(prepared);
  for (const session::ScalarInput &scalar : entry.scalars)
    if (scalar.name == "update")
      return "at update " + grouped(scalar.integer);
  return "in " + std::string(entry.name);
}

std::string Session::Impl::lastUpdate() const {
  for (const BoundEntry &entry : entries)
    for (const session::ScalarInput &scalar : entry.scalars)
      if (scalar.name == "update")
        return "after update " + grouped(scalar.integer);
  return "now";
}

Status Session::Impl::runWatched(BoundEntry &entry) {
  // What init copies is looked at where an entry uses it, which can say at which update.
  session::WatchedRun watched(*package, devices, *transport, observer,
                              options.checkNan && !isInit(entry), watchdog.get());
  for (Part part : {Part::BeforeCommit, Part::Committed}) {
    const bool well = watched.run(entry, part);
    Status status = lateStatus();
    if (status.ok())
      status = transport->status();
    if (status.ok() && (!well || (peers() && watched.checksNan())))
      status = foundBy(watched, entry, well);
    if (!status.ok()) {
      faultBehindCommit = part == Part::Committed && entry.changesParameters;
      return status;
    }
    if (part == Part::BeforeCommit && !transport->vote(entry.finite())) {
      LSTMC_TRY(transport->status());
      return explain(entry);
    }
  }
  return {};
}

/// What the run stopped at, or any rank's did.
Status Session::Impl::foundBy(const session::WatchedRun &watched, const BoundEntry &entry,
                              bool well) {
  const std::string moment = when(entry);
  std::optional<session::Found> mine;
  if (!well) {
    mine = {-1, {}};
    if (auto given = session::explainGiven(*package, devices, entry, moment))
      mine->diagnostic = *given;
    else
      mine = {watched.order(entry), watched.describe(moment)};
  }
  if (peers()) {
    LSTMC_ASSIGN(fault, session::earliest(*peers(), mine));
  } else {
    fault = mine->diagnostic;
  }
  return fault ? Status(session::asError(*fault)) : Status();
}

/// Says what was not finite before `commit`, which is all that has run.
Error Session::Impl::explain(BoundEntry &entry) {
  faultBehindCommit = false;
  fault = session::explain(*package, devices, *transport, entry, when(entry), peers());
  if (Status status = transport->status(); !status.ok())
    return status.error(); // the ranks could not look together
  return session::asError(*fault);
}

const Diagnostic *Session::fault() const { return impl_->fault ? &*impl_->fault : nullptr; }
bool Session::faultBehindCommit() const { return impl_->faultBehindCommit; }
void Session::setObserver(SessionObserver *observer) { impl_->observer = observer; }

void Session::setTimer(SessionTimer *timer) {
  impl_->timer = timer;
  for (BoundEntry &entry : impl_->entries)
    for (session::BoundProgram &program : entry.programs)
      program.times = timer ? std::make_unique<std::vector<LaunchInterval>>() : nullptr;
}

// ---- the job ----

SharedRange Session::Impl::sharedRange(uint32_t index) const {
  const package::Buffer &buffer = data().buffers[index];
  return {buffer.device, session::view(buffer, *devices[buffer.device]).range};
}

Status Session::Impl::shareOutputs(size_t entry) {
  const auto &outputs = data().entries[entry].outputs;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (shared[entry][i]) {
      const SharedRange range = sharedRange(outputs[i].buffer);
      LSTMC_TRY(options.peers->share({&range, 1}, devices.size(), Receivers::All));
    }
  return {};
}

Status Session::collect() {
  if (!impl_->options.peers)
    return {};
  std::vector<SharedRange> ranges;
  const PackageData &data = package().data();
  for (const package::Parameter &parameter : data.parameters) {
    ranges.push_back(impl_->sharedRange(parameter.buffers[0]));
    for (const package::Slot &slot : parameter.slots)
      for (size_t i = 0; i < (package::isSliced(data, parameter, slot) ? slot.buffers.size() : 1);
           ++i)
        ranges.push_back(impl_->sharedRange(slot.buffers[i]));
  }
  for (const package::State &state : data.states)
    ranges.push_back(impl_->sharedRange(state.buffers[0]));
  return impl_->options.peers->share(ranges, impl_->devices.size(), Receivers::First);
}

Peers *Session::peers() const { return impl_->peers(); }

uint64_t Session::givenHash() const { return impl_->given; }

/// What each hash is in the process that has its device.
Result<std::vector<uint64_t>>
Session::Impl::gatherHashes(const std::vector<uint64_t> &mine,
                            std::span<const uint32_t> deviceOf) const {
  std::string bytes(mine.size() * sizeof(uint64_t), '\0');
  std::memcpy(bytes.data(), mine.data(), bytes.size());
  LSTMC_ASSIGN(std::vector<std::string> all, options.peers->gather(bytes));
  std::vector<uint64_t> hashes(mine.size());
  for (size_t i = 0; i < hashes.size(); ++i) {
    const std::string &said = all[size_t(options.peers->rankOf(deviceOf[i], devices.size()))];
    if (said.size() != bytes.size())
      return fail(ErrorCode::E0804, "ranks count {} and {} hashes", said.size() / sizeof(uint64_t),
                  mine.size());
    std::memcpy(&hashes[i], said.data() + i * sizeof(uint64_t), sizeof(uint64_t));
  }
  return hashes;
}

// ---- reports ----

Status Session::compareReplicas() {
  if (impl_->copiesAreStale)
    return {};
  auto hash = [this](size_t device) { impl_->replicas->hash(device); };
  if (impl_->threads)
    impl_->threads->each(hash);
  else
    for (size_t device = 0; device < impl_->devices.size(); ++device)
      hash(device);
  if (impl_->options.peers) {
    LSTMC_ASSIGN(std::vector<uint64_t> hashes,
                 impl_->gatherHashes(impl_->replicas->hashes(), impl_->replicas->devices()));
    impl_->replicas->setHashes(hashes);
  }
  return impl_->replicas->compare(impl_->lastUpdate());
}

std::vector<uint64_t> Session::weightHashes() const {
  std::vector<uint64_t> hashes;
  std::vector<uint32_t> deviceOf;
  for (const package::Parameter &parameter : package().data().parameters) {
    deviceOf.push_back(package().data().buffers[parameter.buffers[0]].device);
    hashes.push_back(impl_->views->stored({}, impl_->firstOf(parameter.buffers)).hash());
  }
  if (!impl_->options.peers)
    return hashes;
  auto gathered = impl_->gatherHashes(hashes, deviceOf);
  return gathered.ok() ? *gathered : hashes; // of a job that has fallen apart, this process's
}

uint64_t Session::weightsHash() const { return combineHashes(weightHashes()); }

std::vector<DevicePeak> Session::peaks() const {
  std::vector<DevicePeak> peaks;
  for (size_t i = 0; i < impl_->devices.size(); ++i)
    if (!session::isRemote(*impl_->devices[i]))
      peaks.push_back({impl_->devices[i]->name(), package().data().devices[i].arenaBytes,
                       impl_->devices[i]->touchedBytes()});
  return peaks;
}

MemoryUse Session::memory() const {
  MemoryUse use{peaks(), peakResidentBytes()};
  auto peak = use.devices.begin();
  for (const std::unique_ptr<Device> &device : impl_->devices) {
    if (session::isRemote(*device))
      continue;
    if (device->hostVisible())
      use.residentBeyondBytes -= std::min(use.residentBeyondBytes, peak->touchedBytes);
    ++peak;
  }
  return use;
}

} // namespace lstmc

// Making a session, and what has a name in it: parameters, slots, states, inputs, outputs, scalars.
#include "executor/session/Session.h"

#include <algorithm>
#include <set>

#include <fmt/ranges.h>

#include "executor/abi/EntryNames.h"
#include "executor/base/HostMemory.h"
#include "executor/base/Numeric.h"
#include "executor/base/Processors.h"
#include "executor/base/Quote.h"
#include "executor/base/Threads.h"
#include "executor/device/DeviceNames.h"
#include "executor/device/TableKeeper.h"
#include "executor/session/Binding.h"
#include "executor/session/InProcessTransport.h"
#include "executor/session/InputRows.h"
#include "executor/session/RemoteDevice.h"
#include "executor/session/SessionImpl.h"
#include "executor/session/SharedGraph.h"
#include "executor/session/UnknownName.h"

namespace lstmc {

using package::PackageData;
using session::BoundEntry;

// ---- making one ----

/// Of all devices of this process that are the same card as device `i`.
uint64_t Session::Impl::bytesOfCard(size_t i) const {
  uint64_t bytes = 0;
  for (size_t other = 0; other < devices.size(); ++other)
    if (!session::isRemote(*devices[other]) &&
        wholeDevice(devices[other]->name()) == wholeDevice(devices[i]->name()))
      bytes += arenaBytes(other);
  return bytes;
}

Status Session::Impl::checkMemory() const {
  uint64_t hosts = 0; // all that the host sees is its own
  size_t visible = 0;
  for (size_t i = 0; i < devices.size(); ++i) {
    const uint64_t needed = arenaBytes(i), has = devices[i]->memoryBytes();
    if (session::isRemote(*devices[i]))
      continue;
    hosts += messageBytes(i);
    if (devices[i]->hostVisible()) {
      ++visible;
      hosts += needed;
    } else if (const uint64_t all = bytesOfCard(i); all > has) {
      return fail(ErrorCode::E0401, "the plan needs {} bytes on {}, which has {}", all,
                  wholeDevice(devices[i]->name()), has);
    }
  }
  for (const std::shared_ptr<Device> &device : devices)
    if (!session::isRemote(*device) && device->hostVisible() && hosts > device->memoryBytes())
      return fail(ErrorCode::E0401, "the plan needs {} bytes on {}, which {} {}", hosts,
                  package::deviceList(data()), visible > 1 ? "share" : "has",
                  device->memoryBytes());
  // Above a limit the system ends the process without a word, so what it has by now counts too.
  const HostMemory memory = hostMemory();
  const uint64_t own = ownMemoryBytes();
  if (visible > 0 && !memory.limitedBy.empty() && hosts + own > memory.bytes)
    return fail(ErrorCode::E0401,
                "the plan needs {} bytes on {} and the process has {} by now: {} allows {}", hosts,
                package::deviceList(data()), own, memory.limitedBy, memory.bytes);
  return {};
}

Status Session::Impl::selectEntries() {
  for (const std::string &name : options.entries)
    if (!package->findEntry(name))
      return unknownEntry(name);
  selected = selectedIn(*package);
  init = package->findEntry(package::kInitEntry);
  return {};
}

/// Each device of this process keeps its tables where the plan has room for them, or after it.
void Session::Impl::giveTables() {
  for (size_t i = 0; i < devices.size(); ++i) // not where another package has them
    if (auto *keeper = dynamic_cast<TableKeeper *>(devices[i].get()))
      keeper->keepTables(tablesAt[i], tableBytes(i));
  for (const package::Buffer &buffer : data().buffers)
    if (auto *keeper = dynamic_cast<TableKeeper *>(devices[buffer.device].get());
        keeper && package::holdsTables(buffer))
      keeper->keepTables(buffer.offset, buffer.bytes);
}

Status Session::Impl::bindEntries() {
  giveTables();
  auto wake = [this](size_t device) {
    if (threads)
      threads->wake(device);
  };
  if (options.peers)
    transport = options.peers->transport(*package, devices, wake);
  else
    transport = std::make_unique<session::InProcessTransport>(devices, wake);
  for (size_t i = 0; i < data().entries.size(); ++i) {
    if (!selected[i]) {
      entries.emplace_back();
      continue;
    }
    LSTMC_ASSIGN(BoundEntry entry, session::bindEntry(*package, i, devices));
    for (session::BoundMessage &message : entry.messages) {
      LSTMC_ASSIGN(message.id, transport->add(message.message));
    }
    LSTMC_ASSIGN(entry.shared, session::SharedGraph::of(entry, devices, *transport));
    entries.push_back(std::move(entry));
  }
  for (BoundEntry &entry : entries)
    scalars.emplace_back(data(), entry);
  if (Result<session::UpdateFormula> found = session::UpdateFormula::of(data().fit); found.ok())
    formula = *found;
  else
    formulaStatus = found.status();
  return {};
}

/// If all of so many ranks are on one host, each with a thread that moves bytes.
static session::Parker::Crowd crowdOf(const session::Devices &devices, int ranks) {
  using Crowd = session::Parker::Crowd;
  int threads = 0;
  for (const std::shared_ptr<Device> &device : devices)
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

/// What was asked for where a thread cannot be started.
static std::string threadsOf(size_t devices) {
  return devices == 1 ? "a thread that watches launches"
                      : fmt::format("a thread for each of {} devices and one that watches launches",
                                    devices);
}

/// Before entries are bound: from then on a message may come from another process, which wakes
/// them.
Status Session::Impl::startDevices() try {
  const int ranks = options.peers ? options.peers->ranks() : 1;
  if (devices.size() > 1 && !options.oneThread)
    threads = std::make_unique<session::DeviceThreads>(devicesHere(devices), devices.size(),
                                                       crowdOf(devices, ranks));
  return {};
} catch (const std::system_error &error) {
  return noThread(threadsOf(devices.size()), error);
}

Status Session::Impl::startThreads(const SessionOptions &options) try {
  watchdog = std::make_unique<session::Watchdog>(*package, devices, options.watch, options.deadline,
                                                 [this](const Error &error) { endRun(error); });
  if (threads)
    parallel.emplace(*package, devices, *threads, *transport, *watchdog, options.hook);
  if (options.peers) {
    watchdog->elsewhere([&peers = *options.peers] { return peers.progressElsewhere(); });
    watchdog->messages([&transport = *transport](session::MessageId message, bool receives) {
      return receives ? transport.arrived(message) : transport.sent(message);
    });
    options.peers->watch([this] { return watchdog->standing(); });
  }
  return {};
} catch (const std::system_error &error) {
  return noThread(threadsOf(devices.size()), error);
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
    return fail(ErrorCode::E0501,
                "devices: found {}, want the package's {}: -d {}; for others, compile its source "
                "again and give its weights by --params",
                devices.size(), data.devices.size(), package::deviceList(data));
  impl->package = std::move(package);
  impl->devices = session::shareable(std::move(devices));
  impl->options = std::move(options);
  LSTMC_TRY(impl->selectEntries());
  LSTMC_TRY(impl->checkMemory());
  for (size_t i = 0; i < impl->devices.size(); ++i) {
    LSTMC_TRY(impl->devices[i]->allocate(impl->arenaBytes(i)));
    impl->tablesAt.push_back(impl->tablesOffset(i));
  }
  LSTMC_TRY(impl->bind());
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

/// What several devices have to say in the same words is told once.
void Session::Impl::tellNotices() {
  std::set<std::string> told;
  for (const std::shared_ptr<Device> &device : devices)
    if (const std::optional<Error> notice = device->notice();
        notice && told.insert(notice->text()).second && options.watch.notice)
      options.watch.notice(*notice);
}

void Session::Impl::tellChoices() {
  for (const std::shared_ptr<Device> &device : devices)
    for (const std::string &choice : device->choices())
      if (options.watch.choice)
        options.watch.choice(device->name() + ": " + choice);
}

Status Session::Impl::bind() {
  for (const std::shared_ptr<Device> &device : devices)
    LSTMC_TRY(device->compile(data().programs));
  tellNotices();
  LSTMC_TRY(startDevices());
  LSTMC_TRY(bindEntries());
  tellChoices();
  LSTMC_TRY(bindInitialise());
  replicas.emplace(*package, devices);
  views.emplace(*package, devices);
  for (const package::Entry &entry : data().entries)
    shared.emplace_back(entry.outputs.size());
  LSTMC_TRY(startThreads(options));
  setScalar("seed", int64_t(options.seed));
  return {};
}

const package::Package &Session::package() const { return *impl_->package; }
const Device &Session::device(size_t index) const { return *impl_->devices[index]; }

Status Session::initialise(uint64_t seed) {
  LSTMC_TRY(impl_->checkOwnWeights("initialise"));
  impl_->views->forget();
  impl_->beginRun();
  for (const DeviceTensor &place : impl_->seeds)
    place.set(int64_t(seed));
  for (size_t i = 0; i < impl_->initialiseAt.size(); ++i) {
    const package::Parameter &parameter = impl_->data().parameters[i];
    if (auto launch = impl_->initialiseAt[i]) {
      {
        session::Watchdog::Stretch stretch(*impl_->watchdog, launch->device, parameter.initialise);
        impl_->devices[launch->device]->run(*impl_->initialise[launch->device], launch->launch,
                                            launch->launch + 1);
      }
      LSTMC_TRY(impl_->lateStatus());
    }
    if (!parameter.values.empty()) {
      LSTMC_ASSIGN(const StoredTensor to, storedParameter(parameter.name));
      to.write(std::as_bytes(std::span(parameter.values)));
    }
    for (const package::Slot &slot : parameter.slots)
      impl_->clear(slot.buffers);
  }
  impl_->setScalar("seed", int64_t(seed));
  resetStates();
  parametersChanged();
  return {};
}

// ---- what persists, by name ----

Error Session::Impl::unknownEntry(std::string_view name) const {
  std::vector<std::string_view> runnable;
  for (size_t i = 0; i < data().entries.size(); ++i)
    if ((selected.empty() || selected[i]) && data().entries[i].name.find(':') == std::string::npos)
      runnable.push_back(data().entries[i].name);
  return session::unknownName("entry", name, "the package", std::move(runnable));
}

Result<session::Value> Session::Impl::parameterValue(std::string_view name) const {
  if (auto at = package->findParameter(name))
    return firstOf(data().parameters[*at].buffers);
  return session::unknownIn("parameter", name, "the package", data().parameters);
}

Result<session::Value> Session::Impl::slotValue(std::string_view name,
                                                std::string_view slot) const {
  auto at = package->findParameter(name);
  if (!at)
    return session::unknownIn("parameter", name, "the package", data().parameters);
  const package::Parameter &parameter = data().parameters[*at];
  for (const package::Slot &candidate : parameter.slots)
    if (candidate.name == slot)
      return package::isSliced(data(), parameter, candidate)
                 ? session::Value{candidate.buffers, data().buffers[parameter.buffers[0]]}
                 : firstOf(candidate.buffers);
  return session::unknownIn("optimizer state", slot, name, parameter.slots);
}

Result<session::Value> Session::Impl::stateValue(std::string_view name) const {
  if (auto at = package->findState(name))
    return firstOf(data().states[*at].buffers);
  return session::unknownIn("state", name, "the package", data().states);
}

Result<Tensor> Session::parameter(std::string_view name) const {
  LSTMC_ASSIGN(session::Value value, impl_->parameterValue(name));
  return impl_->views->view(value, session::Kept::UntilRun);
}

Result<Tensor> Session::gradient(std::string_view name) const {
  auto at = package().findParameter(name);
  if (!at)
    return session::unknownIn("parameter", name, "the package", package().data().parameters);
  if (package().data().parameters[*at].gradients.empty())
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
  LSTMC_TRY(impl_->checkOwnWeights(name));
  parametersChanged();
  const Result<StoredTensor> to = storedParameter(name);
  LSTMC_TRY(assign(to, value, "parameter", name));
  impl_->remember(name, *to);
  return {};
}
Status Session::setParameter(std::string_view name, const StoredTensor &value) {
  LSTMC_TRY(impl_->checkOwnWeights(name));
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

// ---- shared weights ----

Status Session::Impl::checkOwnWeights(std::string_view what) const {
  return sharedWeights
             ? fail(ErrorCode::E0001, "{} would change weights that are shared with other sessions",
                    inQuotes(what))
             : Status();
}

Status Session::Impl::checkMayShare() const {
  if (options.peers)
    return fail(ErrorCode::E0001, "a rank of a job cannot share weights; copy them");
  for (const std::shared_ptr<Device> &device : devices)
    if (!device->mappable())
      return fail(ErrorCode::E0001,
                  "weights on {}, or in memory of the program's allocator, cannot be shared; "
                  "copy them",
                  device->name());
  return {};
}

Status Session::Impl::prepareEntries() {
  beginRun();
  for (BoundEntry &entry : entries)
    if (entry.source && !session::writesWeights(entry))
      LSTMC_TRY(prepareRun(entry));
  return {};
}

Status Session::Impl::freezeWeights() {
  if (sharedWeights)
    return {};
  LSTMC_TRY(prepareEntries());
  LSTMC_ASSIGN(sharedWeights, session::SharedWeights::take(data(), entries, devices));
  return {};
}

Status Session::Impl::checkSameParameters(const Session &from) const {
  for (const package::Parameter &parameter : data().parameters) {
    LSTMC_ASSIGN(session::Value value, from.impl_->parameterValue(parameter.name));
    const package::Buffer &found = value.shape, &want = data().buffers[parameter.buffers[0]];
    if (found.dtype != want.dtype || found.shape != want.shape)
      return fail(ErrorCode::E0001,
                  "parameter {}: found {}, want {}: weights are shared by sessions of one network",
                  inQuotes(parameter.name), package::typeText(found.dtype, found.shape),
                  package::typeText(want.dtype, want.shape));
  }
  return {};
}

Result<session::SharedWeights::Pointer> Session::Impl::takeVariant(const Session &from,
                                                                   Session &self) {
  for (const package::Parameter &parameter : data().parameters) {
    LSTMC_ASSIGN(StoredTensor value, from.storedParameter(parameter.name));
    LSTMC_TRY(self.setParameter(parameter.name, value));
  }
  LSTMC_TRY(prepareEntries());
  return session::SharedWeights::take(data(), entries, devices, from.impl_->sharedWeights.get());
}

Status Session::shareWeights(Session &from) {
  LSTMC_TRY(impl_->checkOwnWeights("share weights"));
  if (&from == this)
    return fail(ErrorCode::E0001, "weights are shared by two sessions, found one");
  LSTMC_TRY(impl_->checkSameParameters(from));
  LSTMC_TRY(impl_->checkMayShare());
  LSTMC_TRY(from.impl_->checkMayShare());
  LSTMC_TRY(from.impl_->freezeWeights());
  session::SharedWeights::Pointer weights = from.impl_->sharedWeights;
  if (impl_->package != from.impl_->package || impl_->selected != from.impl_->selected) {
    LSTMC_ASSIGN(weights, weights->variant(impl_->package, impl_->selected,
                                           [&] { return impl_->takeVariant(from, *this); }));
  }
  LSTMC_TRY(weights->giveTo(impl_->devices));
  impl_->sharedWeights = std::move(weights);
  impl_->copiesAreStale = false;
  for (BoundEntry &entry : impl_->entries)
    entry.preparedFor = impl_->parametersVersion;
  return {};
}

// ---- inputs and outputs ----

Result<session::Value> Session::Impl::bindingValue(std::string_view entry, std::string_view name,
                                                   bool input) const {
  auto at = findEntry(entry);
  if (!at)
    return unknownEntry(entry);
  const package::Entry &source = data().entries[*at];
  const std::vector<package::Binding> &bindings = input ? source.inputs : source.outputs;
  for (const package::Binding &binding : bindings)
    if (binding.name == name)
      return session::Value{std::span(&binding.buffer, 1), data().buffers[binding.buffer]};
  return session::unknownIn(input ? "input" : "output", name, entry, bindings);
}

Result<Tensor> Session::input(std::string_view entry, std::string_view name) {
  LSTMC_ASSIGN(session::Value value, impl_->bindingValue(entry, name, true));
  if (name.starts_with(session::kOptimizerPrefix))
    return fail(ErrorCode::E0001, "input {} of {} is computed from learning_rate and update",
                inQuotes(name), entry);
  if (Tensor scalar = impl_->scalars[*impl_->findEntry(entry)].view(name); scalar.data)
    return scalar;
  return impl_->views->view(value, session::Kept::Input);
}

Result<RowWindow> Session::inputRows(std::string_view entry, std::string_view name,
                                     int axis) const {
  LSTMC_ASSIGN(session::Value value, impl_->bindingValue(entry, name, true));
  if (!impl_->options.peers || size_t(axis) >= value.shape.shape.size())
    return RowWindow();
  const package::Entry &source = impl_->data().entries[*impl_->findEntry(entry)];
  return session::rowsRead(impl_->data(), source,
                           *std::ranges::find(source.inputs, name, &package::Binding::name), axis,
                           impl_->devices);
}

Result<Tensor> Session::output(std::string_view entry, std::string_view name) const {
  LSTMC_ASSIGN(session::Value value, impl_->bindingValue(entry, name, false));
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

Result<StoredTensor> Session::storedInput(std::string_view entry, std::string_view name) const {
  LSTMC_ASSIGN(session::Value value, impl_->bindingValue(entry, name, true));
  for (const session::ScalarInput &scalar : impl_->entries[*impl_->findEntry(entry)].scalars)
    if (scalar.name == name)
      return fail(ErrorCode::E0001, "input {} of {} is a scalar, which is kept by the host",
                  inQuotes(name), entry);
  return impl_->views->stored(std::string(name), value);
}

Result<StoredTensor> Session::storedOutput(std::string_view entry, std::string_view name) const {
  LSTMC_ASSIGN(session::Value value, impl_->bindingValue(entry, name, false));
  return impl_->views->stored(std::string(name), value);
}

bool Session::hasEntry(std::string_view entry) const { return impl_->findEntry(entry).has_value(); }

template <typename T> bool Session::Impl::setScalar(std::string_view name, T value) {
  bool found = false;
  for (session::HostScalars &entry : scalars)
    found |= entry.set(name, value);
  return found;
}

bool Session::setScalar(std::string_view name, double value) {
  return impl_->setScalar(name, value);
}
bool Session::setScalar(std::string_view name, int64_t value) {
  return impl_->setScalar(name, value);
}

} // namespace lstmc

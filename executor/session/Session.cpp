#include "executor/session/Session.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "executor/base/Hash.h"
#include "executor/base/Numeric.h"
#include "executor/base/Quote.h"
#include "executor/session/Binding.h"
#include "executor/session/NonFinite.h"

namespace lstmc {

using package::PackageData;

namespace {

/// A scalar input, kept on the host and written before each run: its place may be another entry's
/// in between.
struct ScalarInput {
  std::string_view name;
  Tensor place;
  double real = 0;
  int64_t integer = 0;
  bool isInteger = false;

  void write() const {
    if (isInteger)
      writeElement(place.data, place.dtype, 0, integer);
    else
      writeElement(place.data, place.dtype, 0, real);
  }
};

struct BoundProgram {
  size_t device;
  const package::DeviceProgram *source;
  std::unique_ptr<PreparedProgram> launches;
};

struct BoundEntry {
  std::string_view name;
  std::vector<BoundProgram> programs;
  std::vector<ScalarInput> scalars;
  std::vector<std::pair<std::string_view, Tensor>> mustBeFinite; ///< before what persists changes
  std::optional<size_t> prepare;                                 ///< the entry `prepare:NAME`
  uint64_t preparedFor = 0;                                      ///< version of the parameters
  bool changesParameters = false;
};

bool isFinite(const Tensor &tensor) {
  // Metrics are small and dense.
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (!std::isfinite(readElement<double>(tensor.data, tensor.dtype, i)))
      return false;
  return true;
}

} // namespace

struct Session::Impl {
  package::Package::Pointer package;
  std::vector<std::unique_ptr<Device>> devices;
  SessionOptions options;
  SessionObserver *observer = nullptr;

  std::vector<BoundEntry> entries;
  std::unique_ptr<PreparedProgram> initialise; ///< all parameters' launches, on the first device
  std::vector<std::optional<size_t>> initialiseAt; ///< by parameter: its launch
  std::vector<Tensor> seeds;                       ///< what those launches read
  uint64_t parametersVersion = 1;
  std::optional<Diagnostic> fault;
  bool faultBehindCommit = false;

  const PackageData &data() const { return package->data(); }
  Tensor buffer(uint32_t index) const {
    const package::Buffer &b = data().buffers[index];
    return session::bind(b, *devices[b.device]);
  }

  Status bindEntry(size_t index);
  Status bindInitialise();

  Status run(BoundEntry &entry);
  enum class Part { BeforeCommit, Committed, All };
  void runPart(BoundEntry &entry, Part part);
  Status runWatched(BoundEntry &entry);
  Error explain(BoundEntry &entry);
  std::optional<Diagnostic> explainGiven(const BoundEntry &entry, std::string_view when) const;
  std::string when(const BoundEntry &entry) const;
  bool finite(const BoundEntry &entry) const {
    return std::ranges::all_of(entry.mustBeFinite,
                               [](auto &named) { return isFinite(named.second); });
  }

  template <typename T> bool setScalar(std::string_view name, T value);
};

// ---- making one ----

Status Session::Impl::bindEntry(size_t index) {
  const package::Entry &source = data().entries[index];
  BoundEntry &entry = entries[index];
  entry.name = source.name;
  entry.prepare = package->findEntry("prepare:" + source.name);
  std::vector<bool> writtenBeforeCommit(data().buffers.size());
  for (const package::DeviceProgram &program : source.programs) {
    const Device &device = *devices[program.device];
    std::vector<LaunchSpec> specs;
    specs.reserve(program.launches.size());
    for (size_t i = 0; i < program.launches.size(); ++i) {
      const package::Launch &launch = program.launches[i];
      specs.push_back(session::bind(*package, launch, device));
      for (size_t k = 0; k < launch.operands.size(); ++k) {
        uint32_t held = launch.operands[k].buffer;
        if (held == package::kNoBuffer || !package::writes(data(), launch, k))
          continue;
        if (i < program.commit)
          writtenBeforeCommit[held] = true;
        else if (data().buffers[held].kind == package::Kind::Parameter)
          entry.changesParameters = true;
      }
    }
    LSTMC_ASSIGN(auto prepared, devices[program.device]->prepare(std::move(specs)));
    entry.programs.push_back({program.device, &program, std::move(prepared)});
  }
  for (const package::Binding &input : source.inputs)
    if (input.role == "scalar")
      entry.scalars.push_back({input.name, buffer(input.buffer)});
  for (const package::Binding &output : source.outputs) {
    bool watched =
        output.role == "metric" || output.name == "loss" || output.name == "gradient_norm";
    if (entry.changesParameters && watched && writtenBeforeCommit[output.buffer] &&
        isFloat(data().buffers[output.buffer].dtype))
      entry.mustBeFinite.push_back({output.name, buffer(output.buffer)});
  }
  return {};
}

Status Session::Impl::bindInitialise() {
  std::vector<LaunchSpec> specs;
  for (const package::Parameter &parameter : data().parameters) {
    initialiseAt.push_back(std::nullopt);
    if (parameter.initialise.operands.empty())
      continue;
    initialiseAt.back() = specs.size();
    const Device &device = *devices[data().buffers[parameter.buffers[0]].device];
    specs.push_back(session::bind(*package, parameter.initialise, device));
    for (size_t i = 0; i < specs.back().operands.size(); ++i)
      if (specs.back().operands[i] && !package::writes(data(), parameter.initialise, i))
        seeds.push_back(specs.back().operands[i]);
  }
  LSTMC_ASSIGN(initialise, devices[0]->prepare(std::move(specs)));
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
    return fail(ErrorCode::E0501, "package is planned for {} devices, found {}",
                data.devices.size(), devices.size());
  if (devices.size() > 1)
    return fail(ErrorCode::E0501,
                "package is planned for {} devices, this version runs 1: compile it with -d cpu",
                devices.size());
  for (size_t i = 0; i < devices.size(); ++i) {
    uint64_t arena = data.devices[i].arenaBytes, has = devices[i]->memoryBytes();
    if (!devices[i]->hostVisible())
      return fail(ErrorCode::E0501, "{}: the host cannot see its memory", devices[i]->name());
    if (arena > has)
      return fail(ErrorCode::E0401, "the plan needs {} bytes on {}, which has {}", arena,
                  devices[i]->name(), has);
    LSTMC_TRY(devices[i]->allocate(arena));
  }
  impl->package = std::move(package);
  impl->devices = std::move(devices);
  impl->options = options;
  impl->entries.resize(data.entries.size());
  for (size_t i = 0; i < impl->entries.size(); ++i)
    LSTMC_TRY(impl->bindEntry(i));
  LSTMC_TRY(impl->bindInitialise());
  impl->setScalar("seed", int64_t(options.seed));
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

const package::Package &Session::package() const { return *impl_->package; }
const Device &Session::device(size_t index) const { return *impl_->devices[index]; }

Status Session::initialise(uint64_t seed) {
  for (const Tensor &place : impl_->seeds)
    writeElement(place.data, place.dtype, 0, int64_t(seed));
  for (size_t i = 0; i < impl_->initialiseAt.size(); ++i) {
    const package::Parameter &parameter = impl_->data().parameters[i];
    if (auto launch = impl_->initialiseAt[i])
      impl_->devices[0]->run(*impl_->initialise, *launch, *launch + 1);
    for (const package::Slot &slot : parameter.slots) {
      const package::Buffer &buffer = impl_->data().buffers[slot.buffer];
      std::memset(impl_->buffer(slot.buffer).data, 0, buffer.bytes);
    }
  }
  impl_->setScalar("seed", int64_t(seed));
  resetStates();
  parametersChanged();
  return {};
}

// ---- what persists, by name ----

Result<Tensor> Session::parameter(std::string_view name) const {
  if (auto at = package().findParameter(name))
    return impl_->buffer(package().data().parameters[*at].buffers[0]);
  return fail(ErrorCode::E0610, "parameter {}: the package has none of that name", inQuotes(name));
}

Result<Tensor> Session::gradient(std::string_view name) const {
  auto at = package().findParameter(name);
  if (!at || package().data().parameters[*at].gradients.empty())
    return fail(ErrorCode::E0610, "parameter {}: the package has no gradient of it",
                inQuotes(name));
  return impl_->buffer(package().data().parameters[*at].gradients[0]);
}

Result<Tensor> Session::slot(std::string_view parameter, std::string_view slot) const {
  if (auto at = package().findParameter(parameter))
    for (const package::Slot &candidate : package().data().parameters[*at].slots)
      if (candidate.name == slot)
        return impl_->buffer(candidate.buffer);
  return fail(ErrorCode::E0610, "parameter {}: the package has no {} of it", inQuotes(parameter),
              inQuotes(slot));
}

Result<Tensor> Session::state(std::string_view name) const {
  if (auto at = package().findState(name))
    return impl_->buffer(package().data().states[*at].buffers[0]);
  return fail(ErrorCode::E0610, "state {}: the package has none of that name", inQuotes(name));
}

static Status assign(Result<Tensor> to, const Tensor &value, std::string_view what,
                     std::string_view name) {
  if (!to.ok())
    return to.error();
  if (value.dtype != to->dtype || value.rank != to->rank || value.shape != to->shape)
    return fail(ErrorCode::E0610, "{} {}: found {}, want {}", what, inQuotes(name),
                session::typeText(value), session::typeText(*to));
  session::copyTensor(value, *to);
  return {};
}

Status Session::setParameter(std::string_view name, const Tensor &value) {
  parametersChanged();
  return assign(parameter(name), value, "parameter", name);
}
Status Session::setSlot(std::string_view parameter, std::string_view slot, const Tensor &value) {
  return assign(this->slot(parameter, slot), value, "optimizer state of", parameter);
}
Status Session::setState(std::string_view name, const Tensor &value) {
  return assign(state(name), value, "state", name);
}

void Session::resetStates() {
  for (const package::State &state : package().data().states)
    for (uint32_t index : state.buffers)
      std::memset(impl_->buffer(index).data, 0, package().data().buffers[index].bytes);
}

void Session::parametersChanged() { ++impl_->parametersVersion; }

// ---- inputs and outputs ----

static Result<Tensor> bound(const Session &session, std::string_view entry, std::string_view name,
                            bool input) {
  const PackageData &data = session.package().data();
  auto at = session.package().findEntry(entry);
  if (!at)
    return fail(ErrorCode::E0001, "entry {}: the package has none of that name", inQuotes(entry));
  const package::Entry &source = data.entries[*at];
  for (const package::Binding &binding : input ? source.inputs : source.outputs)
    if (binding.name == name) {
      const package::Buffer &buffer = data.buffers[binding.buffer];
      return session::bind(buffer, session.device(buffer.device));
    }
  return fail(ErrorCode::E0001, "{} {}: {} has none of that name", input ? "input" : "output",
              inQuotes(name), entry);
}

Result<Tensor> Session::input(std::string_view entry, std::string_view name) {
  return bound(*this, entry, name, true);
}
Result<Tensor> Session::output(std::string_view entry, std::string_view name) const {
  return bound(*this, entry, name, false);
}

bool Session::hasEntry(std::string_view entry) const {
  return package().findEntry(entry).has_value();
}

template <typename T> bool Session::Impl::setScalar(std::string_view name, T value) {
  bool found = false;
  for (BoundEntry &entry : entries)
    for (ScalarInput &scalar : entry.scalars)
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

void Session::Impl::runPart(BoundEntry &entry, Part part) {
  for (BoundProgram &program : entry.programs) {
    size_t commit = program.source->commit, end = program.source->launches.size();
    devices[program.device]->run(*program.launches, part == Part::Committed ? commit : 0,
                                 part == Part::BeforeCommit ? commit : end);
  }
}

Status Session::Impl::run(BoundEntry &entry) {
  if (entry.prepare && entry.preparedFor != parametersVersion) {
    LSTMC_TRY(run(entries[*entry.prepare]));
    entry.preparedFor = parametersVersion;
  }
  for (const ScalarInput &scalar : entry.scalars)
    scalar.write();
  if (observer || options.checkNan) {
    LSTMC_TRY(runWatched(entry));
  } else if (entry.mustBeFinite.empty()) {
    runPart(entry, Part::All);
  } else {
    runPart(entry, Part::BeforeCommit);
    if (!finite(entry))
      return explain(entry);
    runPart(entry, Part::Committed);
  }
  if (entry.changesParameters)
    ++parametersVersion;
  return {};
}

Status Session::run(std::string_view name) {
  for (BoundEntry &entry : impl_->entries)
    if (entry.name == name)
      return impl_->run(entry);
  return fail(ErrorCode::E0001, "entry {}: the package has none of that name", inQuotes(name));
}

namespace {

/// Shows each launch to whoever looks on, and stops behind one that wrote what is no finite number.
class Watch final : public LaunchObserver {
public:
  Watch(const package::Package &package, std::string_view entry,
        const package::DeviceProgram &program, const Device &device, SessionObserver *observer,
        bool checkNan)
      : package(package), entry(entry), program(program), device(device), observer(observer),
        checkNan(checkNan) {}

  void before(size_t launch) override {
    operands.clear();
    for (const package::Operand &operand : program.launches[launch].operands)
      operands.push_back(session::bind(package.data(), operand, device));
    if (observer)
      observer->before(view(launch));
  }
  bool after(size_t launch) override {
    if (observer)
      observer->after(view(launch));
    if (checkNan)
      finding = session::findIn(package.data(), program.launches[launch], operands);
    return !finding;
  }

  std::optional<session::Finding> finding;
  std::vector<Tensor> operands;

private:
  LaunchView view(size_t launch) const {
    const package::Launch &source = program.launches[launch];
    return {entry, launch, source, package.location(source.location), operands};
  }

  const package::Package &package;
  std::string_view entry;
  const package::DeviceProgram &program;
  const Device &device;
  SessionObserver *observer;
  bool checkNan;
};

} // namespace

std::string Session::Impl::when(const BoundEntry &entry) const {
  for (const ScalarInput &scalar : entry.scalars)
    if (scalar.name == "update")
      return "at update " + session::withCommas(scalar.integer);
  return "in " + std::string(entry.name);
}

Status Session::Impl::runWatched(BoundEntry &entry) {
  for (bool committed : {false, true}) {
    for (BoundProgram &program : entry.programs) {
      Device &device = *devices[program.device];
      Watch watch(*package, entry.name, *program.source, device, observer, options.checkNan);
      size_t commit = program.source->commit, end = program.source->launches.size();
      size_t last = committed ? end : commit;
      size_t at = device.run(*program.launches, committed ? commit : 0, last, watch);
      if (at < last) {
        faultBehindCommit = committed && entry.changesParameters;
        fault = explainGiven(entry, when(entry));
        if (!fault)
          fault = session::describe(data(), program.source->launches[at], watch.operands,
                                    *watch.finding, when(entry), device.name());
        return session::asError(*fault);
      }
    }
    if (!committed && !finite(entry))
      return explain(entry);
  }
  return {};
}

/// A value that came from outside and is not finite, if there is one.
std::optional<Diagnostic> Session::Impl::explainGiven(const BoundEntry &entry,
                                                      std::string_view when) const {
  const package::Entry &source = data().entries[size_t(&entry - entries.data())];
  for (const package::Binding &input : source.inputs)
    if (auto where = session::firstNonFinite(buffer(input.buffer)))
      return session::describeGiven(nullptr, "input", input.name, *where, when);
  for (const package::Parameter &parameter : data().parameters)
    if (auto where = session::firstNonFinite(buffer(parameter.buffers[0])))
      return session::describeGiven(&package->location(parameter.location), "parameter",
                                    parameter.name, *where, when);
  return std::nullopt;
}

/// Runs what came before commit again, launch by launch, to the first value that is not finite.
Error Session::Impl::explain(BoundEntry &entry) {
  std::string moment = when(entry);
  faultBehindCommit = false;
  fault = explainGiven(entry, moment);
  for (BoundProgram &program : entry.programs) {
    if (fault)
      break;
    Device &device = *devices[program.device];
    Watch watch(*package, entry.name, *program.source, device, nullptr, true);
    size_t at = device.run(*program.launches, 0, program.source->commit, watch);
    if (at < program.source->commit)
      fault = session::describe(data(), program.source->launches[at], watch.operands,
                                *watch.finding, moment, device.name());
  }
  for (const auto &[name, tensor] : entry.mustBeFinite)
    if (!fault)
      if (auto where = session::firstNonFinite(tensor))
        fault = session::describeGiven(nullptr, "output", name, *where, moment);
  if (!fault) {
    fault = Diagnostic();
    fault->code = ErrorCode::E0701;
    fault->message =
        fmt::format("an output was not finite {}, and was when the update was repeated: "
                    "a kernel is not deterministic",
                    moment);
  }
  return session::asError(*fault);
}

const Diagnostic *Session::fault() const { return impl_->fault ? &*impl_->fault : nullptr; }
bool Session::faultBehindCommit() const { return impl_->faultBehindCommit; }
void Session::setObserver(SessionObserver *observer) { impl_->observer = observer; }

// ---- reports ----

std::vector<uint64_t> Session::weightHashes() const {
  std::vector<uint64_t> hashes;
  for (const package::Parameter &parameter : package().data().parameters) {
    Tensor value = impl_->buffer(parameter.buffers[0]);
    hashes.push_back(hashBytes(value.data, size_t(value.elements()) * dtypeBytes(value.dtype)));
  }
  return hashes;
}

uint64_t Session::weightsHash() const { return combineHashes(weightHashes()); }

std::vector<DevicePeak> Session::peaks() const {
  std::vector<DevicePeak> peaks;
  for (size_t i = 0; i < impl_->devices.size(); ++i)
    peaks.push_back({impl_->devices[i]->name(), package().data().devices[i].arenaBytes,
                     impl_->devices[i]->peakBytes()});
  return peaks;
}

} // namespace lstmc

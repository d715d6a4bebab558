#include "executor/session/SplitStep.h"

#include <algorithm>
#include <array>

#include "executor/base/Quote.h"
#include "executor/session/Binding.h"
#include "executor/session/SessionImpl.h"
#include "executor/session/SharedGraph.h"

namespace lstmc::session {

namespace {

using package::DeviceProgram;
using package::Kind;
using package::Launch;

bool reads(const package::PackageData &data, const Launch &launch, size_t operand) {
  if (launch.kernel == KernelId::Fused)
    return !package::writes(data, launch, operand);
  const KernelRecord &record = kernelRecord(launch.kernel);
  const size_t fixed = record.operands.size();
  const OperandMode mode = operand < fixed
                               ? record.operands[operand].mode
                               : record.repeated[(operand - fixed) % record.repeated.size()].mode;
  return mode != OperandMode::Out;
}

/// Calls f(buffer) for each operand that the launch reads (or writes).
template <typename F>
void eachRead(const package::PackageData &data, const Launch &launch, const F &f) {
  for (size_t k = 0; k < launch.operands.size(); ++k)
    if (launch.operands[k].buffer != package::kNoBuffer && reads(data, launch, k))
      f(launch.operands[k].buffer);
}
template <typename F>
void eachWritten(const package::PackageData &data, const Launch &launch, const F &f) {
  for (size_t k = 0; k < launch.operands.size(); ++k)
    if (launch.operands[k].buffer != package::kNoBuffer && package::writes(data, launch, k))
      f(launch.operands[k].buffer);
}

/// Launches of which some have been left out: what the events of those said of the others' order is
/// gone with them.
void putOnOneStream(std::vector<Launch> &launches) {
  for (Launch &launch : launches) {
    launch.stream = 0;
    launch.event = -1;
    launch.waits.clear();
  }
}

enum class Reads : uint8_t { Any, Alone };

/// Launches before `commit` that read any of what `isBegin` says, or of what such a launch has
/// made; or that alone.
template <typename F>
std::set<size_t> launchesFrom(const package::PackageData &data, const DeviceProgram &program,
                              Reads how, const F &isBegin) {
  std::set<uint32_t> made;
  std::set<size_t> found;
  for (size_t i = 0; i < program.commit; ++i) {
    const Launch &launch = program.launches[i];
    bool any = false, all = !isTransfer(launch.kernel);
    eachRead(data, launch, [&](uint32_t buffer) {
      const bool from = made.contains(buffer) || isBegin(buffer);
      any |= from;
      all &= from;
    });
    const bool is = how == Reads::Any ? any : all;
    if (is)
      found.insert(i);
    eachWritten(data, launch, [&](uint32_t buffer) {
      if (is)
        made.insert(buffer);
      else
        made.erase(buffer);
    });
  }
  return found;
}

} // namespace

Result<SplitStep> SplitStep::create(Session &session) {
  SplitStep split(session);
  const std::optional<size_t> entry = session.package().findEntry("step");
  if (!entry || !session.hasEntry("step"))
    return fail(ErrorCode::E0402, "the package has no entry step to divide");
  split.entry_ = *entry;
  split.updates_.resize(split.programs().size());
  split.findScalars();
  split.findOfSlots();
  LSTMC_TRY(split.findKeys());
  LSTMC_TRY(split.findFirst());
  LSTMC_TRY(split.findRest());
  return split;
}

const package::PackageData &SplitStep::data() const { return session_->package().data(); }
const std::vector<DeviceProgram> &SplitStep::programs() const {
  return data().entries[entry_].programs;
}
const DeviceProgram &SplitStep::programOf(const Key &key) const { return programs()[key.program]; }
Device &SplitStep::deviceOf(size_t program) const {
  return *session_->impl_->devices[programs()[program].device];
}
BoundEntry &SplitStep::bound() const {
  return *std::ranges::find(session_->impl_->entries, "step", &BoundEntry::name);
}
std::string_view SplitStep::name(size_t key) const {
  return data().parameters[keys_[key].parameter].name;
}
uint32_t SplitStep::weightBuffer(size_t key) const {
  return data().parameters[keys_[key].parameter].buffers[0];
}
int64_t SplitStep::elements(size_t key) const {
  return data().buffers[weightBuffer(key)].elements();
}
std::optional<uint32_t> SplitStep::copyOn(uint32_t device,
                                          const std::vector<uint32_t> &copies) const {
  auto found = std::ranges::find(copies, device,
                                 [&](uint32_t buffer) { return data().buffers[buffer].device; });
  return found == copies.end() ? std::nullopt : std::optional(*found);
}
std::vector<uint32_t> SplitStep::slotBuffers(size_t key) const {
  std::vector<uint32_t> buffers;
  const uint32_t device = data().buffers[weightBuffer(key)].device;
  for (const package::Slot &slot : data().parameters[keys_[key].parameter].slots)
    buffers.push_back(*copyOn(device, slot.buffers));
  return buffers;
}

/// Places to which a device sends one of its scalars.
void SplitStep::findScalars() {
  const BoundEntry &entry = bound();
  auto bufferAt = [&](const MessageEnd &end) {
    const BoundProgram &program = entry.programs[end.program];
    return program.source->launches[program.segments[end.segment].launch].operands[0].buffer;
  };
  for (const BoundMessage &message : entry.messages)
    if (const uint32_t sent = bufferAt(message.send); data().buffers[sent].kind == Kind::Scalar)
      scalars_.emplace(bufferAt(message.receive), sent);
}

Status SplitStep::findKeys() {
  for (size_t parameter = 0; parameter < data().parameters.size(); ++parameter)
    for (size_t copy = 0; copy < data().parameters[parameter].buffers.size(); ++copy)
      LSTMC_TRY(findKey(parameter, copy));
  return {};
}

void SplitStep::findOfSlots() {
  for (const DeviceProgram &program : programs())
    ofSlots_.push_back(launchesFrom(data(), program, Reads::Any, [&](uint32_t buffer) {
      return data().buffers[buffer].kind == Kind::Optimizer;
    }));
}

/// From a copy of the parameter and its slots back to what others make. The first copy's device has
/// the key; what updates the others is left out.
Status SplitStep::findKey(size_t parameter, size_t copy) {
  const package::Parameter &record = data().parameters[parameter];
  const uint32_t device = data().buffers[record.buffers[copy]].device;
  const auto at = std::ranges::find(programs(), device, &DeviceProgram::device);
  if (at == programs().end())
    return {};
  std::set<uint32_t> own{record.buffers[copy]}, wanted, made;
  for (const package::Slot &slot : record.slots) {
    const std::optional<uint32_t> there = copyOn(device, slot.buffers);
    if (!there)
      return fail(ErrorCode::E0402, "{} has {} on another device, so it cannot be updated alone",
                  inQuotes(record.name), inQuotes(slot.name));
    own.insert(*there);
  }
  wanted = own;
  Key key{parameter, size_t(at - programs().begin()), {}, {}, {}};
  const std::vector<Launch> &launches = at->launches;
  const std::set<size_t> &ofSlots = ofSlots_[key.program];
  const std::set<size_t> alone = launchesFrom(data(), *at, Reads::Alone, [&](uint32_t buffer) {
    return own.contains(buffer) || data().buffers[buffer].kind == Kind::Scalar;
  });
  for (size_t i = launches.size(); i-- > 0;) {
    bool makes = false;
    eachWritten(data(), launches[i], [&](uint32_t buffer) { makes |= wanted.contains(buffer); });
    if (!makes || (i < at->commit && !ofSlots.contains(i) && !alone.contains(i)))
      continue;
    key.launches.push_back(i);
    updates_[key.program].insert(i);
    eachWritten(data(), launches[i], [&](uint32_t buffer) { made.insert(buffer); });
    eachRead(data(), launches[i], [&](uint32_t buffer) { wanted.insert(buffer); });
  }
  if (key.launches.empty() || copy > 0)
    return {};
  std::ranges::reverse(key.launches);
  const int64_t count = data().buffers[record.buffers[0]].elements();
  auto refused = [&](uint32_t buffer) {
    return fail(ErrorCode::E0402, "the update of {} touches {} {}, so it cannot be made alone",
                inQuotes(record.name), package::kKindNames[size_t(data().buffers[buffer].kind)],
                inQuotes(data().buffers[buffer].name));
  };
  if (record.auxiliary)
    return refused(record.buffers[0]);
  for (uint32_t buffer : wanted) {
    const Kind kind = data().buffers[buffer].kind;
    if (own.contains(buffer) || made.contains(buffer) || kind == Kind::Scalar)
      continue;
    if (scalars_.contains(buffer))
      key.scalars.push_back(buffer);
    else if (kind != Kind::Gradient && kind != Kind::Activation && kind != Kind::Output)
      return refused(buffer);
    else
      key.values.push_back(buffer);
  }
  for (uint32_t buffer : made)
    if (const Kind kind = data().buffers[buffer].kind;
        !own.contains(buffer) && (kind == Kind::Parameter || kind == Kind::Auxiliary ||
                                  kind == Kind::Optimizer || kind == Kind::State))
      return refused(buffer);
  for (size_t launch : key.launches) {
    if (isTransfer(launches[launch].kernel))
      return fail(ErrorCode::E0402,
                  "{} is updated by what devices send one another, so its update cannot be made "
                  "alone",
                  inQuotes(record.name));
    key.divisible &= isElementwise(launches[launch], count);
  }
  LSTMC_TRY(checkKey(key));
  keys_.push_back(std::move(key));
  return {};
}

/// All values are there before the first launch, which may be earlier than they were made: then
/// none may be where another one is, or where a launch before its last reader writes.
Status SplitStep::checkKey(const Key &key) const {
  const std::vector<Launch> &launches = programOf(key).launches;
  std::set<uint32_t> readLater;
  auto refused = [&](uint32_t value) {
    return fail(ErrorCode::E0402, "{}, which the update of {} reads, has memory of other values",
                inQuotes(data().buffers[value].name),
                inQuotes(data().parameters[key.parameter].name));
  };
  for (size_t i = key.launches.size(); i-- > 0;) {
    std::optional<uint32_t> hit;
    eachWritten(data(), launches[key.launches[i]], [&](uint32_t written) {
      for (uint32_t value : readLater)
        if (written != value && overlap(written, value))
          hit = value;
    });
    if (hit)
      return refused(*hit);
    eachRead(data(), launches[key.launches[i]], [&](uint32_t buffer) {
      if (std::ranges::find(key.values, buffer) != key.values.end())
        readLater.insert(buffer);
    });
  }
  for (uint32_t value : key.values)
    for (uint32_t other : key.values)
      if (value != other && overlap(value, other))
        return refused(value);
  return {};
}

bool SplitStep::overlap(uint32_t a, uint32_t b) const {
  const package::Buffer &one = data().buffers[a], &other = data().buffers[b];
  return one.device == other.device && one.offset < other.offset + other.bytes &&
         other.offset < one.offset + one.bytes;
}

bool SplitStep::isBroadcast(const package::Operand &operand) {
  return !operand.strides.empty() &&
         std::ranges::all_of(operand.strides, [](int64_t stride) { return stride == 0; });
}

/// Whether element i of what it writes depends on element i of what it reads alone.
bool SplitStep::isElementwise(const Launch &launch, int64_t elements) const {
  if (launch.kernel != KernelId::Fused || !launch.pieces.empty() ||
      !argumentsOf<FusedArguments>(launch).window.empty())
    return false;
  return std::ranges::all_of(launch.operands, [&](const package::Operand &operand) {
    return isBroadcast(operand) || (operand.offset == 0 && operand.strides.empty() &&
                                    data().buffers[operand.buffer].elements() == elements);
  });
}

/// What is before `commit`, without launches of updates alone: they would write over gradients.
Status SplitStep::findFirst() {
  package::Entry first{.name = "step", .inputs = {}, .outputs = {}, .programs = {}};
  bool all = true;
  for (size_t program = 0; program < programs().size(); ++program) {
    const DeviceProgram &source = programs()[program];
    std::set<uint32_t> needed; // by what follows and is no update's
    for (const Key &key : keys_)
      if (key.program == program)
        needed.insert(key.values.begin(), key.values.end());
    std::vector<Launch> launches;
    bool whole = true; // up to `commit`
    for (size_t i = source.launches.size(); i-- > 0;) {
      const Launch &launch = source.launches[i];
      bool stays = !updates_[program].contains(i);
      eachWritten(data(), launch, [&](uint32_t buffer) {
        stays |= i < source.commit &&
                 (needed.contains(buffer) || data().buffers[buffer].kind == Kind::Output);
      });
      if (stays && ofSlots_[program].contains(i))
        return fail(ErrorCode::E0402,
                    "{} needs slots of the optimizer before `commit` and is no update, so updates "
                    "cannot be made alone",
                    inQuotes(kernelRecord(launch.kernel).name));
      if (!stays) {
        whole &= i >= source.commit;
        continue;
      }
      eachRead(data(), launch, [&](uint32_t buffer) { needed.insert(buffer); });
      if (i < source.commit)
        launches.push_back(launch);
    }
    std::ranges::reverse(launches);
    if (!whole)
      putOnOneStream(launches);
    all &= whole;
    const auto commit = uint32_t(launches.size());
    first.programs.push_back({source.device, std::move(launches), commit});
  }
  if (all)
    return {};
  for (size_t program = 0; program < programs().size(); ++program)
    LSTMC_TRY(checkKept(first.programs[program], program));
  LSTMC_ASSIGN(first_, bindPart(std::move(first)));
  return {};
}

/// Whether values that updates read outlive that program, though what reads them is not in it.
Status SplitStep::checkKept(const DeviceProgram &program, size_t index) const {
  for (const Key &key : keys_) {
    if (key.program != index)
      continue;
    for (uint32_t value : key.values) {
      bool made = false;
      for (size_t i = program.launches.size(); i-- > 0 && !made;) {
        bool hit = false;
        eachWritten(data(), program.launches[i], [&](uint32_t buffer) {
          made |= buffer == value;
          hit |= buffer != value && overlap(buffer, value);
        });
        if (hit && !made)
          return fail(ErrorCode::E0402,
                      "{}, which the update of {} reads, is written over before `commit`",
                      inQuotes(data().buffers[value].name),
                      inQuotes(data().parameters[key.parameter].name));
      }
    }
  }
  return {};
}

/// What no key needs; it reads nothing that a key's launches make, so it can be run before them,
/// once what they read is somewhere else: it may have the memory of that.
Status SplitStep::findRest() {
  std::set<uint32_t> updated;
  for (size_t program = 0; program < programs().size(); ++program)
    for (size_t launch : updates_[program])
      if (launch >= programs()[program].commit) // what it needs of earlier ones is still made
        eachWritten(data(), programs()[program].launches[launch],
                    [&](uint32_t buffer) { updated.insert(buffer); });
  package::Entry rest{.name = "step", .inputs = {}, .outputs = {}, .programs = {}};
  bool any = false;
  for (size_t program = 0; program < programs().size(); ++program) {
    const DeviceProgram &source = programs()[program];
    DeviceProgram &own = rest.programs.emplace_back(DeviceProgram{source.device, {}, 0});
    for (size_t i = source.commit; i < source.launches.size(); ++i) {
      if (updates_[program].contains(i))
        continue;
      const Launch &launch = source.launches[i];
      bool reads = false;
      eachRead(data(), launch, [&](uint32_t buffer) { reads |= updated.contains(buffer); });
      if (reads)
        return fail(ErrorCode::E0402,
                    "{} reads what there is after the update, so that cannot be made alone",
                    inQuotes(kernelRecord(launch.kernel).name));
      own.launches.push_back(launch);
      any = true;
    }
  }
  if (any) {
    for (DeviceProgram &program : rest.programs)
      putOnOneStream(program.launches);
    LSTMC_ASSIGN(rest_, bindPart(std::move(rest)));
  }
  return {};
}

/// Messages go by the ways that those of `step` have.
Result<BoundEntry *> SplitStep::bindPart(package::Entry source) {
  Session::Impl &impl = *session_->impl_;
  auto part = std::make_unique<PartialEntry>(std::move(source), BoundEntry());
  LSTMC_ASSIGN(part->bound, bindEntry(session_->package(), entry_, part->source, impl.devices));
  for (BoundMessage &message : part->bound.messages)
    message.id = std::ranges::find(bound().messages, message.message.number, [](auto &known) {
                   return known.message.number;
                 })->id;
  LSTMC_ASSIGN(part->bound.shared, SharedGraph::of(part->bound, impl.devices, *impl.transport));
  BoundEntry *bound = &part->bound;
  impl.partial.push_back(std::move(part)); // the watchdog may still look at it
  return bound;
}

Status SplitStep::gradients() {
  Session::Impl &impl = *session_->impl_;
  BoundEntry &entry = bound();
  const auto index = size_t(&entry - impl.entries.data());
  impl.views->giveBack(index);
  impl.beginRun();
  Status status = impl.runToCommit(entry, first_);
  impl.views->take(index);
  return status;
}

Status SplitStep::rest() { return rest_ ? session_->impl_->runPart(*rest_, Part::All) : Status(); }

} // namespace lstmc::session

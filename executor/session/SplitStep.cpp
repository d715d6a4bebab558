#include "executor/session/SplitStep.h"

#include <algorithm>
#include <array>

#include "executor/base/Quote.h"
#include "executor/session/Binding.h"
#include "executor/session/SessionImpl.h"

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

bool isBroadcast(const package::Operand &operand) {
  return !operand.strides.empty() &&
         std::ranges::all_of(operand.strides, [](int64_t stride) { return stride == 0; });
}

} // namespace

Result<SplitStep> SplitStep::create(Session &session) {
  SplitStep split(session);
  const std::optional<size_t> entry = session.package().findEntry("step");
  if (!entry || !session.hasEntry("step"))
    return fail(ErrorCode::E0402, "the package has no entry step to divide");
  split.entry_ = *entry;
  split.rest_.resize(split.programs().size());
  split.updates_.resize(split.programs().size());
  split.findScalars();
  LSTMC_TRY(split.findKeys());
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

/// From a copy of the parameter and its slots back to what was there at `commit`. The first copy's
/// device has the key; what updates the others is left out.
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
  for (size_t i = launches.size(); i-- > at->commit;) {
    bool makes = false;
    eachWritten(data(), launches[i], [&](uint32_t buffer) { makes |= wanted.contains(buffer); });
    if (!makes)
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
  keys_.push_back(std::move(key));
  return {};
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

/// Whether memory of a value that an update reads is in the buffer.
bool SplitStep::holdsValues(uint32_t index) const {
  const package::Buffer &buffer = data().buffers[index];
  return std::ranges::any_of(keys_, [&](const Key &key) {
    return std::ranges::any_of(key.values, [&](uint32_t value) {
      const package::Buffer &held = data().buffers[value];
      return held.device == buffer.device && held.offset < buffer.offset + buffer.bytes &&
             buffer.offset < held.offset + held.bytes;
    });
  });
}

/// What no key needs; it reads nothing that a key's launches make, and spares what they read.
Status SplitStep::findRest() {
  std::set<uint32_t> updated;
  for (size_t program = 0; program < programs().size(); ++program)
    for (size_t launch : updates_[program])
      eachWritten(data(), programs()[program].launches[launch],
                  [&](uint32_t buffer) { updated.insert(buffer); });
  for (size_t program = 0; program < programs().size(); ++program) {
    const DeviceProgram &source = programs()[program];
    std::vector<LaunchSpec> specs;
    for (size_t i = source.commit; i < source.launches.size(); ++i) {
      if (updates_[program].contains(i))
        continue;
      const Launch &launch = source.launches[i];
      if (isTransfer(launch.kernel))
        return fail(
            ErrorCode::E0402,
            "{} {} goes from device to device after the update, so it cannot be made alone; "
            "rows shared by devices do not do that, layers that carry states do",
            package::kKindNames[size_t(data().buffers[launch.operands[0].buffer].kind)],
            inQuotes(data().buffers[launch.operands[0].buffer].name));
      bool depends = false;
      eachRead(data(), launch, [&](uint32_t buffer) { depends |= updated.contains(buffer); });
      eachWritten(data(), launch, [&](uint32_t buffer) { depends |= holdsValues(buffer); });
      if (depends)
        return fail(
            ErrorCode::E0402,
            "{} after the update depends on it or has its memory, so it cannot be made alone",
            inQuotes(kernelRecord(launch.kernel).name));
      specs.push_back(bind(session_->package(), launch, deviceOf(program)));
    }
    LSTMC_ASSIGN(rest_[program], deviceOf(program).prepare(std::move(specs)));
  }
  return {};
}

Status SplitStep::gradients() {
  Session::Impl &impl = *session_->impl_;
  BoundEntry &entry = bound();
  const auto index = size_t(&entry - impl.entries.data());
  impl.views->giveBack(index);
  impl.beginRun();
  Status status = impl.runToCommit(entry);
  for (size_t program = 0; program < rest_.size() && status.ok(); ++program)
    deviceOf(program).run(*rest_[program], 0, rest_[program]->size());
  impl.views->take(index);
  return status;
}

void SplitStep::weightsWritten() { ++session_->impl_->parametersVersion; }

//===---- the bytes of a part -----------------------------------------------------------------===//

MemoryRange SplitStep::rangeOf(const KeyPart &part, uint32_t index) const {
  const package::Buffer &buffer = data().buffers[index];
  const auto size = uint64_t(dtypeBytes(buffer.dtype));
  Device &device = *session_->impl_->devices[buffer.device];
  if (buffer.elements() != elements(part.key))
    return MemoryRange(device, buffer.offset, uint64_t(buffer.elements()) * size);
  return MemoryRange(device, buffer.offset + uint64_t(part.first) * size,
                     uint64_t(part.count) * size);
}

uint64_t SplitStep::valuesBytes(const KeyPart &part) const {
  uint64_t bytes = 0;
  for (uint32_t buffer : keys_[part.key].values)
    bytes += rangeOf(part, buffer).size();
  return bytes;
}

std::vector<uint64_t> SplitStep::valueSizes(const KeyPart &part) const {
  std::vector<uint64_t> sizes;
  for (uint32_t buffer : keys_[part.key].values)
    sizes.push_back(rangeOf(part, buffer).size());
  return sizes;
}

Result<MemoryRange> SplitStep::gradient(size_t key) const {
  std::vector<uint32_t> found;
  for (uint32_t index : keys_[key].values)
    if (const package::Buffer &buffer = data().buffers[index];
        buffer.dtype == DType::F32 && buffer.elements() == elements(key))
      found.push_back(index);
  if (found.size() > 1) // a factor that clips has one element, as some parameters have
    std::erase_if(found,
                  [&](uint32_t index) { return data().buffers[index].kind != Kind::Gradient; });
  if (found.size() != 1)
    return fail(ErrorCode::E0402,
                "the gradient of {} cannot be compressed by itself: its update reads {} arrays of "
                "{} float32 elements, want one",
                inQuotes(name(key)), found.size(), elements(key));
  return rangeOf(whole(key), found[0]);
}

void SplitStep::readValues(const KeyPart &part, std::span<std::byte> into) const {
  for (uint32_t buffer : keys_[part.key].values) {
    const MemoryRange range = rangeOf(part, buffer);
    range.read(0, into.first(range.size()));
    into = into.subspan(range.size());
  }
}

uint64_t SplitStep::weightsBytes(const KeyPart &part) const {
  return rangeOf(part, weightBuffer(part.key)).size();
}

void SplitStep::readWeights(const KeyPart &part, std::span<std::byte> into) const {
  rangeOf(part, weightBuffer(part.key)).read(0, into);
}

void SplitStep::writeWeights(const KeyPart &part, std::span<const std::byte> from) {
  for (uint32_t copy : data().parameters[keys_[part.key].parameter].buffers)
    rangeOf(part, copy).write(0, from);
}

uint64_t SplitStep::slotsBytes(const KeyPart &part) const {
  uint64_t bytes = 0;
  for (uint32_t buffer : slotBuffers(part.key))
    bytes += rangeOf(part, buffer).size();
  return bytes;
}

void SplitStep::readSlots(const KeyPart &part, std::span<std::byte> into) const {
  for (uint32_t buffer : slotBuffers(part.key)) {
    const MemoryRange range = rangeOf(part, buffer);
    range.read(0, into.first(range.size()));
    into = into.subspan(range.size());
  }
}

void SplitStep::writeSlots(const KeyPart &part, std::span<const std::byte> from) {
  for (const package::Slot &slot : data().parameters[keys_[part.key].parameter].slots) {
    const auto bytes = from.first(rangeOf(part, slot.buffers[0]).size());
    for (uint32_t copy : slot.buffers)
      rangeOf(part, copy).write(0, bytes);
    from = from.subspan(bytes.size());
  }
}

//===---- the update of a part ----------------------------------------------------------------===//

Result<std::unique_ptr<PreparedProgram>> SplitStep::prepare(const KeyPart &part) {
  const Key &key = keys_[part.key];
  Device &device = deviceOf(key.program);
  std::vector<LaunchSpec> specs;
  for (size_t launch : key.launches) {
    LaunchSpec spec = bind(session_->package(), programOf(key).launches[launch], device);
    for (size_t k = 0; k < spec.operands.size() && part.count != elements(part.key); ++k) {
      const package::Operand &operand = programOf(key).launches[launch].operands[k];
      Tensor &tensor = spec.operands[k];
      tensor.rank = 1;
      tensor.shape[0] = part.count;
      tensor.strides[0] = isBroadcast(operand) ? 0 : 1;
      if (!isBroadcast(operand))
        tensor.data =
            static_cast<std::byte *>(tensor.data) + uint64_t(part.first) * dtypeBytes(tensor.dtype);
    }
    specs.push_back(std::move(spec));
  }
  return device.prepare(std::move(specs));
}

void SplitStep::update(const KeyPart &part, PreparedProgram &prepared,
                       std::span<const std::byte> values) {
  const Key &key = keys_[part.key];
  for (uint32_t buffer : key.values) {
    const MemoryRange range = rangeOf(part, buffer);
    range.write(0, values.first(range.size()));
    values = values.subspan(range.size());
  }
  for (const ScalarInput &scalar : bound().scalars)
    scalar.write();
  for (uint32_t place : key.scalars)
    copyScalar(scalars_.at(place), place);
  deviceOf(key.program).run(prepared, 0, prepared.size());
}

/// As `step` would send it from device to device.
void SplitStep::copyScalar(uint32_t from, uint32_t to) const {
  std::array<std::byte, 8> bytes{};
  auto range = [&](uint32_t index) {
    const package::Buffer &buffer = data().buffers[index];
    return MemoryRange(*session_->impl_->devices[buffer.device], buffer.offset,
                       dtypeBytes(buffer.dtype));
  };
  const auto value = std::span(bytes).first(range(from).size());
  range(from).read(0, value);
  range(to).write(0, value);
}

} // namespace lstmc::session

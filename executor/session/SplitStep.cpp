#include "executor/session/SplitStep.h"

#include <algorithm>
#include <set>

#include "executor/base/Quote.h"
#include "executor/session/Binding.h"
#include "executor/session/SessionImpl.h"

namespace lstmc::session {

namespace {

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
  if (split.data().devices.size() != 1)
    return fail(ErrorCode::E0402, "step of {} devices cannot be divided into gradients and updates",
                split.data().devices.size());
  LSTMC_TRY(split.findKeys());
  LSTMC_TRY(split.findRest());
  return split;
}

const package::PackageData &SplitStep::data() const { return session_->package().data(); }
const package::DeviceProgram &SplitStep::program() const {
  return data().entries[entry_].programs[0];
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
std::vector<uint32_t> SplitStep::slotBuffers(size_t key) const {
  std::vector<uint32_t> buffers;
  for (const package::Slot &slot : data().parameters[keys_[key].parameter].slots)
    buffers.push_back(slot.buffers[0]);
  return buffers;
}

Status SplitStep::findKeys() {
  for (size_t parameter = 0; parameter < data().parameters.size(); ++parameter)
    LSTMC_TRY(findKey(parameter));
  return {};
}

/// From the parameter and its slots back to what was there at `commit`.
Status SplitStep::findKey(size_t parameter) {
  const package::Parameter &record = data().parameters[parameter];
  std::set<uint32_t> own{record.buffers[0]}, wanted, made;
  for (const package::Slot &slot : record.slots)
    own.insert(slot.buffers[0]);
  wanted = own;
  Key key{parameter, {}, {}};
  const std::vector<Launch> &launches = program().launches;
  for (size_t i = launches.size(); i-- > program().commit;) {
    bool makes = false;
    eachWritten(data(), launches[i], [&](uint32_t buffer) { makes |= wanted.contains(buffer); });
    if (!makes)
      continue;
    key.launches.push_back(i);
    eachWritten(data(), launches[i], [&](uint32_t buffer) { made.insert(buffer); });
    eachRead(data(), launches[i], [&](uint32_t buffer) { wanted.insert(buffer); });
  }
  if (key.launches.empty())
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
    if (kind != Kind::Gradient && kind != Kind::Activation && kind != Kind::Output)
      return refused(buffer);
    key.values.push_back(buffer);
  }
  for (uint32_t buffer : made)
    if (const Kind kind = data().buffers[buffer].kind;
        !own.contains(buffer) && (kind == Kind::Parameter || kind == Kind::Auxiliary ||
                                  kind == Kind::Optimizer || kind == Kind::State))
      return refused(buffer);
  for (size_t launch : key.launches)
    key.divisible &= isElementwise(launches[launch], count);
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

/// What no key needs; it reads nothing that a key's launches make.
Status SplitStep::findRest() {
  std::set<size_t> updates;
  std::set<uint32_t> updated;
  for (const Key &key : keys_)
    for (size_t launch : key.launches) {
      updates.insert(launch);
      eachWritten(data(), program().launches[launch],
                  [&](uint32_t buffer) { updated.insert(buffer); });
    }
  std::vector<LaunchSpec> specs;
  Device &device = *session_->impl_->devices[0];
  for (size_t i = program().commit; i < program().launches.size(); ++i) {
    if (updates.contains(i))
      continue;
    const Launch &launch = program().launches[i];
    bool depends = false;
    eachRead(data(), launch, [&](uint32_t buffer) { depends |= updated.contains(buffer); });
    if (depends)
      return fail(ErrorCode::E0402, "{} after the update depends on it, so it cannot be made alone",
                  inQuotes(kernelRecord(launch.kernel).name));
    rest_.push_back(i);
    specs.push_back(bind(session_->package(), launch, device));
  }
  LSTMC_ASSIGN(restProgram_, device.prepare(std::move(specs)));
  return {};
}

Status SplitStep::gradients() {
  Session::Impl &impl = *session_->impl_;
  BoundEntry &entry = *std::ranges::find(impl.entries, "step", &BoundEntry::name);
  const auto index = size_t(&entry - impl.entries.data());
  impl.views->giveBack(index);
  impl.beginRun();
  Status status = impl.runToCommit(entry);
  if (status.ok())
    impl.devices[0]->run(*restProgram_, 0, restProgram_->size());
  impl.views->take(index);
  return status;
}

//===---- the bytes of a part -----------------------------------------------------------------===//

MemoryRange SplitStep::rangeOf(const KeyPart &part, uint32_t index) const {
  const package::Buffer &buffer = data().buffers[index];
  const auto size = uint64_t(dtypeBytes(buffer.dtype));
  Device &device = *session_->impl_->devices[0];
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
  rangeOf(part, weightBuffer(part.key)).write(0, from);
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
  for (uint32_t buffer : slotBuffers(part.key)) {
    const MemoryRange range = rangeOf(part, buffer);
    range.write(0, from.first(range.size()));
    from = from.subspan(range.size());
  }
}

//===---- the update of a part ----------------------------------------------------------------===//

Result<std::unique_ptr<PreparedProgram>> SplitStep::prepare(const KeyPart &part) {
  Device &device = *session_->impl_->devices[0];
  std::vector<LaunchSpec> specs;
  for (size_t launch : keys_[part.key].launches) {
    LaunchSpec spec = bind(session_->package(), program().launches[launch], device);
    for (size_t k = 0; k < spec.operands.size() && part.count != elements(part.key); ++k) {
      const package::Operand &operand = program().launches[launch].operands[k];
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
  Session::Impl &impl = *session_->impl_;
  for (uint32_t buffer : keys_[part.key].values) {
    const MemoryRange range = rangeOf(part, buffer);
    range.write(0, values.first(range.size()));
    values = values.subspan(range.size());
  }
  const BoundEntry &entry = *std::ranges::find(impl.entries, "step", &BoundEntry::name);
  for (const ScalarInput &scalar : entry.scalars)
    scalar.write();
  impl.devices[0]->run(prepared, 0, prepared.size());
}

} // namespace lstmc::session

// What all processes of a job do together for a session, and what a session says of its devices:
// hashes, replicas, memory.
#include <algorithm>
#include <cstring>

#include "executor/base/Hash.h"
#include "executor/base/NumberText.h"
#include "executor/base/Pages.h"
#include "executor/session/Binding.h"
#include "executor/session/IndexWarning.h"
#include "executor/session/RemoteDevice.h"
#include "executor/session/SessionImpl.h"

namespace lstmc {

using package::PackageData;

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
Standing Session::standing() const { return impl_->watchdog->standing(); }

uint64_t Session::givenHash() const { return impl_->given; }

/// What each number is in the process that has its device.
Result<std::vector<uint64_t>>
Session::Impl::gatherNumbers(const std::vector<uint64_t> &mine,
                             std::span<const uint32_t> deviceOf) const {
  std::string bytes(mine.size() * sizeof(uint64_t), '\0');
  std::memcpy(bytes.data(), mine.data(), bytes.size());
  LSTMC_ASSIGN(std::vector<std::string> all, options.peers->gather(bytes));
  std::vector<uint64_t> numbers(mine.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const std::string &said = all[size_t(options.peers->rankOf(deviceOf[i], devices.size()))];
    if (said.size() != bytes.size())
      return fail(ErrorCode::E0804, "ranks count {} and {} numbers", said.size() / sizeof(uint64_t),
                  mine.size());
    std::memcpy(&numbers[i], said.data() + i * sizeof(uint64_t), sizeof(uint64_t));
  }
  return numbers;
}

// ---- reports ----

std::string Session::Impl::lastUpdate() const {
  for (const session::BoundEntry &entry : entries)
    for (const session::ScalarInput &scalar : entry.scalars)
      if (scalar.name == "update")
        return "after update " + grouped(scalar.integer);
  return "now";
}

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
                 impl_->gatherNumbers(impl_->replicas->hashes(), impl_->replicas->devices()));
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
  auto gathered = impl_->gatherNumbers(hashes, deviceOf);
  return gathered.ok() ? *gathered : hashes; // of this process, if the job has failed
}

uint64_t Session::weightsHash() const { return combineHashes(weightHashes()); }

std::vector<DevicePeak> Session::peaks() const {
  std::vector<DevicePeak> peaks;
  for (size_t i = 0; i < impl_->devices.size(); ++i) {
    const Device &device = *impl_->devices[i];
    if (session::isRemote(device))
      continue;
    DevicePeak &peak =
        peaks.emplace_back(DevicePeak{device.name(), impl_->arenaBytes(i), device.touchedBytes()});
    // Messages of others are in the host's memory, not in theirs.
    (device.hostVisible() ? peak.plannedBytes : peak.plannedOfHost) += impl_->messageBytes(i);
    (device.hostVisible() ? peak.touchedBytes : peak.heldOfHost) += impl_->transport->bytes(i);
  }
  return peaks;
}

Result<Diagnostics> Session::indexWarning() const {
  std::vector<const session::IndexCounter::Count *> counts;
  std::vector<uint64_t> totals;
  std::vector<uint32_t> deviceOf;
  for (const session::BoundEntry &entry : impl_->entries)
    for (const session::BoundProgram &program : entry.programs)
      if (program.indices)
        for (const session::IndexCounter::Count &count : program.indices->counts()) {
          counts.push_back(&count);
          totals.push_back(count.outside);
          deviceOf.push_back(uint32_t(program.device));
        }
  if (impl_->options.peers && !counts.empty()) {
    LSTMC_ASSIGN(totals, impl_->gatherNumbers(totals, deviceOf));
  }
  return session::describe(package().data(), counts, totals);
}

MemoryUse Session::memory() const {
  MemoryUse use{peaks(), peakResidentBytes()};
  auto peak = use.devices.begin();
  for (const std::shared_ptr<Device> &device : impl_->devices) {
    if (session::isRemote(*device))
      continue;
    if (device->hostVisible())
      use.residentBeyondBytes -= std::min(use.residentBeyondBytes, peak->touchedBytes);
    ++peak;
  }
  return use;
}

} // namespace lstmc

#include "executor/session/Replicas.h"

#include <algorithm>

#include "executor/base/Quote.h"
#include "executor/session/Binding.h"
#include "executor/session/NonFinite.h"

namespace lstmc::session {

Replicas::Replicas(const package::Package &package, const Devices &devices) : package_(package) {
  for (const package::Parameter &parameter : package.data().parameters) {
    if (parameter.buffers.size() < 2)
      continue;
    Value value{&parameter, {}};
    for (uint32_t index : parameter.buffers) {
      const package::Buffer &buffer = package.data().buffers[index];
      DeviceTensor copy = view(buffer, *devices[buffer.device]);
      value.copies.push_back({buffer.device, {parameter.name, copy.layout, {copy.range}}});
    }
    values_.push_back(std::move(value));
  }
}

void Replicas::hash(size_t device) {
  for (Value &value : values_)
    for (Copy &copy : value.copies)
      if (copy.device == device)
        copy.hash = copy.value.hash();
}

std::vector<uint64_t> Replicas::hashes() const {
  std::vector<uint64_t> hashes;
  for (const Value &value : values_)
    for (const Copy &copy : value.copies)
      hashes.push_back(copy.hash);
  return hashes;
}

std::vector<uint32_t> Replicas::devices() const {
  std::vector<uint32_t> devices;
  for (const Value &value : values_)
    for (const Copy &copy : value.copies)
      devices.push_back(copy.device);
  return devices;
}

void Replicas::setHashes(const std::vector<uint64_t> &hashes) {
  size_t next = 0;
  for (Value &value : values_)
    for (Copy &copy : value.copies)
      copy.hash = hashes[next++];
}

Status Replicas::compare(std::string_view when) const {
  for (const Value &value : values_) {
    auto differs = [&](const Copy &copy) { return copy.hash != value.copies[0].hash; };
    if (std::ranges::none_of(value.copies, differs))
      continue;
    // Groups devices by hash, so that the odd one of three is seen.
    std::string text;
    std::vector<bool> told(value.copies.size());
    for (size_t i = 0; i < value.copies.size(); ++i) {
      if (told[i])
        continue;
      text += fmt::format("{}{:016x} on ", text.empty() ? "" : "; ", value.copies[i].hash);
      for (size_t j = i; j < value.copies.size(); ++j)
        if (value.copies[j].hash == value.copies[i].hash) {
          told[j] = true;
          text += (j == i ? "" : ", ") + package_.data().devices[value.copies[j].device].name;
        }
    }
    return failAt(placeOf(package_.location(value.parameter->location)), ErrorCode::E0702,
                  "parameter {} differs {}: {}", inQuotes(value.parameter->name), when, text);
  }
  return {};
}

} // namespace lstmc::session

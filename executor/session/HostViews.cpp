#include "executor/session/HostViews.h"

#include <algorithm>
#include <utility>

#include "executor/session/Binding.h"

namespace lstmc::session {

HostViews::HostViews(const package::Package &package, const Devices &devices)
    : package_(package), devices_(devices), endAtCommit_(package.data().entries.size()) {}

const HostViews::Copy *HostViews::find(uint32_t buffer, Kept kept) const {
  auto found = std::ranges::find_if(
      copies_, [&](const Copy &copy) { return copy.buffer == buffer && copy.kept == kept; });
  return found == copies_.end() ? nullptr : &*found;
}

std::vector<bool> HostViews::entriesOf(uint32_t buffer, Kept kept) const {
  std::vector<bool> entries;
  for (const package::Entry &entry : package_.data().entries) {
    const auto &bindings = kept == Kept::Output ? entry.outputs : entry.inputs;
    const bool has =
        std::ranges::find(bindings, buffer, &package::Binding::buffer) != bindings.end();
    entries.push_back(kept == Kept::UntilRun || kept == Kept::State || has);
  }
  return entries;
}

StoredTensor HostViews::inMemory(std::string name, const Value &value) const {
  const std::vector<package::Buffer> &buffers = package_.data().buffers;
  std::vector<MemoryRange> ranges;
  for (uint32_t index : value.buffers)
    ranges.push_back(session::view(buffers[index], *devices_[buffers[index].device]).range);
  return {std::move(name), layoutOf(buffers[value.buffers[0]].dtype, value.shape.shape),
          std::move(ranges)};
}

StoredTensor HostViews::stored(std::string name, const Value &value) const {
  StoredTensor stored = inMemory(std::move(name), value);
  for (Kept kept : {Kept::UntilRun, Kept::State, Kept::Input})
    if (const Copy *copy = find(value.buffers[0], kept))
      return {std::move(stored.name), stored.tensor, {MemoryRange(copy->span())}};
  return stored;
}

Tensor HostViews::view(const Value &value, Kept kept) {
  const package::Buffer &first = package_.data().buffers[value.buffers[0]];
  const Device &device = *devices_[first.device];
  if (value.buffers.size() == 1 && device.hostVisible())
    return bind(first, device); // asked at every step, so nothing is allocated here
  const Copy *copy = find(value.buffers[0], kept);
  if (!copy) {
    StoredTensor memory = inMemory({}, value);
    const uint64_t bytes =
        std::max<uint64_t>(memory.bytes(), 1); // an empty one needs an address too
    copies_.push_back({value.buffers[0], kept, entriesOf(value.buffers[0], kept), std::move(memory),
                       std::make_unique<std::byte[]>(size_t(bytes))});
    copy = &copies_.back();
    copy->memory.read(copy->span());
  }
  Tensor tensor = copy->memory.tensor;
  tensor.data = copy->bytes.get();
  return tensor;
}

void HostViews::giveBack(size_t entry) {
  const bool there = std::exchange(given_, std::nullopt) == entry;
  for (const Copy &copy : copies_)
    if (copy.kept != Kept::Output && copy.entries[entry] && !(there && copy.kept == Kept::Input))
      copy.memory.write(copy.span());
  forget();
}

static bool endAtCommit(const package::PackageData &data, const package::Entry &entry) {
  auto meet = [](const package::Buffer &a, const package::Buffer &b) {
    return a.device == b.device && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
  };
  auto isInput = [&](const package::Operand &operand) {
    return operand.buffer != package::kNoBuffer &&
           std::ranges::any_of(entry.inputs, [&](const package::Binding &input) {
             return input.role != "scalar" &&
                    meet(data.buffers[operand.buffer], data.buffers[input.buffer]);
           });
  };
  auto usesInput = [&](const package::Launch &launch) {
    return std::ranges::any_of(launch.operands, isInput);
  };
  return std::ranges::none_of(entry.programs, [&](const package::DeviceProgram &program) {
    return std::any_of(program.launches.begin() + program.commit, program.launches.end(),
                       usesInput);
  });
}

bool HostViews::inputsEndAtCommit(size_t entry) {
  if (!endAtCommit_[entry])
    endAtCommit_[entry] = endAtCommit(package_.data(), package_.data().entries[entry]);
  return *endAtCommit_[entry] && std::ranges::any_of(copies_, [&](const Copy &copy) {
    return copy.kept == Kept::Input && copy.entries[entry];
  });
}

void HostViews::giveInputs(size_t entry) {
  for (const Copy &copy : copies_)
    if (copy.kept == Kept::Input && copy.entries[entry])
      copy.memory.write(copy.span());
  given_ = entry;
}

void HostViews::settle() {
  for (const Copy &copy : copies_)
    if (copy.kept == Kept::UntilRun || copy.kept == Kept::State)
      copy.memory.write(copy.span());
  forget();
}

void HostViews::take(size_t entry) {
  for (const Copy &copy : copies_)
    if ((copy.kept == Kept::State || copy.kept == Kept::Output) && copy.entries[entry])
      copy.memory.read(copy.span());
}

void HostViews::takeStates() {
  for (const Copy &copy : copies_)
    if (copy.kept == Kept::State)
      copy.memory.read(copy.span());
}

void HostViews::forget() {
  std::erase_if(copies_, [](const Copy &copy) { return copy.kept == Kept::UntilRun; });
}

} // namespace lstmc::session

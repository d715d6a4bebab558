#include "executor/session/HostViews.h"

#include <algorithm>
#include <utility>

#include "executor/session/Binding.h"
#include "executor/session/RemoteDevice.h"

namespace lstmc::session {

HostViews::HostViews(const package::Package &package, const Devices &devices)
    : package_(package), devices_(devices), ahead_(package.data().entries.size()) {}

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

/// By entry, whether it has come to a `commit` when the buffer is written for the last time.
static std::vector<bool> readyAtCommit(const package::PackageData &data, uint32_t buffer) {
  std::vector<bool> ready;
  for (const package::Entry &entry : data.entries)
    ready.push_back(std::ranges::none_of(entry.programs, [&](const package::DeviceProgram &p) {
      return std::any_of(
          p.launches.begin() + p.commit, p.launches.end(), [&](const package::Launch &launch) {
            for (size_t i = 0; i < launch.operands.size(); ++i)
              if (launch.operands[i].buffer == buffer && package::writes(data, launch, i))
                return true;
            return false;
          });
    }));
  return ready;
}

Tensor HostViews::view(const Value &value, Kept kept) {
  const package::Buffer &first = package_.data().buffers[value.buffers[0]];
  const Device &device = *devices_[first.device];
  if (value.buffers.size() == 1 && device.hostVisible())
    return bind(first, device); // asked at every step, so nothing is allocated here
  if (kept == Kept::Input)
    given_.reset(); // what is written there from now on counts
  const Copy *copy = find(value.buffers[0], kept);
  if (!copy) {
    StoredTensor memory = inMemory({}, value);
    const uint64_t bytes =
        std::max<uint64_t>(memory.bytes(), 1); // an empty one needs an address too
    copies_.push_back({value.buffers[0], kept, entriesOf(value.buffers[0], kept), std::move(memory),
                       std::make_unique<std::byte[]>(size_t(bytes))});
    Copy &made = copies_.back();
    made.memory.read(made.span());
    if (kept == Kept::Input)
      made.next = nextOf(made.buffer);
    if (kept == Kept::Output)
      made.readyAtCommit = readyAtCommit(package_.data(), made.buffer);
    if (kept != Kept::UntilRun && made.memory.ranges.size() == 1)
      made.pin = pinFor(dynamic_cast<HostPinner *>(devices_[first.device].get()), made.span());
    copy = &made;
  }
  Tensor tensor = copy->memory.tensor;
  tensor.data = copy->bytes.get();
  return tensor;
}

void HostViews::giveBack(size_t entry) {
  const bool there = std::exchange(given_, std::nullopt) == entry;
  for (Copy &copy : copies_) {
    copy.begun = false;
    if (copy.kept == Kept::Output || !copy.entries[entry])
      continue;
    if (!there || copy.kept != Kept::Input) {
      copy.memory.write(copy.span());
    } else if (copy.next) {
      const std::vector<package::Buffer> &buffers = package_.data().buffers;
      copierOf(copy).copyWithin(buffers[copy.buffer].offset, buffers[*copy.next].offset,
                                copy.memory.bytes());
    }
  }
  forget();
}

std::optional<uint32_t> HostViews::nextOf(uint32_t input) const {
  const std::vector<package::Buffer> &buffers = package_.data().buffers;
  auto next = std::ranges::find(buffers, input, &package::Buffer::nextOf);
  if (next == buffers.end() || !dynamic_cast<AsyncCopier *>(devices_[next->device].get()))
    return std::nullopt;
  return uint32_t(next - buffers.begin());
}

AsyncCopier &HostViews::copierOf(const Copy &input) const {
  return dynamic_cast<AsyncCopier &>(*devices_[package_.data().buffers[input.buffer].device]);
}

static bool endAtCommit(const package::PackageData &data, const package::Entry &entry) {
  auto meet = [](const package::Buffer &a, const package::Buffer &b) {
    return a.device == b.device && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
  };
  auto isInput = [&](uint32_t buffer) {
    return buffer != package::kNoBuffer &&
           std::ranges::any_of(entry.inputs, [&](const package::Binding &input) {
             return input.role != "scalar" &&
                    meet(data.buffers[buffer], data.buffers[input.buffer]);
           });
  };
  auto usesInput = [&](const package::Launch &launch) {
    return std::ranges::any_of(launch.operands, isInput, &package::Operand::buffer);
  };
  if (std::ranges::any_of(entry.outputs, isInput, &package::Binding::buffer))
    return false;
  return std::ranges::none_of(entry.programs, [&](const package::DeviceProgram &program) {
    return std::any_of(program.launches.begin() + program.commit, program.launches.end(),
                       usesInput);
  });
}

HostViews::Ahead HostViews::findAhead(size_t entry) const {
  const package::PackageData &data = package_.data();
  const bool all =
      std::ranges::all_of(data.entries[entry].inputs, [&](const package::Binding &input) {
        return input.role == "scalar" || nextOf(input.buffer) ||
               isRemote(*devices_[data.buffers[input.buffer].device]);
      });
  if (all)
    return Ahead::Always;
  return endAtCommit(data, data.entries[entry]) ? Ahead::FromCommit : Ahead::Never;
}

HostViews::Ahead HostViews::inputsAhead(size_t entry) {
  if (!ahead_[entry])
    ahead_[entry] = findAhead(entry);
  const bool copies = std::ranges::any_of(
      copies_, [&](const Copy &copy) { return copy.kept == Kept::Input && copy.entries[entry]; });
  return copies ? *ahead_[entry] : Ahead::Never;
}

void HostViews::giveInputs(size_t entry) {
  for (const Copy &copy : copies_) {
    if (copy.kept != Kept::Input || !copy.entries[entry])
      continue;
    if (copy.next)
      copierOf(copy).copyAhead(package_.data().buffers[*copy.next].offset, copy.span());
    else
      copy.memory.write(copy.span());
  }
  given_ = entry;
}

void HostViews::endGiveInputs(size_t entry, bool well) {
  for (const Copy &copy : copies_)
    if (copy.next && copy.entries[entry]) {
      copierOf(copy).awaitAhead();
      if (!well)
        copy.memory.read(copy.span());
    }
  if (!well)
    given_.reset();
}

void HostViews::settle() {
  for (const Copy &copy : copies_)
    if (copy.kept == Kept::UntilRun || copy.kept == Kept::State)
      copy.memory.write(copy.span());
  forget();
}

void HostViews::beginTake(size_t entry) {
  for (Copy &copy : copies_)
    if (copy.kept == Kept::Output && copy.entries[entry] && copy.readyAtCommit[entry]) {
      copy.memory.beginRead(copy.span());
      copy.begun = true;
    }
}

void HostViews::take(size_t entry) {
  auto isTaken = [&](const Copy &copy) {
    return (copy.kept == Kept::State || copy.kept == Kept::Output) && copy.entries[entry];
  };
  for (const Copy &copy : copies_)
    if (isTaken(copy) && !copy.begun)
      copy.memory.beginRead(copy.span());
  for (Copy &copy : copies_)
    if (isTaken(copy)) {
      copy.memory.endRead();
      copy.begun = false;
    }
}

void HostViews::takeStates() {
  for (const Copy &copy : copies_)
    if (copy.kept == Kept::State)
      copy.memory.read(copy.span());
}

void HostViews::forget() {
  given_.reset();
  std::erase_if(copies_, [](const Copy &copy) { return copy.kept == Kept::UntilRun; });
}

} // namespace lstmc::session

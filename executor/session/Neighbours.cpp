// Sessions of several packages that use the same arenas in turn.
#include <algorithm>

#include "executor/abi/EntryNames.h"
#include "executor/abi/Packing.h"
#include "executor/device/Channel.h"
#include "executor/device/TableKeeper.h"
#include "executor/package/MessageMemory.h"
#include "executor/session/SessionImpl.h"

namespace lstmc {

std::vector<bool> Session::Impl::selectedIn(const package::Package &package) const {
  std::vector<bool> selected(package.data().entries.size(), options.entries.empty());
  for (const std::string &name : options.entries)
    for (const std::string &needed : {name, std::string(kPreparePrefix) + name})
      if (std::optional<size_t> at = package.findEntry(needed))
        selected[*at] = true;
  if (std::optional<size_t> init = package.findEntry(package::kInitEntry))
    selected[*init] = true;
  return selected;
}

uint64_t Session::Impl::messageBytes(size_t device) const {
  const auto *maker = dynamic_cast<const ChannelMaker *>(devices[device].get());
  package::MessageWays ways{
      .processes = package::processesOf(devices.size(), options.peers ? options.peers->ranks() : 1),
      .channels = maker && maker->hasChannels(),
      .pulled = options.peers && options.peers->readOneAnother(),
      .reaches = [this](uint32_t to, uint32_t from) {
        return devices[to]->reaches(*devices[from]);
      }};
  for (const std::shared_ptr<Device> &each : devices)
    ways.names.push_back(each->name());
  return package::messageBytes(data(), uint32_t(device), selected, ways);
}

uint64_t Session::Impl::plannedBytes(size_t device) const {
  uint64_t bytes = package::arenaBytes(data(), uint32_t(device), selected);
  for (const package::Package::Pointer &neighbour : options.neighbours)
    bytes = std::max(
        bytes, package::arenaBytes(neighbour->data(), uint32_t(device), selectedIn(*neighbour)));
  return bytes;
}

uint64_t Session::Impl::arenaBytes(size_t device) const {
  const uint64_t tables = tableBytes(device);
  return tables == 0 ? plannedBytes(device) : tablesOffset(device) + tables;
}

uint64_t Session::Impl::tablesOffset(size_t device) const {
  return uint64_t(roundUp(int64_t(plannedBytes(device)), kAlignment));
}

/// Of the tables of a device's launches, where the plan, made for another device, has no place.
static uint64_t bytesOfTables(const package::PackageData &data, const std::vector<bool> &selected,
                              uint32_t device, const TableKeeper &keeper) {
  for (const package::Buffer &buffer : data.buffers)
    if (buffer.device == device && package::holdsTables(buffer))
      return 0;
  uint64_t bytes = 0;
  auto add = [&](const package::Launch &launch) {
    size_t rank = 0;
    for (const package::Operand &operand : launch.operands)
      rank = std::max(rank, operand.shape.size());
    const size_t instructions =
        launch.kernel == KernelId::Fused ? programOf(data, launch).instructions.size() : 0;
    bytes += keeper.tableBytes(launch.kernel, launch.operands.size(), rank, launch.ints.size(),
                               instructions);
  };
  for (size_t entry = 0; entry < data.entries.size(); ++entry)
    for (const package::DeviceProgram &program : data.entries[entry].programs)
      if (selected[entry] && program.device == device)
        std::ranges::for_each(program.launches, add);
  return bytes;
}

uint64_t Session::Impl::tableBytes(size_t device) const {
  const auto *keeper = dynamic_cast<const TableKeeper *>(devices[device].get());
  if (!keeper)
    return 0;
  uint64_t bytes = bytesOfTables(data(), selected, uint32_t(device), *keeper);
  for (const package::Package::Pointer &neighbour : options.neighbours)
    bytes = std::max(
        bytes, bytesOfTables(neighbour->data(), selectedIn(*neighbour), uint32_t(device), *keeper));
  return bytes;
}

Result<std::unique_ptr<Session>> Session::beside(Session &owner, package::Package::Pointer package,
                                                 SessionOptions options) {
  const Impl &has = *owner.impl_;
  if (std::ranges::find(has.options.neighbours, package) == has.options.neighbours.end())
    return fail(ErrorCode::E0001, "session: the one beside which it is made has no room for it");
  LSTMC_TRY(package::checkSamePlaces(package->data(), has.data()));
  auto impl = std::make_unique<Impl>();
  impl->package = std::move(package);
  impl->devices = has.devices;
  impl->tablesAt = has.tablesAt;
  impl->options = std::move(options);
  impl->options.entries = has.options.entries;
  std::erase_if(impl->options.entries,
                [&](const std::string &name) { return !impl->package->findEntry(name); });
  LSTMC_TRY(impl->selectEntries());
  LSTMC_TRY(impl->bind());
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

/// The arenas hold what another session has left there.
void Session::Impl::placeTablesAgain() {
  for (session::BoundEntry &entry : entries)
    for (session::BoundProgram &program : entry.programs)
      if (auto *keeper = dynamic_cast<TableKeeper *>(devices[program.device].get()))
        keeper->placeAgain(*program.launches);
}

void Session::continueFrom(Session &other) {
  other.impl_->views->settle();
  impl_->views->forget();
  impl_->views->takeStates();
  impl_->placeTablesAgain();
  ++impl_->parametersVersion; // packed weights are where the other has its own values
  impl_->copiesAreStale = other.impl_->copiesAreStale;
  impl_->formula = other.impl_->formula; // which goes on from the last update
}

} // namespace lstmc

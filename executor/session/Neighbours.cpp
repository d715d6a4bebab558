// Sessions of several packages that use the same arenas in turn.
#include <algorithm>

#include "executor/abi/EntryNames.h"
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

uint64_t Session::Impl::arenaBytes(size_t device) const {
  uint64_t bytes = package::arenaBytes(data(), uint32_t(device), selected);
  for (const package::Package::Pointer &neighbour : options.neighbours)
    bytes = std::max(
        bytes, package::arenaBytes(neighbour->data(), uint32_t(device), selectedIn(*neighbour)));
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
}

} // namespace lstmc

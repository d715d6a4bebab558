#include "executor/session/InProcessTransport.h"

#include "executor/session/RemoteDevice.h"

namespace lstmc::session {

Result<MessageId> InProcessTransport::add(const Message &message) {
  Way &way = ways_.emplace_back();
  way.from = message.from;
  way.to = message.to;
  Device &to = *devices_[message.to];
  if (to.reaches(*devices_[message.from])) {
    std::vector<LaunchSpec> copy(1);
    copy[0] = {KernelId::Copy, {message.value.forLaunch(), message.place.forLaunch()}, {}, {}};
    LSTMC_ASSIGN(way.launch, to.prepare(std::move(copy)));
  } else {
    auto *pinner = dynamic_cast<HostPinner *>(devices_[message.from].get());
    way.copy.emplace(message.value, message.place,
                     pinner ? pinner : dynamic_cast<HostPinner *>(&to));
  }
  return ways_.size() - 1;
}

void InProcessTransport::begin() {
  std::lock_guard lock(mutex_);
  error_.reset();
  aborted_.store(false);
  round_.fetch_add(1);
}

void InProcessTransport::post(MessageId message) {
  Way &way = ways_[message];
  way.posted.store(round_.load());
  wake_(way.to);
}

bool InProcessTransport::sent(MessageId message) const {
  const Way &way = ways_[message];
  const uint64_t round = round_.load();
  return way.posted.load() != round || way.taken.load() == round;
}

bool InProcessTransport::arrived(MessageId message) const {
  return ways_[message].posted.load() == round_.load();
}

void InProcessTransport::take(MessageId message, LaunchInterval *time) {
  Way &way = ways_[message];
  if (way.launch)
    devices_[way.to]->run(*way.launch, 0, 1, time);
  else
    way.copy->run(time);
  way.taken.store(round_.load());
  wake_(way.from);
}

uint64_t InProcessTransport::bytes(size_t device) const {
  uint64_t bytes = 0;
  for (const Way &way : ways_) {
    const Device &from = *devices_[way.from], &to = *devices_[way.to];
    const bool senders = !to.hostVisible() && from.hostVisible() && !isRemote(from);
    if (way.copy && device == (senders ? way.from : way.to))
      bytes += way.copy->stagingBytes();
  }
  return bytes;
}

void InProcessTransport::abort(Error error) {
  {
    std::lock_guard lock(mutex_);
    if (!error_)
      error_ = std::move(error);
    aborted_.store(true);
  }
  for (size_t device = 0; device < devices_.size(); ++device)
    wake_(device);
}

Status InProcessTransport::status() const {
  std::lock_guard lock(mutex_);
  return error_ ? Status(*error_) : Status();
}

} // namespace lstmc::session

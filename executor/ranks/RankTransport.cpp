#include "executor/ranks/RankTransport.h"

#include <algorithm>

#include "executor/ranks/ChannelMessages.h"
#include "executor/ranks/Host.h"
#include "executor/ranks/PulledMessages.h"
#include "executor/ranks/StagedMessages.h"
#include "executor/session/NonFinite.h"
#include "executor/session/RemoteDevice.h"

namespace lstmc::ranks {

using session::Message;
using session::MessageId;

RankTransport::RankTransport(const package::Package &package, const session::Devices &devices,
                             Peers &peers, Link &link, std::function<void(size_t device)> wake)
    : package_(package), devices_(devices), peers_(peers), link_(link), wake_(std::move(wake)),
      here_(devices, wake_), sequences_(devices.size() * devices.size()) {
  link_.onBreak([this](const Error &error) {
    here_.abort(error);
    std::lock_guard lock(channelsMutex_);
    if (channels_)
      channels_->wake();
  });
}

RankTransport::~RankTransport() {
  link_.onBreak(nullptr);
  std::vector<std::unique_ptr<Request>> requests;
  auto giveUp = [&](auto &messages) {
    for (auto &message : messages) {
      message->giveUp(requests);
      requests.push_back(std::move(message));
    }
  };
  giveUp(outgoing_);
  giveUp(incoming_);
  link_.detach(std::move(requests));
  channels_.reset();
}

/// By what both processes know: they choose alike.
ChannelMaker *RankTransport::channelMaker(const Message &message) const {
  const Device &from = *devices_[message.from], &to = *devices_[message.to];
  Device &here = *devices_[session::isRemote(from) ? message.to : message.from];
  auto *maker = dynamic_cast<ChannelMaker *>(&here);
  const bool direct = maker && maker->hasChannels() &&
                      package::goDirectly(from.name(), to.name()) && message.value.layout.dense() &&
                      message.place.layout.dense() && message.value.layout.elements() > 0;
  return direct ? maker : nullptr;
}

/// Likewise.
bool RankTransport::isPulled(const Message &message) const {
  const Tensor &value = message.value.layout, &place = message.place.layout;
  return link_.receiversPull() && value.dense() && place.dense() &&
         package::isPulled(devices_[message.from]->name(), devices_[message.to]->name(),
                           uint64_t(value.elements()) * dtypeBytes(value.dtype));
}

Status RankTransport::startChannels() {
  std::lock_guard lock(channelsMutex_);
  if (!channels_) {
    LSTMC_ASSIGN(channels_, Channels::start(link_));
  }
  return {};
}

Header RankTransport::headerOf(const Message &message) const {
  Header header;
  header.program = firstHalf(package_.digest());
  header.op = uint32_t(ways_.size());
  header.from = uint32_t(message.from);
  header.to = uint32_t(message.to);
  header.count = uint64_t(message.value.layout.elements());
  header.dtype = message.value.layout.dtype;
  return header;
}

Result<MessageId> RankTransport::add(const Message &message) {
  const bool fromHere = !session::isRemote(*devices_[message.from]);
  const bool toHere = !session::isRemote(*devices_[message.to]);
  auto rankOf = [&](size_t device) { return peers_.rankOf(device, devices_.size()); };
  const int tag = kTagMessages + int(ways_.size());
  auto pinner = [&](size_t device) { return dynamic_cast<HostPinner *>(devices_[device].get()); };
  ChannelMaker *maker = fromHere != toHere ? channelMaker(message) : nullptr;
  const bool pulled = isPulled(message);
  if (maker)
    LSTMC_TRY(startChannels());
  Way way{Kind::Elsewhere, 0, nullptr, nullptr, message.entry, message.from, message.number};
  if (toHere && (fromHere || message.given)) {
    way.kind = fromHere ? Kind::Here : Kind::Given;
    LSTMC_ASSIGN(way.here, here_.add(message));
  } else if (fromHere && !message.given) {
    way.kind = Kind::Outgoing;
    const int peer = rankOf(message.to);
    const Header header = headerOf(message);
    outgoing_.push_back(
        maker    ? channelOutgoing(message, header, link_, *channels_, *maker, peer, wake_, tag)
        : pulled ? pulledOutgoing(message, header, link_, peer, wake_, tag)
                 : stagedOutgoing(message, header, link_, pinner(message.from), peer, wake_, tag));
    way.outgoing = outgoing_.back().get();
  } else if (toHere) {
    way.kind = Kind::Incoming;
    const int peer = rankOf(message.from);
    const Header header = headerOf(message);
    incoming_.push_back(
        maker    ? channelIncoming(message, header, link_, *channels_, *maker, peer, wake_, tag)
        : pulled ? pulledIncoming(message, header, link_, peer, wake_, tag)
                 : stagedIncoming(message, header, link_, pinner(message.to), peer, wake_, tag));
    way.incoming = incoming_.back().get();
  }
  ways_.push_back(way);
  return ways_.size() - 1;
}

void RankTransport::begin() {
  here_.begin();
  if (Status status = link_.status(); !status.ok())
    here_.abort(status.error());
}

void RankTransport::post(MessageId message) {
  const Way &way = ways_[message];
  if (way.kind == Kind::Here)
    here_.post(way.here);
  else if (way.kind == Kind::Outgoing)
    way.outgoing->post(sequence(way.from, way.outgoing->to)++);
}

bool RankTransport::sent(MessageId message) const {
  const Way &way = ways_[message];
  return way.kind == Kind::Here       ? here_.sent(way.here)
         : way.kind == Kind::Outgoing ? way.outgoing->sent()
                                      : true;
}

bool RankTransport::drained(size_t device) const {
  return std::ranges::all_of(outgoing_, [&](auto &o) { return o->from != device || o->sent(); });
}

bool RankTransport::arrived(MessageId message) const {
  const Way &way = ways_[message];
  if (way.kind == Kind::Here)
    return here_.arrived(way.here);
  return way.kind == Kind::Given || way.incoming->arrived();
}

void RankTransport::take(MessageId message, LaunchInterval *time) {
  const Way &way = ways_[message];
  if (way.kind != Kind::Incoming)
    return here_.take(way.here, time);
  Incoming &incoming = *way.incoming;
  if (auto difference = incoming.take(sequence(way.from, incoming.to)++, time))
    refuse(message, incoming, *difference);
}

uint64_t RankTransport::bytes(size_t device) const {
  uint64_t bytes = here_.bytes(device);
  for (const auto &outgoing : outgoing_)
    bytes += outgoing->from == device ? outgoing->held() : 0;
  for (const auto &incoming : incoming_)
    bytes += incoming->to == device ? incoming->held() : 0;
  return bytes;
}

/// The link knows first: what it breaks with is told to `here_` a moment later.
Status RankTransport::status() const {
  if (Status own = here_.status(); !own.ok())
    return own;
  return link_.status();
}

/// What does not get on is told to the others with this rank's number and host.
void RankTransport::abort(Error error) {
  here_.abort(error);
  if (error.code == ErrorCode::E0802)
    error.message = fmt::format("rank {} on {}: {}", peers_.rank(), hostName(), error.message);
  link_.abort(error);
}

/// The end of the message on the device that receives it.
const package::Launch *RankTransport::launchOf(const Way &way) const {
  for (const package::DeviceProgram &program : package_.data().entries[way.entry].programs)
    for (const package::Launch &launch : program.launches)
      if (launch.kernel == KernelId::Receive &&
          argumentsOf<TransferArguments>(launch).message == way.number)
        return &launch;
  return nullptr;
}

std::string RankTransport::opText(size_t message) const {
  if (message >= ways_.size())
    return "an unknown op";
  const Way &way = ways_[message];
  const package::Launch *launch = launchOf(way);
  std::string text =
      fmt::format("message {} of {}", way.number, package_.data().entries[way.entry].name);
  if (!launch)
    return text;
  text += ", " + session::opText(package_.data(), *launch);
  const Place place = placeOf(message);
  return place.line > 0 ? fmt::format("{} at {}:{}", text, place.file, place.line) : text;
}

Place RankTransport::placeOf(size_t message) const {
  const package::Launch *launch = launchOf(ways_[message]);
  return launch ? session::placeOf(package_.location(launch->location)) : Place();
}

void RankTransport::refuse(size_t message, Incoming &incoming, const std::string &difference) {
  abort(failAt(placeOf(message), ErrorCode::E0804, "{} waits for {}; rank {} sent {}: {}",
               devices_[incoming.to]->name(), opText(message), incoming.peer,
               opText(incoming.opFound()), difference));
}

} // namespace lstmc::ranks

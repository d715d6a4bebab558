#include "executor/ranks/RankTransport.h"

#include <algorithm>

#include "executor/ranks/TwoBit.h"
#include "executor/session/Binding.h"
#include "executor/session/HostCopy.h"
#include "executor/session/NonFinite.h"
#include "executor/session/RemoteDevice.h"

namespace lstmc::ranks {

using session::Message;
using session::MessageId;

namespace {

/// A header, and a value without holes after it.
struct Buffer {
  explicit Buffer(const Tensor &like)
      : bytes(package::messageBuffers(like.dtype, uint64_t(like.elements())).whole) {
    value.layout =
        session::layoutOf(like.dtype, {like.shape.begin(), like.shape.begin() + like.rank});
    value.range = MemoryRange(payload());
    value.present = true;
  }
  std::span<std::byte> header() { return std::span(bytes).first(Header::kBytes); }
  std::span<std::byte> payload() { return std::span(bytes).subspan(Header::kBytes); }

  std::vector<std::byte> bytes;
  DeviceTensor value;
};

/// Bytes of a message with its value packed (TwoBit.h); 0 where that is none fewer.
size_t packedBytes(const Tensor &like) {
  return package::messageBuffers(like.dtype, uint64_t(like.elements())).packed;
}

} // namespace

/// A message to another process. It is posted on the thread of its device and completed on the
/// thread of the link.
class RankTransport::Outgoing final : public Request {
public:
  Outgoing(const Message &message, const Header &header, Link &link, int rank,
           const std::function<void(size_t)> &wake, int tag)
      : from(message.from), to(message.to), header_(header), buffer_(message.value.layout),
        packed_(packedBytes(message.value.layout)), copy_(message.value, buffer_.value),
        link_(link), wake_(wake) {
    peer = rank;
    this->tag = tag;
    sends = true;
  }

  void post(uint64_t sequence) {
    header_.sequence = sequence;
    State state = State::Free;
    if (state_.compare_exchange_strong(state, State::Flying))
      return go();
    // The send of the previous run has not completed.
    state = State::Flying;
    if (!state_.compare_exchange_strong(state, State::Waiting)) {
      state_.store(State::Flying);
      go();
    }
  }
  bool packed() const { return state_.load() != State::Waiting; }
  uint64_t held() const { return buffer_.bytes.size() + packed_.size() + copy_.stagingBytes(); }

  void completed() override {
    State state = State::Flying;
    if (state_.compare_exchange_strong(state, State::Free))
      return;
    pack(); // from here on the device may overwrite the value
    state_.store(State::Flying);
    link_.submit(*this);
    wake_(from);
  }

  const size_t from, to;

private:
  enum class State : uint8_t { Free, Flying, Waiting };

  void pack() {
    copy_.run();
    const std::span payload = std::span(packed_).subspan(packed_.empty() ? 0 : Header::kBytes);
    bytes = !packed_.empty() && packTwoBit(buffer_.payload(), payload) ? packed_ : buffer_.bytes;
    header_.write(bytes, bytes.subspan(Header::kBytes));
  }
  void go() {
    pack();
    link_.submit(*this);
  }

  Header header_;
  Buffer buffer_;
  std::vector<std::byte> packed_; ///< the message with its value packed; empty: it never is
  session::HostCopy copy_;
  Link &link_;
  const std::function<void(size_t)> &wake_;
  std::atomic<State> state_{State::Free};
};

/// A message from another process: its receive is begun at once, and again after each take().
class RankTransport::Incoming final : public Request {
public:
  Incoming(const Message &message, const Header &header, Link &link, int rank,
           const std::function<void(size_t)> &wake, int tag)
      : header(header), to(message.to), buffer_(message.place.layout),
        packed_(packedBytes(message.place.layout)), copy_(buffer_.value, message.place),
        link_(link), wake_(wake) {
    peer = rank;
    this->tag = tag;
    bytes = buffer_.bytes;
    link_.submit(*this);
  }

  /// Where it has not, somebody waits for it from now on.
  bool arrived() {
    if (arrived_.load())
      return true;
    if (!awaited_.exchange(true))
      link_.waits();
    return arrived_.load();
  }
  void completed() override {
    arrived_.store(true);
    noLongerAwaited();
    wake_(to);
  }

  /// Copies the value to its place. If the message is not the expected one, copies nothing and
  /// returns the difference.
  std::optional<std::string> take(uint64_t sequence, LaunchInterval *time) {
    header.sequence = sequence;
    if (received != bytes.size() && (packed_.empty() || received != packed_.size()))
      return fmt::format("size: found {} bytes, want {}", received, bytes.size());
    const std::span payload = buffer_.payload().first(received - Header::kBytes);
    if (auto difference = header.differs(buffer_.header(), payload))
      return difference;
    if (received != bytes.size()) {
      std::ranges::copy(payload, packed_.begin());
      if (!unpackTwoBit(std::span(packed_).first(payload.size()), buffer_.payload()))
        return "payload: found codes of no value";
    }
    copy_.run(time);
    noLongerAwaited(); // it may have arrived just as somebody began to wait
    arrived_.store(false);
    link_.submit(*this);
    return std::nullopt;
  }
  uint64_t held() const { return buffer_.bytes.size() + packed_.size() + copy_.stagingBytes(); }
  uint32_t opFound() { return opOf(buffer_.header()); }

  Header header;
  const size_t to;

private:
  void noLongerAwaited() {
    if (awaited_.exchange(false))
      link_.waitsNoMore();
  }

  Buffer buffer_;
  std::vector<std::byte>
      packed_; ///< as large as a message whose value is packed; empty: it never is
  session::HostCopy copy_;
  Link &link_;
  const std::function<void(size_t)> &wake_;
  std::atomic<bool> arrived_{false}, awaited_{false};
};

RankTransport::RankTransport(const package::Package &package, const session::Devices &devices,
                             Peers &peers, Link &link, std::function<void(size_t device)> wake)
    : package_(package), devices_(devices), peers_(peers), link_(link), wake_(std::move(wake)),
      here_(devices, wake_), sequences_(devices.size() * devices.size()) {
  link_.onBreak([this](const Error &error) { here_.abort(error); });
}

RankTransport::~RankTransport() {
  link_.onBreak(nullptr);
  std::vector<std::unique_ptr<Request>> requests;
  std::ranges::move(outgoing_, std::back_inserter(requests));
  std::ranges::move(incoming_, std::back_inserter(requests));
  link_.detach(std::move(requests));
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
  Way way{Kind::Elsewhere, 0, nullptr, nullptr, message.entry, message.from, message.number};
  if (toHere && (fromHere || message.given)) {
    way.kind = fromHere ? Kind::Here : Kind::Given;
    LSTMC_ASSIGN(way.here, here_.add(message));
  } else if (fromHere && !message.given) {
    way.kind = Kind::Outgoing;
    outgoing_.push_back(std::make_unique<Outgoing>(message, headerOf(message), link_,
                                                   rankOf(message.to), wake_, tag));
    way.outgoing = outgoing_.back().get();
  } else if (toHere) {
    way.kind = Kind::Incoming;
    incoming_.push_back(std::make_unique<Incoming>(message, headerOf(message), link_,
                                                   rankOf(message.from), wake_, tag));
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
         : way.kind == Kind::Outgoing ? way.outgoing->packed()
                                      : true;
}

bool RankTransport::drained(size_t device) const {
  return std::ranges::all_of(outgoing_, [&](auto &o) { return o->from != device || o->packed(); });
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
  uint64_t bytes = 0;
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

void RankTransport::abort(Error error) {
  here_.abort(error);
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

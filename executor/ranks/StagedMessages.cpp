#include "executor/ranks/StagedMessages.h"

#include <algorithm>

#include "executor/ranks/TwoBit.h"
#include "executor/session/Binding.h"
#include "executor/session/HostCopy.h"

namespace lstmc::ranks {

using session::Message;

namespace {

/// A header, and a value without holes after it.
struct Buffer {
  Buffer(const Tensor &like, HostPinner *pinner)
      : bytes(package::messageBuffers(like.dtype, uint64_t(like.elements())).whole),
        pin(pinFor(pinner, bytes)) {
    value.layout =
        session::layoutOf(like.dtype, {like.shape.begin(), like.shape.begin() + like.rank});
    value.range = MemoryRange(payload());
    value.present = true;
  }
  std::span<std::byte> header() { return std::span(bytes).first(Header::kBytes); }
  std::span<std::byte> payload() { return std::span(bytes).subspan(Header::kBytes); }

  std::vector<std::byte> bytes;
  HostPin pin;
  DeviceTensor value;
};

/// Bytes of a message with its value packed (TwoBit.h); 0 where that is none fewer.
size_t packedBytes(const Tensor &like) {
  return package::messageBuffers(like.dtype, uint64_t(like.elements())).packed;
}

/// Copies a value into or out of a buffer.
class SummedCopy {
public:
  SummedCopy(const DeviceTensor &from, const DeviceTensor &to, std::span<const std::byte> buffer,
             HostPinner *pinner)
      : from_(from.range), to_(to.range), buffer_(buffer),
        plain_(from_.host() && to_.host() && from.layout.dense() && to.layout.dense()),
        copy_(from, to, pinner) {}

  /// Returns the checksum of what the buffer holds. Plain memory is read once for both.
  uint32_t run(LaunchInterval *time = nullptr) {
    if (!plain_) {
      copy_.run(time);
      return checksum(buffer_);
    }
    if (time)
      time->begin = LaunchInterval::Clock::now();
    const uint32_t sum = copyWithChecksum({from_.host(), from_.size()}, {to_.host(), to_.size()});
    if (time)
      time->end = LaunchInterval::Clock::now();
    return sum;
  }
  uint64_t stagingBytes() const { return copy_.stagingBytes(); }

private:
  const MemoryRange from_, to_;
  const std::span<const std::byte> buffer_;
  const bool plain_;
  session::HostCopy copy_;
};

/// Posted on the thread of its device and completed on the thread of the link.
class StagedOutgoing final : public Outgoing {
public:
  StagedOutgoing(const Message &message, const Header &header, Link &link, HostPinner *pinner,
                 int rank, const std::function<void(size_t)> &wake, int tag)
      : Outgoing(message.from, message.to, header), buffer_(message.value.layout, pinner),
        packed_(packedBytes(message.value.layout)),
        copy_(message.value, buffer_.value, buffer_.payload(), pinner), link_(link), wake_(wake) {
    peer = rank;
    this->tag = tag;
  }

  void post(uint64_t sequence) override {
    header_.sequence = sequence;
    if (sending_.begin()) // else the send of the previous run has not completed
      go();
  }
  bool sent() const override { return !sending_.waiting(); }
  uint64_t held() const override {
    return buffer_.bytes.size() + packed_.size() + copy_.stagingBytes();
  }

  void completed() override {
    if (!sending_.completed())
      return;
    pack(); // from here on the device may overwrite the value
    sending_.again();
    link_.submit(*this);
    wake_(from);
  }

private:
  void pack() {
    uint32_t sum = copy_.run();
    bytes = buffer_.bytes;
    if (!packed_.empty()) {
      const std::span payload = std::span(packed_).subspan(Header::kBytes);
      if (packTwoBit(buffer_.payload(), payload)) {
        sum = checksum(payload);
        bytes = packed_;
      }
    }
    header_.write(bytes, sum);
  }
  void go() {
    pack();
    link_.submit(*this);
  }

  Buffer buffer_;
  std::vector<std::byte> packed_; ///< the message with its value packed; empty: it never is
  SummedCopy copy_;
  Link &link_;
  const std::function<void(size_t)> &wake_;
  Sending sending_;
};

class StagedIncoming final : public Incoming {
public:
  StagedIncoming(const Message &message, const Header &header, Link &link, HostPinner *pinner,
                 int rank, const std::function<void(size_t)> &wake, int tag)
      : Incoming(message.to, header, link, wake), buffer_(message.place.layout, pinner),
        packed_(packedBytes(message.place.layout)),
        copy_(buffer_.value, message.place, buffer_.payload(), pinner) {
    peer = rank;
    this->tag = tag;
    bytes = buffer_.bytes;
    link_.submit(*this);
  }

  std::optional<std::string> take(uint64_t sequence, LaunchInterval *time) override {
    header_.sequence = sequence;
    if (received != bytes.size() && (packed_.empty() || received != packed_.size()))
      return fmt::format("size: found {} bytes, want {}", received, bytes.size());
    if (auto difference = header_.differs(buffer_.header()))
      return difference;
    if (received == bytes.size()) {
      if (auto difference = payloadDiffers(buffer_.header(), copy_.run(time)))
        return difference;
    } else {
      if (auto difference = unpack())
        return difference;
      copy_.run(time);
    }
    beginAgain();
    return std::nullopt;
  }
  uint64_t held() const override {
    return buffer_.bytes.size() + packed_.size() + copy_.stagingBytes();
  }
  uint32_t opFound() override { return opOf(buffer_.header()); }

private:
  /// Of a value that has come packed.
  std::optional<std::string> unpack() {
    const std::span payload = buffer_.payload().first(received - Header::kBytes);
    if (auto difference = payloadDiffers(buffer_.header(), checksum(payload)))
      return difference;
    std::ranges::copy(payload, packed_.begin());
    if (!unpackTwoBit(std::span(packed_).first(payload.size()), buffer_.payload()))
      return "payload: found codes of no value";
    return std::nullopt;
  }

  Buffer buffer_;
  std::vector<std::byte>
      packed_; ///< as large as a message whose value is packed; empty: it never is
  SummedCopy copy_;
};

} // namespace

std::unique_ptr<Outgoing> stagedOutgoing(const Message &message, const Header &header, Link &link,
                                         HostPinner *pinner, int rank,
                                         const std::function<void(size_t)> &wake, int tag) {
  return std::make_unique<StagedOutgoing>(message, header, link, pinner, rank, wake, tag);
}

std::unique_ptr<Incoming> stagedIncoming(const Message &message, const Header &header, Link &link,
                                         HostPinner *pinner, int rank,
                                         const std::function<void(size_t)> &wake, int tag) {
  return std::make_unique<StagedIncoming>(message, header, link, pinner, rank, wake, tag);
}

} // namespace lstmc::ranks

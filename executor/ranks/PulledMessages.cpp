#include "executor/ranks/PulledMessages.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <sys/uio.h>
#include <unistd.h>

namespace lstmc::ranks {

using session::Message;

namespace {

/// Where a value is, after its header.
struct Origin {
  int64_t process;
  uint64_t address;
};

using Head = std::array<std::byte, Header::kBytes + sizeof(Origin)>;

/// Reads from another process; what kept it from that, if something did.
std::optional<std::string> read(const Origin &from, std::span<std::byte> to) {
  for (size_t done = 0; done < to.size();) {
    const iovec here{to.data() + done, to.size() - done};
    const iovec there{reinterpret_cast<void *>(from.address + done), here.iov_len};
    const ssize_t bytes = ::process_vm_readv(pid_t(from.process), &here, 1, &there, 1, 0);
    if (bytes <= 0)
      return fmt::format("payload: cannot be read from process {}: {}", from.process,
                         bytes < 0 ? std::strerror(errno) : "there is none");
    done += size_t(bytes);
  }
  return std::nullopt;
}

class PulledOutgoing final : public AnsweredOutgoing {
public:
  PulledOutgoing(const Message &message, const Header &header, Link &link, int rank,
                 const std::function<void(size_t)> &wake, int tag)
      : AnsweredOutgoing(message.from, message.to, header, link, rank, wake, tag, head_) {
    const Origin origin{::getpid(), reinterpret_cast<uintptr_t>(message.value.range.host())};
    std::memcpy(head_.data() + Header::kBytes, &origin, sizeof(origin));
  }

private:
  void answered() override { moveEnded(); }

  Head head_;
};

class PulledIncoming final : public Incoming {
public:
  PulledIncoming(const Message &message, const Header &header, Link &link, int rank,
                 const std::function<void(size_t)> &wake, int tag)
      : Incoming(message.to, header, link, wake),
        answer_(std::make_unique<Answer>([this] { answerSent(); })),
        place_(message.place.range.host(), message.place.range.size()) {
    peer = answer_->peer = rank;
    this->tag = answer_->tag = tag;
    answer_->sends = true;
    bytes = head_;
    link_.submit(*this);
  }

  std::optional<std::string> take(uint64_t sequence, LaunchInterval *time) override {
    if (time)
      time->begin = LaunchInterval::Clock::now();
    header_.sequence = sequence;
    if (received != head_.size())
      return fmt::format("size: found {} bytes, want {}", received, head_.size());
    if (auto difference = header_.differs(std::span(head_).first<Header::kBytes>(), {}))
      return difference;
    Origin origin;
    std::memcpy(&origin, head_.data() + Header::kBytes, sizeof(origin));
    if (auto difference = read(origin, place_))
      return difference;
    if (time)
      time->end = LaunchInterval::Clock::now();
    if (sending_.begin()) // else the answer of the previous run has not been sent
      answer();
    beginAgain();
    return std::nullopt;
  }
  uint64_t held() const override { return head_.size() + sizeof(answer_->sequence); }
  uint32_t opFound() override { return opOf(head_); }
  void giveUp(std::vector<std::unique_ptr<Request>> &requests) override {
    requests.push_back(std::move(answer_));
  }

private:
  void answer() {
    answer_->sequence = header_.sequence;
    link_.submit(*answer_);
  }
  void answerSent() {
    if (!sending_.completed())
      return;
    sending_.again();
    answer();
  }

  std::unique_ptr<Answer> answer_;
  const std::span<std::byte> place_;
  Head head_;
  Sending sending_; ///< of the answer
};

} // namespace

std::unique_ptr<Outgoing> pulledOutgoing(const Message &message, const Header &header, Link &link,
                                         int rank, const std::function<void(size_t)> &wake,
                                         int tag) {
  return std::make_unique<PulledOutgoing>(message, header, link, rank, wake, tag);
}

std::unique_ptr<Incoming> pulledIncoming(const Message &message, const Header &header, Link &link,
                                         int rank, const std::function<void(size_t)> &wake,
                                         int tag) {
  return std::make_unique<PulledIncoming>(message, header, link, rank, wake, tag);
}

} // namespace lstmc::ranks

#include "executor/ranks/ChannelMessages.h"

#include <array>
#include <cstring>

namespace lstmc::ranks {

using session::Message;

namespace {

class ChannelOutgoing final : public AnsweredOutgoing, private Channels::Move {
public:
  ChannelOutgoing(const Message &message, const Header &header, Link &link, Channels &channels,
                  ChannelMaker &maker, int rank, const std::function<void(size_t)> &wake, int tag)
      : AnsweredOutgoing(message.from, message.to, header, link, rank, wake, tag, head_),
        channels_(channels) {
    end = &channels.end(maker, message.from, message.to, true, rank, tag);
    at = message.value.range.address();
    Move::bytes = message.value.range.size();
  }

  void post(uint64_t sequence) override {
    link_.waits(); // for the answer, though no thread does
    AnsweredOutgoing::post(sequence);
  }

private:
  void answered() override {
    link_.waitsNoMore();
    channels_.submit(*this);
  }
  void moved() override { moveEnded(); }

  Channels &channels_;
  std::array<std::byte, Header::kBytes> head_;
};

class ChannelIncoming final : public Incoming, private Channels::Move {
public:
  ChannelIncoming(const Message &message, const Header &header, Link &link, Channels &channels,
                  ChannelMaker &maker, int rank, const std::function<void(size_t)> &wake, int tag)
      : Incoming(message.to, header, link, wake), channels_(channels),
        answer_(std::make_unique<Answer>([this] {
          answered_.store(true);
          channels_.wake();
        })) {
    end = &channels.end(maker, message.from, message.to, false, rank, tag);
    at = message.place.range.address();
    Move::bytes = message.place.range.size();
    peer = answer_->peer = rank;
    this->tag = answer_->tag = tag;
    answer_->sends = true;
    Request::bytes = head_;
    link_.submit(*this);
  }

  std::optional<std::string> take(uint64_t sequence, LaunchInterval *time) override {
    if (time)
      time->begin = LaunchInterval::Clock::now();
    header_.sequence = sequence;
    if (received != head_.size())
      return fmt::format("size: found {} bytes, want {}", received, head_.size());
    if (auto difference = header_.differs(head_, {}))
      return difference;
    if (!channels_.await(answered_)) // the answer of the run before has been sent
      return std::nullopt;
    answered_.store(false);
    answer_->sequence = sequence;
    moved_.store(false);
    link_.submit(*answer_);
    channels_.submit(*this);
    if (!channels_.await(moved_))
      return std::nullopt; // the link is broken, which the run will see
    beginAgain();
    if (time)
      time->end = LaunchInterval::Clock::now();
    return std::nullopt;
  }
  uint64_t held() const override { return head_.size() + sizeof(answer_->sequence); }
  uint32_t opFound() override { return opOf(head_); }
  void giveUp(std::vector<std::unique_ptr<Request>> &requests) override {
    requests.push_back(std::move(answer_));
  }

private:
  void moved() override { moved_.store(true); }

  Channels &channels_;
  std::unique_ptr<Answer> answer_;
  std::array<std::byte, Header::kBytes> head_;
  std::atomic<bool> answered_{true}, moved_{false};
};

} // namespace

std::unique_ptr<Outgoing> channelOutgoing(const Message &message, const Header &header, Link &link,
                                          Channels &channels, ChannelMaker &maker, int rank,
                                          const std::function<void(size_t)> &wake, int tag) {
  return std::make_unique<ChannelOutgoing>(message, header, link, channels, maker, rank, wake, tag);
}

std::unique_ptr<Incoming> channelIncoming(const Message &message, const Header &header, Link &link,
                                          Channels &channels, ChannelMaker &maker, int rank,
                                          const std::function<void(size_t)> &wake, int tag) {
  return std::make_unique<ChannelIncoming>(message, header, link, channels, maker, rank, wake, tag);
}

} // namespace lstmc::ranks

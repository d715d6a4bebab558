// The two ends of a message between processes.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/device/Device.h"
#include "executor/ranks/Header.h"
#include "executor/ranks/Link.h"

namespace lstmc::ranks {

/// As a request: its header is sent, perhaps with the value.
class Outgoing : public Request {
public:
  Outgoing(size_t from, size_t to, const Header &header) : from(from), to(to), header_(header) {
    sends = true;
  }

  /// On the thread of the device: the value is complete.
  virtual void post(uint64_t sequence) = 0;
  /// Whether the value may be overwritten.
  virtual bool sent() const = 0;
  virtual uint64_t held() const = 0;
  /// Adds other requests that may be in flight.
  virtual void giveUp(std::vector<std::unique_ptr<Request>> & /*requests*/) {}

  const size_t from, to;

protected:
  Header header_;
};

/// As a request: what is sent is received. It is begun at once, and again after each take().
class Incoming : public Request {
public:
  Incoming(size_t to, const Header &header, Link &link, const std::function<void(size_t)> &wake)
      : to(to), header_(header), link_(link), wake_(wake) {}

  /// Where it has not, somebody waits for it from now on.
  bool arrived() {
    if (arrived_.load())
      return true;
    if (!link_.takesHelp() && !awaited_.exchange(true))
      link_.waits();
    return arrived_.load();
  }
  void completed() final {
    arrived_.store(true);
    noLongerAwaited();
    wake_(to);
  }
  /// Copies the value to its place. If the message is not the expected one, returns the difference:
  /// the place then holds nothing of use.
  virtual std::optional<std::string> take(uint64_t sequence, LaunchInterval *time) = 0;
  virtual uint64_t held() const = 0;
  /// Of the header that has come.
  virtual uint32_t opFound() = 0;
  virtual void giveUp(std::vector<std::unique_ptr<Request>> & /*requests*/) {}

  const size_t to;

protected:
  /// Once the value has been taken.
  void beginAgain() {
    noLongerAwaited(); // it may have arrived just as somebody began to wait
    arrived_.store(false);
    link_.submit(*this);
  }

  Header header_;
  Link &link_;

private:
  void noLongerAwaited() {
    if (awaited_.exchange(false))
      link_.waitsNoMore();
  }

  const std::function<void(size_t)> &wake_;
  std::atomic<bool> arrived_{false}, awaited_{false};
};

/// What a receiver answers: the sequence number of the header that has come.
class Answer final : public Request {
public:
  explicit Answer(std::function<void()> done) : done_(std::move(done)) {
    bytes = std::as_writable_bytes(std::span(&sequence, 1));
  }
  void completed() override { done_(); }

  uint64_t sequence = 0;

private:
  const std::function<void()> done_;
};

/// Of what has to have been sent before it is sent again.
class Sending {
public:
  enum class State : uint8_t { Free, Flying, Waiting };
  /// Whether it may be sent now; else completed() will say so.
  bool begin() {
    State state = State::Free;
    if (state_.compare_exchange_strong(state, State::Flying))
      return true;
    state = State::Flying;
    if (state_.compare_exchange_strong(state, State::Waiting))
      return false;
    state_.store(State::Flying);
    return true;
  }
  /// Whether it is to be sent again: then again() follows.
  bool completed() {
    State state = State::Flying;
    return !state_.compare_exchange_strong(state, State::Free);
  }
  void again() { state_.store(State::Flying); }
  bool waiting() const { return state_.load() == State::Waiting; }

private:
  std::atomic<State> state_{State::Free};
};

/// The sender's end where the receiver answers each header: the value stays as it is until it has
/// been moved.
class AnsweredOutgoing : public Outgoing {
public:
  void post(uint64_t sequence) override {
    header_.sequence = sequence;
    posted_.store(true);
    if (sending_.begin()) // else the send of the previous run has not completed
      go();
  }
  bool sent() const final { return !posted_.load(); }
  uint64_t held() const final { return bytes.size() + sizeof(answer_->sequence); }
  void giveUp(std::vector<std::unique_ptr<Request>> &requests) final {
    requests.push_back(std::move(answer_));
  }
  void completed() final {
    if (!sending_.completed())
      return;
    sending_.again();
    go();
  }

protected:
  /// `head` begins with the header.
  AnsweredOutgoing(size_t from, size_t to, const Header &header, Link &link, int rank,
                   const std::function<void(size_t)> &wake, int tag, std::span<std::byte> head)
      : Outgoing(from, to, header), link_(link), wake_(wake),
        answer_(std::make_unique<Answer>([this] { check(); })) {
    peer = answer_->peer = rank;
    this->tag = answer_->tag = tag;
    bytes = head;
    link_.submit(*answer_);
  }

  /// The receiver has answered, and may do so again.
  virtual void answered() = 0;
  /// The value may be written over.
  void moveEnded() {
    posted_.store(false);
    wake_(from);
  }

  Link &link_;

private:
  void go() {
    header_.write(bytes.first(Header::kBytes), {});
    link_.submit(*this);
  }
  void check() {
    if (answer_->received != sizeof(answer_->sequence) || answer_->sequence != header_.sequence)
      return link_.abort(fail(ErrorCode::E0804, "rank {} takes value {} of device {}, want {}",
                              peer, answer_->sequence, from, header_.sequence));
    link_.submit(*answer_);
    answered();
  }

  const std::function<void(size_t)> &wake_;
  std::unique_ptr<Answer> answer_;
  Sending sending_;
  std::atomic<bool> posted_{false};
};

} // namespace lstmc::ranks

// Ranks that are threads of the test: what one sends lies in a mailbox until another takes it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include "executor/ranks/Link.h"
#include "executor/ranks/Wire.h"

namespace lstmc::test {

/// What the wires of a job share.
struct Mailboxes {
  using Key = std::tuple<int, int, int>; ///< from, to, tag
  explicit Mailboxes(int ranks) : ranks(ranks) {}

  const int ranks;
  /// May change a message on its way; false loses it.
  std::function<bool(const Key &, std::vector<std::byte> &)> onTheWay;
  /// How long a message is on its way; those of one key stay in order.
  std::function<std::chrono::microseconds(const Key &)> delay;
  /// How long a sender of a value takes to learn that it has been sent.
  std::chrono::milliseconds held{0};
  /// Whether threads that wait may poll.
  bool anyThread = true;
  std::set<std::thread::id> pollers;
  /// Values sent while their receiver had not begun to receive them.
  int unexpected = 0;

  struct Message {
    std::chrono::steady_clock::time_point due;
    std::vector<std::byte> bytes;
  };
  std::mutex mutex;
  std::map<Key, std::deque<Message>> boxes;
  std::map<Key, int> receives; ///< begun, and not complete
};

class LocalWire final : public ranks::Wire {
public:
  LocalWire(std::shared_ptr<Mailboxes> mail, int rank) : mail_(std::move(mail)), rank_(rank) {}

  int rank() const override { return rank_; }
  int ranks() const override { return mail_->ranks; }
  int ranksHere() const override { return 1; }
  std::string library() const override { return "mailboxes of a test"; }
  bool takesAnyThread() const override { return mail_->anyThread; }
  bool receiversPull() const override { return true; }

  bool send(int to, int tag, std::span<const std::byte> bytes, void *what) override {
    const Use use(users_);
    std::vector<std::byte> message(bytes.begin(), bytes.end());
    const Mailboxes::Key key{rank_, to, tag};
    std::lock_guard lock(mail_->mutex);
    const bool value = tag >= ranks::kTagMessages;
    mail_->unexpected += value && mail_->receives[key] <= int(mail_->boxes[key].size());
    const Clock::time_point due =
        Clock::now() + (mail_->delay ? mail_->delay(key) : std::chrono::microseconds(0));
    if (!mail_->onTheWay || mail_->onTheWay(key, message))
      mail_->boxes[key].push_back({due, std::move(message)});
    sent_.push_back(
        {Clock::now() + (value ? mail_->held : Clock::duration(0)), {what, bytes.size()}});
    return true;
  }
  bool receive(int from, int tag, std::span<std::byte> bytes, void *what) override {
    const Use use(users_);
    waiting_.push_back({{from, rank_, tag}, bytes, what});
    std::lock_guard lock(mail_->mutex);
    ++mail_->receives[waiting_.back().key];
    return true;
  }
  int poll(std::span<Done> done) override {
    const Use use(users_);
    std::lock_guard lock(mail_->mutex);
    mail_->pollers.insert(std::this_thread::get_id());
    for (size_t i = 0; i < waiting_.size();) {
      auto &box = mail_->boxes[waiting_[i].key];
      if (box.empty() || box.front().due > Clock::now()) {
        ++i;
        continue;
      }
      const std::vector<std::byte> &message = box.front().bytes;
      std::memcpy(waiting_[i].bytes.data(), message.data(),
                  std::min(message.size(), waiting_[i].bytes.size()));
      done_.push_back({waiting_[i].what, message.size()});
      box.pop_front();
      --mail_->receives[waiting_[i].key];
      waiting_.erase(waiting_.begin() + long(i));
    }
    std::erase_if(sent_, [&, now = Clock::now()](const Sent &sent) {
      if (sent.due <= now)
        done_.push_back(sent.done);
      return sent.due <= now;
    });
    size_t count = std::min(done.size(), done_.size());
    std::copy_n(done_.begin(), count, done.begin());
    done_.erase(done_.begin(), done_.begin() + long(count));
    return int(count);
  }
  std::string error() const override { return ""; }
  void leave() override {}

private:
  using Clock = std::chrono::steady_clock;
  /// Of one thread at a time.
  struct Use {
    explicit Use(std::atomic<int> &users) : users(users) {
      if (users.fetch_add(1) != 0)
        throw std::logic_error("two threads use the wire");
    }
    ~Use() { --users; }
    std::atomic<int> &users;
  };
  struct Sent {
    Clock::time_point due;
    Done done;
  };
  struct Waiting {
    Mailboxes::Key key;
    std::span<std::byte> bytes;
    void *what;
  };
  std::shared_ptr<Mailboxes> mail_;
  const int rank_;
  std::atomic<int> users_{0};
  std::vector<Waiting> waiting_;
  std::vector<Sent> sent_;
  std::deque<Done> done_;
};

} // namespace lstmc::test

#include "executor/ranks/Channels.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "executor/base/Threads.h"

namespace lstmc::ranks {

namespace {

/// Between two looks at what is under way.
constexpr auto kPause = std::chrono::microseconds(20);

/// Sends the id of a channel, or receives it.
class IdRequest final : public Request {
public:
  explicit IdRequest(Channels &channels) : channels_(channels) { bytes = id; }
  void completed() override {
    done.store(true);
    channels_.wake();
  }
  ChannelId id{};
  std::atomic<bool> done{false};

private:
  Channels &channels_;
};

} // namespace

class Channels::End {
public:
  End(Channels &channels, ChannelMaker &here, size_t from, size_t to, bool sends)
      : here(here), from(from), to(to), sends(sends), id(std::make_unique<IdRequest>(channels)) {}

  ChannelMaker &here;
  const size_t from, to;
  const bool sends;
  std::unique_ptr<IdRequest> id;
  std::unique_ptr<Channel> channel; ///< null until its id is known
  bool open = false;
  Move *underWay = nullptr;
  Move *first = nullptr, *last = nullptr; ///< that wait; under the lock
};

Result<std::unique_ptr<Channels>> Channels::start(Link &link) try {
  std::unique_ptr<Channels> channels(new Channels(link));
  channels->thread_ = std::thread([&channels = *channels] { channels.work(); });
  return channels;
} catch (const std::system_error &error) {
  return noThread("a thread that moves bytes between GPUs of processes", error);
}

Channels::Channels(Link &link) : link_(link) {}

Channels::~Channels() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable())
    thread_.join();
  std::vector<std::unique_ptr<Request>> requests;
  for (auto &end : ends_)
    requests.push_back(std::move(end->id));
  link_.detach(std::move(requests));
}

Channels::End &Channels::end(ChannelMaker &here, size_t from, size_t to, bool sends, int peer,
                             int tag) {
  const auto known = std::ranges::find_if(
      ends_, [&](const auto &end) { return end->from == from && end->to == to; });
  if (known != ends_.end())
    return **known;
  auto made = std::make_unique<End>(*this, here, from, to, sends);
  made->id->peer = peer;
  made->id->tag = kTagChannels + tag;
  made->id->sends = sends;
  if (!sends)
    link_.submit(*made->id);
  std::lock_guard lock(mutex_);
  woken_ = true;
  changed_.notify_one();
  return *ends_.emplace_back(std::move(made));
}

void Channels::submit(Move &move) {
  std::lock_guard lock(mutex_);
  move.next_ = nullptr;
  (move.end->last ? move.end->last->next_ : move.end->first) = &move;
  move.end->last = &move;
  woken_ = true;
  changed_.notify_one();
}

void Channels::wake() {
  std::lock_guard lock(mutex_);
  woken_ = true;
  changed_.notify_one();
  moved_.notify_all();
}

bool Channels::await(const std::atomic<bool> &done) {
  std::unique_lock lock(mutex_);
  moved_.wait(lock, [&] { return done.load() || link_.broken(); });
  return done.load();
}

void Channels::work() {
  std::vector<End *> ends; // those that are open, and the next one
  for (size_t opened = 0;;) {
    ends.clear();
    {
      std::lock_guard lock(mutex_);
      if (ending_)
        break;
      for (size_t i = 0; i < ends_.size() && i <= opened; ++i)
        ends.push_back(ends_[i].get());
    }
    bool busy = false;
    for (End *end : ends)
      if (link_.broken())
        end->channel.reset(); // nothing else ends what waits for a process that is gone
      else
        busy |= advance(*end);
    const size_t before = opened;
    while (opened < ends.size() && ends[opened]->open)
      ++opened;
    std::unique_lock lock(mutex_);
    if (busy || opened != before)
      changed_.wait_for(lock, kPause, [&] { return woken_ || ending_; });
    else
      changed_.wait(lock, [&] { return woken_ || ending_; });
    woken_ = false;
  }
  for (auto &end : ends_)
    end->channel.reset();
}

void Channels::fail(const Error &error) { link_.abort(error); }

/// Whether there is something to look at again soon.
bool Channels::advance(End &end) {
  if (!end.channel) {
    if (end.sends) {
      Result<ChannelId> id = end.here.newChannel();
      if (!id.ok())
        return fail(id.error()), false;
      end.id->id = *id;
    } else if (!end.id->done.load()) {
      return false; // wakes this thread
    }
    auto channel = end.here.openChannel(end.id->id, end.sends);
    if (!channel.ok())
      return fail(channel.error()), false;
    end.channel = std::move(*channel);
    if (end.sends)
      link_.submit(*end.id);
  }
  if (!end.open || end.underWay) {
    const Result<bool> done = end.channel->done();
    if (!done.ok())
      return fail(done.error()), false;
    if (!*done)
      return true;
    end.open = true;
    if (Move *move = std::exchange(end.underWay, nullptr)) {
      move->moved();
      std::lock_guard lock(mutex_);
      moved_.notify_all();
    }
  }
  {
    std::lock_guard lock(mutex_);
    if (!end.first)
      return false;
    end.underWay = std::exchange(end.first, end.first->next_);
    if (!end.first)
      end.last = nullptr;
  }
  if (Status status = end.channel->begin(end.underWay->at, end.underWay->bytes); !status.ok())
    return fail(status.error()), false;
  return true;
}

} // namespace lstmc::ranks

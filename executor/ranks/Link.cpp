#include "executor/ranks/Link.h"

#include <chrono>
#include <cstring>

#include <sys/prctl.h>

#include "executor/base/Threads.h"
#include "executor/ranks/ErrorText.h"

namespace lstmc::ranks {

namespace {

using Clock = std::chrono::steady_clock;

/// Bytes of the first message of a text: its length, and as much of it as there is room for.
constexpr size_t kTextHead = 256;
/// Of an abort; a longer message is cut.
constexpr size_t kAbortBytes = 8192;
/// Pauses between polls: so many short ones after there was something to do, or somebody has asked
/// for haste. A thread that yields instead waits for all others of a busy machine.
constexpr int kHastyPolls = 200;
constexpr auto kShortPause = std::chrono::microseconds(10);
constexpr auto kPause = std::chrono::microseconds(50);
/// For the others to hear of an abort before this process ends.
constexpr auto kFarewell = std::chrono::milliseconds(500);

} // namespace

/// A transfer that a thread waits for. Has bytes of its own: where the link breaks, it is left to
/// the library for as long as that is there.
class Link::Waited final : public Parcel {
public:
  explicit Waited(Link &link, size_t size) : own(size), link_(link) { bytes = own; }
  void finished() override {
    std::lock_guard lock(link_.mutex_);
    done.store(true);
    link_.met_.notify_all();
  }
  std::vector<std::byte> own;
  std::atomic<bool> done{false};

private:
  Link &link_;
};

/// An abort on its way.
class Link::Notice final : public Parcel {
public:
  explicit Notice(Link &link) : own(kAbortBytes), link_(link) { bytes = own; }
  void finished() override {
    if (sends)
      --link_.unsent_;
    else
      link_.breakWith(unpackError({reinterpret_cast<const char *>(own.data()), received}));
  }
  std::vector<std::byte> own;

private:
  Link &link_;
};

Result<std::unique_ptr<Link>> Link::open(Opener opener) try {
  std::unique_ptr<Link> link(new Link(std::move(opener)));
  link->thread_ = std::thread([&link = *link] { link.work(); });
  std::unique_lock lock(link->mutex_);
  link->met_.wait(lock, [&] { return link->opened_; });
  if (!link->openError_.empty())
    return fail(ErrorCode::E0503, "{}", link->openError_);
  return link;
} catch (const std::system_error &error) {
  return noThread("a thread that moves bytes between processes", error);
}

void Link::leave() {
  {
    std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

Link::Link(Opener opener) : opener_(std::move(opener)) {}
Link::~Link() { leave(); }

bool Link::start() {
  std::string error;
  wire_ = opener_(error);
  std::lock_guard lock(mutex_);
  opened_ = true;
  if (wire_) {
    rank_ = wire_->rank();
    ranks_ = wire_->ranks();
    library_ = wire_->library();
  } else {
    openError_ = error.empty() ? "no connection to the other processes" : error;
  }
  met_.notify_all();
  return wire_ != nullptr;
}

void Link::listenForAborts() {
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_)
      continue;
    notices_.push_back(std::make_unique<Notice>(*this));
    notices_.back()->peer = peer;
    notices_.back()->tag = kTagAbort;
    wire_->receive(peer, kTagAbort, notices_.back()->bytes, notices_.back().get());
    told_.push_back(std::make_unique<Notice>(*this));
    told_.back()->peer = peer;
    told_.back()->sends = true;
  }
}

void Link::work() {
  prctl(PR_SET_TIMERSLACK, 1000UL); // ns: pauses are as short as they say
  if (!start())
    return;
  listenForAborts();
  std::optional<Clock::time_point> farewell;
  for (int idle = 0;;) {
    const bool began = beginQueued();
    if (poll() || began)
      idle = 0;
    bool leaving, broken, untold;
    {
      std::lock_guard lock(mutex_);
      leaving = leaving_;
      broken = error_.has_value();
      untold = tells_ || unsent_ > 0;
    }
    if (broken && leaving) {
      if (!farewell)
        farewell = Clock::now() + kFarewell;
      if (!untold || Clock::now() >= *farewell)
        break;
    } else if (leaving) {
      wire_->leave();
      wire_.reset();
      return;
    }
    rest(idle);
  }
  // What is under way on a broken wire has no orderly end.
  [[maybe_unused]] Wire *kept = wire_.release();
}

/// Whether there was anything to begin.
bool Link::beginQueued() {
  Parcel *parcel;
  bool tells;
  std::string text;
  {
    std::lock_guard lock(mutex_);
    parcel = error_ ? nullptr : first_;
    first_ = last_ = nullptr;
    tells = std::exchange(tells_, false);
    if (tells)
      text = packError(*error_);
  }
  if (tells)
    for (auto &notice : told_) {
      const size_t size = std::min(text.size(), notice->own.size());
      std::memcpy(notice->own.data(), text.data(), size);
      notice->bytes = std::span(notice->own).first(size);
      if (wire_->send(notice->peer, kTagAbort, notice->bytes, notice.get()))
        ++unsent_;
    }
  const bool any = parcel || tells;
  while (parcel) {
    Parcel &next = *parcel;
    parcel = next.next_;
    const bool well = next.sends ? wire_->send(next.peer, next.tag, next.bytes, &next)
                                 : wire_->receive(next.peer, next.tag, next.bytes, &next);
    if (!well)
      abort(fail(ErrorCode::E0801, "rank {} cannot be reached: {}", next.peer, wire_->error()));
  }
  return any;
}

bool Link::poll() {
  Wire::Done done[32];
  const int count = wire_->poll(done);
  if (count < 0)
    breakWith(fail(ErrorCode::E0801, "the ranks are out of touch: {}", wire_->error()));
  std::lock_guard dispatch(dispatch_);
  for (int i = 0; i < count; ++i) {
    Parcel &parcel = *static_cast<Parcel *>(done[i].what);
    // Who waited for it has gone where the link is broken, but for the link's own.
    if (parcel.retired_ || (broken_.load() && !dynamic_cast<Notice *>(&parcel)))
      continue;
    parcel.received = done[i].bytes;
    parcel.finished();
  }
  return count > 0;
}

void Link::rest(int &idle) {
  if (hurry_.exchange(false))
    idle = 0;
  std::unique_lock lock(mutex_);
  if (!first_ && !tells_ && !leaving_)
    changed_.wait_for(lock, ++idle < kHastyPolls ? kShortPause : kPause);
}

void Link::submit(Parcel &parcel) {
  std::lock_guard lock(mutex_);
  parcel.next_ = nullptr;
  (last_ ? last_->next_ : first_) = &parcel;
  last_ = &parcel;
  changed_.notify_one();
}

void Link::retire(std::vector<std::unique_ptr<Parcel>> parcels) {
  std::lock_guard dispatch(dispatch_);
  for (std::unique_ptr<Parcel> &parcel : parcels) {
    parcel->retired_ = true;
    retiredParcels_.push_back(std::move(parcel));
  }
}

void Link::abort(const Error &error) {
  {
    std::lock_guard lock(mutex_);
    if (!error_)
      tells_ = true;
  }
  breakWith(error);
}

void Link::breakWith(const Error &error) {
  std::function<void(const Error &)> tell;
  {
    std::lock_guard lock(mutex_);
    if (error_)
      return;
    error_ = error;
    broken_.store(true);
    tell = onBreak_;
    met_.notify_all();
    changed_.notify_all();
  }
  if (tell)
    tell(error);
}

void Link::onBreak(const std::function<void(const Error &)> &f) {
  std::optional<Error> already;
  {
    std::lock_guard lock(mutex_);
    onBreak_ = f;
    already = error_;
  }
  if (already && f)
    f(*already);
}

Status Link::status() const {
  std::lock_guard lock(mutex_);
  return error_ ? Status(*error_) : Status();
}

Status Link::carry(int peer, int tag, bool sends, std::span<std::byte> bytes) {
  LSTMC_TRY(status());
  auto waited = std::make_unique<Waited>(*this, bytes.size());
  waited->peer = peer;
  waited->tag = tag;
  waited->sends = sends;
  if (sends)
    std::ranges::copy(bytes, waited->own.begin());
  hurry();
  submit(*waited);
  std::unique_lock lock(mutex_);
  met_.wait(lock, [&] { return waited->done.load() || error_; });
  if (!waited->done.load()) {
    [[maybe_unused]] Parcel *kept = waited.release(); // the library has it still
    return *error_;
  }
  if (!sends && waited->received != bytes.size())
    return fail(ErrorCode::E0804, "rank {} sent {} bytes, want {}", peer, waited->received,
                bytes.size());
  if (!sends)
    std::ranges::copy(waited->own, bytes.begin());
  return {};
}

Status Link::sendBytes(int to, int tag, std::span<std::byte> bytes) {
  return carry(to, tag, true, bytes);
}

Status Link::receiveBytes(int from, int tag, std::span<std::byte> bytes) {
  return carry(from, tag, false, bytes);
}

Status Link::sendText(int to, std::string_view text) {
  std::byte head[kTextHead]{};
  const uint64_t size = text.size();
  const size_t now = std::min(text.size(), kTextHead - sizeof(size));
  std::memcpy(head, &size, sizeof(size));
  std::memcpy(head + sizeof(size), text.data(), now);
  LSTMC_TRY(sendBytes(to, kTagText, head));
  std::vector<std::byte> rest(text.size() - now);
  std::memcpy(rest.data(), text.data() + now, rest.size());
  return rest.empty() ? Status() : sendBytes(to, kTagText, rest);
}

Result<std::string> Link::receiveText(int from) {
  std::byte head[kTextHead];
  LSTMC_TRY(receiveBytes(from, kTagText, head));
  uint64_t size = 0;
  std::memcpy(&size, head, sizeof(size));
  if (size > uint64_t(1) << 30)
    return fail(ErrorCode::E0804, "rank {} wants to say {} bytes, want at most 1 GiB", from, size);
  std::string text(size, '\0');
  const size_t now = std::min(text.size(), kTextHead - sizeof(size));
  std::memcpy(text.data(), head + sizeof(size), now);
  if (now < text.size())
    LSTMC_TRY(receiveBytes(
        from, kTagText, std::as_writable_bytes(std::span(text.data() + now, text.size() - now))));
  return text;
}

} // namespace lstmc::ranks

#include "executor/ranks/Link.h"

#include <chrono>
#include <cstring>
#include <utility>

#include <sys/prctl.h>

#include "executor/base/Processors.h"
#include "executor/base/Threads.h"
#include "executor/ranks/ErrorText.h"

namespace lstmc::ranks {

namespace {

using Clock = std::chrono::steady_clock;

/// Bytes of the first message of a text: its length, and as much of it as there is room for.
constexpr size_t kTextHead = 256;
/// Of an abort; a longer message is cut.
constexpr size_t kAbortBytes = 8192;
/// Pauses between polls, each of which takes about 5 us of a processor, and more where it yields.
/// Who waits takes this many short ones after a poll that found something, then longer ones; while
/// nobody does, they are longer at once. The longer ones grow: for one who
/// waits by less than a twentieth of the time that has passed, else soon. Sends in flight keep them
/// from growing far where the library goes on with a large message a piece a poll. Ranks that
/// outnumber the processors of their host pause longer. A thread that yields instead waits for all
/// other threads of a busy machine.
constexpr int kShortPauses = 200, kPausesOfALength = 20, kPausesUnawaited = 4;
constexpr int kMostDoubled = 4, kMostDoubledWhileSending = 2;
constexpr auto kShortPause = std::chrono::microseconds(40);
constexpr auto kPause = std::chrono::microseconds(50);
/// Where threads that wait help, and receivers bring messages over by themselves.
constexpr int kMostDoubledWhereHelped = 6;
/// How long leave() waits for the sends of an abort to complete.
constexpr auto kAbortGrace = std::chrono::milliseconds(500);
/// How often a call that blocks looks whether others get on.
constexpr auto kLook = std::chrono::milliseconds(250);

} // namespace

/// Of the thread that calls it, at the cost of a call of the system the first time.
static void restPrecisely() {
  thread_local const int done = prctl(PR_SET_TIMERSLACK, 1000UL); // ns: else 10 us take 60
  (void)done;
}

/// A transfer that a thread waits for. Owns its bytes: when the link breaks, MPI may still write to
/// them, so the request is leaked.
class Link::BlockingRequest final : public Request {
public:
  explicit BlockingRequest(Link &link, size_t size) : own(size), link_(link) { bytes = own; }
  void completed() override {
    std::lock_guard lock(link_.mutex_);
    done.store(true);
    link_.blockedBy_.store(-1); // it waits no more for the other rank, but goes on or is stuck
    link_.completedOrBroken_.notify_all();
  }
  std::vector<std::byte> own;
  std::atomic<bool> done{false};

private:
  Link &link_;
};

/// An abort that is sent or received.
class Link::AbortRequest final : public Request {
public:
  explicit AbortRequest(Link &link) : own(kAbortBytes), link_(link) { bytes = own; }
  void completed() override {
    if (sends)
      --link_.unsentAborts_;
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
  link->completedOrBroken_.wait(lock, [&] { return link->opened_; });
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
  changed_.ring();
  if (thread_.joinable())
    thread_.join();
}

Link::Link(Opener opener) : opener_(std::move(opener)), mostDoubled_(kMostDoubled) {}
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
    const int processors = std::max(1, availableProcessors());
    crowd_ = (wire_->ranksHere() + processors - 1) / processors;
    takesHelp_ = wire_->takesAnyThread();
    receiversPull_ = wire_->receiversPull();
    if (takesHelp_ && receiversPull_)
      mostDoubled_ = mostDoubledWhileSending_ = kMostDoubledWhereHelped;
    else if (wire_->ranksHere() == ranks_)
      mostDoubledWhileSending_ = kMostDoubledWhileSending;
  } else {
    openError_ = error.empty() ? "no connection to the other processes" : error;
  }
  completedOrBroken_.notify_all();
  return wire_ != nullptr;
}

void Link::receiveAborts() {
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_)
      continue;
    abortReceives_.push_back(std::make_unique<AbortRequest>(*this));
    abortReceives_.back()->peer = peer;
    abortReceives_.back()->tag = kTagAbort;
    wire_->receive(peer, kTagAbort, abortReceives_.back()->bytes, abortReceives_.back().get());
    abortSends_.push_back(std::make_unique<AbortRequest>(*this));
    abortSends_.back()->peer = peer;
    abortSends_.back()->sends = true;
  }
}

void Link::work() {
  restPrecisely();
  if (!start())
    return;
  std::unique_lock wire(wireMutex_);
  receiveAborts();
  std::optional<Clock::time_point> deadline;
  for (int idle = 0;; wire.lock()) {
    if (drive())
      idle = 0;
    bool leaving, broken, abortPending;
    {
      std::lock_guard lock(mutex_);
      leaving = leaving_;
      broken = error_.has_value();
      abortPending = mustSendAbort_ || unsentAborts_ > 0;
    }
    if (broken && leaving) {
      if (!deadline)
        deadline = Clock::now() + kAbortGrace;
      if (!abortPending || Clock::now() >= *deadline)
        break;
    } else if (leaving) {
      wire_->leave();
      wire_.reset();
      return;
    }
    wire.unlock();
    pause(idle);
  }
  // MPI may still use the memory of requests in flight.
  [[maybe_unused]] Wire *leaked = wire_.release();
}

/// Whether it began or completed anything. Whoever calls it has the wire.
bool Link::drive() {
  driver_.store(std::this_thread::get_id());
  const bool began = beginQueued(), found = poll();
  if (found)
    beginQueued(); // what completed() has submitted
  driver_.store({});
  return began || found;
}

std::optional<std::chrono::nanoseconds> Link::help(int &looks) {
  if (!takesHelp_)
    return std::nullopt;
  restPrecisely();
  if (std::unique_lock wire(wireMutex_, std::try_to_lock); wire && wire_ && drive())
    looks = 0;
  return pauseAfter(++looks, true);
}

/// Begins what has been submitted; false when there was nothing.
bool Link::beginQueued() {
  Request *request;
  bool sendsAbort;
  std::string text;
  {
    std::lock_guard lock(mutex_);
    request = error_ ? nullptr : first_;
    first_ = last_ = nullptr;
    sendsAbort = std::exchange(mustSendAbort_, false);
    if (sendsAbort)
      text = packError(*error_);
  }
  if (sendsAbort)
    for (auto &request : abortSends_) {
      const size_t size = std::min(text.size(), request->own.size());
      std::memcpy(request->own.data(), text.data(), size);
      request->bytes = std::span(request->own).first(size);
      if (wire_->send(request->peer, kTagAbort, request->bytes, request.get())) {
        ++unsentAborts_;
        ++sending_;
      }
    }
  const bool any = request || sendsAbort;
  while (request) {
    Request &next = *request;
    request = next.next_;
    sending_ += next.sends;
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
    Request &request = *static_cast<Request *>(done[i].what);
    sending_ -= request.sends;
    // On a broken link the owner of a request may be gone; the aborts belong to the link itself.
    if (request.detached_ || (broken_.load() && !dynamic_cast<AbortRequest *>(&request)))
      continue;
    request.received = done[i].bytes;
    transfers_.fetch_add(1);
    request.completed();
  }
  return count > 0;
}

std::chrono::microseconds Link::pauseAfter(int idle, bool awaited) const {
  auto pause = kShortPause;
  if (idle >= kShortPauses || !awaited) {
    const int most = awaited        ? kMostDoubled
                     : sending_ > 0 ? mostDoubledWhileSending_
                                    : mostDoubled_;
    const int lengths =
        awaited ? (idle - kShortPauses) / kPausesOfALength : idle / kPausesUnawaited;
    pause = kPause * (1 << std::min(most, lengths));
  }
  return std::min(kPause * (1 << mostDoubled_), pause * crowd_);
}

void Link::pause(int &idle) {
  if (pollOften_.exchange(false))
    idle = 0;
  const auto pause = pauseAfter(++idle, waiting_.load() > 0);
  resting_.store(pause > kPause);
  if (!pollOften_.load())
    changed_.rest(pause);
  resting_.store(false);
}

void Link::pollOften() {
  pollOften_.store(true);
  if (resting_.load())
    changed_.ring();
}

void Link::waits() {
  ++waiting_;
  pollOften();
}

void Link::submit(Request &request) {
  {
    std::lock_guard lock(mutex_);
    request.next_ = nullptr;
    (last_ ? last_->next_ : first_) = &request;
    last_ = &request;
  }
  if (driver_.load() == std::this_thread::get_id())
    return; // begins it when it has completed the others
  if (takesHelp_)
    if (std::unique_lock wire(wireMutex_, std::try_to_lock); wire && wire_) {
      driver_.store(std::this_thread::get_id());
      beginQueued();
      driver_.store({});
      if (request.sends && mostDoubledWhileSending_ < mostDoubled_)
        pollOften(); // the library goes on with it a piece a poll
      return;
    }
  changed_.ring();
}

void Link::detach(std::vector<std::unique_ptr<Request>> requests) {
  std::lock_guard dispatch(dispatch_);
  for (std::unique_ptr<Request> &request : requests) {
    request->detached_ = true;
    detachedRequests_.push_back(std::move(request));
  }
}

void Link::abort(const Error &error) {
  {
    std::lock_guard lock(mutex_);
    if (!error_)
      mustSendAbort_ = true;
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
    completedOrBroken_.notify_all();
    changed_.ring();
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

void Link::bePatient(std::chrono::milliseconds patience, std::function<uint64_t()> elsewhere) {
  patience_ = patience;
  elsewhere_ = std::move(elsewhere);
}

std::optional<int> Link::blockedBy() const {
  const int peer = blockedBy_.load();
  return peer < 0 ? std::nullopt : std::optional(peer);
}

/// Until it is done or the link is broken. Time in which this process did not run does not count.
void Link::waitFor(BlockingRequest &request) {
  std::chrono::milliseconds waited{0};
  uint64_t seen = elsewhere_ ? elsewhere_() : 0;
  auto over = [&] { return request.done.load() || error_; };
  Clock::time_point looked = Clock::now();
  int looks = 0;
  std::unique_lock lock(mutex_);
  while (!over()) {
    lock.unlock();
    const auto pause = help(looks);
    lock.lock();
    if (completedOrBroken_.wait_for(lock, pause ? *pause : kLook, over))
      break;
    if (Clock::now() - looked < kLook)
      continue;
    looked = Clock::now();
    const uint64_t now = elsewhere_ ? elsewhere_() : 0;
    waited = now == std::exchange(seen, now) ? waited + kLook : std::chrono::milliseconds(0);
    if (waited < patience_)
      continue;
    lock.unlock();
    abort(fail(ErrorCode::E0802,
               "rank {} waited {:g} s for rank {} to {}, and no other rank got on meanwhile", rank_,
               std::chrono::duration<double>(patience_).count(), request.peer,
               request.sends ? "receive" : "send"));
    lock.lock();
  }
}

Status Link::transfer(int peer, int tag, bool sends, std::span<std::byte> bytes) {
  LSTMC_TRY(status());
  auto blocking = std::make_unique<BlockingRequest>(*this, bytes.size());
  blocking->peer = peer;
  blocking->tag = tag;
  blocking->sends = sends;
  if (sends)
    std::ranges::copy(bytes, blocking->own.begin());
  if (!takesHelp_)
    waits();
  blockedBy_.store(peer);
  submit(*blocking);
  waitFor(*blocking);
  blockedBy_.store(-1);
  if (!takesHelp_)
    waitsNoMore();
  if (!blocking->done.load()) {
    [[maybe_unused]] Request *leaked = blocking.release(); // MPI may still write to it
    return status();
  }
  if (!sends && blocking->received != bytes.size())
    return fail(ErrorCode::E0804, "rank {} sent {} bytes, want {}", peer, blocking->received,
                bytes.size());
  if (!sends)
    std::ranges::copy(blocking->own, bytes.begin());
  return {};
}

Status Link::sendBytes(int to, int tag, std::span<std::byte> bytes) {
  return transfer(to, tag, true, bytes);
}

Status Link::receiveBytes(int from, int tag, std::span<std::byte> bytes) {
  return transfer(from, tag, false, bytes);
}

Status Link::sendText(int to, std::string_view text) {
  std::byte head[kTextHead]{};
  const uint64_t size = text.size();
  const size_t now = std::min(text.size(), kTextHead - sizeof(size));
  std::memcpy(head, &size, sizeof(size));
  std::memcpy(head + sizeof(size), text.data(), now);
  LSTMC_TRY(sendBytes(to, kTagText, head));
  std::vector<std::byte> pause(text.size() - now);
  std::memcpy(pause.data(), text.data() + now, pause.size());
  return pause.empty() ? Status() : sendBytes(to, kTagText, pause);
}

Result<std::string> Link::receiveText(int from) {
  std::byte head[kTextHead];
  LSTMC_TRY(receiveBytes(from, kTagText, head));
  uint64_t size = 0;
  std::memcpy(&size, head, sizeof(size));
  if (size > uint64_t(1) << 30)
    return fail(ErrorCode::E0804, "rank {} announces {} bytes, want at most 1 GiB", from, size);
  std::string text(size, '\0');
  const size_t now = std::min(text.size(), kTextHead - sizeof(size));
  std::memcpy(text.data(), head + sizeof(size), now);
  if (now < text.size())
    LSTMC_TRY(receiveBytes(
        from, kTagText, std::as_writable_bytes(std::span(text.data() + now, text.size() - now))));
  return text;
}

} // namespace lstmc::ranks

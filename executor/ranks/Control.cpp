#include "executor/ranks/Control.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "executor/base/ParseNumber.h"
#include "executor/base/Threads.h"
#include "executor/ranks/Host.h"

namespace lstmc::ranks {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kBeat = std::chrono::milliseconds(500);
constexpr auto kLeave = std::chrono::seconds(2);
/// `launch` sends a line every half second: after this time without one, it does not reach this
/// process any more, or has been stopped. Longer than its own patience with a rank.
constexpr auto kSilence = std::chrono::seconds(5);
/// For what was sent to be acknowledged. Without it TCP goes on for a quarter of an hour.
constexpr unsigned kAcknowledged = 3000; // ms
/// For a process that was told to leave.
constexpr auto kOverdue = std::chrono::seconds(3);

std::optional<int> numberIn(const char *variable) {
  const char *text = std::getenv(variable);
  if (!text || !*text)
    return std::nullopt;
  return parseNumber<int>(text).value_or(-1);
}

/// A connection that breaks soon when its other end is cut off, also while nothing is sent; and no
/// call on it takes longer.
void bePrompt(int socket) {
  auto set = [socket](int level, int option, auto value) {
    setsockopt(socket, level, option, &value, sizeof(value));
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kAcknowledged);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(SOL_SOCKET, SO_SNDTIMEO, timeval{10, 0});
}

uint64_t numberOf(std::string_view text) { return parseNumber<uint64_t>(text).value_or(0); }

} // namespace

Result<std::optional<Place>> placeInJob() {
  std::optional<int> ranks = numberIn("LSTMC_WORLD_SIZE");
  if (!ranks)
    return std::optional<Place>();
  std::optional<int> rank = numberIn("LSTMC_RANK");
  if (!rank)
    rank = numberIn("OMPI_COMM_WORLD_RANK");
  if (*ranks < 1 || !rank || *rank < 0 || *rank >= *ranks)
    return fail(ErrorCode::E0001,
                "LSTMC_WORLD_SIZE is set, and there is no rank below it in LSTMC_RANK "
                "or OMPI_COMM_WORLD_RANK; `lstmc launch` sets all of them");
  const char *control = std::getenv("LSTMC_CONTROL");
  return std::optional(Place{*rank, *ranks, control ? control : ""});
}

std::string onOneLine(std::string_view text) {
  std::string line(text);
  std::ranges::replace(line, '\n', '\v');
  return line;
}

Result<std::unique_ptr<Control>> Control::connect(const Place &place) try {
  const size_t token = place.control.rfind(':'), port = place.control.rfind(':', token - 1);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  const std::string host = place.control.substr(0, port);
  if (token == std::string::npos || port == std::string::npos ||
      inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1)
    return fail(ErrorCode::E0001, "LSTMC_CONTROL: found \"{}\", want ADDRESS:PORT:TOKEN",
                place.control);
  const std::string_view number =
      std::string_view(place.control).substr(port + 1, token - port - 1);
  address.sin_port = htons(uint16_t(numberOf(number)));
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket >= 0)
    bePrompt(socket);
  if (socket < 0 ||
      ::connect(socket, reinterpret_cast<sockaddr *>(&address), sizeof(address)) != 0) {
    const int reason = errno;
    if (socket >= 0)
      ::close(socket);
    return fail(ErrorCode::E0801, "rank {} cannot reach `lstmc launch` at {}: {}", place.rank,
                place.control.substr(0, token), std::strerror(reason));
  }
  std::unique_ptr<Control> control(new Control(socket));
  pthread_getcpuclockid(pthread_self(), &control->hostTime_);
  control->sendLine(fmt::format("hello {} {} {} {} {}", place.control.substr(token + 1), place.rank,
                                ::getpid(), hostSpace(), hostName()));
  control->thread_ = std::thread([&control = *control] { control.work(); });
  return control;
} catch (const std::system_error &error) {
  return noThread("a thread that tells how far this rank is", error);
}

Control::~Control() {
  {
    std::lock_guard lock(mutex_);
    leaving_ = true;
    changed_.notify_all();
  }
  ::shutdown(socket_, SHUT_RDWR);
  if (thread_.joinable())
    thread_.join();
  ::close(socket_);
}

void Control::listen(Handlers handlers) {
  std::lock_guard lock(mutex_);
  handlers_ = std::move(handlers);
}

Control::Handlers Control::handlers() const {
  std::lock_guard lock(mutex_);
  return handlers_;
}

bool Control::sendLine(std::string line) {
  line += '\n';
  for (std::string_view left = line; !left.empty();) {
    const ssize_t sent = ::send(socket_, left.data(), left.size(), MSG_NOSIGNAL);
    if (sent <= 0)
      return false;
    left.remove_prefix(size_t(sent));
  }
  return true;
}

/// False where the connection has ended.
bool Control::beat() {
  const Handlers now = handlers();
  Standing standing = now.standing ? now.standing() : Standing();
  timespec spent{};
  if (standing.at == Standing::At::Host && clock_gettime(hostTime_, &spent) == 0)
    standing.progress += uint64_t(spent.tv_sec) * 1'000'000 + uint64_t(spent.tv_nsec) / 1000;
  return sendLine(
      fmt::format("beat {} {} {}", standing.progress, int(standing.at), onOneLine(standing.place)));
}

bool Control::receiveLines(std::string &received) {
  char bytes[4096];
  const ssize_t size = ::recv(socket_, bytes, sizeof(bytes), 0);
  {
    std::lock_guard lock(mutex_);
    heard_ = Clock::now();
  }
  received.append(bytes, size_t(std::max<ssize_t>(size, 0)));
  for (size_t end; (end = received.find('\n')) != std::string::npos; received.erase(0, end + 1))
    receive(std::string_view(received).substr(0, end));
  return size > 0;
}

void Control::work() {
  std::string received;
  auto next = Clock::now(), last = next;
  Clock::duration silent{}; // without the time in which this process did not run itself
  bool connected = true;
  while (connected && silent < kSilence) {
    {
      std::lock_guard lock(mutex_);
      if (leaving_)
        return;
    }
    if (Clock::now() >= next) {
      next = std::max(next + kBeat, Clock::now());
      connected = beat();
    }
    pollfd ready{socket_, POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now());
    if (::poll(&ready, 1, std::max(1, int(left.count()))) > 0) {
      connected = receiveLines(received);
      silent = {};
    }
    const auto now = Clock::now();
    silent += std::min<Clock::duration>(now - std::exchange(last, now), 2 * kBeat);
    leaveInTime();
  }
  std::unique_lock lock(mutex_);
  const bool expected = leaving_ || reportedEnd_;
  orphaned_ = !expected;
  released_ = true;
  changed_.notify_all();
  lock.unlock();
  if (expected)
    return;
  lose(fail(ErrorCode::E0801, "{}, and nobody watches over the job",
            connected ? "`lstmc launch` is not heard of any more" : "`lstmc launch` is gone"));
  for (lock.lock(); !leaving_; changed_.wait_for(lock, kBeat)) {
    lock.unlock();
    leaveInTime();
    lock.lock();
  }
}

void Control::lose(const Error &error) {
  {
    std::lock_guard lock(mutex_);
    if (!leaveUntil_)
      leaveUntil_ = Clock::now() + kOverdue;
  }
  if (const Handlers now = handlers(); now.lost)
    now.lost(error);
}

/// Whoever has been told of a loss leaves by itself. What keeps it, nobody else may be able to end.
void Control::leaveInTime() {
  {
    std::lock_guard lock(mutex_);
    if (!leaveUntil_ || Clock::now() < *leaveUntil_)
      return;
  }
  if (const Handlers now = handlers(); now.overdue)
    now.overdue();
}

bool Control::orphaned() const {
  std::lock_guard lock(mutex_);
  return orphaned_ || (!released_ && Clock::now() - heard_ > kLeave - kBeat);
}

void Control::receive(std::string_view line) {
  const size_t space = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, space);
  const std::string_view rest = line.substr(std::min(space + 1, line.size()));
  const Handlers now = handlers();
  if (word == "progress" && now.progress)
    now.progress(numberOf(rest));
  else if (word == "signal" && now.signal)
    now.signal(int(numberOf(rest)));
  else if (word == "lost" || word == "stuck")
    lose(fail(word == "lost" ? ErrorCode::E0801 : ErrorCode::E0802, "{}", rest));
  else if (word == "bye") {
    std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }
}

void Control::end(int exit, bool joined, std::string_view message) {
  {
    std::lock_guard lock(mutex_);
    reportedEnd_ = true;
  }
  sendLine(fmt::format("end {} {} {}", exit, int(joined), onOneLine(message)));
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kLeave, [this] { return released_; });
}

} // namespace lstmc::ranks

#include "frontend/launch/Supervisor.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "executor/base/OutputFile.h"
#include "executor/base/ParseNumber.h"
#include "executor/ranks/Control.h"
#include "executor/ranks/Host.h"
#include "frontend/launch/Network.h"

namespace lstmc::launch {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kTick(50), kReport(500);
/// Time for the other ranks to end by themselves, after one is lost or has failed before joining,
/// and after one has failed (when they may still write a checkpoint).
constexpr milliseconds kAfterLoss(1'500), kAfterFailure(10'000);
/// Time for mpirun to notice that its processes have ended. After one was killed it waits for
/// something else, and ends only on a signal.
constexpr milliseconds kForMpirun(1'500), kForMpirunAfterLoss(100);

uint64_t numberOf(std::string_view text) { return parseNumber<uint64_t>(text).value_or(0); }

/// Removes the next word from a line and returns it.
std::string_view takeWord(std::string_view &line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

/// A connection whose rank is -1 until its hello has arrived.
struct Connection {
  int socket = -1;
  std::string buffer;
  int rank = -1;
};

struct Rank {
  int socket = -1;
  pid_t pid = 0;
  std::string host, place, message;
  uint64_t progress = 0;
  Standing::At at = Standing::At::Host;
  uint64_t beatsOfHost =
      0; ///< between runs: until it is stuck, the others are told that it gets on
  Clock::time_point lastHeartbeat, standsSince;
  bool connected = false, ended = false;
  bool local = false; ///< a process of this machine, which `pid` names
  int exit = 0;
};

class Supervisor {
public:
  explicit Supervisor(const Watch &watch) : watch_(watch), ranks_(size_t(watch.start.ranks)) {}
  ~Supervisor() {
    for (const Connection &connection : connections_)
      ::close(connection.socket);
    if (listener_ >= 0)
      ::close(listener_);
  }

  Result<JobEnd> run();

private:
  Status listen();
  void pollOnce();
  void accept();
  bool receive(Connection &connection);
  bool receive(Connection &connection, std::string_view line);
  void disconnected(const Connection &connection);
  void beat(Rank &rank, std::string_view line);
  void checkRanks(Mpirun &mpirun);
  void lookForStuck();
  std::optional<std::string> whyStuck(const Rank &rank, bool allWait) const;
  void markLost(int rank, const std::string &why, ErrorCode code = ErrorCode::E0801);
  void report();
  void sendToAll(const std::string &line);
  static void sendLine(int socket, std::string line);
  bool finished();
  bool hasFailed() const;
  JobEnd end() const;
  void killRanks() const;
  std::string nameOf(size_t rank) const {
    return fmt::format("rank {} (process {} on {})", rank, ranks_[rank].pid, ranks_[rank].host);
  }

  /// Name of a rank that has never connected.
  std::string absentName(size_t rank) const {
    const std::vector<std::string> &hosts = watch_.start.hosts;
    return hosts.empty() ? fmt::format("rank {}", rank)
                         : fmt::format("rank {} (to run on {}, and to connect to {}:{})", rank,
                                       hosts[rank], watch_.address, port_);
  }

  const Watch &watch_;
  std::vector<Rank> ranks_;
  std::vector<Connection> connections_;
  int listener_ = -1;
  uint16_t port_ = 0;
  const std::string token_ = randomSuffix();
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point reportAt_ = begin_;
  std::optional<Clock::time_point> deadline_; ///< set when the job is to end
  std::string lostMessage_;
  ErrorCode lostCode_ = ErrorCode::E0801;
  int signalsSent_ = 0;
};

Status Supervisor::listen() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(uint16_t(watch_.start.port));
  inet_pton(AF_INET, watch_.address.c_str(), &address.sin_addr);
  socklen_t size = sizeof(address);
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  auto *any = reinterpret_cast<sockaddr *>(&address);
  const int on = 1; // for a job that is started again
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (listener_ < 0 || ::bind(listener_, any, size) != 0 ||
      ::listen(listener_, watch_.start.ranks) != 0 || ::getsockname(listener_, any, &size) != 0)
    return fail(ErrorCode::E0801, "no port{} on {} for ranks to connect to: {}",
                watch_.start.port ? fmt::format(" {}", watch_.start.port) : "", watch_.address,
                std::strerror(errno));
  port_ = ntohs(address.sin_port);
  return {};
}

Result<JobEnd> Supervisor::run() {
  LSTMC_TRY(listen());
  Start start = watch_.start;
  start.environment["LSTMC_WORLD_SIZE"] = std::to_string(start.ranks);
  start.environment["LSTMC_CONTROL"] = fmt::format("{}:{}:{}", watch_.address, port_, token_);
  LSTMC_ASSIGN(Mpirun mpirun, Mpirun::start(start));
  while (!finished()) {
    pollOnce();
    checkRanks(mpirun);
  }
  sendToAll("bye");
  // A rank that has reported its end exits by itself; the deadline of the others has passed.
  if (!std::ranges::all_of(ranks_, &Rank::ended))
    killRanks();
  const milliseconds patience = lostMessage_.empty() ? kForMpirun : kForMpirunAfterLoss;
  for (auto until = Clock::now() + patience; !mpirun.ended() && Clock::now() < until;) {
    pollOnce();
    if (mpirun.output().isWriting() && watch_.signals().first == 0)
      until = Clock::now() + patience;
  }
  killRanks();
  mpirun.kill();
  // A slow reader receives all output, unless the job has been told to end.
  for (auto until = Clock::now() + patience;
       !mpirun.output().finish(kTick) && (watch_.signals().first == 0 || Clock::now() < until);)
    ;
  return end();
}

/// Whether all ranks have left, or their deadline has passed.
bool Supervisor::finished() {
  auto hasLeft = [](const Rank &rank) { return rank.ended || (rank.connected && rank.socket < 0); };
  return std::ranges::all_of(ranks_, hasLeft) || (deadline_ && Clock::now() >= *deadline_);
}

void Supervisor::pollOnce() {
  std::vector<pollfd> sockets{{listener_, POLLIN, 0}};
  for (const Connection &connection : connections_)
    sockets.push_back({connection.socket, POLLIN, 0});
  if (::poll(sockets.data(), sockets.size(), int(kTick.count())) <= 0)
    return;
  for (size_t i = connections_.size(); i-- > 0;)
    if (sockets[i + 1].revents && !receive(connections_[i])) {
      disconnected(connections_[i]);
      ::close(connections_[i].socket);
      connections_.erase(connections_.begin() + long(i));
    }
  if (sockets[0].revents)
    accept();
}

void Supervisor::accept() {
  const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket >= 0)
    connections_.push_back({socket, {}, -1});
}

/// False if the connection has no more data.
bool Supervisor::receive(Connection &connection) {
  char bytes[4096];
  const ssize_t size = ::recv(connection.socket, bytes, sizeof(bytes), 0);
  if (size <= 0)
    return size < 0 && (errno == EAGAIN || errno == EINTR);
  connection.buffer.append(bytes, size_t(size));
  for (size_t end; (end = connection.buffer.find('\n')) != std::string::npos;
       connection.buffer.erase(0, end + 1))
    if (!receive(connection, std::string_view(connection.buffer).substr(0, end)))
      return false;
  return connection.buffer.size() < (1 << 16);
}

/// False for a line that does not come from a rank of this job.
bool Supervisor::receive(Connection &connection, std::string_view line) {
  const std::string_view word = takeWord(line);
  if (connection.rank < 0) {
    const bool knows = word == "hello" && takeWord(line) == token_;
    const uint64_t rank = knows ? numberOf(takeWord(line)) : ranks_.size();
    if (rank >= ranks_.size() || ranks_[rank].connected)
      return false;
    Rank &peer = ranks_[rank];
    connection.rank = int(rank);
    peer.connected = true;
    peer.socket = connection.socket;
    peer.pid = pid_t(numberOf(takeWord(line)));
    peer.local = takeWord(line) == ranks::hostSpace();
    peer.host = line;
    peer.lastHeartbeat = peer.standsSince = Clock::now();
    watch_.log(fmt::format("{} has connected from {}", nameOf(rank), peerOf(connection.socket)));
    if (!lostMessage_.empty()) // it comes too late, or another one has gone meanwhile
      sendLine(peer.socket, "lost " + lostMessage_);
    return true;
  }
  Rank &rank = ranks_[size_t(connection.rank)];
  rank.lastHeartbeat = Clock::now();
  if (word == "beat") {
    beat(rank, line);
  } else if (word == "end") {
    rank.exit = int(numberOf(takeWord(line)));
    const bool joined = numberOf(takeWord(line)) != 0;
    rank.message = line;
    rank.ended = true;
    if (rank.exit != 0 && !deadline_)
      deadline_ = Clock::now() + (joined ? kAfterFailure : kAfterLoss);
  }
  return true;
}

void Supervisor::beat(Rank &rank, std::string_view line) {
  const uint64_t progress = numberOf(takeWord(line));
  const auto at = Standing::At(std::min<uint64_t>(numberOf(takeWord(line)), 2));
  if (progress != rank.progress || at != rank.at)
    rank.standsSince = rank.lastHeartbeat;
  rank.progress = progress;
  rank.at = at;
  rank.beatsOfHost += at == Standing::At::Host;
  rank.place = line;
}

void Supervisor::disconnected(const Connection &connection) {
  if (connection.rank < 0)
    return;
  Rank &rank = ranks_[size_t(connection.rank)];
  rank.socket = -1;
  if (!rank.ended && !hasFailed())
    markLost(connection.rank, "has died");
}

/// Whether a rank ended because of an error that it detected. A rank that fails before joining the
/// others ends them too: MPI ends those that wait for it.
bool Supervisor::hasFailed() const {
  return std::ranges::any_of(ranks_, [](const Rank &rank) {
    return rank.ended && rank.exit != 0 && rank.exit != int(ExitCode::Job);
  });
}

void Supervisor::checkRanks(Mpirun &mpirun) {
  const auto now = Clock::now();
  if (const auto [times, signal] = watch_.signals(); times > signalsSent_) {
    signalsSent_ = times;
    sendToAll(fmt::format("signal {}", signal));
  }
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const Rank &rank = ranks_[i];
    if (!rank.connected && now >= begin_ + watch_.rendezvousTimeout)
      markLost(int(i),
               fmt::format("has not come in {:g} s",
                           std::chrono::duration<double>(watch_.rendezvousTimeout).count()));
    else if (rank.connected && !rank.ended && now >= rank.lastHeartbeat + watch_.heartbeatTimeout)
      markLost(int(i),
               fmt::format("has been silent for {:.1f} s",
                           std::chrono::duration<double>(now - rank.lastHeartbeat).count()));
  }
  if (!deadline_)
    lookForStuck();
  if (mpirun.ended() && !deadline_)
    for (size_t i = 0; i < ranks_.size(); ++i)
      if (!ranks_[i].ended)
        markLost(int(i), ranks_[i].connected ? "is gone, and mpirun with it"
                                             : "has not come, and mpirun has ended");
  if (now >= reportAt_) {
    reportAt_ = now + kReport;
    report();
  }
}

/// A rank that waits for others is not the cause of a stuck job, unless all ranks wait.
void Supervisor::lookForStuck() {
  const bool allWait = std::ranges::all_of(ranks_, [](const Rank &rank) {
    return rank.ended || (rank.connected && rank.at == Standing::At::Wait);
  });
  for (size_t i = 0; i < ranks_.size(); ++i)
    if (std::optional<std::string> why = whyStuck(ranks_[i], allWait))
      return markLost(int(i), *why, ErrorCode::E0802);
}

std::optional<std::string> Supervisor::whyStuck(const Rank &rank, bool allWait) const {
  if (!rank.connected || rank.ended)
    return std::nullopt;
  const auto stands = Clock::now() - rank.standsSince;
  const bool host = rank.at == Standing::At::Host, waits = rank.at == Standing::At::Wait;
  if (stands < watch_.stuckTimeout * (host ? kHostPatience : 1) || (waits && !allWait))
    return std::nullopt;
  // The job is stuck only if no other rank has made progress meanwhile.
  if (waits && std::ranges::any_of(ranks_, [&](const Rank &other) {
        return !other.ended && Clock::now() - other.standsSince < watch_.stuckTimeout;
      }))
    return std::nullopt;
  return fmt::format("has made no progress for {:.3g} s{}",
                     std::chrono::duration<double>(stands).count(),
                     host    ? ", between runs of its devices (data, checkpoints)"
                     : waits ? ", and every rank waits for another one"
                             : "");
}

void Supervisor::markLost(int index, const std::string &why, ErrorCode code) {
  if (!lostMessage_.empty())
    return;
  lostCode_ = code;
  const Rank &rank = ranks_[size_t(index)];
  lostMessage_ =
      fmt::format("{} {}", rank.connected ? nameOf(size_t(index)) : absentName(size_t(index)), why);
  if (!rank.place.empty())
    lostMessage_ += "; " + rank.place;
  if (rank.socket >= 0 && rank.local) // stopped by SIGSTOP it would continue later
    ::kill(rank.pid, SIGKILL);
  watch_.log(lostMessage_);
  sendToAll((code == ErrorCode::E0802 ? "stuck " : "lost ") + lostMessage_);
  deadline_ = Clock::now() + kAfterLoss;
}

/// Tells each rank the progress of the others.
void Supervisor::report() {
  uint64_t all = 0;
  for (const Rank &rank : ranks_)
    all += rank.progress + rank.beatsOfHost;
  for (const Rank &rank : ranks_)
    if (rank.socket >= 0)
      sendLine(rank.socket, fmt::format("progress {}", all - rank.progress - rank.beatsOfHost));
}

void Supervisor::sendToAll(const std::string &line) {
  for (const Rank &rank : ranks_)
    if (rank.socket >= 0)
      sendLine(rank.socket, line);
}

/// A rank that does not read it misses its heartbeat deadline anyway.
void Supervisor::sendLine(int socket, std::string line) {
  line += '\n';
  (void)::send(socket, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Ranks of this machine whose connection is open: after it closes, their process number may belong
/// to another process. Ranks of other hosts are ended by mpirun.
void Supervisor::killRanks() const {
  for (const Rank &rank : ranks_)
    if (rank.socket >= 0 && rank.local && rank.pid > 0)
      ::kill(rank.pid, SIGKILL);
}

JobEnd Supervisor::end() const {
  const Rank &first = ranks_[0];
  if (!lostMessage_.empty())
    return {int(ExitCode::Job), true, first.exit != 0 ? "" : lostMessage_, lostCode_};
  if (first.exit != 0 && first.ended)
    return {first.exit, false, ""}; // and has printed why
  for (size_t i = 0; i < ranks_.size(); ++i)
    if (ranks_[i].exit != 0)
      return {ranks_[i].exit, false, fmt::format("rank {}: {}", i, ranks_[i].message)};
  for (size_t i = 0; i < ranks_.size(); ++i)
    if (!ranks_[i].ended)
      return {int(ExitCode::Job), false, fmt::format("{} did not end", nameOf(i))};
  return {};
}

} // namespace

Result<JobEnd> supervise(const Watch &watch) { return Supervisor(watch).run(); }

} // namespace lstmc::launch

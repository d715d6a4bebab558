#include "frontend/launch/Supervisor.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "executor/base/OutputFile.h"
#include "executor/ranks/Control.h"
#include "frontend/launch/Network.h"

namespace lstmc::launch {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kTick(50), kReport(500);
/// For ranks to end by themselves once one has: when it is lost, and when it has failed, which
/// others may have to write down.
constexpr milliseconds kAfterLoss(1'500), kAfterFailure(10'000);

uint64_t numberOf(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The next word of a line, which is taken off it.
std::string_view takeWord(std::string_view &line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

/// A rank, or somebody who has connected and not said which.
struct Connection {
  int socket = -1;
  std::string heard;
  int rank = -1;
};

struct Rank {
  int socket = -1;
  pid_t pid = 0;
  std::string host, place, message;
  uint64_t progress = 0;
  Clock::time_point heardAt;
  bool came = false, ended = false;
  bool here = false; ///< a process of this machine, which `pid` names
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
  void turn();
  void accept();
  bool hear(Connection &connection);
  bool hear(Connection &connection, std::string_view line);
  void gone(const Connection &connection);
  void look(Mpirun &mpirun);
  void lose(int rank, std::string why);
  void report();
  void tellAll(const std::string &line);
  static void say(int socket, std::string line);
  bool over();
  JobEnd end() const;
  void killRanks() const;
  std::string nameOf(size_t rank) const {
    return fmt::format("rank {} (process {} on {})", rank, ranks_[rank].pid, ranks_[rank].host);
  }

  /// Of a rank that has never come.
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
  std::optional<Clock::time_point> until_; ///< once the job is to end
  std::string lost_;
  int asked_ = 0;
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
  while (!over()) {
    turn();
    look(mpirun);
  }
  tellAll("bye");
  // Who has said its last word leaves by itself; who has not has had its time.
  if (!std::ranges::all_of(ranks_, &Rank::ended))
    killRanks();
  for (auto until = Clock::now() + kAfterLoss; !mpirun.ended() && Clock::now() < until;)
    turn();
  killRanks();
  mpirun.kill();
  return end();
}

/// Whether there is nothing left to wait for.
bool Supervisor::over() {
  auto hasLeft = [](const Rank &rank) { return rank.ended || (rank.came && rank.socket < 0); };
  return std::ranges::all_of(ranks_, hasLeft) || (until_ && Clock::now() >= *until_);
}

void Supervisor::turn() {
  std::vector<pollfd> sockets{{listener_, POLLIN, 0}};
  for (const Connection &connection : connections_)
    sockets.push_back({connection.socket, POLLIN, 0});
  if (::poll(sockets.data(), sockets.size(), int(kTick.count())) <= 0)
    return;
  for (size_t i = connections_.size(); i-- > 0;)
    if (sockets[i + 1].revents && !hear(connections_[i])) {
      gone(connections_[i]);
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

/// False when there is no more to hear.
bool Supervisor::hear(Connection &connection) {
  char bytes[4096];
  const ssize_t size = ::recv(connection.socket, bytes, sizeof(bytes), 0);
  if (size <= 0)
    return size < 0 && (errno == EAGAIN || errno == EINTR);
  connection.heard.append(bytes, size_t(size));
  for (size_t end; (end = connection.heard.find('\n')) != std::string::npos;
       connection.heard.erase(0, end + 1))
    if (!hear(connection, std::string_view(connection.heard).substr(0, end)))
      return false;
  return connection.heard.size() < (1 << 16);
}

/// False for what no rank of this job says.
bool Supervisor::hear(Connection &connection, std::string_view line) {
  const std::string_view word = takeWord(line);
  if (connection.rank < 0) {
    const bool knows = word == "hello" && takeWord(line) == token_;
    const uint64_t rank = knows ? numberOf(takeWord(line)) : ranks_.size();
    if (rank >= ranks_.size() || ranks_[rank].came)
      return false;
    Rank &came = ranks_[rank];
    connection.rank = int(rank);
    came.came = true;
    came.socket = connection.socket;
    came.pid = pid_t(numberOf(takeWord(line)));
    came.here = takeWord(line) == ranks::processSpace();
    came.host = line;
    came.heardAt = Clock::now();
    watch_.say(fmt::format("{} has come from {}", nameOf(rank), peerOf(connection.socket)));
    return true;
  }
  Rank &rank = ranks_[size_t(connection.rank)];
  rank.heardAt = Clock::now();
  if (word == "beat") {
    rank.progress = numberOf(takeWord(line));
    rank.place = line;
  } else if (word == "end") {
    rank.exit = int(numberOf(takeWord(line)));
    rank.message = line;
    rank.ended = true;
    if (rank.exit != 0 && !until_)
      until_ = Clock::now() + kAfterFailure;
  }
  return true;
}

void Supervisor::gone(const Connection &connection) {
  if (connection.rank < 0)
    return;
  Rank &rank = ranks_[size_t(connection.rank)];
  rank.socket = -1;
  if (!rank.ended)
    lose(connection.rank, "has died");
}

void Supervisor::look(Mpirun &mpirun) {
  const auto now = Clock::now();
  if (const auto [times, signal] = watch_.askedToEnd(); times > asked_) {
    asked_ = times;
    tellAll(fmt::format("signal {}", signal));
  }
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const Rank &rank = ranks_[i];
    if (!rank.came && now >= begin_ + watch_.rendezvous)
      lose(int(i), fmt::format("has not come in {} s", watch_.rendezvous.count() / 1000));
    else if (rank.came && !rank.ended && now >= rank.heardAt + watch_.silence)
      lose(int(i), fmt::format("has been silent for {:.1f} s",
                               std::chrono::duration<double>(now - rank.heardAt).count()));
  }
  if (mpirun.ended() && !until_)
    for (size_t i = 0; i < ranks_.size(); ++i)
      if (!ranks_[i].ended)
        lose(int(i),
             ranks_[i].came ? "is gone, and mpirun with it" : "has not come, and mpirun has ended");
  if (now >= reportAt_) {
    reportAt_ = now + kReport;
    report();
  }
}

void Supervisor::lose(int index, std::string why) {
  if (!lost_.empty())
    return;
  const Rank &rank = ranks_[size_t(index)];
  lost_ = fmt::format("{} {}", rank.came ? nameOf(size_t(index)) : absentName(size_t(index)), why);
  if (!rank.place.empty())
    lost_ += "; " + rank.place;
  if (rank.socket >= 0 && rank.here) // it may be stopped, and would go on one day
    ::kill(rank.pid, SIGKILL);
  tellAll("lost " + lost_);
  until_ = Clock::now() + kAfterLoss;
}

/// To each rank, how far the others are.
void Supervisor::report() {
  uint64_t all = 0;
  for (const Rank &rank : ranks_)
    all += rank.progress;
  for (const Rank &rank : ranks_)
    if (rank.socket >= 0)
      say(rank.socket, fmt::format("progress {}", all - rank.progress));
}

void Supervisor::tellAll(const std::string &line) {
  for (const Rank &rank : ranks_)
    if (rank.socket >= 0)
      say(rank.socket, line);
}

/// Who does not read it is lost anyway.
void Supervisor::say(int socket, std::string line) {
  line += '\n';
  (void)::send(socket, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Those of this machine that still hold their connection: any other number may be anybody's. Those
/// of other hosts are mpirun's to end.
void Supervisor::killRanks() const {
  for (const Rank &rank : ranks_)
    if (rank.socket >= 0 && rank.here && rank.pid > 0)
      ::kill(rank.pid, SIGKILL);
}

JobEnd Supervisor::end() const {
  const Rank &first = ranks_[0];
  if (!lost_.empty())
    return {int(ExitCode::Job), true, first.ended ? "" : lost_};
  if (first.exit != 0 && first.ended)
    return {first.exit, false, ""}; // and has said why
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

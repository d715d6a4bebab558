#include "executor/ranks/PairRates.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "executor/base/ParseNumber.h"

namespace lstmc::ranks {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kDeadline = std::chrono::seconds(20);
constexpr int kTurns = 100, kLargeTurns = 5;
constexpr size_t kLarge = size_t(4) << 20;

/// Breaks the link when a pair is not measured within kDeadline.
class Deadline {
public:
  Deadline(Job &job, int a, int b)
      : thread_([this, &job, a, b] {
          std::unique_lock lock(mutex_);
          if (!changed_.wait_for(lock, kDeadline, [this] { return done_; }))
            job.abort(fail(ErrorCode::E0801, "rank {} and rank {} exchange no messages", a, b));
        }) {}
  ~Deadline() {
    {
      std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_; ///< last: it uses what is above
};

/// The median time of a message there and back.
Result<double> roundTrip(Link &link, int peer, bool first, std::span<std::byte> bytes, int turns) {
  std::vector<double> times;
  for (int turn = 0; turn < turns; ++turn) {
    const auto begin = Clock::now();
    if (first)
      LSTMC_TRY(link.sendBytes(peer, kTagShare, bytes));
    LSTMC_TRY(link.receiveBytes(peer, kTagShare, bytes));
    if (!first)
      LSTMC_TRY(link.sendBytes(peer, kTagShare, bytes));
    times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// "SECONDS BYTES_PER_SECOND" from the first rank of the pair, nothing from others.
Result<std::string> measure(Job &job, int a, int b) {
  if (job.rank() != a && job.rank() != b)
    return std::string();
  const Deadline deadline(job, a, b);
  const bool first = job.rank() == a;
  std::vector<std::byte> bytes(kLarge);
  const std::span<std::byte> all(bytes);
  LSTMC_ASSIGN(double small,
               roundTrip(job.link(), first ? b : a, first, all.subspan(0, 1), kTurns));
  LSTMC_ASSIGN(double large, roundTrip(job.link(), first ? b : a, first, all, kLargeTurns));
  return first ? fmt::format("{} {}", small / 2, 2 * double(kLarge) / large) : std::string();
}

} // namespace

Result<PairRate> measurePair(Job &job, int a, int b) {
  LSTMC_ASSIGN(std::string mine, measure(job, a, b));
  // A barrier: no two pairs are measured at once.
  LSTMC_ASSIGN(std::vector<std::string> said, job.gather(mine));
  const std::string_view rates = said[size_t(a)];
  const size_t space = std::min(rates.find(' '), rates.size());
  std::optional<double> seconds = parseFinite(rates.substr(0, space));
  std::optional<double> bytesPerSecond =
      space < rates.size() ? parseFinite(rates.substr(space + 1)) : std::nullopt;
  if (!seconds || !bytesPerSecond)
    return fail(ErrorCode::E0804, "rank {} sent rates that cannot be read", a);
  return PairRate{a, b, *seconds, *bytesPerSecond};
}

Result<std::vector<PairRate>> measurePairs(Job &job) {
  std::vector<PairRate> rates;
  for (int a = 0; a < job.ranks(); ++a)
    for (int b = a + 1; b < job.ranks(); ++b) {
      LSTMC_ASSIGN(PairRate rate, measurePair(job, a, b));
      rates.push_back(rate);
    }
  return rates;
}

} // namespace lstmc::ranks

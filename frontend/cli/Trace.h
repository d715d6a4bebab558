// --trace: passes and launches on one time line, in Chrome's format (chrome://tracing, Perfetto).
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "executor/session/Session.h"
#include "frontend/cli/Console.h"
#include "passes/Compile.h"

namespace lstmc::cli {

/// Collects while the work goes on and writes at its end: a lane for the compiler and one for each
/// device, of every rank where there are several.
class Trace : public SessionTimer {
public:
  /// Of --trace; without the flag nothing is collected.
  explicit Trace(const Options &options);

  void passes(const std::vector<passes::PassSpan> &spans);
  /// From now on every launch of the session is a span.
  void watch(Session &session);

  void ran(const package::Package &package, const package::Entry &entry,
           std::span<const std::span<const LaunchInterval>> times) override;

  /// Writes the file; E0601, E0608. Of a job, rank 0 writes what all ranks have collected, whose
  /// calls these are too: on the time of rank 0, between hosts as exactly as their messages are
  /// quick. E0801. `peers`: null, and rank 0 writes what it has itself.
  Status write(const Console &console, Peers *peers) const;

private:
  using Clock = LaunchInterval::Clock;
  static constexpr size_t kCompiler =
      0; ///< the lane of passes; a device's is 1 + its place in the list
  struct Span {
    size_t lane;
    std::string name, detail;
    Clock::time_point begin, end;
  };
  /// Of one process: `start`, at its own clock, is at 0. Events of Chrome's format, with commas
  /// before all but the first.
  std::string events(int rank, Clock::time_point start, const Peers *peers) const;
  void add(Span span);

  std::string path_; ///< empty: no trace
  OutputFile::Existing existing_;
  const size_t mostSpans_; ///< of this rank
  Clock::time_point start_ = Clock::now();
  std::vector<std::string> lanes_ = {"compiler"};
  std::vector<Span> spans_;
  int64_t dropped_ = 0;
};

} // namespace lstmc::cli

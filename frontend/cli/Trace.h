// --trace: passes and launches on one time line, in Chrome's format (chrome://tracing, Perfetto).
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "executor/session/Session.h"
#include "frontend/cli/Console.h"
#include "passes/Compile.h"

namespace lstmc::cli {

/// Collects while the work goes on and writes at its end. Launches run one at a time while they are watched.
class Trace : public SessionObserver {
public:
  /// Of --trace; without the flag nothing is collected.
  explicit Trace(const Options &options);

  void passes(const std::vector<passes::PassSpan> &spans);
  /// From now on every launch of the session is a span.
  void watch(Session &session);

  void before(const LaunchView &launch) override;
  void after(const LaunchView &launch) override;

  /// Writes the file; E0601, E0608.
  Status write(const Console &console) const;

private:
  using Clock = std::chrono::steady_clock;
  struct Span {
    std::string name, category, detail;
    Clock::time_point begin, end;
  };
  bool full();

  std::string path_; ///< empty: no trace
  OutputFile::Existing existing_;
  Clock::time_point start_ = Clock::now(), launched_;
  std::vector<Span> spans_;
  int64_t dropped_ = 0;
};

} // namespace lstmc::cli

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
/// device.
class Trace : public SessionTimer {
public:
  /// Of --trace; without the flag nothing is collected.
  explicit Trace(const Options &options);

  void passes(const std::vector<passes::PassSpan> &spans);
  /// From now on every launch of the session is a span.
  void watch(Session &session);

  void ran(const package::Package &package, const package::Entry &entry,
           std::span<const std::span<const LaunchInterval>> times) override;

  /// Writes the file; E0601, E0608.
  Status write(const Console &console) const;

private:
  using Clock = LaunchInterval::Clock;
  static constexpr size_t kCompiler =
      0; ///< the lane of passes; a device's is 1 + its place in the list
  struct Span {
    size_t lane;
    std::string name, detail;
    Clock::time_point begin, end;
  };
  void add(Span span);

  std::string path_; ///< empty: no trace
  OutputFile::Existing existing_;
  Clock::time_point start_ = Clock::now();
  std::vector<std::string> lanes_ = {"compiler"};
  std::vector<Span> spans_;
  int64_t dropped_ = 0;
};

} // namespace lstmc::cli

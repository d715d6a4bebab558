// How long launches take: seconds per unit of work of every kernel, built in or fitted to what was
// measured.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "backends/cpu/compiler/Choice.h"
#include "backends/cpu/compiler/Work.h"

namespace lstmc::cpu {

/// What a launch's time is a sum over. "far": what of its bytes no cache of a core holds.
inline constexpr std::array<std::string_view, 8> kTerms = {
    "launch", "flop", "function", "byte", "far_byte", "step", "step_byte", "far_step_byte"};
using Terms = std::array<double, kTerms.size()>;

Terms termsOf(const Work &work);

inline constexpr size_t kLaunchKinds = size_t(KernelId::Receive) + 1;

/// How messages come to a device.
struct Link {
  double seconds = 3e-6; ///< from a send to the begin of what is received
  double bytesPerSecond = 8e9;
};

/// A device as forecasts see it.
struct Machine {
  std::array<Terms, kLaunchKinds> seconds; ///< by kernel: of one unit of each term
  Link link;                               ///< from any other device,
  std::vector<Link> links;                 ///< or, where there are any, by the device that sends
  int measuredThreads = 0;                 ///< 0: built in

  Machine(); ///< the built-in figures, of one core in a machine of the kind that
             ///< tests/bench/RESULTS.md measures

  double secondsOf(KernelId kernel, const Work &work) const;
  const Link &linkFrom(uint32_t device) const {
    return device < links.size() ? links[device] : link;
  }
  /// For what is no launch yet: estimateSeconds of an op of sym.
  CoreFigures figures() const;
  /// Built in, with every kernel so much faster or slower.
  static Machine scaled(const CoreFigures &figures);
};

struct Sample {
  KernelId kernel;
  Work work;
  double seconds;
};

/// The figures that come nearest to the samples, relatively and by least squares, none below 0;
/// kernels without samples keep the built-in ones. The same samples give the same figures.
Machine fit(std::span<const Sample> samples, int threads);

} // namespace lstmc::cpu

// How long launches take: seconds per unit of work of every kernel, built in or fitted to what was
// measured.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "backends/target/Target.h"

namespace lstmc::cpu {

/// What a launch's time is a sum over. "far": what of its bytes no cache of a core holds. A block
/// of units takes a while in every step, however few rows there are, and in every row of it. A sum
/// of a shard counts as a step.
inline constexpr std::array<std::string_view, 12> kTerms = {
    "launch",    "flop",          "function",   "byte", "far_byte",  "step",
    "step_byte", "far_step_byte", "step_block", "row",  "row_block", "instruction"};
using Terms = std::array<double, kTerms.size()>;

inline constexpr size_t kLaunchKinds = size_t(KernelId::Receive) + 1;

Terms termsOf(const target::Work &work);

/// Where Machine::figures has the first of a kernel's terms.
constexpr size_t firstFigure(KernelId kernel) { return size_t(kernel) * kTerms.size(); }

/// Of each kernel, in the order of its terms.
std::span<const target::FigureName> figureNames();

/// The machine's own, or the built-in ones: of one core in a machine of the kind that
/// tests/bench/RESULTS.md measures.
const std::vector<double> &figuresOf(const target::Machine &machine);
/// The machine with these terms for a kernel.
target::Machine withTerms(target::Machine machine, KernelId kernel, const Terms &terms);

double secondsOf(const target::Machine &machine, KernelId kernel, const target::Work &work);

/// As Target has them.
target::Speeds speeds(const target::Machine &machine);
target::Machine withSpeeds(const target::Speeds &speeds);

/// Target::fit: by least squares of relative errors, each weighed by its launch's share of the time
/// of its entry, no figure below 0; kernels without samples keep the built-in ones, but for what a
/// launch takes, which is the median of the others'.
target::Machine fit(std::span<const target::Sample> samples, int threads);

} // namespace lstmc::cpu

#include "backends/conformance/RecurrenceLaunch.h"

#include <cmath>

#include <fmt/format.h>

#include "executor/reference/Reference.h"

namespace lstmc::conformance {

namespace {

/// [first, second] with its axes swapped.
Array transposed(const Array &matrix) { return matrix.permuted({1, 0}); }

Values numbers(const RnnShape &s, double bound, uint64_t salt) {
  return s.tiny ? nearDenormals(s.type, salt) : uniform(-bound, bound, salt);
}

} // namespace

std::string RnnShape::text() const {
  std::string text =
      fmt::format("{} T{} B{} I{} H{}", kRnnModeNames[int(mode)], steps, batch, inputs, units);
  if (type != DType::F32)
    text += fmt::format(" {}", dtypeName(type));
  if (tiny)
    text += " about denormals";
  if (reverse)
    text += " reverse";
  if (lengths)
    text += fmt::format(" {} lengths", dtypeName(lengthType));
  for (auto [present, name] : {std::pair{biases, "biases"},
                               {states, "states"},
                               {finals, "finals"},
                               {stash, "stash"},
                               {gradientOfX, "dx"},
                               {gradientOfY, "dy"},
                               {gradientOfStates, "dh0"}})
    if (!present)
      text += fmt::format(" no {}", name);
  if (chunk != 2)
    text += fmt::format(" chunk {}", chunk);
  if (rows != Layout::Dense || other != Layout::Dense)
    text += fmt::format(" {} {}", layoutName(rows), layoutName(other));
  return text;
}

Array rnnInputWeights(const RnnShape &s) {
  const double bound = 1 / std::sqrt(double(std::max<int64_t>(s.inputs, 1)));
  return Array(s.type, {gateCount(s.mode) * s.units, s.inputs}, numbers(s, bound, 10));
}

Array rnnRecurrentWeights(const RnnShape &s) {
  const double bound = 1 / std::sqrt(double(s.units));
  return Array(s.type, {gateCount(s.mode) * s.units, s.units}, numbers(s, bound, 11));
}

TestLaunch rnnForward(const RnnShape &s) {
  const int64_t T = s.steps, B = s.batch, H = s.units, G = gateCount(s.mode);
  const auto size = int64_t(dtypeBytes(s.type));
  const bool lstm = s.mode == RnnMode::Lstm, gru = s.mode == RnnMode::Gru;
  auto makeIf = [](bool present, auto make) { return present ? make() : Array(); };
  auto given = [&](bool present, Shape shape, uint64_t salt) {
    return makeIf(present, [&] { return Array(s.type, shape, numbers(s, 1, salt), s.other); });
  };
  auto made = [&](bool present, Shape shape, Layout layout) {
    return makeIf(present, [&] { return Array(s.type, shape, layout); });
  };
  const RnnForwardArguments arguments{.mode = s.mode, .reverse = s.reverse, .chunk = s.chunk};
  TestLaunch launch(KernelId::RnnForward);
  setArguments(launch, arguments);
  launch.operands = {
      Array(s.type, {T, B, s.inputs}, numbers(s, 1, 12), s.rows),
      packed(rnnInputWeights(s), G),
      packed(rnnRecurrentWeights(s), G),
      given(s.biases, {G * H}, 13),
      given(s.biases, {G * H}, 14),
      given(s.states, {B, H}, 15),
      given(s.states && lstm, {B, H}, 16),
      makeIf(s.lengths, [&] { return Array(s.lengthType, {B}, integers(0, T + 1, 17), s.other); }),
      made(true, {T, B, H}, s.rows),
      made(s.finals, {B, H}, s.other),
      made(s.finals && lstm, {B, H}, s.other),
      made(s.stash, {T, B, G * H}, s.rows),
      made(s.stash && (lstm || gru), {T, B, H}, s.rows),
      made(s.stash, {T, B, H}, s.rows),
      Array(DType::U8, {scratchOf(arguments, B, H, size, s.stash).bytes}),
  };
  return launch;
}

TestLaunch rnnBackward(const RnnShape &s, TestLaunch &forward, bool inPlace) {
  const int64_t T = s.steps, B = s.batch, H = s.units, G = gateCount(s.mode);
  const auto size = int64_t(dtypeBytes(s.type));
  const bool lstm = s.mode == RnnMode::Lstm, gru = s.mode == RnnMode::Gru;
  auto given = [&](bool present, Shape shape, Layout layout, uint64_t salt) {
    return present ? Array(s.type, shape, numbers(s, 1, salt), layout) : Array();
  };
  auto made = [&](bool present, Shape shape, Layout layout) {
    return present ? Array(s.type, shape, layout) : Array();
  };
  const RnnBackwardArguments arguments{.mode = s.mode, .reverse = s.reverse, .chunk = s.chunk};
  TestLaunch launch(KernelId::RnnBackward);
  setArguments(launch, arguments);
  launch.operands = {
      forward["gates"],
      forward["cells"],
      forward["y"],
      forward["h0"],
      forward["c0"],
      forward["length"],
      forward["before"],
      s.gradientOfX ? packed(transposed(rnnInputWeights(s)), 0) : Array(),
      packed(transposed(rnnRecurrentWeights(s)), 0),
      given(s.gradientOfY, {T, B, H}, s.rows, 20),
      given(s.finals, {B, H}, s.other, 21),
      given(s.finals && lstm, {B, H}, s.other, 22),
      inPlace ? forward["gates"] : made(true, {T, B, G * H}, s.rows),
      made(gru, {T, B, G * H}, s.rows),
      made(s.gradientOfX, {T, B, s.inputs}, s.rows),
      made(s.gradientOfStates, {B, H}, s.other),
      made(s.gradientOfStates && lstm, {B, H}, s.other),
      Array(DType::U8, {scratchOf(arguments, B, H, size).bytes}),
  };
  return launch;
}

TestLaunch rnnBackward(const RnnShape &s, bool inPlace) {
  TestLaunch forward = rnnForward(s);
  forward.run(reference::kernel(KernelId::RnnForward));
  return rnnBackward(s, forward, inPlace);
}

} // namespace lstmc::conformance

// Matching launches of rnn_forward and rnn_backward.
#pragma once

#include "backends/conformance/TestLaunch.h"
#include "executor/abi/Gate.h"

namespace lstmc::conformance {

/// One layer in one direction, and which optional operands it has.
struct RnnShape {
  RnnMode mode = RnnMode::Lstm;
  int64_t steps = 4, batch = 3, inputs = 5, units = 7;
  bool reverse = false;
  bool lengths = false;
  bool biases = true;
  bool states = true; ///< h0 and c0
  bool finals = true; ///< hN and cN, dhN and dcN
  bool stash = true;  ///< gates, cells, before
  bool gradientOfX = true;
  bool gradientOfY = true;
  bool gradientOfStates = true; ///< dh0 and dc0
  int64_t chunk = 2;
  DType type = DType::F32;
  bool tiny = false;            ///< numbers about denormals
  Layout rows = Layout::Dense;  ///< of x, y, dy, dx and the values stored for backward
  Layout other = Layout::Dense; ///< of biases, states and lengths
  DType lengthType = DType::I32;

  std::string text() const;
};

/// Weights and data in [-1, 1] / sqrt of the number of terms, or `tiny`; w [G*H, I] and r [G*H, H].
Array rnnInputWeights(const RnnShape &shape);
Array rnnRecurrentWeights(const RnnShape &shape);

TestLaunch rnnForward(const RnnShape &shape);
/// Backward of `forward`, a launch of the same shape that has run and stored its gates. With
/// `inPlace`, dgates is gates itself.
TestLaunch rnnBackward(const RnnShape &shape, TestLaunch &forward, bool inPlace = false);
/// Backward of rnnForward(shape), after the reference has run the forward launch.
TestLaunch rnnBackward(const RnnShape &shape, bool inPlace = false);

} // namespace lstmc::conformance

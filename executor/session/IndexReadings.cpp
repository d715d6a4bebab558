#include "executor/session/IndexReadings.h"

#include <algorithm>

#include "executor/base/Numeric.h"

namespace lstmc::session {

namespace {

Reading positions(Use use, const package::Operand &values, int64_t count, int turn = 0) {
  return {use, &values, {0, count - 1, std::nullopt}, turn};
}

Reading lengths(const package::Operand &values, int64_t least, int64_t steps, int turn = 0) {
  return {Use::Length, &values, {least, steps, std::nullopt}, turn};
}

std::optional<Reading> gathered(const std::vector<package::Operand> &operands, IndexMode mode) {
  if (mode == IndexMode::Wrap)
    return std::nullopt;
  return positions(mode == IndexMode::Raise ? Use::Refused : Use::Nearest,
                   operands[GatherOperand::indices], operands[GatherOperand::w].shape[1]);
}

std::optional<Reading> indicesOf(const package::Launch &launch) {
  const std::vector<package::Operand> &operands = launch.operands;
  switch (launch.kernel) {
  case KernelId::Gather:
    return gathered(operands, argumentsOf<GatherArguments>(launch).mode);
  case KernelId::Pick:
    if (argumentsOf<PickArguments>(launch).wrap)
      return std::nullopt;
    return positions(Use::Nearest, operands[PickOperand::indices],
                     operands[PickOperand::x].shape[1]);
  case KernelId::OneHot:
    return positions(Use::OneHot, operands[OneHotOperand::indices],
                     operands[OneHotOperand::y].shape[1]);
  default:
    return std::nullopt;
  }
}

/// Labels that are probabilities have an axis of classes.
std::optional<Reading> labelsOf(const package::Launch &launch) {
  const std::vector<package::Operand> &operands = launch.operands;
  std::optional<Reading> reading;
  switch (launch.kernel) {
  case KernelId::SoftmaxOutputGradient: {
    const auto arguments = argumentsOf<SoftmaxOutputGradientArguments>(launch);
    if (operands[SoftmaxOutputGradientOperand::label].shape.size() == 3)
      return std::nullopt;
    reading = positions(Use::Label, operands[SoftmaxOutputGradientOperand::label],
                        operands[SoftmaxOutputGradientOperand::p].shape[1]);
    if (arguments.useIgnore)
      reading->valid.ignored = convert<int64_t>(arguments.ignoreLabel);
    return reading;
  }
  case KernelId::SoftmaxMetric: {
    const auto arguments = argumentsOf<SoftmaxMetricArguments>(launch);
    if (operands[SoftmaxMetricOperand::label].shape.size() == 4)
      return std::nullopt;
    reading = positions(Use::Label, operands[SoftmaxMetricOperand::label],
                        operands[SoftmaxMetricOperand::x].shape[3], 1);
    if (arguments.useIgnore)
      reading->valid.ignored = convert<int64_t>(arguments.ignoreLabel);
    return reading;
  }
  case KernelId::SoftmaxCrossEntropy:
    return positions(Use::Label, operands[SoftmaxCrossEntropyOperand::label],
                     operands[SoftmaxCrossEntropyOperand::x].shape[1], 2);
  default:
    return std::nullopt;
  }
}

std::optional<Reading> lengthsOf(const package::Launch &launch) {
  const std::vector<package::Operand> &operands = launch.operands;
  std::optional<Reading> reading;
  switch (launch.kernel) {
  case KernelId::SequenceMask: // of an op that is no layer, which masks what it has read itself
    reading = lengths(operands[SequenceMaskOperand::length], 0,
                      operands[SequenceMaskOperand::x].shape[0], 1);
    break;
  case KernelId::SequenceReverse:
    reading = lengths(operands[SequenceReverseOperand::length], 0,
                      operands[SequenceReverseOperand::x].shape[0]);
    break;
  case KernelId::SequenceLast: // an empty sequence has no last step
    reading = lengths(operands[SequenceLastOperand::length], 1,
                      operands[SequenceLastOperand::x].shape[0]);
    break;
  case KernelId::SequenceLastGradient: // where nobody reads the step itself
    reading = lengths(operands[SequenceLastGradientOperand::length], 1,
                      operands[SequenceLastGradientOperand::dx].shape[0], 1);
    break;
  case KernelId::RnnForward:
    reading =
        lengths(operands[RnnForwardOperand::length], 0, operands[RnnForwardOperand::y].shape[0]);
    break;
  case KernelId::Softmax:
    reading = lengths(operands[SoftmaxOperand::length], 0, operands[SoftmaxOperand::x].shape[1]);
    break;
  default:
    return std::nullopt;
  }
  return reading->values->buffer == package::kNoBuffer ? std::nullopt : reading;
}

/// The whole of y [T, B, H] of which a layer computes a part; null if it computes all.
const package::Piece *partOfLayer(const package::Launch &launch) {
  auto piece = std::ranges::find(launch.pieces, RnnForwardOperand::y, &package::Piece::operand);
  if (piece == launch.pieces.end() || piece->shape.size() != 3 || piece->window.empty())
    return nullptr;
  return &*piece;
}

/// All steps of a recurrent layer, of which a launch may compute a chunk.
int64_t allSteps(const package::Launch &launch) {
  const package::Piece *part = partOfLayer(launch);
  return part ? part->shape[0] : launch.operands[RnnForwardOperand::y].shape[0];
}

} // namespace

std::optional<Reading> readingOf(const package::Launch &launch) {
  if (auto reading = indicesOf(launch))
    return reading;
  if (auto reading = labelsOf(launch))
    return reading;
  return lengthsOf(launch);
}

ValueRange validOf(const package::Launch &launch, const Reading &reading) {
  ValueRange valid = reading.valid;
  if (launch.kernel == KernelId::RnnForward)
    valid.high = allSteps(launch);
  return valid;
}

bool hasFirstSteps(const package::Launch &launch) {
  return launch.kernel != KernelId::RnnForward || launch.firstStep == 0;
}

bool hasLastSteps(const package::Launch &launch, const Reading &reading) {
  return launch.kernel != KernelId::RnnForward ||
         launch.firstStep + reading.valid.high == allSteps(launch);
}

std::vector<int64_t> identityOf(const package::Launch &launch, uint32_t op, Use use) {
  std::vector<int64_t> identity = {int64_t(op), int64_t(use)};
  if (launch.kernel == KernelId::RnnForward) { // all layers and chunks have one length a row
    const package::Piece *part = partOfLayer(launch);
    const int64_t units = launch.operands[RnnForwardOperand::y].shape[2];
    identity.push_back(part ? part->window[0] / units % part->shape[1] : 0);
    return identity;
  }
  identity.push_back(int64_t(launch.kernel));
  if (launch.kernel == KernelId::Gather) // gather_nd looks up each extent by itself
    identity.push_back(launch.operands[GatherOperand::w].shape[1]);
  if (launch.kernel == KernelId::SoftmaxMetric) // a sum: no part of a result tells its rows
    identity.push_back(argumentsOf<SoftmaxMetricArguments>(launch).range.first);
  for (const package::Piece &piece : launch.pieces) {
    identity.push_back(piece.operand);
    identity.insert(identity.end(), piece.window.begin(), piece.window.end());
    identity.insert(identity.end(), piece.shape.begin(), piece.shape.end());
  }
  return identity;
}

} // namespace lstmc::session

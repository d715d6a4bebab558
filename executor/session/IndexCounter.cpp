#include "executor/session/IndexCounter.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "executor/base/NumberText.h"
#include "executor/base/Numeric.h"
#include "executor/session/Binding.h"
#include "executor/session/NonFinite.h"
#include "executor/session/RemoteDevice.h"

namespace lstmc::session {

namespace {

/// What values are to an op.
enum class Use : uint8_t { Nearest, OneHot, Label, Length };

/// An operand whose values are clipped, and which of them are valid.
struct Reading {
  Use use;
  const package::Operand *values;
  ValueRange valid;
  /// Of the launches of one op that read the same values, those with the least are counted.
  int turn = 0;
};

Reading positions(Use use, const package::Operand &values, int64_t count, int turn = 0) {
  return {use, &values, {0, count - 1, std::nullopt}, turn};
}

Reading lengths(const package::Operand &values, int64_t least, int64_t steps, int turn = 0) {
  return {Use::Length, &values, {least, steps, std::nullopt}, turn};
}

std::optional<Reading> indicesOf(const package::Launch &launch) {
  const std::vector<package::Operand> &operands = launch.operands;
  switch (launch.kernel) {
  case KernelId::Gather:
    if (argumentsOf<GatherArguments>(launch).wrap)
      return std::nullopt;
    return positions(Use::Nearest, operands[GatherOperand::indices],
                     operands[GatherOperand::w].shape[1]);
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
  case KernelId::SequenceMask:
    reading = lengths(operands[SequenceMaskOperand::length], 0,
                      operands[SequenceMaskOperand::x].shape[0]);
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

std::optional<Reading> readingOf(const package::Launch &launch) {
  if (auto reading = indicesOf(launch))
    return reading;
  if (auto reading = labelsOf(launch))
    return reading;
  return lengthsOf(launch);
}

/// Where the user's op is of which a location is: a head's gradient and metric have its place, and
/// no name.
class Ops {
public:
  explicit Ops(const package::PackageData &data) {
    std::map<Place, uint32_t> named;
    for (uint32_t i = 0; i < data.locations.size(); ++i)
      if (!data.locations[i].name.empty())
        named.emplace(placeOf(data.locations[i]), i);
    for (uint32_t i = 0; i < data.locations.size(); ++i) {
      auto found =
          data.locations[i].name.empty() ? named.find(placeOf(data.locations[i])) : named.end();
      ops_.push_back(found == named.end() || data.locations[i].line == 0 ? i : found->second);
    }
  }

  uint32_t of(const package::Launch &launch) const { return ops_[launch.location]; }

private:
  using Place = std::tuple<std::string, uint32_t, uint32_t, uint32_t, std::vector<std::string>>;
  static Place placeOf(const package::Location &at) {
    return {at.file, at.line, at.column, at.length, at.notes};
  }
  std::vector<uint32_t> ops_; ///< by location
};

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

/// What the op accepts, of whose steps a launch may compute a chunk.
ValueRange validOf(const package::Launch &launch, const Reading &reading) {
  ValueRange valid = reading.valid;
  if (launch.kernel == KernelId::RnnForward)
    valid.high = allSteps(launch);
  return valid;
}

/// Equal for launches that read the values of the same rows for the same op.
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

/// Which buffers of an entry hold an input or a copy of one.
class GivenBuffers {
public:
  GivenBuffers(const package::PackageData &data, const package::Entry &entry) : data_(data) {
    for (const package::Binding &input : entry.inputs)
      if (input.range)
        ranges_.emplace(input.buffer, *input.range);
    std::map<int64_t, uint32_t> sent;
    for (const package::DeviceProgram &program : entry.programs)
      for (const package::Launch &launch : program.launches)
        if (launch.kernel == KernelId::Send)
          sent[argumentsOf<SendArguments>(launch).message] = launch.operands[SendOperand::x].buffer;
    for (const package::DeviceProgram &program : entry.programs)
      for (const package::Launch &launch : program.launches)
        for (size_t i = 0; i < launch.operands.size(); ++i)
          if (launch.operands[i].buffer != package::kNoBuffer && package::writes(data, launch, i))
            addWriter(launch, launch.operands[i].buffer, sent);
  }

  /// The input of whose values the buffer is a copy, if it is one.
  std::optional<uint32_t> inputOf(uint32_t buffer) const {
    for (int copies = 0; copies < kMostCopies; ++copies) {
      if (data_.buffers[buffer].kind == package::Kind::Input)
        return buffer;
      auto from = from_.find(buffer);
      if (from == from_.end() || from->second == package::kNoBuffer)
        return std::nullopt;
      buffer = from->second;
    }
    return std::nullopt;
  }

  /// Whether an input was checked, when it was set, for all that an op wants of it. It is checked
  /// for what any of its readers accepts.
  bool wasChecked(uint32_t input, const ValueRange &wanted) const {
    auto range = ranges_.find(input);
    return range == ranges_.end() || isWithin(range->second, wanted);
  }

private:
  static constexpr int kMostCopies = 64; ///< a file may copy in a circle

  static bool isWithin(const ValueRange &range, const ValueRange &wanted) {
    return range.low >= wanted.low && range.high <= wanted.high &&
           (!range.ignored || range.ignored == wanted.ignored ||
            wanted.holds(double(*range.ignored)));
  }

  /// What several launches write is no copy of one thing.
  void addWriter(const package::Launch &launch, uint32_t buffer,
                 const std::map<int64_t, uint32_t> &sent) {
    uint32_t from = package::kNoBuffer;
    if (launch.kernel == KernelId::Copy)
      from = launch.operands[CopyOperand::x].buffer;
    if (launch.kernel == KernelId::Receive)
      if (auto found = sent.find(argumentsOf<ReceiveArguments>(launch).message);
          found != sent.end())
        from = found->second;
    if (auto [known, fresh] = from_.emplace(buffer, from); !fresh)
      known->second = package::kNoBuffer;
  }

  const package::PackageData &data_;
  std::map<uint32_t, uint32_t> from_;     ///< by buffer, what it is a copy of
  std::map<uint32_t, ValueRange> ranges_; ///< by buffer of an input
};

uint64_t outsideOf(const Tensor &values, const ValueRange &valid) {
  uint64_t outside = 0;
  std::array<int64_t, kMaxRank> at{};
  for (int64_t left = values.elements(); left > 0; --left) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < size_t(values.rank); ++axis)
      offset += at[axis] * values.strides[axis];
    const auto value = readElement<int64_t>(values.data, values.dtype, offset);
    outside += (value < valid.low || value > valid.high) && value != valid.ignored;
    for (size_t axis = size_t(values.rank); axis-- > 0;) {
      if (++at[axis] < values.shape[axis])
        break;
      at[axis] = 0;
    }
  }
  return outside;
}

} // namespace

std::vector<std::vector<CountedLaunch>> countedLaunches(const package::PackageData &data,
                                                        const package::Entry &entry) {
  const GivenBuffers given(data, entry);
  const Ops ops(data);
  std::map<std::pair<uint32_t, Use>, int> turns;
  auto each = [&](auto &&action) {
    for (size_t program = 0; program < entry.programs.size(); ++program) {
      const std::vector<package::Launch> &launches = entry.programs[program].launches;
      for (size_t i = 0; i < launches.size(); ++i) {
        const std::optional<Reading> reading = readingOf(launches[i]);
        if (!reading)
          continue;
        const std::optional<uint32_t> input = given.inputOf(reading->values->buffer);
        if (!input || !given.wasChecked(*input, validOf(launches[i], *reading)))
          action(program, i, launches[i], *reading, bool(input));
      }
    }
  };
  each([&](size_t, size_t, const package::Launch &launch, const Reading &reading, bool) {
    int &turn = turns.emplace(std::pair(ops.of(launch), reading.use), reading.turn).first->second;
    turn = std::min(turn, reading.turn);
  });

  std::vector<std::vector<CountedLaunch>> counted(entry.programs.size());
  std::set<std::vector<int64_t>> below, above;
  each([&](size_t program, size_t i, const package::Launch &launch, const Reading &reading,
           bool isGiven) {
    if (reading.turn != turns.at({ops.of(launch), reading.use}))
      return;
    const bool layer = launch.kernel == KernelId::RnnForward;
    const std::vector<int64_t> identity = identityOf(launch, ops.of(launch), reading.use);
    CountedLaunch one{i, false, false, isGiven};
    if (!layer || launch.firstStep == 0)
      one.below = below.insert(identity).second;
    if (!layer || launch.firstStep + reading.valid.high == allSteps(launch))
      one.above = above.insert(identity).second;
    if (one.below || one.above)
      counted[program].push_back(one);
  });
  return counted;
}

IndexCounter::IndexCounter(const package::PackageData &data, const package::DeviceProgram &program,
                           std::span<const CountedLaunch> launches, Device &device) {
  for (const CountedLaunch &counted : launches) {
    const package::Launch &source = program.launches[counted.launch];
    const Reading reading = *readingOf(source);
    ValueRange valid = validOf(source, reading), checked = reading.valid;
    if (!counted.below)
      checked.low = std::numeric_limits<int64_t>::min();
    if (!counted.above)
      checked.high = std::numeric_limits<int64_t>::max();
    counts_.push_back({counted.launch, &source, view(data, *reading.values, device), valid, checked,
                       counted.given});
    if (!isRemote(device))
      (void)counts_.back().values.forHost(scratch_); // allocates now
  }
}

void IndexCounter::count(Device &device, size_t launch, uint32_t stream) {
  auto found = std::ranges::lower_bound(counts_, launch, {}, &Count::launch);
  if (found == counts_.end() || found->launch != launch)
    return;
  device.synchronize(stream);
  found->outside += outsideOf(found->values.forHost(scratch_), found->checked);
}

namespace {

/// "3 computed indices were outside 0 to 4: the nearest is read"; "3 indices …" of an input
std::string textOf(const IndexCounter::Count &count, uint64_t outside) {
  const bool one = outside == 1;
  const Use use = readingOf(*count.source)->use;
  const char *what = "", *then = "";
  switch (use) {
  case Use::Nearest:
  case Use::OneHot:
    what = one ? "index was" : "indices were";
    then = use == Use::OneHot ? "such a row has no one" : "the nearest is read";
    break;
  case Use::Label:
    what = one ? "label was" : "labels were";
    then = "for the gradient such a row is of no class, for the loss of the nearest";
    break;
  case Use::Length:
    what = one ? "length was" : "lengths were";
    then = "the nearest counts";
    break;
  }
  return fmt::format("{}{} {} outside {}: {}", grouped(int64_t(outside)),
                     count.given ? "" : " computed", what, count.valid.text(), then);
}

} // namespace

Diagnostics describe(const package::PackageData &data,
                     std::span<const IndexCounter::Count *const> counts,
                     std::span<const uint64_t> totals) {
  struct Op {
    const IndexCounter::Count *count;
    uint32_t location;
    Use use;
    uint64_t outside;
  };
  const Ops names(data);
  std::vector<Op> ops; // an entry and another have launches of the same op
  for (size_t i = 0; i < counts.size(); ++i) {
    if (totals[i] == 0)
      continue;
    const Op one{counts[i], names.of(*counts[i]->source), readingOf(*counts[i]->source)->use,
                 totals[i]};
    auto same = std::ranges::find_if(ops, [&](const Op &op) {
      return op.location == one.location && op.use == one.use &&
             op.count->valid == one.count->valid;
    });
    if (same == ops.end())
      ops.push_back(one);
    else
      same->outside += one.outside;
  }
  if (ops.empty())
    return {};
  auto nameOf = [&](const Op &op) {
    package::Launch named = *op.count->source;
    named.location = op.location;
    return opText(data, named);
  };
  Diagnostic warning;
  warning.code = ErrorCode::E0703;
  warning.severity = Severity::Warning;
  warning.message = nameOf(ops[0]) + ": " + textOf(*ops[0].count, ops[0].outside);
  warning.place = rangeOf(data.locations[ops[0].location]);
  for (size_t i = 1; i < std::min<size_t>(ops.size(), 5); ++i) {
    const SourceRange place = rangeOf(data.locations[ops[i].location]);
    warning.reasons.push_back({fmt::format("{}{}: {}", nameOf(ops[i]),
                                           place.line > 0 ? fmt::format(" at {}:{}:{}", place.file,
                                                                        place.line, place.column)
                                                          : "",
                                           textOf(*ops[i].count, ops[i].outside)),
                               {}});
  }
  if (ops.size() > 5)
    warning.reasons.push_back({fmt::format("and {} more ops", ops.size() - 5), {}});
  return {std::move(warning)};
}

} // namespace lstmc::session

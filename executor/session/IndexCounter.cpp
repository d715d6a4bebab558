#include "executor/session/IndexCounter.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "executor/base/Numeric.h"
#include "executor/session/Binding.h"
#include "executor/session/Elements.h"
#include "executor/session/GivenBuffers.h"
#include "executor/session/NonFinite.h"
#include "executor/session/RemoteDevice.h"
#include "executor/session/UserOps.h"

namespace lstmc::session {

namespace {

uint64_t outsideOf(const Tensor &values, const ValueRange &valid) {
  uint64_t outside = 0;
  forEachElement(values, [&](int64_t offset, const auto &) {
    const auto value = readElement<int64_t>(values.data, values.dtype, offset);
    outside += (value < valid.low || value > valid.high) && value != valid.ignored;
    return true;
  });
  return outside;
}

/// The first of them, NaN included.
std::optional<double> firstOutside(const Tensor &values, const ValueRange &valid) {
  std::optional<double> first;
  forEachElement(values, [&](int64_t offset, const auto &) {
    const auto value = readElement<double>(values.data, values.dtype, offset);
    if (!valid.holds(value))
      first = value;
    return !first;
  });
  return first;
}

bool isWithin(const ValueRange &range, const ValueRange &wanted) {
  return range.low >= wanted.low && range.high <= wanted.high &&
         (!range.ignored || range.ignored == wanted.ignored ||
          wanted.holds(double(*range.ignored)));
}

/// Whether the values were not checked for all that the op wants of them when `input` was set. An
/// input whose values nothing limits is taken as it is, but not where others are refused.
bool needsLook(const GivenBuffers &given, std::optional<uint32_t> input, Use use,
               const ValueRange &wanted) {
  if (!input)
    return true;
  const ValueRange *range = given.rangeOf(*input);
  return range ? !isWithin(*range, wanted) : use == Use::Refused;
}

} // namespace

std::vector<std::vector<CountedLaunch>> countedLaunches(const package::PackageData &data,
                                                        const package::Entry &entry) {
  const GivenBuffers given(data, entry);
  const UserOps ops(data);
  std::map<std::pair<uint32_t, Use>, int> turns;
  auto each = [&](auto &&action) {
    for (size_t program = 0; program < entry.programs.size(); ++program) {
      const std::vector<package::Launch> &launches = entry.programs[program].launches;
      for (size_t i = 0; i < launches.size(); ++i) {
        const std::optional<Reading> reading = readingOf(launches[i]);
        if (!reading)
          continue;
        const std::optional<uint32_t> input = given.inputOf(reading->values->buffer);
        if (needsLook(given, input, reading->use, validOf(launches[i], *reading)))
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
    const bool always = reading.use == Use::Refused;
    const std::vector<int64_t> identity = identityOf(launch, ops.of(launch), reading.use);
    CountedLaunch one{i, always, always, isGiven};
    if (!always && hasFirstSteps(launch))
      one.below = below.insert(identity).second;
    if (!always && hasLastSteps(launch, reading))
      one.above = above.insert(identity).second;
    if (one.below || one.above)
      counted[program].push_back(one);
  });
  return counted;
}

IndexCounter::IndexCounter(const package::PackageData &data, const package::DeviceProgram &program,
                           std::span<const CountedLaunch> launches, Device &device)
    : data_(data) {
  for (const CountedLaunch &counted : launches) {
    const package::Launch &source = program.launches[counted.launch];
    const Reading reading = *readingOf(source);
    ValueRange valid = validOf(source, reading), checked = reading.valid;
    if (!counted.below)
      checked.low = std::numeric_limits<int64_t>::min();
    if (!counted.above)
      checked.high = std::numeric_limits<int64_t>::max();
    counts_.push_back({counted.launch, &source, reading.use, view(data, *reading.values, device),
                       valid, checked, counted.given});
    if (!isRemote(device))
      (void)counts_.back().values.forHost(scratch_); // allocates now
  }
}

bool IndexCounter::counts(size_t launch) const {
  return std::ranges::binary_search(counts_, launch, {}, &Count::launch);
}

Status IndexCounter::count(Device &device, size_t launch, uint32_t stream) {
  auto found = std::ranges::lower_bound(counts_, launch, {}, &Count::launch);
  if (found == counts_.end() || found->launch != launch)
    return {};
  device.synchronize(stream);
  const Tensor values = found->values.forHost(scratch_);
  if (found->use == Use::Refused) {
    const std::optional<double> refused = firstOutside(values, found->valid);
    return refused ? refuse(*found, *refused) : Status();
  }
  found->outside += outsideOf(values, found->checked);
  return {};
}

Status IndexCounter::refuse(const Count &count, double index) const {
  package::Launch named = *count.source;
  named.location = UserOps(data_).of(named);
  return failAt(placeOf(data_.locations[named.location]), ErrorCode::E0604,
                "{}: found index {}, want {}, since its mode is raise", opText(data_, named), index,
                count.valid.text());
}

} // namespace lstmc::session

#include "executor/session/BoundEntry.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "executor/abi/EntryNames.h"
#include "executor/base/Numeric.h"
#include "executor/package/SentValues.h"
#include "executor/session/Binding.h"
#include "executor/session/RemoteDevice.h"

namespace lstmc::session {

namespace {

using package::PackageData;

/// Most launches that a device runs before it reports progress.
constexpr size_t kStretch = 32;

bool isFinite(const Tensor &tensor) {
  // Metrics are small and dense.
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (!std::isfinite(readElement<double>(tensor.data, tensor.dtype, i)))
      return false;
  return true;
}

/// The two ends of every message of an entry, by its number. The package's check has shown that
/// there are two.
struct Ends {
  MessageEnd send{}, receive{};
  std::optional<MessageEnd> await; ///< where the sender overwrites it
};
using MessageEnds = std::map<int64_t, Ends>;

int64_t messageNumber(const package::Launch &launch) {
  return argumentsOf<TransferArguments>(launch).message;
}

bool isCounted(std::span<const CountedLaunch> counted, size_t launch) {
  return std::ranges::binary_search(counted, launch, {}, &CountedLaunch::launch);
}

/// A graph is made of consecutive launches between which the host has nothing to do: it is cut by
/// transfers, where the host waits, at `commit`, and where indices are counted.
void findGraphs(BoundProgram &program, std::span<const CountedLaunch> counted) {
  std::vector<Segment> &segments = program.segments;
  auto continues = [&](size_t at) {
    return at < segments.size() && segments[at].kind == Segment::Kind::Launches &&
           at != program.commitSegment && !isCounted(counted, segments[at].launch);
  };
  for (size_t at = 0; at < segments.size();) {
    size_t end = at + 1;
    if (segments[at].kind == Segment::Kind::Launches) {
      while (continues(end))
        ++end;
      segments[at].graphEnd = end;
    }
    at = end;
  }
}

/// Cuts the program into segments and prepares its launches. `messages` receives the ends of its
/// messages.
Result<BoundProgram> bindProgram(const package::Package &package,
                                 const package::DeviceProgram &source, size_t position,
                                 std::span<const CountedLaunch> counted, const Devices &devices,
                                 MessageEnds &messages) {
  BoundProgram program{source.device, &source, nullptr, {}, 0};
  if (!counted.empty())
    program.indices =
        std::make_unique<IndexCounter>(package.data(), source, counted, *devices[source.device]);
  std::vector<LaunchSpec> specs;
  specs.reserve(source.launches.size());
  uint32_t events = 0;
  const std::multimap<size_t, int64_t> awaited =
      package::overwrittenMessages(package.data(), source);
  bool extend = false; // whether the last segment takes another launch
  for (size_t i = 0; i < source.launches.size(); ++i) {
    const package::Launch &launch = source.launches[i];
    if (i == source.commit) {
      program.commitSegment = program.segments.size();
      extend = false;
    }
    for (auto [from, to] = awaited.equal_range(i); from != to; ++from) {
      messages[from->second].await = {position, program.segments.size()};
      program.segments.push_back({Segment::Kind::Await, i, specs.size(), specs.size()});
      extend = false;
    }
    Segment segment{Segment::Kind::Launches, i, specs.size(), specs.size()};
    segment.stream = launch.stream;
    segment.waits = launch.waits;
    segment.event = launch.event;
    program.streams = std::max(program.streams, launch.stream + 1);
    events = std::max(events, uint32_t(launch.event + 1));
    extend = extend && launch.waits.empty() && program.segments.back().stream == launch.stream &&
             !isCounted(counted, i);
    if (isTransfer(launch.kernel)) {
      Ends &ends = messages[messageNumber(launch)];
      bool send = launch.kernel == KernelId::Send;
      segment.kind = send ? Segment::Kind::Send : Segment::Kind::Receive;
      (send ? ends.send : ends.receive) = {position, program.segments.size()};
    } else {
      specs.push_back(bind(package, launch, *devices[source.device]));
    }
    if (extend && segment.kind == Segment::Kind::Launches &&
        specs.size() - program.segments.back().first <= kStretch) {
      program.segments.back().last = specs.size();
      program.segments.back().event = launch.event;
      extend = launch.event == -1;
      continue;
    }
    segment.last = specs.size();
    extend = segment.kind == Segment::Kind::Launches && launch.event == -1;
    program.segments.push_back(segment);
  }
  if (source.commit == source.launches.size())
    program.commitSegment = program.segments.size();
  findGraphs(program, counted);
  LSTMC_TRY(devices[source.device]->reserve(program.streams, events));
  LSTMC_ASSIGN(program.launches, devices[source.device]->prepare(std::move(specs)));
  return program;
}

/// The message with these ends.
BoundMessage bindMessage(const PackageData &data, size_t entry, int64_t number, const Ends &ends,
                         const std::vector<BoundProgram> &programs, const Devices &devices) {
  auto view = [&](MessageEnd end, size_t operand) {
    const BoundProgram &program = programs[end.program];
    const package::Launch &launch = program.source->launches[program.segments[end.segment].launch];
    return session::view(data, launch.operands[operand], *devices[program.device]);
  };
  const BoundProgram &sender = programs[ends.send.program];
  const package::Launch &send = sender.source->launches[sender.segments[ends.send.segment].launch];
  const package::Kind kind = data.buffers[send.operands[SendOperand::x].buffer].kind;
  const Message message{entry,
                        number,
                        sender.device,
                        programs[ends.receive.program].device,
                        view(ends.send, SendOperand::x),
                        view(ends.receive, ReceiveOperand::y),
                        kind == package::Kind::Input || kind == package::Kind::Scalar};
  return {message, ends.send, ends.receive};
}

} // namespace

Status BoundProgram::checkIndices(Device &target, const Segment &segment) const {
  if (!indices || !indices->counts(segment.launch))
    return {};
  begin(target, segment); // its indices may come from another stream
  return indices->count(target, segment.launch, segment.stream);
}

void BoundProgram::begin(Device &target, const Segment &segment) const {
  for (uint32_t event : segment.waits)
    target.wait(segment.stream, event);
}

void BoundProgram::launch(Device &target, const Segment &segment) const {
  target.launch(segment.stream, *launches, segment.first, segment.last, timesFrom(segment.launch));
}

void BoundProgram::end(Device &target, const Segment &segment) const {
  if (segment.event >= 0)
    target.record(segment.stream, uint32_t(segment.event));
}

size_t BoundProgram::runGraph(Device &target, size_t at) const {
  const size_t end = segments[at].graphEnd;
  auto give = [&] {
    for (size_t i = at; i < end; ++i) {
      begin(target, segments[i]);
      target.launch(segments[i].stream, *launches, segments[i].first, segments[i].last);
      this->end(target, segments[i]);
    }
  };
  target.runGraph(*launches, at, std::ref(give)); // a reference: a run allocates nothing
  return end;
}

void ScalarInput::write() const {
  if (isInteger)
    place.set(integer);
  else
    place.set(real);
}

bool BoundEntry::finite() {
  auto eachCopied = [&](auto f) {
    std::byte *place = scratch.data();
    for (const auto &[name, tensor] : mustBeFinite)
      if (!tensor.range.host()) {
        f(tensor, std::span(place, size_t(tensor.range.size())));
        place += tensor.range.size();
      }
  };
  // All copies are under way before the first is waited for.
  eachCopied(
      [](const DeviceTensor &from, std::span<std::byte> to) { from.range.beginRead(0, to); });
  eachCopied([](const DeviceTensor &from, std::span<std::byte>) { from.range.endRead(); });
  bool all = true;
  auto look = [&](const DeviceTensor &value, std::byte *bytes) {
    Tensor tensor = value.layout; // the whole of a buffer
    tensor.data = bytes;
    all = all && isFinite(tensor);
  };
  eachCopied([&](const DeviceTensor &from, std::span<std::byte> to) { look(from, to.data()); });
  for (const auto &[name, tensor] : mustBeFinite)
    if (tensor.range.host())
      look(tensor, tensor.range.host());
  return all;
}

const BoundProgram *BoundEntry::programOf(size_t device) const {
  auto found = std::ranges::find(programs, device, &BoundProgram::device);
  return found == programs.end() ? nullptr : &*found;
}

Result<BoundEntry> bindEntry(const package::Package &package, size_t index,
                             const Devices &devices) {
  return bindEntry(package, index, package.data().entries[index], devices);
}

Result<BoundEntry> bindEntry(const package::Package &package, size_t index,
                             const package::Entry &source, const Devices &devices) {
  const PackageData &data = package.data();
  BoundEntry entry;
  entry.source = &source;
  entry.name = source.name;
  entry.prepare = package.findEntry(std::string(kPreparePrefix) + source.name);

  MessageEnds messages;
  const std::vector<std::vector<CountedLaunch>> counted = countedLaunches(data, source);
  for (const package::DeviceProgram &program : source.programs) {
    const size_t position = entry.programs.size();
    LSTMC_ASSIGN(BoundProgram made,
                 bindProgram(package, program, position, counted[position], devices, messages));
    entry.programs.push_back(std::move(made));
  }
  for (const auto &[number, ends] : messages) {
    for (MessageEnd end : {ends.send, ends.receive, ends.await.value_or(ends.send)})
      entry.programs[end.program].segments[end.segment].message = entry.messages.size();
    entry.messages.push_back(bindMessage(data, index, number, ends, entry.programs, devices));
  }

  std::vector<bool> writtenBeforeCommit(data.buffers.size());
  for (const package::DeviceProgram &program : source.programs)
    for (size_t i = 0; i < program.launches.size(); ++i) {
      const package::Launch &launch = program.launches[i];
      for (size_t k = 0; k < launch.operands.size(); ++k) {
        uint32_t held = launch.operands[k].buffer;
        if (held == package::kNoBuffer || !package::writes(data, launch, k))
          continue;
        if (i < program.commit)
          writtenBeforeCommit[held] = true;
        else if (data.buffers[held].kind == package::Kind::Parameter)
          entry.changesParameters = true;
      }
    }
  auto tensorOf = [&](uint32_t buffer) {
    return view(data.buffers[buffer], *devices[data.buffers[buffer].device]);
  };
  for (const package::Binding &input : source.inputs)
    if (input.role == "scalar")
      entry.scalars.push_back({input.name, tensorOf(input.buffer)});
  for (const package::Binding &output : source.outputs) {
    bool watched =
        output.role == "metric" || output.name == "loss" || output.name == "gradient_norm";
    if (!entry.changesParameters || !watched || !writtenBeforeCommit[output.buffer] ||
        !isFloat(data.buffers[output.buffer].dtype))
      continue;
    entry.looksAtNumbers = true;
    if (!isRemote(*devices[data.buffers[output.buffer].device]))
      entry.mustBeFinite.push_back({output.name, tensorOf(output.buffer)});
  }
  size_t copied = 0;
  for (const auto &[name, tensor] : entry.mustBeFinite)
    copied += tensor.range.host() ? 0 : size_t(tensor.range.size());
  entry.scratch.resize(copied); // now, since a run allocates nothing
  return entry;
}

} // namespace lstmc::session

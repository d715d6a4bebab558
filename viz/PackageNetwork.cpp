#include "viz/PackageNetwork.h"

#include <algorithm>
#include <compare>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "executor/base/NumberText.h"
#include "executor/package/Package.h"
#include "passes/planning/forecast/Forecast.h"
#include "viz/Dot.h"
#include "viz/KernelKind.h"

namespace lstmc::viz {

namespace {

using package::Launch;
using package::Operand;

const package::Entry *drawnEntry(const package::PackageData &package) {
  for (std::string_view name : {"forward", "evaluate", "step"}) {
    auto found = std::ranges::find(package.entries, name, &package::Entry::name);
    if (found != package.entries.end())
      return &*found;
  }
  return package.entries.empty() ? nullptr : &package.entries.front();
}

/// Where a value comes from: an op, an input, or a message whose sender may be drawn later.
struct Source {
  enum class Kind { Op, Input, Message } kind;
  int64_t number; ///< a location, the position of an input, the number of a message
  auto operator<=>(const Source &) const = default;
};

class PackageDrawing {
public:
  PackageDrawing(const package::PackageData &package, const package::Entry &entry,
                 const NetworkOptions &options)
      : package_(package), entry_(entry), options_(options) {
    for (size_t i = 0; i < entry.inputs.size(); ++i)
      inputs_[entry.inputs[i].buffer] = int64_t(i);
  }

  std::string dot() {
    for (size_t i = 0; i < entry_.programs.size(); ++i)
      for (const Launch &launch : entry_.programs[i].launches)
        follow(launch, entry_.programs[i].device);
    if (options_.target)
      addTimes();
    std::string text = dotHeader(package_.net, options_);
    for (size_t i = 0; i < entry_.inputs.size(); ++i)
      if (entry_.inputs[i].role != "scalar")
        text += fmt::format("  i{} [shape=oval, fillcolor=\"#8dd3c7\", label={}];\n", i,
                            quoted(entry_.inputs[i].name));
    for (const auto &[location, box] : boxes_)
      text += fmt::format("  n{} [fillcolor=\"{}\", label={}];\n", location,
                          kKernelKinds[box.color].color, quoted(label(location, box)));
    std::set<std::pair<Source, uint32_t>> drawn;
    for (const Edge &edge : edges_)
      for (const Source &source : resolved(edge.from))
        if (source != Source{Source::Kind::Op, edge.to} && drawn.insert({source, edge.to}).second)
          text += fmt::format(
              "  {}{} -> n{}{};\n", source.kind == Source::Kind::Op ? 'n' : 'i', source.number,
              edge.to, edge.label.empty() ? "" : fmt::format(" [label={}]", quoted(edge.label)));
    return text + "}\n";
  }

private:
  struct Box {
    size_t color; ///< in kKernelKinds
    std::set<uint32_t> devices;
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> written; ///< bytes by buffer and first byte
    std::map<uint32_t, uint64_t> parameters;                   ///< bytes by buffer
    double seconds = 0;
  };
  struct Edge {
    Source from;
    uint32_t to; ///< location
    std::string label;
  };
  struct Writer {
    Source source;
    package::ByteRange range;
  };

  /// Copies move elements, and some joins need none.
  static bool isDrawn(const Launch &launch) {
    return !isTransfer(launch.kernel) && launch.kernel != KernelId::Fill &&
           launch.kernel != KernelId::Copy;
  }

  std::set<Source> sourcesOf(const Operand &operand) const {
    std::set<Source> sources;
    if (auto input = inputs_.find(operand.buffer); input != inputs_.end())
      sources.insert({Source::Kind::Input, input->second});
    const package::ByteRange read = package::bytesOf(package_, operand);
    if (auto found = writers_.find(operand.buffer); found != writers_.end())
      for (const Writer &writer : found->second)
        if (writer.range.overlaps(read))
          sources.insert(writer.source);
    return sources;
  }

  /// Of its elements.
  uint64_t bytesOf(const Operand &operand) const {
    uint64_t bytes = dtypeBytes(package_.buffers[operand.buffer].dtype);
    for (int64_t extent : operand.shape)
      bytes *= uint64_t(extent);
    return bytes;
  }

  void write(const Operand &operand, const std::set<Source> &sources) {
    const package::ByteRange range = package::bytesOf(package_, operand);
    std::vector<Writer> &writers = writers_[operand.buffer];
    if (range.end - range.begin == bytesOf(operand)) // hides what was in it
      std::erase_if(writers, [&](const Writer &old) {
        return range.begin <= old.range.begin && old.range.end <= range.end;
      });
    for (const Source &source : sources)
      writers.push_back({source, range});
  }

  void follow(const Launch &launch, uint32_t device) {
    if (isDrawn(launch))
      return draw(launch, device);
    if (launch.kernel == KernelId::Fill)
      return write(launch.operands[FillOperand::y], {});
    const int64_t message =
        isTransfer(launch.kernel) ? argumentsOf<TransferArguments>(launch).message : 0;
    if (launch.kernel == KernelId::Send)
      sent_[message] = sourcesOf(launch.operands[SendOperand::x]);
    else if (launch.kernel == KernelId::Receive)
      write(launch.operands[ReceiveOperand::y], {{Source::Kind::Message, message}});
    else
      write(launch.operands[CopyOperand::y], sourcesOf(launch.operands[CopyOperand::x]));
  }

  void draw(const Launch &launch, uint32_t device) {
    auto [found, added] = boxes_.try_emplace(launch.location);
    Box &box = found->second;
    if (added || launch.kernel != KernelId::Fused)
      box.color = kindOf(launch.kernel);
    box.devices.insert(device);
    for (size_t i = 0; i < launch.operands.size(); ++i) {
      const Operand &operand = launch.operands[i];
      if (operand.buffer == package::kNoBuffer || package::writes(package_, launch, i))
        continue;
      const package::Buffer &buffer = package_.buffers[operand.buffer];
      if (buffer.kind == package::Kind::Parameter || buffer.kind == package::Kind::Packed)
        box.parameters[operand.buffer] = buffer.bytes;
      std::string shape =
          options_.shapes ? fmt::format("{}", fmt::join(operand.shape, "x")) : std::string();
      for (const Source &source : sourcesOf(operand))
        edges_.push_back({source, launch.location, shape});
    }
    for (size_t i = 0; i < launch.operands.size(); ++i) {
      const Operand &operand = launch.operands[i];
      if (operand.buffer == package::kNoBuffer || !package::writes(package_, launch, i))
        continue;
      const package::Buffer &buffer = package_.buffers[operand.buffer];
      if (buffer.kind != package::Kind::Workspace)
        box.written[{operand.buffer, package::bytesOf(package_, operand).begin}] = bytesOf(operand);
      write(operand, {{Source::Kind::Op, launch.location}});
    }
  }

  /// What a message brings is what was sent.
  std::set<Source> resolved(const Source &source) const {
    if (source.kind != Source::Kind::Message)
      return {source};
    std::set<Source> all;
    if (auto found = sent_.find(source.number); found != sent_.end())
      for (const Source &from : found->second)
        all.merge(resolved(from));
    return all;
  }

  void addTimes() {
    planning::EntryTimes times = planning::forecast(package_, entry_, {options_.machine});
    for (size_t program = 0; program < times.programs.size(); ++program)
      for (size_t i = 0; i < times.programs[program].launches.size(); ++i) {
        auto box = boxes_.find(entry_.programs[program].launches[i].location);
        const planning::LaunchTime &time = times.programs[program].launches[i];
        if (box != boxes_.end())
          box->second.seconds += time.end - time.begin;
      }
  }

  template <typename Key> static uint64_t sum(const std::map<Key, uint64_t> &bytes) {
    uint64_t all = 0;
    for (const auto &[key, size] : bytes)
      all += size;
    return all;
  }

  std::string label(uint32_t index, const Box &box) const {
    const package::Location &location = package_.locations[index];
    std::string text = !location.name.empty() ? location.name
                       : !location.op.empty() ? location.op
                                              : std::string(kKernelKinds[box.color].name);
    if (!location.op.empty() && location.op != text)
      text += "\n" + location.op;
    if (options_.memory) {
      text += "\n" + bytesText(sum(box.written));
      if (uint64_t parameters = sum(box.parameters))
        text += " + parameters " + bytesText(parameters);
    }
    if (!options_.devices.empty()) {
      std::vector<std::string> names;
      for (uint32_t device : box.devices)
        names.push_back(package_.devices[device].name);
      text += fmt::format("\n{}", fmt::join(names, ","));
    }
    if (options_.target)
      text += "\n" + durationText(box.seconds);
    return text;
  }

  const package::PackageData &package_;
  const package::Entry &entry_;
  const NetworkOptions &options_;
  std::map<uint32_t, int64_t> inputs_;              ///< by buffer
  std::map<uint32_t, std::vector<Writer>> writers_; ///< by buffer
  std::map<int64_t, std::set<Source>> sent_;        ///< by message
  std::map<uint32_t, Box> boxes_;                   ///< by location
  std::vector<Edge> edges_;
};

} // namespace

std::string packageDot(const package::PackageData &package, const NetworkOptions &options) {
  const package::Entry *entry = drawnEntry(package);
  return entry ? PackageDrawing(package, *entry, options).dot() : "digraph empty {}\n";
}

} // namespace lstmc::viz

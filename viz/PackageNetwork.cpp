#include "viz/PackageNetwork.h"

#include <algorithm>
#include <compare>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "executor/package/Package.h"
#include "passes/planning/forecast/Forecast.h"
#include "viz/BoxLinks.h"
#include "viz/Fold.h"
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

/// Origin of a value: an op, an input, or a message, whose sender may be drawn later.
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

  Diagram build() {
    for (size_t i = 0; i < entry_.programs.size(); ++i)
      for (const Launch &launch : entry_.programs[i].launches)
        follow(launch, entry_.programs[i].device);
    if (options_.target)
      addTimes();
    Diagram diagram = emptyDiagram(package_.net, options_);
    diagram.devices.clear();
    for (const package::Device &device : package_.devices)
      diagram.devices.push_back(device.name);
    diagram.colorsDevices = diagram.devices.size() > 1;
    diagram.showsDevices |= diagram.colorsDevices;
    std::map<Source, size_t> ids;
    for (size_t i = 0; i < entry_.inputs.size(); ++i)
      if (entry_.inputs[i].role != "scalar") {
        Box box;
        box.kind = Box::Kind::Input;
        box.label = box.name = entry_.inputs[i].name;
        ids[{Source::Kind::Input, int64_t(i)}] = diagram.boxes.size();
        diagram.boxes.push_back(std::move(box));
      }
    // In source order, which is the order of the first launches.
    for (uint32_t location : order_) {
      ids[{Source::Kind::Op, location}] = diagram.boxes.size();
      diagram.boxes.push_back(boxOf(location, ops_.at(location)));
    }
    for (const Reading &reading : readings_)
      for (const Source &source : resolved(reading.from))
        if (auto from = ids.find(source);
            from != ids.end() && source != Source{Source::Kind::Op, reading.to})
          diagram.edges.push_back(
              {from->second, ids.at({Source::Kind::Op, reading.to}), reading.label, "", ""});
    keepFirstOfEnds(diagram);
    if (entry_.name != "step") // in which gradients read every weight again
      addParameters(diagram, ids);
    hideOwnParameters(diagram);
    foldRepeats(diagram);
    joinParameters(diagram);
    return diagram;
  }

private:
  /// Work of all launches with one location.
  struct Op {
    size_t color; ///< in kKernelKinds
    std::set<uint32_t> devices;
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> written; ///< bytes by buffer and first byte
    std::map<uint32_t, uint64_t> parameters;                   ///< bytes by buffer
    double seconds = 0;
  };
  struct Reading {
    Source from;
    uint32_t to; ///< location
    std::string label;
  };
  struct Writer {
    Source source;
    package::ByteRange range;
  };

  /// Whether the op only moves elements: copies, and joins that need no launch.
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

  /// Bytes of the operand's elements.
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
    auto [found, added] = ops_.try_emplace(launch.location);
    Op &box = found->second;
    if (added)
      order_.push_back(launch.location);
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
        readings_.push_back({source, launch.location, shape});
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

  /// Resolves a message to the sources of the value that was sent.
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
        auto box = ops_.find(entry_.programs[program].launches[i].location);
        const planning::LaunchTime &time = times.programs[program].launches[i];
        if (box != ops_.end())
          box->second.seconds += time.end - time.begin;
      }
  }

  template <typename Key> static uint64_t sum(const std::map<Key, uint64_t> &bytes) {
    uint64_t all = 0;
    for (const auto &[key, size] : bytes)
      all += size;
    return all;
  }

  /// A box for each parameter, packed ones ("NAME.packed") included; its bytes are counted in its
  /// readers.
  void addParameters(Diagram &diagram, const std::map<Source, size_t> &ids) const {
    std::map<uint32_t, std::string> names; // by buffer; copies on other devices have the first's
    for (const package::Parameter &parameter : package_.parameters)
      for (uint32_t buffer : parameter.buffers)
        names[buffer] = parameter.name;
    std::map<std::string, std::set<size_t>> readers;
    for (const auto &[location, op] : ops_)
      for (const auto &[buffer, bytes] : op.parameters) {
        const std::string &packed = package_.buffers[buffer].name;
        auto found = names.find(buffer);
        readers[found != names.end() ? found->second : packed.substr(0, packed.find(".packed"))]
            .insert(ids.at({Source::Kind::Op, location}));
      }
    for (const auto &[name, boxes] : readers) {
      for (size_t reader : boxes)
        diagram.edges.push_back({diagram.boxes.size(), reader, "", "", ""});
      Box box;
      box.kind = Box::Kind::Parameter;
      box.label = box.name = name;
      diagram.boxes.push_back(std::move(box));
    }
  }

  /// One edge per pair of boxes, with the first shape.
  static void keepFirstOfEnds(Diagram &diagram) {
    std::set<std::pair<size_t, size_t>> drawn;
    std::erase_if(diagram.edges,
                  [&](const Edge &edge) { return !drawn.insert({edge.from, edge.to}).second; });
  }

  Box boxOf(uint32_t index, const Op &op) const {
    const package::Location &location = package_.locations[index];
    Box box;
    box.color = kKernelKinds[op.color].color;
    box.what = !location.op.empty() ? location.op : std::string(kKernelKinds[op.color].name);
    box.name = location.name;
    box.places = {placeText(location)};
    box.label = !location.name.empty() ? location.name : box.what;
    if (!location.op.empty() && location.op != box.label)
      box.label += "\n" + location.op;
    if (!location.notes.empty())
      box.call = callIn(location.notes);
    box.devices.insert(op.devices.begin(), op.devices.end());
    box.bytes = sum(op.written);
    box.parameterBytes = sum(op.parameters);
    box.seconds = op.seconds;
    box.like = fmt::format("{} {} {} on {}", box.what, box.bytes, box.parameterBytes,
                           fmt::join(op.devices, ","));
    return box;
  }

  /// "cell", from notes whose last call is "cell(..) at cell.lnet:16:16".
  static std::string callIn(const std::vector<std::string> &notes) {
    std::string call;
    for (const std::string &note : notes)
      if (size_t open = note.find('('); open != std::string::npos && !note.starts_with("for "))
        call = note.substr(0, open);
    return call;
  }

  const package::PackageData &package_;
  const package::Entry &entry_;
  const NetworkOptions &options_;
  std::map<uint32_t, int64_t> inputs_;              ///< by buffer
  std::map<uint32_t, std::vector<Writer>> writers_; ///< by buffer
  std::map<int64_t, std::set<Source>> sent_;        ///< by message
  std::map<uint32_t, Op> ops_;                      ///< by location
  std::vector<uint32_t> order_;                     ///< locations, as launches come
  std::vector<Reading> readings_;
};

} // namespace

Diagram packageDiagram(const package::PackageData &package, const NetworkOptions &options) {
  const package::Entry *entry = drawnEntry(package);
  return entry ? PackageDrawing(package, *entry, options).build() : emptyDiagram("empty", options);
}

} // namespace lstmc::viz

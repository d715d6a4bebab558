#include "viz/MemoryChart.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "executor/base/NumberText.h"
#include "executor/package/Plan.h"
#include "viz/Axis.h"
#include "viz/Cost.h"

namespace lstmc::viz {

namespace {

constexpr double kWidth = 900, kHeight = 160, kLeft = 110, kTop = 40, kGap = 50;

/// Colours by Kind, distinguishable by the colour-blind. Source: P. Tol, "Colour Schemes",
/// SRON/EPS/TN/09-002, scheme muted, and a grey for scalars, which are too small to be visible.
constexpr std::array<std::string_view, package::kKindCount> kColors = {
    "#332288", "#aa4499", "#cc6677", "#ddcc77", "#117733", "#88ccee",
    "#882255", "#666666", "#44aa99", "#999933", "#dddddd"};

/// Live bytes of a device between two launches.
struct Moment {
  double begin, end; ///< seconds
  package::BytesOfKind bytes;
};

/// A program of an entry. While a device waits, the buffers of its previous launch are live.
struct Lane {
  size_t entry;
  uint32_t device;
  double seconds; ///< of the whole entry, on all devices
  std::vector<Moment> moments;
};

void addLanes(std::vector<Lane> &lanes, const package::PackageData &package, size_t entry,
              const target::Machines &machines) {
  planning::EntryTimes times = planning::forecast(package, package.entries[entry], machines);
  for (const planning::DeviceTimes &program : times.programs) {
    std::vector<package::BytesOfKind> bytes = package::bytesAlive(package, program.device, entry);
    Lane &lane = lanes.emplace_back(Lane{entry, program.device, times.seconds, {}});
    double begin = 0; // on several streams a launch may begin before the one before it in the list
    for (size_t i = 0; i < program.launches.size(); ++i) {
      bool last = i + 1 == program.launches.size();
      const double end = last ? times.seconds : std::max(begin, program.launches[i + 1].begin);
      lane.moments.push_back({begin, end, bytes[i]});
      begin = end;
    }
  }
}

/// Training first, because it needs most.
std::vector<Lane> lanesOf(const package::PackageData &package, const target::Machines &machines) {
  std::vector<Lane> lanes;
  for (bool isStep : {true, false})
    for (size_t e = 0; e < package.entries.size(); ++e)
      if ((package.entries[e].name == "step") == isStep)
        addLanes(lanes, package, e, machines);
  return lanes;
}

uint64_t total(const Moment &moment) {
  return std::accumulate(moment.bytes.begin(), moment.bytes.end(), uint64_t(0));
}

/// Whether the bytes of the lane are constant.
bool isFlat(const Lane &lane) {
  return std::all_of(lane.moments.begin(), lane.moments.end(),
                     [&](const Moment &moment) { return total(moment) == total(lane.moments[0]); });
}

/// Removes the entries whose lanes are all constant, unless all are; returns their names.
std::vector<std::string> leaveOutFlat(std::vector<Lane> &lanes,
                                      const package::PackageData &package) {
  std::vector<bool> flat(package.entries.size(), true);
  for (const Lane &lane : lanes)
    flat[lane.entry] = flat[lane.entry] && isFlat(lane);
  std::vector<std::string> names;
  if (std::all_of(lanes.begin(), lanes.end(), [&](const Lane &lane) { return flat[lane.entry]; }))
    return names;
  for (size_t e = 0; e < flat.size(); ++e)
    if (flat[e] &&
        std::any_of(lanes.begin(), lanes.end(), [&](const Lane &lane) { return lane.entry == e; }))
      names.push_back(package.entries[e].name);
  std::erase_if(lanes, [&](const Lane &lane) { return flat[lane.entry]; });
  return names;
}

/// Axes: bytes up to the scale's maximum on the left, time below; each with a mark at its half.
std::string axes(const Lane &lane, double bottom, uint64_t most) {
  std::string svg;
  for (int half = 0; half <= 2; ++half) {
    double y = bottom - kHeight * half / 2, x = kLeft + kWidth * half / 2;
    svg += fmt::format("<path d=\"M{:.2f},{:.2f} h-4 M{:.2f},{:.2f} v4\" stroke=\"#333\"/>\n",
                       kLeft, y, x, bottom);
    svg += textAt({kLeft - 7, y + 4}, bytesText(most * uint64_t(half) / 2), "end");
    svg += textAt({x, bottom + 15}, half == 0 ? "0" : durationText(lane.seconds * half / 2),
                  half == 0   ? "start"
                  : half == 2 ? "end"
                              : "middle");
  }
  return svg +
         fmt::format("<path d=\"M{0},{1:.2f} V{2:.2f} H{3}\" stroke=\"#333\" fill=\"none\"/>\n",
                     kLeft, bottom - kHeight, bottom, kLeft + kWidth);
}

/// The size of a device's arena; in the entry with the peak, also the launch and the largest value
/// at the peak.
std::string peakLine(const package::PackageData &package, const Lane &lane, double peak) {
  std::string svg = fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.2f}\" y2=\"{:.2f}\" "
                                "stroke=\"#333\" stroke-dasharray=\"4\"/>\n",
                                kLeft, kLeft + kWidth, peak, peak);
  package::DevicePlan plan = package::planOf(package, 1)[lane.device];
  std::optional<package::PeakLaunch> at = package::launchAtPeak(package, plan);
  if (!at || plan.peakEntry != int32_t(lane.entry) || plan.largest.empty())
    return svg;
  const package::Buffer &largest = package.buffers[plan.largest[0]];
  return svg +
         textAt({kLeft + kWidth, peak - 4},
                fmt::format("peak {} in {}{}{}, largest {} {}, {}", bytesText(plan.arenaBytes, 2),
                            at->op, at->op.empty() ? "" : " ", at->kernel, largest.name,
                            package::typeText(largest.dtype, largest.shape),
                            bytesText(largest.bytes)),
                "end");
}

/// Stacked bars of the live bytes between launches; their tooltips show the bytes.
std::string bars(const Lane &lane, double bottom, uint64_t most) {
  std::string svg;
  double scale = lane.seconds > 0 ? kWidth / lane.seconds : 0;
  for (const Moment &moment : lane.moments) {
    double y = bottom;
    for (size_t kind = 0; kind < moment.bytes.size(); ++kind) {
      double bar = kHeight * double(moment.bytes[kind]) / double(most);
      if (bar <= 0)
        continue;
      y -= bar;
      svg += fmt::format("<rect x=\"{:.4f}\" y=\"{:.2f}\" width=\"{:.4f}\" height=\"{:.2f}\" "
                         "fill=\"{}\"><title>{} {}, at {}</title></rect>\n",
                         kLeft + moment.begin * scale, y, (moment.end - moment.begin) * scale, bar,
                         kColors[kind], package::kKindNames[kind], bytesText(moment.bytes[kind]),
                         durationText(moment.begin));
    }
  }
  return svg;
}

/// Outlines over the lane with the bytes that the ops of each box allocate.
std::string outlines(const package::PackageData &package, const Lane &lane, double bottom,
                     uint64_t most, const BoxLinks &links) {
  size_t moments = lane.moments.size();
  // By box: the change of live bytes at each moment.
  std::map<size_t, std::vector<int64_t>> changes;
  for (const package::Buffer &buffer : package.buffers) {
    std::optional<size_t> box = links.boxOf(buffer.location);
    bool persists = buffer.entry == package::kPersistent;
    if (!box || buffer.device != lane.device || moments == 0 ||
        (!persists && buffer.entry != int32_t(lane.entry)))
      continue;
    std::vector<int64_t> &change = changes[*box];
    change.resize(moments + 1);
    change[persists ? 0 : std::min<size_t>(buffer.from, moments)] += int64_t(buffer.bytes);
    change[persists ? moments : std::min<size_t>(buffer.to + size_t(1), moments)] -=
        int64_t(buffer.bytes);
  }
  std::string svg;
  double scale = lane.seconds > 0 ? kWidth / lane.seconds : 0;
  for (const auto &[box, change] : changes) {
    std::string path = fmt::format("M{:.2f},{:.2f}", kLeft, bottom);
    int64_t bytes = 0;
    for (size_t i = 0; i < moments; ++i) {
      bytes += change[i];
      if (change[i] != 0)
        path += fmt::format("H{:.2f}V{:.2f}", kLeft + lane.moments[i].begin * scale,
                            bottom - kHeight * double(bytes) / double(most));
    }
    svg += fmt::format("<path class=\"layer\" data-box=\"{}\" d=\"{}H{:.2f}V{:.2f}Z\" "
                       "visibility=\"hidden\" fill=\"#000000\" fill-opacity=\"0.55\" "
                       "pointer-events=\"none\"/>\n",
                       box, path, kLeft + kWidth, bottom);
  }
  return svg;
}

} // namespace

std::string memoryChart(const package::PackageData &package, const target::Machines &machines,
                        const BoxLinks *links) {
  uint64_t most = 1;
  std::string peaks;
  for (const package::Device &device : package.devices) {
    most = std::max(most, device.arenaBytes);
    peaks += fmt::format("{}{} on {}", peaks.empty() ? "" : ", ", bytesText(device.arenaBytes, 2),
                         device.name);
  }
  std::vector<Lane> lanes = lanesOf(package, machines);
  std::vector<std::string> flat = leaveOutFlat(lanes, package);
  double height = kTop + double(lanes.size()) * (kHeight + kGap) + 40;
  std::string svg =
      svgOpening(kLeft + kWidth + 20, height) +
      textAt({kLeft, 20},
             fmt::format("{}: planned peak {}{}", package.net, peaks.empty() ? "-" : peaks,
                         flat.empty() ? ""
                                      : fmt::format("; the same bytes throughout: {}",
                                                    fmt::join(flat, ", "))));
  for (size_t l = 0; l < lanes.size(); ++l) {
    const Lane &lane = lanes[l];
    double bottom = kTop + double(l) * (kHeight + kGap) + kHeight;
    double peak = bottom - kHeight * double(package.devices[lane.device].arenaBytes) / double(most);
    svg += textAt({4, bottom - kHeight + 24}, package.entries[lane.entry].name);
    svg += textAt({4, bottom - kHeight + 38}, package.devices[lane.device].name);
    // Avoids seams between adjacent bars.
    svg += "<g shape-rendering=\"crispEdges\">\n" + bars(lane, bottom, most) + "</g>\n";
    if (links)
      svg += outlines(package, lane, bottom, most, *links);
    svg += axes(lane, bottom, most) + peakLine(package, lane, peak);
  }
  for (size_t kind = 0; kind < kColors.size(); ++kind)
    svg += fmt::format("<rect x=\"{0}\" y=\"{1}\" width=\"10\" height=\"10\" fill=\"{2}\"/><text "
                       "x=\"{3}\" y=\"{4}\">{5}</text>\n",
                       kLeft + double(kind) * 80, height - 24, kColors[kind],
                       kLeft + double(kind) * 80 + 14, height - 15, package::kKindNames[kind]);
  return svg + "</svg>\n";
}

std::string memoryTrace(const package::PackageData &package, const target::Machines &machines) {
  using Json = nlohmann::ordered_json;
  std::string text;
  auto add = [&](const Json &event) {
    text +=
        (text.empty() ? "\n" : ",\n") + event.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  for (size_t e = 0; e < package.entries.size(); ++e)
    add({{"name", "process_name"},
         {"ph", "M"},
         {"pid", e + 1},
         {"args", {{"name", package.entries[e].name + ", planned"}}}});
  for (const Lane &lane : lanesOf(package, machines))
    for (const Moment &moment : lane.moments) {
      Json bytes = Json::object();
      for (size_t kind = 0; kind < moment.bytes.size(); ++kind)
        bytes[std::string(package::kKindNames[kind])] = moment.bytes[kind];
      add({{"name", "bytes on " + package.devices[lane.device].name},
           {"ph", "C"},
           {"ts", moment.begin * 1e6},
           {"pid", lane.entry + 1},
           {"args", bytes}});
    }
  return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[" + text + "\n]}\n";
}

} // namespace lstmc::viz

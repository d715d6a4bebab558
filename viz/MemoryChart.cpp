#include "viz/MemoryChart.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "executor/base/NumberText.h"
#include "executor/package/Plan.h"
#include "viz/Cost.h"
#include "viz/Dot.h"

namespace lstmc::viz {

namespace {

constexpr double kWidth = 900, kHeight = 160, kLeft = 110, kTop = 40, kGap = 50;

/// By Kind; told apart by the colour-blind too. Source: P. Tol, "Colour Schemes",
/// SRON/EPS/TN/09-002, scheme muted, and a grey for scalars, which are too small to be seen.
constexpr std::array<std::string_view, package::kKindCount> kColors = {
    "#332288", "#aa4499", "#cc6677", "#ddcc77", "#117733", "#88ccee",
    "#882255", "#666666", "#44aa99", "#999933", "#dddddd"};

/// What a device holds from one launch to the next.
struct Moment {
  double begin, end; ///< seconds
  package::BytesOfKind bytes;
};

/// A program of an entry. Where a device waits it holds what the launch before held.
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
    for (size_t i = 0; i < program.launches.size(); ++i) {
      bool last = i + 1 == program.launches.size();
      lane.moments.push_back({i == 0 ? 0 : program.launches[i].begin,
                              last ? times.seconds : program.launches[i + 1].begin, bytes[i]});
    }
  }
}

/// Training first: it takes the most.
std::vector<Lane> lanesOf(const package::PackageData &package, const target::Machines &machines) {
  std::vector<Lane> lanes;
  for (bool isStep : {true, false})
    for (size_t e = 0; e < package.entries.size(); ++e)
      if ((package.entries[e].name == "step") == isStep)
        addLanes(lanes, package, e, machines);
  return lanes;
}

struct Place {
  double x, y;
};

std::string textAt(Place at, std::string_view text, std::string_view anchor = "start") {
  return fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\"{}>{}</text>\n", at.x, at.y,
                     anchor == "start" ? "" : fmt::format(" text-anchor=\"{}\"", anchor),
                     xmlText(text));
}

/// Bytes at the left, up to those of the scale, and time below, each with a mark at half of it.
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

/// The level of a device's arena; in the entry of its peak, what runs then and the largest value.
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

/// What is held from launch to launch, as bars on each other, which say their bytes.
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

} // namespace

std::string memoryChart(const package::PackageData &package, const target::Machines &machines) {
  uint64_t most = 1;
  std::string peaks;
  for (const package::Device &device : package.devices) {
    most = std::max(most, device.arenaBytes);
    peaks += fmt::format("{}{} on {}", peaks.empty() ? "" : ", ", bytesText(device.arenaBytes, 2),
                         device.name);
  }
  std::vector<Lane> lanes = lanesOf(package, machines);
  double height = kTop + double(lanes.size()) * (kHeight + kGap) + 40;
  std::string svg = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" "
                                "height=\"{}\" font-family=\"Helvetica\" font-size=\"11\">\n",
                                kLeft + kWidth + 20, height);
  svg += textAt({kLeft, 20},
                fmt::format("{}: planned peak {}", package.net, peaks.empty() ? "-" : peaks));
  for (size_t l = 0; l < lanes.size(); ++l) {
    const Lane &lane = lanes[l];
    double bottom = kTop + double(l) * (kHeight + kGap) + kHeight;
    double peak = bottom - kHeight * double(package.devices[lane.device].arenaBytes) / double(most);
    svg += textAt({4, bottom - kHeight + 24}, package.entries[lane.entry].name);
    svg += textAt({4, bottom - kHeight + 38}, package.devices[lane.device].name);
    svg += bars(lane, bottom, most) + axes(lane, bottom, most) + peakLine(package, lane, peak);
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

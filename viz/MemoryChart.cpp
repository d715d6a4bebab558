#include "viz/MemoryChart.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "executor/base/NumberText.h"
#include "executor/package/Plan.h"
#include "viz/Dot.h"

namespace lstmc::viz {

namespace {

constexpr double kWidth = 900, kHeight = 160, kLeft = 110, kTop = 40, kGap = 50;

constexpr std::array<std::string_view, package::kKindCount> kColors = {
    "#fb8072", "#fccde5", "#fdb462", "#bebada", "#b3cde3", "#8dd3c7",
    "#8dd3c7", "#cccccc", "#b3de69", "#ffffb3", "#d9d9d9"};

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

std::vector<Lane> lanesOf(const package::PackageData &package, const target::Machines &machines) {
  std::vector<Lane> lanes;
  for (size_t e = 0; e < package.entries.size(); ++e) {
    planning::EntryTimes times = planning::forecast(package, package.entries[e], machines);
    for (const planning::DeviceTimes &program : times.programs) {
      std::vector<package::BytesOfKind> bytes = package::bytesAlive(package, program.device, e);
      Lane &lane = lanes.emplace_back(Lane{e, program.device, times.seconds, {}});
      for (size_t i = 0; i < program.launches.size(); ++i) {
        bool last = i + 1 == program.launches.size();
        lane.moments.push_back({i == 0 ? 0 : program.launches[i].begin,
                                last ? times.seconds : program.launches[i + 1].begin, bytes[i]});
      }
    }
  }
  return lanes;
}

} // namespace

std::string memoryChart(const package::PackageData &package, const target::Machines &machines) {
  uint64_t most = 1;
  std::string peaks;
  for (const package::Device &device : package.devices) {
    most = std::max(most, device.arenaBytes);
    peaks += fmt::format("{}{} on {}", peaks.empty() ? "" : ", ", bytesText(device.arenaBytes, 2),
                         xmlText(device.name));
  }
  std::vector<Lane> lanes = lanesOf(package, machines);
  double height = kTop + double(lanes.size()) * (kHeight + kGap) + 40;
  std::string svg = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" "
                                "height=\"{}\" font-family=\"Helvetica\" font-size=\"11\">\n",
                                kLeft + kWidth + 20, height);
  svg += fmt::format("<text x=\"{}\" y=\"20\">{}: planned peak {}</text>\n", kLeft,
                     xmlText(package.net), peaks.empty() ? "-" : peaks);
  for (size_t l = 0; l < lanes.size(); ++l) {
    const Lane &lane = lanes[l];
    double bottom = kTop + double(l) * (kHeight + kGap) + kHeight;
    double peak = bottom - kHeight * double(package.devices[lane.device].arenaBytes) / double(most);
    svg +=
        fmt::format("<text x=\"4\" y=\"{:.2f}\">{}</text>\n<text x=\"4\" y=\"{:.2f}\">{}</text>\n",
                    bottom - kHeight + 12, xmlText(package.entries[lane.entry].name),
                    bottom - kHeight + 26, xmlText(package.devices[lane.device].name));
    svg += fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"#333\" "
                       "stroke-dasharray=\"4\"/>\n",
                       kLeft, kLeft + kWidth, peak, peak);
    double scale = lane.seconds > 0 ? kWidth / lane.seconds : 0;
    for (const Moment &moment : lane.moments) {
      double y = bottom;
      for (size_t kind = 0; kind < moment.bytes.size(); ++kind) {
        double bar = kHeight * double(moment.bytes[kind]) / double(most);
        if (bar <= 0)
          continue;
        y -= bar;
        svg += fmt::format(
            "<rect x=\"{:.4f}\" y=\"{:.2f}\" width=\"{:.4f}\" height=\"{:.2f}\" fill=\"{}\"/>\n",
            kLeft + moment.begin * scale, y, (moment.end - moment.begin) * scale, bar,
            kColors[kind]);
      }
    }
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

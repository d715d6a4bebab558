#include "frontend/cli/PlanText.h"

#include "executor/package/Plan.h"

namespace lstmc::cli {

std::string mebibytes(uint64_t bytes) {
  double mib = double(bytes) / (1 << 20);
  return mib >= 1024 ? fmt::format("{:.2f} GiB", mib / 1024) : mib >= 1 ? fmt::format("{:.1f} MiB", mib) : fmt::format("{:.1f} KiB", mib * 1024);
}

static double inMiB(uint64_t bytes) { return double(bytes) / (1 << 20); }

std::string planLine(const package::PackageData &data, uint64_t mayUse) {
  std::string text;
  for (const package::DevicePlan &d : package::planOf(data))
    text += fmt::format("{}plan      {} {} of {}: weights {:.1f}, gradients {:.1f}, optimizer {:.1f}, activations {:.1f}, workspace {:.1f} · fits",
                        text.empty() ? "" : "\n", d.device, mebibytes(d.arenaBytes), mebibytes(mayUse), inMiB(d.weightBytes()),
                        inMiB(d.gradientBytes()), inMiB(d.optimizerBytes()), inMiB(d.activationBytes()), inMiB(d.workspaceBytes()));
  return text;
}

std::string sharesLine(const std::vector<passes::BatchShare> &shares, std::string_view asked) {
  std::string text;
  for (const passes::BatchShare &share : shares)
    text += text.empty() ? fmt::format("rows      {} {} of {} ({} of {} shards)", share.device, share.rows, share.batch, share.count, share.shards)
                         : fmt::format(", {} {} ({})", share.device, share.rows, share.count);
  return text + (text.empty() || asked.empty() ? "" : fmt::format(" · asked for {}", asked));
}

std::string planTable(const package::PackageData &data) {
  std::string text = fmt::format("{:<7} {:>10} {:>9} {:>10} {:>10} {:>12} {:>10}  {:<28} {:<34} {}", "device", "peak MiB", "weights",
                                 "gradients", "optimizer", "activations", "workspace", "peak at", "largest", "line");
  for (const package::DevicePlan &d : package::planOf(data, 1)) {
    package::PeakLaunch at = package::launchAtPeak(data, d).value_or(package::PeakLaunch());
    std::string largest, line;
    for (uint32_t index : d.largest) {
      const package::Buffer &buffer = data.buffers[index];
      const package::Location &location = data.locations[buffer.location];
      largest = buffer.name + " " + package::typeText(buffer.dtype, buffer.shape);
      line = location.line ? fmt::format("{}:{}", location.file, location.line) : "-";
    }
    text += fmt::format("\n{:<7} {:>10.2f} {:>9.2f} {:>10.2f} {:>10.2f} {:>12.2f} {:>10.2f}  {:<28} {:<34} {}", d.device,
                        inMiB(d.arenaBytes), inMiB(d.weightBytes()), inMiB(d.gradientBytes()), inMiB(d.optimizerBytes()),
                        inMiB(d.activationBytes()), inMiB(d.workspaceBytes()), fmt::format("{} {} {}", at.entry, at.op, at.kernel),
                        largest, line);
  }
  return text;
}

nlohmann::ordered_json planJson(const package::PackageData &data) {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  for (const package::DevicePlan &d : package::planOf(data, 8)) {
    nlohmann::ordered_json largest = nlohmann::ordered_json::array();
    for (uint32_t index : d.largest) {
      const package::Buffer &buffer = data.buffers[index];
      const package::Location &location = data.locations[buffer.location];
      largest.push_back({{"name", buffer.name}, {"dtype", dtypeName(buffer.dtype)}, {"shape", buffer.shape}, {"bytes", buffer.bytes},
                         {"file", location.file}, {"line", location.line}, {"column", location.column}});
    }
    package::PeakLaunch at = package::launchAtPeak(data, d).value_or(package::PeakLaunch());
    devices.push_back({{"device", d.device},
                       {"capacity_bytes", nullptr},
                       {"peak_bytes", d.arenaBytes},
                       {"weights_bytes", d.weightBytes()},
                       {"gradients_bytes", d.gradientBytes()},
                       {"optimizer_bytes", d.optimizerBytes()},
                       {"activations_bytes", d.activationBytes()},
                       {"communication_bytes", 0},
                       {"workspace_bytes", d.workspaceBytes()},
                       {"peak_at", {{"phase", at.entry}, {"op", at.op}, {"kernel", at.kernel}, {"launch", d.peakLaunch}}},
                       {"largest", largest}});
  }
  return {{"schema", "lstmc.plan/1"}, {"fits", true}, {"devices", devices}};
}

} // namespace lstmc::cli

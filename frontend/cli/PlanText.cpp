#include "frontend/cli/PlanText.h"

#include <fmt/ranges.h>

namespace lstmc::cli {

std::string mebibytes(uint64_t bytes) {
  double mib = double(bytes) / (1 << 20);
  return mib >= 1024 ? fmt::format("{:.2f} GiB", mib / 1024) : mib >= 1 ? fmt::format("{:.1f} MiB", mib) : fmt::format("{:.1f} KiB", mib * 1024);
}

static double inMiB(uint64_t bytes) { return double(bytes) / (1 << 20); }

std::string planLine(const passes::PlanReport &plan, uint64_t mayUse) {
  std::string text;
  for (const passes::DevicePlan &d : plan.devices)
    text += fmt::format("{}plan      {} {} of {}: weights {:.1f}, gradients {:.1f}, optimizer {:.1f}, activations {:.1f}, workspace {:.1f} · fits",
                        text.empty() ? "" : "\n", d.device, mebibytes(d.peakBytes), mebibytes(mayUse), inMiB(d.weightsBytes()),
                        inMiB(d.gradientsBytes()), inMiB(d.optimizerBytes()), inMiB(d.activationsBytes()), inMiB(d.workspaceBytes()));
  return text;
}

static std::string place(const package::Location &location) {
  return location.line ? fmt::format("{}:{}", location.file, location.line) : "-";
}

std::string planTable(const passes::PlanReport &plan) {
  std::string text = fmt::format("{:<7} {:>10} {:>9} {:>10} {:>10} {:>12} {:>10}  {:<28} {:<34} {}", "device", "peak MiB", "weights",
                                 "gradients", "optimizer", "activations", "workspace", "peak at", "largest", "line");
  for (const passes::DevicePlan &d : plan.devices) {
    std::string moment = fmt::format("{} {} {}", d.peak.entry, d.peak.location.name, d.peak.kernel);
    std::string largest, line;
    if (!d.largest.empty()) {
      largest = fmt::format("{} {}[{}]", d.largest[0].name, dtypeName(d.largest[0].dtype), fmt::join(d.largest[0].shape, ","));
      line = place(d.largest[0].location);
    }
    text += fmt::format("\n{:<7} {:>10.2f} {:>9.2f} {:>10.2f} {:>10.2f} {:>12.2f} {:>10.2f}  {:<28} {:<34} {}", d.device,
                        inMiB(d.peakBytes), inMiB(d.weightsBytes()), inMiB(d.gradientsBytes()), inMiB(d.optimizerBytes()),
                        inMiB(d.activationsBytes()), inMiB(d.workspaceBytes()), moment, largest, line);
  }
  return text;
}

nlohmann::ordered_json planJson(const passes::PlanReport &plan) {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  for (const passes::DevicePlan &d : plan.devices) {
    nlohmann::ordered_json largest = nlohmann::ordered_json::array();
    for (const passes::PlannedTensor &t : d.largest)
      largest.push_back({{"name", t.name}, {"dtype", dtypeName(t.dtype)}, {"shape", t.shape}, {"bytes", t.bytes},
                         {"file", t.location.file}, {"line", t.location.line}, {"column", t.location.column}});
    devices.push_back({{"device", d.device},
                       {"capacity_bytes", nullptr},
                       {"peak_bytes", d.peakBytes},
                       {"weights_bytes", d.weightsBytes()},
                       {"gradients_bytes", d.gradientsBytes()},
                       {"optimizer_bytes", d.optimizerBytes()},
                       {"activations_bytes", d.activationsBytes()},
                       {"communication_bytes", 0},
                       {"workspace_bytes", d.workspaceBytes()},
                       {"peak_at", {{"phase", d.peak.entry}, {"op", d.peak.location.name}, {"kernel", d.peak.kernel}, {"launch", d.peak.launch}}},
                       {"largest", largest}});
  }
  return {{"schema", "lstmc.plan/1"}, {"fits", true}, {"devices", devices}};
}

} // namespace lstmc::cli

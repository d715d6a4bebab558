#include "frontend/cli/PlanText.h"

#include <algorithm>
#include <set>

#include <fmt/ranges.h>

#include "executor/base/Escape.h"
#include "executor/package/MessageMemory.h"
#include "executor/package/Plan.h"
#include "frontend/cli/Emulated.h"
#include "frontend/driver/RankDevices.h"
#include "viz/Cost.h"

namespace lstmc::cli {

static std::string nameOf(passes::KvStore store) {
  return store == passes::KvStore::Local ? "local" : "device";
}

static double inMiB(uint64_t bytes) { return double(bytes) / (1 << 20); }

/// Whether GPUs of several processes would exchange values without their hosts.
static bool haveChannels(const package::PackageData &data) {
  std::vector<std::string> devices;
  for (const package::Device &device : data.devices)
    devices.push_back(device.name);
  const Result<std::string> nccl = ncclOf(devices);
  return nccl.ok() && !nccl->empty();
}

std::string planLine(const package::PackageData &data, uint64_t mayUse, int64_t ranks) {
  std::string text;
  const std::vector<int> processes = package::processesOf(data.devices.size(), ranks);
  const bool channels = ranks > 1 && haveChannels(data);
  const std::vector<package::DevicePlan> plans = package::planOf(data);
  for (const package::DevicePlan &d : plans) {
    const auto device = uint32_t(&d - plans.data());
    const uint64_t messages = package::messageBytes(data, device, {processes, channels});
    text += fmt::format(
        "{}plan      {} {} of {}: weights {:.1f}, gradients {:.1f}, optimizer {:.1f}, "
        "activations {:.1f}, workspace {:.1f}{} · fits",
        text.empty() ? "" : "\n", d.device,
        bytesText(d.arenaBytes + (package::hostSees(data.devices[device]) ? messages : 0)),
        bytesText(mayUse), inMiB(d.weightBytes()), inMiB(d.gradientBytes()),
        inMiB(d.optimizerBytes()), inMiB(d.activationBytes()), inMiB(d.workspaceBytes()),
        messages ? fmt::format(", messages {:.1f}{}", inMiB(messages),
                               package::hostSees(data.devices[device]) ? "" : " of the host")
                 : "");
  }
  return text;
}

std::string messagesLine(const package::PackageData &data, const std::vector<int> &processes) {
  std::string text;
  for (uint32_t device = 0; device < data.devices.size(); ++device)
    if (const uint64_t bytes = package::messageBytes(data, device, {.processes = processes}))
      text += fmt::format("{} {} {}", text.empty() ? "messages " : ",", data.devices[device].name,
                          bytesText(bytes));
  return text;
}

std::string sharesLine(const std::vector<passes::BatchShare> &shares,
                       const std::vector<int64_t> &asked) {
  std::string text;
  for (const passes::BatchShare &share : shares)
    text += text.empty() ? fmt::format("rows      {} {} of {} ({} of {} shards)", share.device,
                                       share.rows, share.batch, share.count, share.shards)
                         : fmt::format(", {} {} ({})", share.device, share.rows, share.count);
  return text + (text.empty() || asked.empty()
                     ? ""
                     : fmt::format(" · asked for {}", fmt::join(asked, ",")));
}

/// "2 replicas of 2 stages, 8 chunks on cpu:1,cpu:0; loads 3,1; kv-store device, update everywhere"
static std::string layoutText(const passes::Layout &layout) {
  std::string text =
      layout.devices == 1 ? "1 device"
      : layout.stages == 1
          ? fmt::format("{} replicas", layout.devices)
          : fmt::format("{}{} stages, {}",
                        layout.replicas() == 1 ? ""
                                               : fmt::format("{} replicas of ", layout.replicas()),
                        layout.stages,
                        layout.chunks == 1 ? "uncut" : fmt::format("{} chunks", layout.chunks));
  text += fmt::format(" on {}", fmt::join(layout.names, ","));
  if (!layout.workLoads.empty())
    text += fmt::format(", loads {}", fmt::join(layout.workLoads, ","));
  if (layout.replicas() > 1)
    text += fmt::format(", kv-store {}, update-on-kvstore {}", nameOf(layout.kvStore),
                        int(layout.updateOnStore));
  return text;
}

std::string layoutsText(const std::vector<passes::Layout> &layouts, size_t most) {
  most = std::min(most, layouts.size());
  size_t widest = 0;
  for (size_t i = 0; i < most; ++i)
    widest = std::max(widest, layoutText(layouts[i]).size());
  std::string text;
  for (size_t i = 0; i < most; ++i)
    text += fmt::format("{}{:<{}} {:>9}  {:>9}{}", i == 0 ? "taken     " : "\n          ",
                        layoutText(layouts[i]), widest,
                        std::ranges::any_of(layouts[i].names, isEmulated)
                            ? "-"
                            : viz::durationText(layouts[i].seconds),
                        bytesText(layouts[i].peakBytes), layouts[i].fits ? "" : "  does not fit");
  if (layouts.size() > most)
    text += fmt::format("\n          and {} more weighed", layouts.size() - most);
  if (!layouts.empty() && !layouts.front().ratesGiven)
    text += "\n          weighed by built-in rates, so that packages are equal on all machines";
  return text;
}

nlohmann::ordered_json layoutsJson(const std::vector<passes::Layout> &layouts) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const passes::Layout &layout : layouts)
    list.push_back({{"devices", layout.devices},
                    {"stages", layout.stages},
                    {"chunks", layout.chunks},
                    {"names", layout.names},
                    {"work_loads", layout.workLoads},
                    {"kv_store", nameOf(layout.kvStore)},
                    {"update_on_kvstore", int(layout.updateOnStore)},
                    {"time_s", layout.seconds},
                    {"peak_bytes", layout.peakBytes},
                    {"fits", layout.fits}});
  return list;
}

std::string besideMeasured(std::string_view what, double forecast, double measured) {
  return fmt::format("forecast  {} {}, measured {} ({:+.0f} %)", what, viz::durationText(forecast),
                     viz::durationText(measured), 100 * (forecast / measured - 1));
}

/// What is known without a time.
static std::string emulatedForecast(const package::PackageData &data,
                                    const planning::PackageForecast &forecast) {
  std::string text = "forecast  - of an emulated GPU";
  if (forecast.realSteps < 1)
    text += fmt::format("; of the steps of the data {:.0f} % are real", 100 * forecast.realSteps);
  if (data.devices.size() > 1)
    text += fmt::format("; sends {}", bytesText(uint64_t(forecast.sentBytes)));
  return text;
}

std::string forecastLine(const package::PackageData &data,
                         const planning::PackageForecast &forecast) {
  if (onEmulated(data))
    return emulatedForecast(data, forecast);
  std::string text = "forecast ";
  if (forecast.updateSeconds)
    text += " update " + viz::durationText(*forecast.updateSeconds);
  if (forecast.forwardSeconds)
    text += fmt::format("{} forward {}", forecast.updateSeconds ? "," : "",
                        viz::durationText(*forecast.forwardSeconds));
  if (forecast.realSteps < 1)
    text += fmt::format("; of the steps of the data {:.0f} % are real", 100 * forecast.realSteps);
  if (forecast.speedup)
    text += fmt::format("; {:.2f} times as fast as one device", *forecast.speedup);
  if (data.devices.size() > 1)
    text += fmt::format("; sends {}", bytesText(uint64_t(forecast.sentBytes)));
  if (forecast.replicas) {
    text += fmt::format("; the devices above are those of a few of {} replicas, the last like all "
                        "others",
                        forecast.replicas);
  } else if (data.devices.size() > 1) {
    text += "; idle";
    for (size_t i = 0; i < data.devices.size(); ++i)
      text +=
          fmt::format("{} {} {:.0f} %", i ? "," : "", data.devices[i].name, 100 * forecast.idle[i]);
  }
  return text +
         (forecast.rates == "built-in"
              ? std::string(" · by built-in rates; bench --calibrate measures this machine's")
              : " · by the rates of " + forecast.rates);
}

/// "on chip, 16 clusters of 8 blocks, 4 sequences each"; "tensor cores, .."
static std::string wayText(const target::Way &way) {
  if (way.name == "step-by-step")
    return "step by step, a product and the cells";
  if (way.name == "library")
    return "cuDNN, taken to be as fast as our own kernels";
  std::string text = way.blocks > 1
                         ? fmt::format("{} clusters of {} blocks", way.clusters, way.blocks)
                         : fmt::format("{} blocks", way.clusters);
  if (way.rows > 1)
    text += fmt::format(", {} sequences each", way.rows);
  return fmt::format("{}, {}",
                     way.name == "tensor-cores"    ? "tensor cores"
                     : way.name == "through-cache" ? "through the cache"
                                                   : "on chip",
                     text);
}

std::string waysText(const package::PackageData &data,
                     const std::vector<planning::LayerWay> &ways) {
  std::string text;
  for (const planning::LayerWay &layer : ways)
    text += fmt::format("{}{} {} {}: {}, {} a step", text.empty() ? "recurrence " : "\n           ",
                        data.devices[layer.device].name, escaped(layer.layer),
                        layer.backward ? "backward" : "forward", wayText(layer.way),
                        isEmulated(data.devices[layer.device].name)
                            ? "-"
                            : viz::durationText(layer.way.stepSeconds));
  return text;
}

std::string driverText(const package::PackageData &data,
                       const std::vector<target::DriverBytes> &driver) {
  std::string text;
  for (size_t i = 0; i < driver.size(); ++i)
    if (driver[i].compiled > 0) {
      text += fmt::format("{}{} up to {} beside the plan, for the driver's local memory of kernels",
                          text.empty() ? "driver    " : "\n          ", data.devices[i].name,
                          bytesText(driver[i].compiled));
      if (driver[i].interpreted > driver[i].compiled)
        text += fmt::format("; {} where NVRTC is missing", bytesText(driver[i].interpreted));
    }
  return text;
}

static nlohmann::ordered_json waysJson(const package::PackageData &data,
                                       const std::vector<planning::LayerWay> &ways) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const planning::LayerWay &layer : ways)
    list.push_back({{"device", data.devices[layer.device].name},
                    {"layer", layer.layer},
                    {"direction", layer.backward ? "backward" : "forward"},
                    {"way", layer.way.name},
                    {"blocks", layer.way.blocks},
                    {"sequences", layer.way.rows},
                    {"clusters", layer.way.clusters},
                    {"keeps_input_weights", layer.way.keepsInputs},
                    {"launches", layer.launches},
                    {"steps", layer.steps},
                    {"step_s", layer.way.stepSeconds},
                    {"time_s", layer.seconds}});
  return list;
}

/// Of the buffers that live at the peak, those that hold what another device sent; what is kept is
/// no message.
static uint64_t communicationBytes(const package::PackageData &data,
                                   const package::DevicePlan &plan) {
  std::set<uint32_t> received;
  for (const package::Entry &entry : data.entries)
    for (const package::DeviceProgram &program : entry.programs)
      for (const package::Launch &launch : program.launches)
        if (launch.kernel == KernelId::Receive)
          received.insert(launch.operands[0].buffer);
  uint64_t bytes = 0;
  for (uint32_t index : plan.largest)
    if (const package::Buffer &buffer = data.buffers[index];
        received.contains(index) &&
        (buffer.kind == package::Kind::Activation || buffer.kind == package::Kind::Workspace))
      bytes += buffer.bytes;
  return bytes;
}

namespace {

/// A device's plan, and what the table and the document say of it alike. Parts add up to the peak.
struct Row {
  package::DevicePlan plan; ///< with all buffers that live at the peak
  uint64_t communication, activations, workspace;
  package::PeakLaunch at;
};

} // namespace

static std::vector<Row> rowsOf(const package::PackageData &data) {
  std::vector<Row> rows;
  for (const package::DevicePlan &plan : package::planOf(data, data.buffers.size())) {
    uint64_t messages = communicationBytes(data, plan),
             fromActivations = std::min(messages, plan.activationBytes());
    rows.push_back(
        {plan, messages, plan.activationBytes() - fromActivations,
         plan.workspaceBytes() - std::min(plan.workspaceBytes(), messages - fromActivations),
         package::launchAtPeak(data, plan).value_or(package::PeakLaunch())});
  }
  return rows;
}

/// "step lstm1 rnn_backward t=63..32 chunk 1"
static std::string momentText(const package::PeakLaunch &at) {
  std::string text =
      at.entry + (at.op.empty() ? "" : " " + at.op) + (at.kernel.empty() ? "" : " " + at.kernel);
  if (at.steps)
    text += fmt::format(" t={}..{}", at.steps->first, at.steps->last);
  return text + (at.chunk ? fmt::format(" chunk {}", *at.chunk) : "");
}

static std::vector<std::string> planColumns(std::string_view unit) {
  return {"device",      "may use",   fmt::format("peak {}", unit),
          "weights",     "gradients", "optimizer",
          "activations", "comm",      "workspace",
          "peak at",     "largest",   "line"};
}

std::vector<std::vector<std::string>> planRows(const package::PackageData &data,
                                               const planning::Capacities &capacities) {
  std::vector<Row> rows = rowsOf(data);
  uint64_t most = 0;
  for (const Row &row : rows)
    most = std::max(most, row.plan.arenaBytes);
  bool large = most >= uint64_t(1) << 30;
  auto amount = [&](uint64_t bytes) {
    return fmt::format("{:.2f}", inMiB(bytes) / (large ? 1024 : 1));
  };
  std::vector<std::vector<std::string>> table = {planColumns(large ? "GiB" : "MiB")};
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row &row = rows[i];
    std::string largest, line;
    if (!row.plan.largest.empty()) {
      const package::Buffer &buffer = data.buffers[row.plan.largest[0]];
      const package::Location &location = data.locations[buffer.location];
      largest = buffer.name + " " + package::typeText(buffer.dtype, buffer.shape);
      line = location.line ? fmt::format("{}:{}", location.file, location.line) : "-";
    }
    table.push_back({row.plan.device, i < capacities.size() ? bytesText(capacities[i]) : "-",
                     amount(row.plan.arenaBytes), amount(row.plan.weightBytes()),
                     amount(row.plan.gradientBytes()), amount(row.plan.optimizerBytes()),
                     amount(row.activations), amount(row.communication), amount(row.workspace),
                     momentText(row.at), largest, line});
    for (std::string &cell : table.back()) // names are a file's
      cell = escaped(cell);
  }
  return table;
}

std::string planTable(const package::PackageData &data, const planning::Capacities &capacities) {
  std::vector<std::vector<std::string>> rows = planRows(data, capacities);
  std::vector<size_t> widths(rows[0].size());
  for (const std::vector<std::string> &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  constexpr size_t kFirstNumber = 1, kLastNumber = 8; // to the right
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < rows[r].size(); ++i)
      line += (i ? "  " : "") + (i >= kFirstNumber && i <= kLastNumber
                                     ? fmt::format("{:>{}}", rows[r][i], widths[i])
                                     : fmt::format("{:<{}}", rows[r][i], widths[i]));
    text += (r ? "\n" : "") + line.substr(0, line.find_last_not_of(' ') + 1);
    if (r > 0 && r <= capacities.size() && data.devices[r - 1].arenaBytes > capacities[r - 1])
      text += fmt::format("\n{:<{}}  does not fit: {} over", "", widths[0],
                          bytesText(data.devices[r - 1].arenaBytes - capacities[r - 1]));
  }
  return text;
}

using Json = nlohmann::ordered_json;

static Json deviceJson(const package::PackageData &data, const Row &row) {
  constexpr size_t kLargest = 8;
  Json largest = Json::array();
  for (size_t i = 0; i < std::min(kLargest, row.plan.largest.size()); ++i) {
    const package::Buffer &buffer = data.buffers[row.plan.largest[i]];
    const package::Location &location = data.locations[buffer.location];
    largest.push_back({{"name", buffer.name},
                       {"dtype", dtypeName(buffer.dtype)},
                       {"shape", buffer.shape},
                       {"bytes", buffer.bytes},
                       {"file", location.file},
                       {"line", location.line},
                       {"column", location.column}});
  }
  return {{"device", row.plan.device},
          {"capacity_bytes", nullptr},
          {"peak_bytes", row.plan.arenaBytes},
          {"weights_bytes", row.plan.weightBytes()},
          {"gradients_bytes", row.plan.gradientBytes()},
          {"optimizer_bytes", row.plan.optimizerBytes()},
          {"activations_bytes", row.activations},
          {"communication_bytes", row.communication},
          {"workspace_bytes", row.workspace},
          {"peak_at",
           {{"phase", row.at.entry},
            {"op", row.at.op},
            {"kernel", row.at.kernel},
            {"launch", row.plan.peakLaunch},
            {"t", row.at.steps ? Json(row.at.steps->first) : Json()},
            {"chunk", row.at.chunk ? Json(*row.at.chunk) : Json()}}},
          {"largest", largest}};
}

Json planJson(const package::PackageData &data, const planning::PackageForecast *forecast,
              const planning::Capacities &capacities) {
  Json devices = Json::array();
  const bool emulated = onEmulated(data);
  std::vector<Row> rows = rowsOf(data);
  for (size_t i = 0; i < rows.size(); ++i) {
    Json &device = devices.emplace_back(deviceJson(data, rows[i]));
    if (i < capacities.size())
      device["capacity_bytes"] = capacities[i];
    if (forecast && !emulated)
      device["idle_fraction"] = forecast->idle[i];
    // A forecast of many hosts knows no drivers.
    if (forecast && i < forecast->driver.size() && forecast->driver[i].compiled > 0)
      device["driver_bytes"] = {{"compiled", forecast->driver[i].compiled},
                                {"interpreted", forecast->driver[i].interpreted}};
  }
  Json plan = {
      {"schema", "lstmc.plan/1"}, {"fits", planning::fits(data, capacities)}, {"devices", devices}};
  if (emulated)
    plan["emulated"] = true;
  auto orNull = [&](const std::optional<double> &value) {
    return value && !emulated ? Json(*value) : Json();
  };
  if (forecast)
    plan["forecast"] = {{"update_s", orNull(forecast->updateSeconds)},
                        {"forward_s", orNull(forecast->forwardSeconds)},
                        {"speedup", orNull(forecast->speedup)},
                        {"sent_bytes", forecast->sentBytes},
                        {"rates", forecast->rates}};
  if (forecast && !forecast->ways.empty())
    plan["recurrences"] = waysJson(data, forecast->ways);
  if (forecast && forecast->replicas)
    plan["forecast"]["replicas"] = forecast->replicas;
  return plan;
}

} // namespace lstmc::cli

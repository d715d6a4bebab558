#include "frontend/driver/MemoryFit.h"

#include <algorithm>
#include <set>

#include <fmt/ranges.h>

#include "executor/base/NumberText.h"
#include "frontend/driver/Recompute.h"
#include "passes/planning/PackageForecast.h"
#include "passes/planning/Recompute.h"

namespace lstmc::driver {

namespace {

constexpr int64_t kMostParts = 8;

uint64_t mostBytes(const package::PackageData &data) {
  uint64_t bytes = 0;
  for (const package::Device &device : data.devices)
    bytes = std::max(bytes, device.arenaBytes);
  return bytes;
}

class Search {
public:
  Search(const CompileRequest &options, const ModelRequest &request, const CompileWith &compile)
      : options_(options), request_(request), compile_(compile) {}

  /// `ops`: those of the net, by name.
  std::optional<Model> run(const std::set<std::string> &ops) {
    Checked<Model> asked = compile_(unlimited(1));
    if (!asked.ok())
      return std::nullopt;
    asked_ = asked->package;
    if (!asked_->findEntry("step"))
      return std::nullopt; // nothing is kept for backward
    computeAgain(1, asked_->data(), ops);
    if (best_ || options_.accumulate.given())
      return std::move(best_);
    for (int64_t parts = 2; parts <= kMostParts && !fitsWith(parts, ""); parts *= 2)
      if (Checked<Model> divided = compile_(unlimited(parts)); divided.ok())
        computeAgain(parts, divided->package->data(), ops);
    return std::move(best_);
  }

private:
  /// With the least memory that the rest of the flags leave.
  CompileRequest unlimited(int64_t parts) const {
    CompileRequest changed = options_;
    changed.mem.reset();
    if (!changed.streams.given())
      changed.streams = 1;
    if (parts > 1)
      changed.accumulate = parts;
    return changed;
  }

  /// Of an update, by forecast.
  double secondsOf(const package::PackageData &data) const {
    const bool known = request_.machines.size() == data.devices.size();
    return *planning::forecastSeconds(data, "step",
                                      known ? request_.machines : target::Machines(1));
  }

  /// Tries layers and steps; `data` is the plan without them.
  void computeAgain(int64_t parts, const package::PackageData &data,
                    const std::set<std::string> &ops) {
    const bool known = request_.machines.size() == data.devices.size();
    planning::Capacities capacities(data.devices.size(), uint64_t(*options_.mem));
    std::vector<std::string> layers;
    for (const std::vector<std::string> &names : planning::layersToRecompute(
             data, ops, known ? request_.machines : target::Machines(1), capacities))
      layers.push_back(fmt::format("{}", fmt::join(names, ",")));
    for (const std::vector<std::string> &attempts : {layers, planning::stepsToRecompute(data)})
      for (const std::string &list : attempts)
        if (fitsWith(parts, list))
          break;
  }

  /// Whether a plan fits with so many parts and that --recompute; the fastest is kept.
  bool fitsWith(int64_t parts, const std::string &list) {
    CompileRequest changed = unlimited(parts);
    changed.mem = options_.mem;
    if (!list.empty())
      changed.recompute = list;
    Checked<Model> model = compile_(changed);
    if (!model.ok())
      return false;
    if (!best_ || secondsOf(model->package->data()) < secondsOf(best_->package->data())) {
      best_ = std::move(*model);
      best_->recomputed = costOf(parts, list, best_->package->data());
    }
    return true;
  }

  /// "recompute lstm0,lstm1: 1.20 GiB instead of 2.01 GiB, update +12 %"
  std::string costOf(int64_t parts, const std::string &list,
                     const package::PackageData &data) const {
    const package::PackageData &before = asked_->data();
    const double more = secondsOf(data) / std::max(secondsOf(before), 1e-12) - 1;
    return fmt::format("{}{}{}{}: {} instead of {}, update {:+.0f} % by forecast · "
                       "--recompute none does without",
                       parts > 1 ? fmt::format("accumulate {}", parts) : "",
                       parts > 1 && !list.empty() ? ", " : "", list.empty() ? "" : "recompute ",
                       list, bytesText(mostBytes(data)), bytesText(mostBytes(before)), 100 * more);
  }

  const CompileRequest &options_;
  const ModelRequest &request_;
  const CompileWith &compile_;
  package::Package::Pointer asked_; ///< the plan that does not fit
  std::optional<Model> best_;
};

} // namespace

std::optional<Model> withLessMemory(const std::string &path, const CompileRequest &options,
                                    const ModelRequest &request, const CompileWith &compile) {
  if (!options.mem || options.recompute.given())
    return std::nullopt;
  Checked<symbol::Network> net = loadSource(path, options, request);
  if (!net.ok())
    return std::nullopt;
  return Search(options, request, compile).run(opsOf(*net->graph));
}

} // namespace lstmc::driver

// Packages, plans and pictures of a network.
#include <cmath>

#include "backends/registry/HostFacts.h"
#include "frontend/cli/PlanText.h"
#include "frontend/library/Network.h"
#include "frontend/symbol/Module.h"
#include "passes/planning/rates/MachineRates.h"
#include "viz/Dot.h"
#include "viz/MemoryChart.h"
#include "viz/Network.h"
#include "viz/Page.h"

struct lstmc_bytes {
  std::string data;
};

struct lstmc_plan {
  uint64_t peak = 0;
  double seconds = 0;
  std::string table, json;
};

namespace lstmc::library {

namespace {

/// What a function of the interface was asked for.
struct Asked {
  const lstmc_network *network;
  const lstmc_option *options;
  size_t count;
  const lstmc_place *place;

  Checked<Options> read() const {
    if (!network || (!options && count > 0))
      return failureOf(Status(fail(ErrorCode::E0001, "found a null pointer, want an argument")));
    LSTMC_CHECKED_ASSIGN(Options read, optionsOf(options, count, network->kind(), place));
    const driver::CompileRequest &given = network->given.request; // what it was opened with
    read.request.shape.insert(read.request.shape.begin(), given.shape.begin(), given.shape.end());
    read.request.set.insert(read.request.set.begin(), given.set.begin(), given.set.end());
    return read;
  }
};

/// The package may run anywhere, so that no choice depends on this machine.
driver::ModelRequest forAnyMachine() {
  driver::ModelRequest request;
  request.forAnyMachine = true;
  return request;
}

Checked<std::string> packageOf(const Asked &asked) {
  LSTMC_CHECKED_ASSIGN(Options options, asked.read());
  std::lock_guard lock(compilerLock());
  Checked<driver::Model> model = compiled(*asked.network, options, forAnyMachine());
  if (!model.ok())
    return model.diagnostics();
  const package::Bytes bytes = package::serialize(model->package->data());
  return {std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size()), model->warnings};
}

Checked<lstmc_plan> planOf(const Asked &asked) {
  LSTMC_CHECKED_ASSIGN(Options options, asked.read());
  std::lock_guard lock(compilerLock());
  Checked<driver::Model> model = compiled(*asked.network, options, {});
  if (!model.ok())
    return model.diagnostics();
  const package::PackageData &data = model->package->data();
  const planning::PackageForecast forecast =
      planning::forecastPackage(data, planning::machinesOf(data, 0));
  lstmc_plan plan;
  for (const package::Device &device : data.devices)
    plan.peak = std::max(plan.peak, device.arenaBytes);
  plan.seconds = forecast.seconds();
  plan.table = cli::planTable(data) + "\n" + cli::forecastLine(data, forecast) + "\n";
  plan.json = cli::planJson(data, &forecast).dump();
  return {std::move(plan), model->warnings};
}

//===---- pictures ----------------------------------------------------------------------------===//

Checked<viz::Diagram> diagramOf(const lstmc_network &network, const Options &options) {
  Checked<symbol::Network> net = drawn(network, options);
  if (!net.ok())
    return net.diagnostics();
  return viz::networkDiagram(*symbol::takeModule(*net->graph), viz::NetworkOptions{});
}

/// A compiled network with what its charts show.
struct Charted {
  driver::Model model;
  target::Machines machines;
  const package::Entry *entry; ///< that the schedule is of, or null
  std::vector<viz::Timeline> timelines;

  const package::PackageData &data() const { return model.package->data(); }
};

Checked<Charted> chartedOf(const lstmc_network &network, const Options &options) {
  LSTMC_CHECKED_ASSIGN(driver::Model model, compiled(network, options, {}));
  Charted charted{std::move(model), {}, nullptr, {}};
  charted.machines = planning::machinesOf(charted.data(), 0);
  charted.entry = viz::scheduledEntry(charted.data());
  if (charted.entry)
    charted.timelines = {{"planned; " + viz::ratesText(charted.machines.front()),
                          planning::forecast(charted.data(), *charted.entry, charted.machines)}};
  return charted;
}

Checked<std::string> pictureOf(const lstmc_network &network, const Options &options,
                               std::string_view view, std::string_view format) {
  const bool graphviz = format == "svg" || format == "png" || format == "pdf";
  if (!graphviz && format != "dot" && format != "html")
    return failureOf(Status(
        fail(ErrorCode::E0001, "a picture is dot, svg, png, pdf or html, got \"{}\"", format)));
  if (view != "layers" && view != "program" && view != "memory")
    return failureOf(
        Status(fail(ErrorCode::E0001, "a view is layers, program or memory, got \"{}\"", view)));
  if ((view != "layers" && format == "dot") ||
      (view == "memory" && format != "svg" && format != "html"))
    return failureOf(
        Status(fail(ErrorCode::E0001, "the view {} is not drawn as {}: svg is", view, format)));
  if (format == "html") { // has all views
    LSTMC_CHECKED_ASSIGN(const viz::Diagram diagram, diagramOf(network, options));
    LSTMC_CHECKED_ASSIGN(const Charted charted, chartedOf(network, options));
    LSTMC_CHECKED_ASSIGN(std::string page, viz::page(diagram, charted.data(), charted.machines,
                                                     charted.timelines, {}));
    return page;
  }
  if (view == "layers") {
    LSTMC_CHECKED_ASSIGN(const viz::Diagram diagram, diagramOf(network, options));
    const std::string dot = viz::diagramDot(diagram);
    if (format == "dot")
      return dot;
    LSTMC_CHECKED_ASSIGN(std::string picture, viz::render(dot, format));
    return picture;
  }
  LSTMC_CHECKED_ASSIGN(const Charted charted, chartedOf(network, options));
  if (view == "memory")
    return viz::memoryChart(charted.data(), charted.machines);
  if (!charted.entry)
    return failureOf(Status(fail(ErrorCode::E0001, "there is neither step nor forward to draw")));
  LSTMC_CHECKED_ASSIGN(std::string picture,
                       viz::scheduleChart(charted.data(), *charted.entry, charted.timelines)
                           .as(std::string(format)));
  return picture;
}

/// Gives what was made to the caller, and its warnings to the thread.
template <typename Value, typename Handle> Diagnostics give(Checked<Value> made, Handle **handle) {
  if (made.ok())
    *handle = new Handle{std::move(*made)};
  return std::move(made.diagnostics());
}

Diagnostics noResult() {
  return failureOf(Status(fail(ErrorCode::E0001, "found a null pointer, want an argument")));
}

} // namespace

} // namespace lstmc::library

using namespace lstmc;
using namespace lstmc::library;

extern "C" {

const void *lstmc_bytes_data(const lstmc_bytes *bytes) {
  return bytes ? bytes->data.data() : nullptr;
}
size_t lstmc_bytes_size(const lstmc_bytes *bytes) { return bytes ? bytes->data.size() : 0; }
void lstmc_bytes_free(lstmc_bytes *bytes) { delete bytes; }

lstmc_status lstmc_network_compile(const lstmc_network *network, const lstmc_option *options,
                                   size_t count, const lstmc_place *place, lstmc_bytes **package) {
  return guarded(place, [&] {
    return package ? give(packageOf({network, options, count, place}), package) : noResult();
  });
}

lstmc_status lstmc_network_plan(const lstmc_network *network, const lstmc_option *options,
                                size_t count, const lstmc_place *place, lstmc_plan **plan) {
  return guarded(place, [&] {
    return plan ? give(planOf({network, options, count, place}), plan) : noResult();
  });
}
void lstmc_plan_close(lstmc_plan *plan) { delete plan; }
uint64_t lstmc_plan_peak(const lstmc_plan *plan) { return plan ? plan->peak : 0; }
double lstmc_plan_seconds(const lstmc_plan *plan) { return plan ? plan->seconds : 0; }
const char *lstmc_plan_table(const lstmc_plan *plan) { return plan ? plan->table.c_str() : ""; }
const char *lstmc_plan_json(const lstmc_plan *plan) { return plan ? plan->json.c_str() : ""; }

lstmc_status lstmc_network_plot(const lstmc_network *network, const char *view, const char *format,
                                const lstmc_option *options, size_t count, const lstmc_place *place,
                                lstmc_bytes **picture) {
  return guarded(place, [&]() -> Diagnostics {
    if (!view || !format || !picture)
      return noResult();
    LSTMC_CHECKED_ASSIGN(const Options read, (Asked{network, options, count, place}.read()));
    std::lock_guard lock(compilerLock());
    return give(pictureOf(*network, read, view, format), picture);
  });
}
}

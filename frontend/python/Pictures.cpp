#include "frontend/python/Pictures.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "frontend/python/Drawing.h"
#include "frontend/python/Models.h"
#include "frontend/symbol/Module.h"
#include "passes/planning/rates/MachineRates.h"
#include "viz/Dot.h"
#include "viz/MemoryChart.h"
#include "viz/Network.h"
#include "viz/Schedule.h"

namespace nb = nanobind;

namespace lstmc::python {

static viz::NetworkOptions optionsOf(bool shapes, bool memory, bool layer, bool time) {
  viz::NetworkOptions options;
  options.shapes = shapes;
  options.memory = memory;
  options.allOps = layer;
  options.allSteps = time;
  return options;
}

static std::string pictureOf(symbol::Graph &graph, const viz::NetworkOptions &options,
                             const std::string &format) {
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(graph);
  std::string dot = viz::networkDot(*module, options);
  return format == "dot" ? dot : valueOf(viz::render(dot, format));
}

static nb::bytes plotFile(const std::string &path, const GivenFields &given,
                          const std::string &format, bool shapes, bool memory, bool layer,
                          bool time) {
  cli::Options options = valueOf(lstmc::python::optionsOf("plot", given));
  Checked<symbol::Network> read = withCompiler([&] { return cli::loadSource(path, options); });
  symbol::Network net = valueOf(std::move(read));
  std::string picture = pictureOf(*net.graph, optionsOf(shapes, memory, layer, time), format);
  return nb::bytes(picture.data(), picture.size());
}

static nb::bytes plotDrawing(Drawing &drawing, const std::string &format, bool shapes, bool memory,
                             bool layer, bool time) {
  std::unique_ptr<symbol::Graph> graph = drawing.take();
  std::string picture = pictureOf(*graph, optionsOf(shapes, memory, layer, time), format);
  return nb::bytes(picture.data(), picture.size());
}

static std::string plotMemory(const Compiled &compiled) {
  const package::PackageData &data = compiled.model.package->data();
  return viz::memoryChart(data, planning::machinesOf(data, 0));
}

static std::string plotSchedule(const Compiled &compiled) {
  const package::PackageData &data = compiled.model.package->data();
  const package::Entry *entry = viz::scheduledEntry(data);
  if (!entry)
    throw Failure(fail(ErrorCode::E0001, "{} has neither step nor forward, and so no schedule",
                       compiled.model.path));
  target::Machines machines = planning::machinesOf(data, 0);
  std::vector<viz::Timeline> lines = {
      {"planned; " + viz::ratesText(machines.front()), planning::forecast(data, *entry, machines)}};
  return viz::scheduleChart(data, *entry, lines).svg();
}

void addPictures(nb::module_ &module) {
  module.def("plot_file", &plotFile);
  module.def("plot_drawing", &plotDrawing);
  module.def("plot_memory", &plotMemory);
  module.def("plot_schedule", &plotSchedule);
}

} // namespace lstmc::python

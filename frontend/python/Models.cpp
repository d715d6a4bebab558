#include "frontend/python/Models.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "executor/base/OutputFile.h"
#include "executor/package/Plan.h"
#include "frontend/cli/PlanText.h"
#include "frontend/driver/SettingText.h"
#include "frontend/importers/Importer.h"
#include "frontend/python/Data.h"
#include "frontend/python/Drawing.h"
#include "frontend/python/Values.h"

namespace nb = nanobind;

namespace lstmc::python {

cli::ModelRequest requestOf(const std::string &command) {
  cli::ModelRequest request;
  request.forAnyMachine = command == "compile";
  request.norms = command == "train" ? cli::GradientNorms::Deep : cli::GradientNorms::None;
  return request;
}

/// The model, its warnings shown unless --quiet.
static cli::Model shown(Checked<cli::Model> model, const cli::Options &options) {
  if (model.ok() && options.quiet) {
    model.diagnostics().clear();
    model->warnings.clear();
  }
  cli::Model made = valueOf(std::move(model));
  warn(made.warnings);
  return made;
}

static Compiled compileFile(const std::string &path, const std::string &command,
                            const GivenFields &given, const std::vector<std::string> &entries,
                            std::optional<int64_t> vocabulary, std::optional<int64_t> bucket) {
  Compiled made;
  made.options = valueOf(optionsOf(command, given));
  made.options.operands = {path};
  made.request = requestOf(command);
  made.request.entries = entries;
  made.request.offeredVocab = vocabulary;
  made.request.bucket = bucket;
  Checked<cli::Model> model =
      withCompiler([&] { return cli::loadModel(made.options, made.request); });
  made.model = shown(std::move(model), made.options);
  for (const symbol::UnknownInitialiser &each : std::exchange(made.model.unknownInitialisers, {}))
    made.unknown.emplace_back(each.parameter, each.text);
  return made;
}

/// The fit(..) of a net that was drawn: its initialiser. All other keys are fields.
static std::vector<symbol::Setting> fitOf(nb::handle initialiser) {
  if (initialiser.is_none())
    return {};
  symbol::Setting setting;
  setting.key = "initializer";
  setting.initialiser = initialiserOf(initialiser);
  setting.value = setting.initialiser->name;
  return {setting};
}

static Compiled compileDrawing(Drawing &drawing, const std::string &command,
                               const GivenFields &given, const std::vector<std::string> &entries,
                               nb::handle initialiser) {
  Compiled made;
  made.options = valueOf(optionsOf(command, given));
  made.request = requestOf(command);
  made.request.entries = entries;
  symbol::Network net;
  net.fit = fitOf(initialiser);
  net.graph = drawing.take();
  net.graph->setFit(net.fit);
  net.net = net.graph->name();
  net.nets = {net.net};
  made.options.operands = {net.net};
  Checked<cli::Model> model =
      withCompiler([&] { return cli::compileNet(std::move(net), "", made.options, made.request); });
  made.model = shown(std::move(model), made.options);
  made.model.path = made.options.operands[0];
  return made;
}

/// What a source says of itself before it is compiled: its nets, and the keys of data(..).
static nb::tuple readSource(const std::string &path, const std::string &command,
                            const GivenFields &given) {
  cli::Options options = valueOf(optionsOf(command, given));
  Checked<symbol::Network> read = withCompiler([&] { return cli::loadSource(path, options); });
  symbol::Network net = valueOf(std::move(read));
  std::vector<std::pair<std::string, std::string>> data;
  for (const package::Setting &setting : cli::settingTexts(net.data))
    data.emplace_back(setting.name, setting.value);
  return nb::make_tuple(net.net, net.nets, data, net.graph->listArguments(),
                        net.graph->listOutputs());
}

//===---- what a package says -----------------------------------------------------------------===//

static nb::tuple bindingOf(const package::PackageData &data, const package::Binding &binding) {
  const package::Buffer &buffer = data.buffers[binding.buffer];
  return nb::make_tuple(binding.name, binding.role, std::string(dtypeLongName(buffer.dtype)),
                        nb::tuple(nb::cast(buffer.shape)), binding.dims);
}

nb::list entriesOf(const package::PackageData &data) {
  nb::list entries;
  for (const package::Entry &entry : data.entries) {
    nb::list inputs, outputs;
    for (const package::Binding &binding : entry.inputs)
      inputs.append(bindingOf(data, binding));
    for (const package::Binding &binding : entry.outputs)
      outputs.append(bindingOf(data, binding));
    entries.append(nb::make_tuple(entry.name, inputs, outputs));
  }
  return entries;
}

static std::vector<std::string> parametersOf(const Compiled &compiled) {
  std::vector<std::string> names;
  for (const package::Parameter &parameter : compiled.model.package->data().parameters)
    names.push_back(parameter.name);
  return names;
}

static std::vector<std::string> statesOf(const Compiled &compiled) {
  std::vector<std::string> names;
  for (const package::State &state : compiled.model.package->data().states)
    names.push_back(state.name);
  return names;
}

static nb::object textOrNone(const std::string &text) {
  return text.empty() ? nb::object(nb::none()) : nb::object(nb::cast(text));
}

/// (name, mode, cells, why it stays as it is or None, which gradients round otherwise or None) of
/// layers that are written out step by step; a package does not say.
static nb::list rolledOf(const Compiled &compiled) {
  nb::list layers;
  if (compiled.model.compiled)
    for (const passes::RolledLayer &layer : compiled.model.compiled->rolled)
      layers.append(nb::make_tuple(layer.name, layer.mode, layer.cells, textOrNone(layer.reason),
                                   textOrNone(layer.rounding)));
  return layers;
}

static package::Bytes bytesOf(const Compiled &compiled) {
  return package::serialize(compiled.model.package->data());
}

static void save(const Compiled &compiled, const std::string &path, bool force) {
  package::Bytes bytes = bytesOf(compiled);
  check(writeFile(path, {reinterpret_cast<const char *>(bytes.data()), bytes.size()},
                  force ? OutputFile::Existing::Replace : OutputFile::Existing::Keep));
}

//===---- weights of other frameworks ---------------------------------------------------------===//

using importers::Imported;

static Imported importWeights(const std::string &path, const std::optional<std::string> &rule,
                              const std::vector<std::string> &modules, bool batchFirst,
                              const GivenFields &given) {
  cli::Options options = valueOf(optionsOf("import", given));
  importers::ImportRequest request;
  if (rule)
    request.rule = valueOf(driver::Choice<importers::WeightRule>::parse("as", *rule));
  request.modules = modules;
  request.batchFirst = batchFirst;
  request.limits = valueOf(driver::fileLimits(options));
  Checked<Imported> read =
      withCompiler([&] { return importers::readWeights({path, {}}, request); });
  return valueOf(std::move(read));
}

static nb::dict arraysOf(nb::handle self) {
  nb::dict arrays;
  for (data::NamedArray &array : nb::cast<Imported &>(self).tensors)
    arrays[array.name.c_str()] = viewOf(array.array.tensor(), self);
  return arrays;
}

static void saveImported(Imported &imported, const std::string &network, const std::string &weights,
                         bool force) {
  check(importers::write(imported, network, weights,
                         force ? OutputFile::Existing::Replace : OutputFile::Existing::Keep));
}

void addModels(nb::module_ &module) {
  nb::class_<Compiled>(module, "Compiled", "A network that was compiled, or a package.")
      .def("entries",
           [](const Compiled &compiled) { return entriesOf(compiled.model.package->data()); })
      .def("__reduce__", &refusePickle)
      .def("parameters", &parametersOf)
      .def("states", &statesOf)
      .def("rolled", &rolledOf)
      .def_rw("unknown", &Compiled::unknown)
      .def("save", &save, nb::arg("path"), nb::arg("force"))
      .def("bytes",
           [](const Compiled &compiled) {
             package::Bytes bytes = bytesOf(compiled);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("plan", [](const Compiled &c) { return cli::planTable(c.model.package->data()); })
      .def("devices",
           [](const Compiled &c) { return package::deviceList(c.model.package->data()); })
      .def("learned",
           [](const Compiled &c) {
             return c.model.checkpoint ? std::optional(learnedOf(*c.model.checkpoint))
                                       : std::nullopt;
           })
      .def("net", [](const Compiled &c) { return c.model.package->data().net; })
      .def("path", [](const Compiled &c) { return c.model.path; });
  module.def("compile_file", &compileFile, nb::arg("path"), nb::arg("command"), nb::arg("given"),
             nb::arg("entries"), nb::arg("vocabulary").none(), nb::arg("bucket").none());
  module.def("compile_drawing", &compileDrawing, nb::arg("drawing"), nb::arg("command"),
             nb::arg("given"), nb::arg("entries"), nb::arg("initialiser").none());
  module.def("read_source", &readSource);
  nb::class_<Imported>(module, "Imported", "What a file of another framework holds.")
      .def_ro("text", &Imported::text)
      .def_ro("modules", &Imported::modules)
      .def_ro("assumptions", &Imported::assumptions)
      .def_ro("warnings", &Imported::warnings)
      .def("arrays", &arraysOf)
      .def("save", &saveImported, nb::arg("network"), nb::arg("weights"), nb::arg("force"));
  module.def("import_weights", &importWeights, nb::arg("path"), nb::arg("rule").none(),
             nb::arg("modules"), nb::arg("batch_first"), nb::arg("given"));
}

} // namespace lstmc::python

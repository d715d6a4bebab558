#include "frontend/python/Imports.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "frontend/driver/Model.h"
#include "frontend/importers/Importer.h"
#include "frontend/python/Failure.h"
#include "frontend/python/Models.h"
#include "frontend/python/Values.h"

namespace nb = nanobind;

namespace lstmc::python {

using importers::Imported;

static Imported importWeights(const std::string &path, const std::string &rule,
                              const std::vector<std::string> &modules, bool batchFirst,
                              const GivenFields &given) {
  cli::Options options = valueOf(optionsOf("import", given));
  importers::ImportRequest request;
  request.rule = valueOf(driver::Choice<importers::WeightRule>::parse("as", rule));
  request.modules = modules;
  request.batchFirst = batchFirst;
  request.limits = valueOf(driver::fileLimits(options));
  Checked<Imported> read = withCompiler([&] { return importers::read({path, {}}, request); });
  return valueOf(std::move(read));
}

static nb::dict arraysOf(nb::handle self) {
  nb::dict arrays;
  for (data::NamedArray &array : nb::cast<Imported &>(self).tensors)
    arrays[array.name.c_str()] = viewOf(array.array.tensor(), self);
  return arrays;
}

static void save(Imported &imported, const std::string &network, const std::string &weights,
                 bool force) {
  check(importers::write(imported, network, weights,
                         force ? OutputFile::Existing::Replace : OutputFile::Existing::Keep));
}

void addImports(nb::module_ &module) {
  nb::class_<Imported>(module, "Imported", "What a file of another framework holds.")
      .def_ro("text", &Imported::text)
      .def_ro("modules", &Imported::modules)
      .def_ro("assumptions", &Imported::assumptions)
      .def_ro("warnings", &Imported::warnings)
      .def("arrays", &arraysOf)
      .def("save", &save, nb::arg("network"), nb::arg("weights"), nb::arg("force"));
  module.def("import_weights", &importWeights, nb::arg("path"), nb::arg("rule"), nb::arg("modules"),
             nb::arg("batch_first"), nb::arg("given"));
}

} // namespace lstmc::python

// MXNet's symbol.json as a kind of source.
#include "executor/base/Checked.h"
#include "executor/base/InputFile.h"
#include "frontend/importers/Importer.h"
#include "frontend/importers/mxnet/GraphReader.h"

namespace lstmc::importers {

static Checked<Imported> loadSymbol(const Source &source, const ImportRequest &request) {
  std::string text;
  if (source.text) {
    text = *source.text;
  } else {
    Result<Bytes> bytes = readFile(source.path);
    if (!bytes.ok())
      return asDiagnostic(bytes.error());
    text = asText(*bytes);
  }
  Result<mxnet::SymbolFile> file =
      mxnet::SymbolFile::parse(std::move(text), source.path, request.limits);
  if (!file.ok())
    return asDiagnostic(file.error());
  Checked<symbol::Network> network = mxnet::readGraph(*file, request, request.limits);
  if (!request.werror || !network.ok() || network.diagnostics().empty())
    return asImported(std::move(network));
  for (Diagnostic &warning : network.diagnostics())
    warning.severity = Severity::Error;
  return std::move(network.diagnostics());
}

extern const Importer kMxnetSymbol;
const Importer kMxnetSymbol = {.name = "symbol.json",
                               .suffix = ".json",
                               .begins = mxnet::beginsAsObject,
                               .leavesShapesOpen = true,
                               .load = loadSymbol};

} // namespace lstmc::importers

#include "frontend/importers/Importer.h"

#include <algorithm>

#include <fmt/format.h>

#include "executor/base/InputFile.h"
#include "executor/data/ForeignFile.h"

namespace lstmc::importers {

#define LSTMC_IMPORTER(OBJECT) extern const Importer OBJECT;
#include "frontend/importers/importers.def"

std::span<const Importer *const> importers() {
  static constexpr const Importer *kImporters[] = {
#define LSTMC_IMPORTER(OBJECT) &OBJECT,
#include "frontend/importers/importers.def"
  };
  return kImporters;
}

/// The first bytes of a source, by which kinds are told apart; empty where it cannot be read.
static std::string beginOf(const Source &source) {
  constexpr size_t kLooked = 4096;
  if (source.text)
    return source.text->substr(0, kLooked);
  std::string begin;
  if (Result<InputFile> file = InputFile::open(source.path); file.ok()) {
    Bytes bytes(std::min<uint64_t>(kLooked, file->bytes()));
    if (file->read(0, bytes).ok())
      begin = asText(bytes);
  }
  return begin;
}

static const Importer *kindOf(std::string_view begin, std::string_view path) {
  const auto all = importers();
  auto found = std::ranges::find_if(all, [&](const Importer *importer) {
    return !importer->weightsAlone && importer->begins && importer->begins(begin);
  });
  if (found == all.end())
    found = std::ranges::find_if(all, [&](const Importer *importer) {
      return !importer->weightsAlone && path.ends_with(importer->suffix);
    });
  return found == all.end() ? nullptr : *found;
}

const Importer *importerOf(const Source &source) { return kindOf(beginOf(source), source.path); }

const Importer *importerOf(const std::string &path) { return importerOf(Source{path, {}}); }

Checked<Imported> readWeights(const Source &source, const ImportRequest &request) {
  return (*std::ranges::find_if(importers(), &Importer::weightsAlone))->load(source, request);
}

bool isWeights(const std::string &path) {
  return path.ends_with((*std::ranges::find_if(importers(), &Importer::weightsAlone))->suffix);
}

Checked<Imported> read(const Source &source, const ImportRequest &request) {
  const std::string begin = beginOf(source);
  if (const Importer *known = kindOf(begin, source.path))
    return known->load(source, request);
  const std::string_view foreign = data::foreignKind(asBytes(begin));
  if (foreign.empty())
    return importers().front()->load(source, request);
  Diagnostic error;
  error.code = ErrorCode::E0603;
  error.place.file = source.path;
  error.message = fmt::format("this is no network, but {}", foreign);
  return error;
}

Checked<symbol::Network> load(const Source &source, const ImportRequest &request) {
  Checked<Imported> imported = read(source, request);
  if (!imported.ok())
    return std::move(imported.diagnostics());
  return {std::move(*imported->network), std::move(imported.diagnostics())};
}

Checked<Imported> asImported(Checked<symbol::Network> network) {
  if (!network.ok())
    return std::move(network.diagnostics());
  Imported imported;
  imported.network = std::move(*network);
  return {std::move(imported), std::move(network.diagnostics())};
}

} // namespace lstmc::importers

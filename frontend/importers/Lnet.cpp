// The language as a kind of source.
#include "frontend/importers/Importer.h"
#include "frontend/lnet/Load.h"

namespace lstmc::importers {

static Checked<Imported> loadLnet(const Source &source, const ImportRequest &request) {
  const lnet::LoadOptions options{request, request.includeDirs, request.dataFolders,
                                  request.textLimits};
  return asImported(source.text ? lnet::loadText(source.path, *source.text, options)
                                : lnet::load(source.path, options));
}

extern const Importer kLnet;
const Importer kLnet = {.name = "lnet",
                        .suffix = ".lnet",
                        .begins = nullptr,
                        .leavesShapesOpen = false,
                        .load = loadLnet};

} // namespace lstmc::importers

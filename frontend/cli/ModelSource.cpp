// A source, read by the frontend of its kind and by what flags say of it.
#include "executor/base/StandardStreams.h"
#include "frontend/cli/CompilerFailure.h"
#include "frontend/cli/Model.h"
#include "frontend/lnet/Load.h"

namespace lstmc::cli {

Result<lnet::Limits> sourceLimits(const Options &options) {
  lnet::Limits limits;
  for (const auto &[name, value] : options.limit)
    if (lnet::isLimit(name))
      LSTMC_TRY(lnet::setLimit(limits, name, uint64_t(value)));
  return limits;
}

Result<lstmc::Limits> fileLimits(const Options &options) {
  lstmc::Limits limits;
  for (const auto &[name, value] : options.limit) {
    Status known = setLimit(limits, name, uint64_t(value));
    if (!known.ok() && !lnet::isLimit(name))
      return known.error();
  }
  return limits;
}

/// --set, --batch, --shape, --net and --werror, with what the command itself wants.
static symbol::NetworkRequest networkAsked(const Options &options, const ModelRequest &request) {
  symbol::NetworkRequest asked;
  asked.settings = options.set;
  if (options.batch.given())
    asked.settings.push_back({"batch", *options.batch});
  asked.shapes = options.shape;
  asked.shapes.insert(asked.shapes.end(), request.shapes.begin(), request.shapes.end());
  asked.net = options.net.value_or("");
  asked.offeredVocab = request.offeredVocab;
  asked.werror = options.werror;
  return asked;
}

/// "-" is standard input.
static Checked<symbol::Network>
loadLnet(const std::string &path, const symbol::NetworkRequest &asked, const Options &options) {
  lnet::LoadOptions load{asked, options.include, options.allowData, {}};
  LSTMC_CHECKED_ASSIGN(load.limits, sourceLimits(options));
  if (path != "-")
    return lnet::load(path, load);
  static const Result<std::string> text = readInput(); // once, and is asked for again
  if (!text.ok())
    return asDiagnostic(text.error());
  return lnet::loadText("<stdin>", *text, load);
}

namespace {

/// A way in: the files that it reads, and how.
struct Frontend {
  std::string_view suffix;
  Checked<symbol::Network> (*load)(const std::string &path, const symbol::NetworkRequest &asked,
                                   const Options &options);
};

/// One row for each language of sources. The first reads standard input, and files of no known
/// suffix.
constexpr Frontend kFrontends[] = {{".lnet", loadLnet}};

const Frontend *frontendOf(std::string_view path) {
  for (const Frontend &frontend : kFrontends)
    if (path.ends_with(frontend.suffix))
      return &frontend;
  return nullptr;
}

} // namespace

Checked<symbol::Network> loadSource(const std::string &path, const Options &options,
                                    const ModelRequest &request) {
  CompilerMemory memory;
  const Frontend *frontend = frontendOf(path);
  return (frontend ? frontend : kFrontends)->load(path, networkAsked(options, request), options);
}

bool isSource(const std::string &path) { return path == "-" || frontendOf(path); }

} // namespace lstmc::cli

// A source, read by the importer of its kind and by what flags say of it.
#include <algorithm>

#include <fmt/ranges.h>

#include "executor/base/Checked.h"
#include "executor/base/Quote.h"
#include "executor/base/StandardStreams.h"
#include "frontend/driver/CompilerMemory.h"
#include "frontend/driver/DataKeys.h"
#include "frontend/driver/ReadSource.h"
#include "frontend/driver/SettingText.h"
#include "frontend/symbol/View.h"

namespace lstmc::driver {

Result<lnet::Limits> sourceLimits(const InputOptions &options) {
  lnet::Limits limits;
  for (const auto &[name, value] : options.limit)
    if (lnet::isLimit(name))
      LSTMC_TRY(lnet::setLimit(limits, name, uint64_t(value)));
  return limits;
}

Result<lstmc::Limits> fileLimits(const InputOptions &options) {
  lstmc::Limits limits;
  for (const auto &[name, value] : options.limit) {
    Status known = setLimit(limits, name, uint64_t(value));
    if (!known.ok() && !lnet::isLimit(name))
      return known.error();
  }
  return limits;
}

/// --layout NAME=TNC.
static Result<std::vector<std::pair<std::string, std::string>>>
layoutsAsked(const InputOptions &options) {
  std::vector<std::pair<std::string, std::string>> layouts;
  for (const std::string &text : options.layout) {
    const size_t equals = text.find('=');
    const std::string axes = equals == text.npos ? "" : text.substr(equals + 1);
    if (equals == 0 || std::ranges::count(axes, 'N') != 1 ||
        !std::ranges::all_of(axes, [](char axis) { return axis >= 'A' && axis <= 'Z'; }))
      return fail(ErrorCode::E0001,
                  "--layout takes NAME=TNC, a letter for each axis and N for the "
                  "batch, got {}",
                  inQuotes(text));
    layouts.emplace_back(text.substr(0, equals), axes);
  }
  return layouts;
}

/// --set, --batch, --shape, --layout, --net, --werror, -I, --allow-data and --limit, with what the
/// command itself wants.
static Result<importers::ImportRequest> networkAsked(const CompileRequest &options,
                                                     const ModelRequest &request) {
  importers::ImportRequest asked;
  asked.settings = options.set;
  if (options.batch.given())
    asked.settings.push_back({"batch", *options.batch});
  asked.shapes = options.shape;
  asked.shapes.insert(asked.shapes.end(), request.shapes.begin(), request.shapes.end());
  LSTMC_ASSIGN(asked.layouts, layoutsAsked(options));
  asked.net = options.net.value_or("");
  asked.offeredInputs = request.offeredInputs;
  asked.offeredVocab = request.offeredVocab;
  asked.werror = options.werror;
  asked.includeDirs = options.include;
  asked.dataFolders = options.allowData;
  LSTMC_ASSIGN(asked.textLimits, sourceLimits(options));
  LSTMC_ASSIGN(asked.limits, fileLimits(options));
  return asked;
}

/// "-" is standard input.
static Result<importers::Source> sourceAt(const std::string &path) {
  if (path != "-")
    return importers::Source{path, {}};
  static const Result<std::string> text = readInput(); // once, and is asked for again
  if (!text.ok())
    return text.error();
  return importers::Source{"<stdin>", *text};
}

/// The dim that is given the steps of a bucket: the one of the inputs, beside that of the batch.
/// E0214, at data(..) where that has the buckets, if there is none or are several.
static Checked<std::string> dimOfSteps(const symbol::Network &net) {
  std::vector<std::string> names;
  for (const symbol::InputView &input : symbol::view(*net.graph).inputs) {
    auto named = std::ranges::find(input.shape.dims, "batch", &symbol::Dim::name);
    if (named == input.shape.dims.end())
      named = input.shape.dims.begin();
    for (auto dim = input.shape.dims.begin(); dim != input.shape.dims.end(); ++dim)
      if (dim != named && !dim->name.empty() && std::ranges::find(names, dim->name) == names.end())
        names.push_back(dim->name);
  }
  if (names.size() == 1)
    return names[0];
  Diagnostic error;
  error.code = ErrorCode::E0214;
  error.message = names.empty()
                      ? std::string("buckets= needs a dim for the steps of the inputs, found none")
                      : fmt::format("buckets= needs one dim for the steps of the inputs, found {}",
                                    fmt::join(names, ", "));
  if (names.empty())
    error.help = "T = dim(\"seq\", 40), and int32[N, T] as the type of the input";
  for (const symbol::Setting &setting : net.data)
    if (setting.key == "buckets")
      error.place = setting.origin;
  return error;
}

/// Whether `steps` are to be given to the dim of that name: not where the user has given it a
/// value, which a training on buckets refuses (E0001).
static Result<bool> takesSteps(const symbol::Network &net, const std::string &dim, int64_t steps,
                               bool training) {
  auto has = std::ranges::find(net.settings, dim, &symbol::SettingInForce::name);
  if (has == net.settings.end() || has->origin == "file")
    return has != net.settings.end() && has->value != symbol::AttributeValue(steps);
  if (training)
    return fail(ErrorCode::E0001,
                "{} gives {} a value, and so does buckets= of the data: leave "
                "one of them out",
                has->origin, dim);
  return false;
}

Checked<symbol::Network> loadSource(const std::string &path, const CompileRequest &options,
                                    const ModelRequest &request) {
  LSTMC_CHECKED_ASSIGN(const importers::Source source, sourceAt(path));
  return loadSource(source, options, request);
}

Checked<symbol::Network> loadSource(const importers::Source &source, const CompileRequest &options,
                                    const ModelRequest &request) {
  CompilerMemory memory;
  LSTMC_CHECKED_ASSIGN(importers::ImportRequest asked, networkAsked(options, request));
  const importers::Importer *kind = importers::importerOf(source);
  if (!asked.layouts.empty() && kind && !kind->leavesShapesOpen)
    return asDiagnostic(fail(ErrorCode::E0001,
                             "--layout has no effect here: the dims of a {} say "
                             "where the batch is",
                             kind->name));
  Checked<symbol::Network> net = importers::load(source, asked);
  if (!net.ok() || !request.shapes.empty())
    return net;
  const std::vector<int64_t> buckets = bucketsAsked(options, settingTexts(net->data));
  if (buckets.empty())
    return net;
  LSTMC_CHECKED_ASSIGN(std::string dim, dimOfSteps(*net));
  const int64_t steps = request.bucket.value_or(buckets.back());
  LSTMC_CHECKED_ASSIGN(bool again, takesSteps(*net, dim, steps, request.bucket.has_value()));
  if (!again)
    return net;
  asked.settings.push_back({dim, std::to_string(steps)});
  return importers::load(source, asked);
}

bool isSource(const std::string &path) { return path == "-" || importers::importerOf(path); }

bool leavesShapesOpen(const std::string &path) {
  Result<importers::Source> source = sourceAt(path);
  const importers::Importer *kind = source.ok() ? importers::importerOf(*source) : nullptr;
  return kind && kind->leavesShapesOpen;
}

} // namespace lstmc::driver

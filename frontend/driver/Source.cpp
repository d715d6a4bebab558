// A source, read by the frontend of its kind and by what flags say of it.
#include <algorithm>

#include <fmt/ranges.h>

#include "executor/base/StandardStreams.h"
#include "frontend/driver/Checked.h"
#include "frontend/driver/CompilerMemory.h"
#include "frontend/driver/DataKeys.h"
#include "frontend/driver/Model.h"
#include "frontend/driver/SettingText.h"
#include "frontend/lnet/Load.h"
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

/// --set, --batch, --shape, --net and --werror, with what the command itself wants.
static symbol::NetworkRequest networkAsked(const CompileRequest &options,
                                           const ModelRequest &request) {
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
static Checked<symbol::Network> loadLnet(const std::string &path,
                                         const symbol::NetworkRequest &asked,
                                         const CompileRequest &options) {
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
                                   const CompileRequest &options);
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
  CompilerMemory memory;
  const Frontend *frontend = frontendOf(path) ? frontendOf(path) : kFrontends;
  symbol::NetworkRequest asked = networkAsked(options, request);
  Checked<symbol::Network> net = frontend->load(path, asked, options);
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
  return frontend->load(path, asked, options);
}

bool isSource(const std::string &path) { return path == "-" || frontendOf(path); }

} // namespace lstmc::driver

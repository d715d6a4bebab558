// A source, read by what flags say of it.
#include <algorithm>

#include "executor/base/StandardStreams.h"
#include "frontend/cli/CompilerFailure.h"
#include "frontend/cli/Model.h"
#include "frontend/cli/SettingText.h"

namespace lstmc::cli {

/// NAME:32x35, NAME=32x35xi32, NAME:[32,35].
static Result<lnet::InputShape> parseShape(const std::string &text) {
  size_t border = text.find_first_of(":=");
  auto refuse = [&] {
    return fail(ErrorCode::E0001, "--shape takes NAME:32x35, got \"{}\"", text);
  };
  if (border == std::string::npos || border == 0)
    return refuse();
  lnet::InputShape shape{text.substr(0, border), {}, {}};
  std::string rest = text.substr(border + 1);
  std::erase_if(rest, [](char c) { return c == '[' || c == ']' || c == ' '; });
  std::replace(rest.begin(), rest.end(), ',', 'x');
  for (size_t at = 0; at <= rest.size();) {
    size_t end = std::min(rest.find('x', at), rest.size());
    std::string part = rest.substr(at, end - at);
    at = end + 1;
    if (std::optional<DType> dtype = parseDType(part); dtype && end == rest.size()) {
      shape.dtype = dtype;
      continue;
    }
    Result<int64_t> extent = parseCount("shape", part);
    if (part.empty() || !extent.ok() || *extent < 1)
      return refuse();
    shape.extents.push_back(*extent);
  }
  return shape;
}

Result<lnet::LoadOptions> loadOptions(const Options &options, const ModelRequest &request) {
  lnet::LoadOptions load;
  for (const std::string &text : options.values("set")) {
    LSTMC_ASSIGN(auto setting, splitSetting("set", text));
    load.settings.push_back(setting);
  }
  if (std::optional<std::string> batch = options.value("batch"))
    load.settings.push_back({"batch", *batch});
  for (const std::string &text : options.values("shape")) {
    LSTMC_ASSIGN(lnet::InputShape shape, parseShape(text));
    load.shapes.push_back(shape);
  }
  load.shapes.insert(load.shapes.end(), request.shapes.begin(), request.shapes.end());
  load.net = options.value("net").value_or("");
  load.includeDirs = options.values("include");
  load.offeredVocab = request.offeredVocab;
  load.werror = options.has("werror");
  for (const std::string &text : options.values("limit")) {
    LSTMC_ASSIGN(auto limit, splitSetting("limit", text));
    LSTMC_ASSIGN(int64_t value, parseCount("limit", limit.second));
    if (lnet::isLimit(limit.first))
      LSTMC_TRY(lnet::setLimit(load.limits, limit.first, uint64_t(value)));
  }
  return load;
}

Result<lstmc::Limits> fileLimits(const Options &options) {
  lstmc::Limits limits;
  for (const std::string &text : options.values("limit")) {
    LSTMC_ASSIGN(auto limit, splitSetting("limit", text));
    LSTMC_ASSIGN(int64_t value, parseCount("limit", limit.second));
    Status known = setLimit(limits, limit.first, uint64_t(value));
    if (!known.ok() && !lnet::isLimit(limit.first))
      return known.error();
  }
  return limits;
}

Checked<lnet::LoadedNet> loadSource(const std::string &path, const Options &options,
                                    const ModelRequest &request) {
  CompilerMemory memory;
  Result<lnet::LoadOptions> load = loadOptions(options, request);
  if (!load.ok())
    return asDiagnostic(load.error());
  if (path != "-")
    return lnet::load(path, *load);
  static const Result<std::string> text = readInput(); // once, and is asked for again
  if (!text.ok())
    return asDiagnostic(text.error());
  return lnet::loadText("<stdin>", *text, *load);
}

bool isSource(const std::string &path) { return path == "-" || path.ends_with(".lnet"); }

} // namespace lstmc::cli

// --dump-config: every value in force as a file that -c reads, each with where it comes from.

#include <algorithm>

#include <fmt/ranges.h>

#include "frontend/cli/Commands.h"
#include "frontend/cli/Operand.h"
#include "frontend/driver/Data.h"
#include "frontend/driver/SettingText.h"

namespace lstmc::cli {

namespace {

struct Value {
  std::string text, origin;
};

/// What stands in the model's file, as the values of flags: `set`, `fit` and `data`.
struct FileValues {
  std::vector<Value> set, fit;
  std::optional<Value> data, seed;
  bool compiled = false; ///< a package, whose compile flags are settled
};

std::string originOf(const GivenValue &given) {
  return given.origin == ValueOrigin::Flag ? fmt::format("--{}", given.record->name) : given.source;
}

/// data(..) as one SPEC, or nothing without `train`.
std::optional<Value> dataSpec(const std::vector<package::Setting> &settings,
                              const std::string &path) {
  std::optional<std::string> spec = findSetting(settings, "train");
  if (!spec)
    return std::nullopt;
  for (const package::Setting &setting : settings)
    if (setting.name != "train" && setting.name != "test" &&
        (setting.name != "valid" || setting.value.find(':') == std::string::npos))
      *spec += fmt::format(",{}={}", setting.name, setting.value);
  return Value{*spec, path};
}

void addFit(FileValues &values, const std::vector<package::Setting> &fit, const std::string &path) {
  for (const package::Setting &setting : fit)
    if (setting.name == "seed")
      values.seed = Value{setting.value, path};
    else
      values.fit.push_back({setting.name + "=" + setting.value, path});
}

/// What that subcommand reads data for.
DataUse useBy(CommandId command) {
  return {.job = nameOf(command),
          .trains = command == CommandId::Train,
          .unlabelled = command == CommandId::Predict};
}

Checked<FileValues> ofSource(const Options &options, const std::string &path) {
  ModelRequest request;
  Checked<symbol::Network> net = loadSource(path, options, request);
  if (!net.ok())
    return net.diagnostics();
  std::vector<package::Setting> fileData = settingTexts(net->data);
  bool reads = recordOf(Flag::data).servedBy(*options.command);
  if (reads && (options.data || findSetting(fileData, "train"))) {
    Result<ModelData> data =
        loadData(options, useBy(*options.command), fileData, {path, ""}, nullptr);
    if (!data.ok())
      return asDiagnostic(data.error());
    if (data->vocabulary) {
      request.offeredVocab = int64_t(data->vocabulary->size());
      net = loadSource(path, options, request);
      if (!net.ok())
        return net.diagnostics();
    }
  }
  FileValues values;
  for (const symbol::SettingInForce &setting : net->settings)
    values.set.push_back({fmt::format("{}={}", setting.name, settingText(setting.value)),
                          setting.origin == "file"   ? path
                          : setting.origin == "data" ? "the data"
                                                     : setting.origin});
  addFit(values, settingTexts(net->fit), path);
  values.data = dataSpec(fileData, path);
  return values;
}

/// Of a package or checkpoint only what flags can still change.
Checked<FileValues> ofCompiled(const Options &options, const std::string &path) {
  Checked<Model> model = loadModel(options, {});
  if (!model.ok())
    return model.diagnostics();
  FileValues values;
  values.compiled = true;
  addFit(values, model->fit, path);
  values.data = dataSpec(model->package->data().data, path);
  return values;
}

/// Flags over the file's values, name by name.
std::vector<Value> merged(std::vector<Value> values, const Options &options, Flag flag) {
  for (const GivenValue &given : options.given) {
    if (given.record->flag != flag)
      continue;
    std::string name = given.value.substr(0, given.value.find('=') + 1);
    auto old = std::find_if(values.begin(), values.end(),
                            [&](const Value &value) { return value.text.starts_with(name); });
    if (old == values.end())
      old = values.insert(old, Value());
    *old = {given.value, originOf(given)};
  }
  return values;
}

/// As CLI11 reads TOML: no escapes, and a # ends the line even in a string.
std::optional<std::string> quoted(const std::string &text) {
  char quote = text.find('"') == std::string::npos ? '"' : '\'';
  if (text.find('#') != std::string::npos || text.find('\n') != std::string::npos ||
      text.find(quote) != std::string::npos)
    return std::nullopt;
  return fmt::format("{}{}{}", quote, text, quote);
}

std::string entry(std::string_view name, const std::vector<Value> &values, bool list) {
  std::vector<std::string> origins, texts;
  for (const Value &value : values) {
    std::optional<std::string> text = quoted(value.text);
    if (!text)
      return fmt::format("# {}: {} cannot stand in this file\n", name, value.text);
    texts.push_back(*text);
    std::string origin =
        list && values.size() > 1
            ? fmt::format("{}: {}", value.text.substr(0, value.text.find('=')), value.origin)
            : value.origin;
    origins.push_back(origin);
  }
  return list ? fmt::format("# {}\n{} = [{}]\n", fmt::join(origins, "; "), name,
                            fmt::join(texts, ", "))
              : fmt::format("# {}\n{} = {}\n", fmt::join(origins, "; "), name, texts.back());
}

std::vector<Value> inForce(const FlagRecord &flag, const Options &options, const FileValues &file) {
  if (flag.flag == Flag::set)
    return merged(file.set, options, Flag::set);
  if (flag.flag == Flag::fit) {
    std::vector<Value> fit = file.fit;
    // An initializer is a call, which a flag cannot make; --optimizer and --lr are values of their
    // own.
    std::erase_if(fit, [&](const Value &value) {
      return value.text.starts_with("initializer=") ||
             (value.text.starts_with("optimizer=") && options.optimizer) ||
             (value.text.starts_with("learning_rate=") && options.lr);
    });
    return merged(fit, options, Flag::fit);
  }
  std::vector<Value> values;
  for (const GivenValue &given : options.given)
    if (given.record->flag == flag.flag)
      values.push_back({flag.argument.empty() ? "true" : given.value, originOf(given)});
  if (values.empty() && flag.flag == Flag::data && file.data)
    return {*file.data};
  if (values.empty() && flag.flag == Flag::seed && file.seed)
    return {*file.seed};
  if (values.empty() && (!flag.fallback.empty() || flag.argument.empty()))
    values.push_back({flag.argument.empty() ? "false" : std::string(flag.fallback), "built in"});
  return values;
}

} // namespace

/// Commands whose operand is a model, so that its file has values too; `inspect` takes any file.
static bool readsModel(CommandId command) {
  return command != CommandId::Inspect && recordOf(Flag::set).servedBy(command);
}

static Checked<FileValues> ofFile(const Options &options) {
  if (!readsModel(*options.command) || options.operands.empty())
    return FileValues();
  const std::string &path = options.operands[0];
  return isSource(path) ? ofSource(options, path) : ofCompiled(options, path);
}

CommandResult dumpConfig(const Options &options, Console &console) {
  LSTMC_CHECKED_ASSIGN(FileValues file, ofFile(options));
  std::string text = fmt::format("# lstmc {} {}\n[{}]\n", options.commandName(),
                                 fmt::join(options.operands, " "), options.commandName());
  for (const FlagRecord &flag : flags()) {
    bool meta =
        flag.flag == Flag::dumpConfig || flag.flag == Flag::config || flag.flag == Flag::help;
    bool settled = file.compiled && flag.group == FlagGroup::Compiled;
    if (meta || settled || flag.spelling || !flag.servedBy(*options.command))
      continue;
    std::vector<Value> values = inForce(flag, options, file);
    if (!values.empty())
      text += entry(flag.name, values, flag.repeats && !flag.argument.empty());
  }
  console.write(text);
  return ExitCode::Ok;
}

} // namespace lstmc::cli

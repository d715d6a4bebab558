#include "frontend/cli/Model.h"

#include <algorithm>
#include <filesystem>

#include "backends/cpu/runtime/KernelTable.h"
#include "executor/data/Npz.h"
#include "executor/data/SafeTensors.h"
#include "executor/device/DeviceNames.h"
#include "executor/device/HostDevice.h"
#include "frontend/cli/SettingText.h"
#include "frontend/cli/Version.h"
#include "frontend/symbol/Module.h"

namespace lstmc::cli {

namespace fs = std::filesystem;

std::optional<std::string> findSetting(const std::vector<package::Setting> &settings, std::string_view key) {
  std::optional<std::string> value;
  for (const package::Setting &setting : settings)
    if (setting.name == key)
      value = setting.value;
  return value;
}

static Error usage(std::string message) { return Error{ErrorCode::E0001, std::move(message), {}}; }

static Diagnostic asDiagnostic(const Error &error) {
  Diagnostic diagnostic;
  diagnostic.code = error.code;
  diagnostic.message = error.message;
  diagnostic.place.file = error.place.file;
  diagnostic.place.line = error.place.line;
  diagnostic.place.column = error.place.column;
  diagnostic.place.byte = error.place.byte;
  return diagnostic;
}

static Result<std::pair<std::string, std::string>> splitSetting(std::string_view flag, const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return fail(ErrorCode::E0001, "--{} takes NAME=VALUE, got \"{}\"", flag, text);
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

/// NAME:32x35, NAME=32x35xi32, NAME:[32,35].
static Result<lnet::InputShape> parseShape(const std::string &text) {
  size_t border = text.find_first_of(":=");
  auto refuse = [&] { return fail(ErrorCode::E0001, "--shape takes NAME:32x35, got \"{}\"", text); };
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
  std::optional<std::string> batch = options.value("batch");
  if (!batch)
    batch = options.value("batch-size");
  if (batch)
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
    LSTMC_TRY(lnet::setLimit(load.limits, limit.first, value));
  }
  return load;
}

/// Values of the optimizer that are compiled into `step`.
static Result<passes::OptimizerSpec> optimizerSpec(const std::vector<package::Setting> &fit) {
  passes::OptimizerSpec spec;
  spec.name = findSetting(fit, "optimizer").value_or("sgd");
  auto read = [&](std::string_view key, auto take) -> Status {
    std::optional<std::string> text = findSetting(fit, key);
    if (!text || *text == "None")
      return {};
    LSTMC_ASSIGN(double value, parseNumber(key, *text));
    take(value);
    return {};
  };
  LSTMC_TRY(read("momentum", [&](double v) { spec.momentum = v; }));
  LSTMC_TRY(read("beta1", [&](double v) { spec.beta1 = v; }));
  LSTMC_TRY(read("beta2", [&](double v) { spec.beta2 = v; }));
  LSTMC_TRY(read("epsilon", [&](double v) { spec.epsilon = v; }));
  LSTMC_TRY(read("wd", [&](double v) { spec.wd = v; }));
  LSTMC_TRY(read("rescale_grad", [&](double v) { spec.rescaleGrad = v; }));
  LSTMC_TRY(read("clip_gradient", [&](double v) { spec.clipGradient = v; }));
  LSTMC_TRY(read("clip_gradient_norm", [&](double v) { spec.clipGradientNorm = v; }));
  return spec;
}

/// fit(..) of the file, then --optimizer, --lr and --fit, then what the command insists on.
static Result<std::vector<package::Setting>> fitInForce(const std::vector<symbol::Setting> &file, const Options &options,
                                                        const ModelRequest &request) {
  std::vector<package::Setting> fit = settingTexts(file);
  if (std::optional<std::string> name = options.value("optimizer"))
    fit.push_back({"optimizer", *name});
  if (std::optional<std::string> rate = options.value("lr"))
    fit.push_back({"learning_rate", *rate});
  for (const std::string &text : options.values("fit")) {
    LSTMC_ASSIGN(auto setting, splitSetting("fit", text));
    fit.push_back({setting.first, setting.second});
  }
  fit.insert(fit.end(), request.fit.begin(), request.fit.end());
  return fit;
}

static Result<std::vector<std::string>> deviceNames(const Options &options) {
  std::vector<std::string> names;
  std::vector<std::string> lists = options.values("devices");
  if (std::optional<std::string> gpus = options.value("gpus"))
    lists.push_back("gpu:" + *gpus);
  for (const std::string &list : lists) {
    LSTMC_ASSIGN(std::vector<DeviceName> devices, parseDevices(list));
    for (const DeviceName &device : devices)
      if (device.kind == DeviceKind::Gpu)
        return fail(ErrorCode::E0501, "{} is not here: this build has no backend for GPUs; -d {}cpu would do",
                    device.text(), devices.size() == 1 ? "" : fmt::format("{}x", devices.size()));
    for (const DeviceName &device : devices)
      names.push_back(device.text());
  }
  if (names.empty())
    names.push_back("cpu:0");
  if (names.size() > 1)
    return fail(ErrorCode::E0501, "{} devices were asked for, and one is all that programs are made for so far; -d cpu would do", names.size());
  return names;
}

static std::vector<std::string> splitCommas(const std::string &text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    if (end > at)
      parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

static Result<passes::CompileOptions> compileOptions(const lnet::LoadedNet &net, const Options &options,
                                                     const ModelRequest &request,
                                                     const std::vector<package::Setting> &fit) {
  passes::CompileOptions compile;
  compile.net = net.net;
  compile.entries = request.entries;
  if (std::optional<std::string> entries = options.value("entry"))
    compile.entries = splitCommas(*entries);
  LSTMC_ASSIGN(compile.devices, deviceNames(options));
  LSTMC_ASSIGN(compile.shards, options.count("shards", 8));
  if (compile.shards < 1 || compile.shards > 4096)
    return fail(ErrorCode::E0001, "--shards takes 1 to 4096, got {}", compile.shards);
  if (options.has("mem")) {
    LSTMC_ASSIGN(int64_t bytes, options.bytes("mem", 0));
    compile.memoryLimit = uint64_t(bytes);
  }
  LSTMC_ASSIGN(compile.optimizer, optimizerSpec(fit));
  compile.carry = splitCommas(findSetting(fit, "carry").value_or(""));
  compile.carry.insert(compile.carry.end(), request.carry.begin(), request.carry.end());
  if (std::optional<std::string> dtype = options.value("dtype")) {
    compile.dtype = parseDType(*dtype);
    if (compile.dtype != DType::F32 && compile.dtype != DType::F64)
      return fail(ErrorCode::E0001, "--dtype takes f32 or f64, got \"{}\"", *dtype);
  }
  compile.disabled = options.values("disable-pass");
  compile.producer = versionLine();
  compile.keepExec = request.keepExec;
  compile.graphHash = net.graph->hash();
  for (const lnet::SettingInForce &setting : net.settings)
    compile.settings.push_back({setting.name, settingText(setting.value)});
  compile.fit = fit;
  compile.data = settingTexts(net.data);
  return compile;
}

Checked<Model> compileNet(lnet::LoadedNet net, const Options &options, const ModelRequest &request) {
  Result<std::vector<package::Setting>> fit = fitInForce(net.fit, options, request);
  if (!fit.ok())
    return asDiagnostic(fit.error());
  Result<passes::CompileOptions> compile = compileOptions(net, options, request, *fit);
  if (!compile.ok())
    return asDiagnostic(compile.error());
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*net.graph);
  Checked<passes::Compiled> compiled = passes::compile(*module, *compile);
  if (!compiled.ok())
    return compiled.diagnostics();
  Model model;
  package::Bytes bytes = package::serialize(compiled->package);
  Result<package::Package::Pointer> package = package::Package::open(bytes, "the package just compiled");
  if (!package.ok())
    return asDiagnostic(package.error());
  model.package = *package;
  model.warnings = compiled.diagnostics();
  model.compiled = std::move(*compiled);
  model.fit = *fit;
  return model;
}

/// A package has its shapes, settings and optimizer already.
static Status refuseCompileFlags(const Options &options, std::string_view what) {
  for (std::string_view flag : {"set", "shape", "net", "batch", "batch-size", "dtype", "shards", "disable-pass"})
    if (options.has(flag))
      return fail(ErrorCode::E0001, "--{} changes what is compiled, and {} is compiled already; give the .lnet file", flag,
                  what);
  return {};
}

static Result<Model> openCheckpoint(const std::string &path, const Options &options, const ModelRequest &request) {
  LSTMC_TRY(refuseCompileFlags(options, "a checkpoint"));
  LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(path));
  Model model;
  std::string name = request.attachment.empty() ? "model.lstmc" : request.attachment;
  auto attached = found.checkpoint.attachments.find(name);
  if (attached == found.checkpoint.attachments.end())
    return failAt({found.checkpoint.folder}, ErrorCode::E0610, "this checkpoint has no {}", name);
  LSTMC_ASSIGN(model.package, package::Package::open(attached->second, found.checkpoint.folder + "/" + name));
  model.checkpoint = std::move(found.checkpoint);
  model.fit = model.package->data().fit;
  return model;
}

Checked<Model> loadModel(const Options &options, const ModelRequest &request) {
  if (options.operands.size() != 1)
    return asDiagnostic(usage(fmt::format("lstmc {} takes one MODEL, got {}", options.command, options.operands.size())));
  const std::string &path = options.operands[0];
  std::error_code error;
  auto finish = [&](Result<Model> result) -> Checked<Model> {
    if (!result.ok())
      return asDiagnostic(result.error());
    result->path = path;
    return std::move(*result);
  };
  if (fs::is_directory(path, error))
    return finish(openCheckpoint(path, options, request));
  if (path.ends_with(".lstmc")) {
    if (Status status = refuseCompileFlags(options, "a package"); !status.ok())
      return asDiagnostic(status.error());
    Result<package::Package::Pointer> package = package::Package::open(path);
    if (!package.ok())
      return asDiagnostic(package.error());
    Model model;
    model.path = path;
    model.package = *package;
    model.fit = model.package->data().fit;
    return model;
  }
  Result<lnet::LoadOptions> load = loadOptions(options, request);
  if (!load.ok())
    return asDiagnostic(load.error());
  Checked<lnet::LoadedNet> net = lnet::load(path, *load);
  if (!net.ok())
    return net.diagnostics();
  Diagnostics warnings = net.diagnostics();
  Checked<Model> model = compileNet(std::move(*net), options, request);
  if (!model.ok())
    return model.diagnostics();
  model->path = path;
  model->warnings.insert(model->warnings.begin(), warnings.begin(), warnings.end());
  return model;
}

static KernelFunction chooseCpuKernel(KernelId id, std::span<const Tensor> operands) {
  return cpu::kernelTable(cpu::chosenLevel()).find(id, operands);
}

static Status bindArrays(Session &session, const data::SafeTensors &weights) {
  for (const package::Parameter &parameter : session.package().data().parameters) {
    const data::TensorRecord *record = weights.find(parameter.name);
    if (!record)
      return failAt({weights.file()}, ErrorCode::E0610, "it has no tensor named \"{}\", which the model needs", parameter.name);
    data::Array array = weights.array(*record);
    if (Status status = session.setParameter(parameter.name, array.tensor()); !status.ok())
      return failAt({weights.file()}, status.error().code, "{}", status.error().message);
  }
  return {};
}

Status bindWeights(Session &session, const std::string &path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(path));
    return bindArrays(session, found.checkpoint.model);
  }
  if (path.ends_with(".npz")) {
    LSTMC_ASSIGN(auto arrays, data::loadNpz(path));
    for (const package::Parameter &parameter : session.package().data().parameters) {
      auto found = std::find_if(arrays.begin(), arrays.end(), [&](const data::NamedArray &a) { return a.name == parameter.name; });
      if (found == arrays.end())
        return failAt({path}, ErrorCode::E0610, "it has no array named \"{}\", which the model needs", parameter.name);
      LSTMC_TRY(session.setParameter(parameter.name, found->array.tensor()));
    }
    return {};
  }
  LSTMC_ASSIGN(data::SafeTensors weights, data::SafeTensors::load(path));
  return bindArrays(session, weights);
}

Result<std::unique_ptr<Session>> openSession(const Model &model, const Options &options) {
  LSTMC_ASSIGN(int64_t threads, options.count("threads", 0));
  if (threads < 0 || threads > 1024)
    return fail(ErrorCode::E0001, "--threads takes 1 to 1024, got {}", threads);
  LSTMC_ASSIGN(int64_t seed, options.count("seed", 0));
  std::vector<std::unique_ptr<Device>> devices;
  for (const package::Device &device : model.package->data().devices)
    devices.push_back(makeHostDevice(device.name, chooseCpuKernel, int(threads)));
  SessionOptions sessionOptions;
  sessionOptions.seed = uint64_t(seed);
  sessionOptions.checkNan = options.has("check-nan");
  LSTMC_ASSIGN(std::unique_ptr<Session> session, Session::create(model.package, std::move(devices), sessionOptions));

  LSTMC_TRY(session->initialise(uint64_t(seed)));
  std::optional<std::string> params = options.value("params");
  if (!params && model.path.ends_with(".lstmc")) {
    std::string beside = model.path.substr(0, model.path.size() - 6) + ".safetensors";
    std::error_code error;
    if (fs::exists(beside, error))
      params = beside;
  }
  if (params)
    LSTMC_TRY(bindWeights(*session, *params));
  else if (model.checkpoint)
    LSTMC_TRY(bindArrays(*session, model.checkpoint->model));
  return session;
}

Result<std::optional<data::Vocabulary>> modelVocabulary(const Model &model) {
  if (!model.checkpoint)
    return std::optional<data::Vocabulary>();
  auto found = model.checkpoint->attachments.find(std::string(training::kVocabularyFile));
  if (found == model.checkpoint->attachments.end())
    return std::optional<data::Vocabulary>();
  std::string_view text(reinterpret_cast<const char *>(found->second.data()), found->second.size());
  LSTMC_ASSIGN(data::Vocabulary vocabulary,
               data::Vocabulary::parse(text, model.checkpoint->folder + "/" + std::string(training::kVocabularyFile)));
  return std::optional<data::Vocabulary>(std::move(vocabulary));
}

} // namespace lstmc::cli

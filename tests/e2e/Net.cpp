#include "tests/e2e/Net.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/runtime/GpuDevice.h"
#include "backends/trap/runtime/Shuffle.h"
#include "backends/trap/runtime/Trap.h"
#include "cmake/SourceFolder.h"
#include "executor/base/Hash.h"
#include "executor/base/Philox.h"
#include "executor/session/RemoteDevice.h"
#include "frontend/symbol/Module.h"
#include "frontend/symbol/Render.h"
#include "ir/exec/Exec.h"
#include "ir/sym/SymDialect.h"
#include "passes/planning/Layouts.h"

namespace lstmc::e2e {

namespace {

template <typename T> T check(Checked<T> made) {
  if (!made.ok())
    throw std::runtime_error(symbol::render(made.diagnostics()));
  return std::move(*made);
}
template <typename T> T check(Result<T> made) {
  if (!made.ok())
    throw std::runtime_error(made.error().text());
  return std::move(*made);
}
void check(const Status &status) {
  if (!status.ok())
    throw std::runtime_error(status.error().text());
}

template <cpu::Level L> KernelFunction kernelAt(KernelId id, std::span<const Tensor> operands) {
  return cpu::kernelTable(L).find(id, operands);
}

double elementFor(const std::string &name, DType dtype, double u, int64_t classes, int64_t steps) {
  if (name == "length")
    return std::floor(u * double(steps + 1));
  return isFloat(dtype) ? 2 * u - 1 : std::floor(u * double(classes));
}

void fillIfZero(const Tensor &parameter) {
  if (parameter.dtype != DType::F32)
    return;
  float *begin = parameter.as<float>(), *end = begin + parameter.elements();
  if (std::all_of(begin, end, [](float x) { return x == 0; }))
    for (float *x = begin; x < end; ++x)
      *x = float(randomUniform(11, uint64_t(x - begin), 0, 0) - 0.5);
}

} // namespace

passes::Compiled compileNet(const Recipe &recipe) {
  lnet::LoadOptions options = recipe.load;
  if (recipe.steps)
    options.settings.push_back({"seq", std::to_string(recipe.steps)});
  std::filesystem::path file = std::filesystem::path(LSTMC_SOURCE_DIR) / recipe.file;
  symbol::Network net = check(lnet::load(file, options));
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*net.graph);
  return check(planning::compile(*module, recipe.compile));
}

passes::Compiled compileSym(const std::string &text, const passes::CompileOptions &options) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, sym::SymDialect, exec::ExecDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    throw std::runtime_error("the test's text does not parse:\n" + text);
  return check(planning::compile(*module, options));
}

KernelChooser kernelsOf(cpu::Level level) {
  switch (level) {
  case cpu::Level::Scalar:
    return kernelAt<cpu::Level::Scalar>;
  case cpu::Level::Avx2:
    return kernelAt<cpu::Level::Avx2>;
  case cpu::Level::Avx512:
    break;
  }
  return kernelAt<cpu::Level::Avx512>;
}

using OwnedDevices = std::vector<std::unique_ptr<Device>>;

static OwnedDevices devicesFor(const package::PackageData &data, int threads,
                               KernelChooser kernels) {
  OwnedDevices devices;
  for (const package::Device &device : data.devices)
    devices.push_back(check(makeHostDevice(device.name, kernels, threads)));
  return devices;
}

static std::unique_ptr<Session> openOn(OwnedDevices devices, const package::PackageData &data,
                                       const SessionOptions &options = {}) {
  package::Package::Pointer package =
      check(package::Package::open(package::serialize(data), "test.lstmc"));
  std::unique_ptr<Session> session = check(Session::create(package, std::move(devices), options));
  check(session->initialise(1));
  for (const package::Parameter &parameter : data.parameters)
    fillIfZero(check(session->parameter(parameter.name)));
  session->parametersChanged();
  return session;
}

std::unique_ptr<Session> openSession(const package::PackageData &data, int threads,
                                     KernelChooser kernels) {
  return openOn(devicesFor(data, threads, kernels), data);
}

std::unique_ptr<Session> openAsRank(const package::PackageData &data, int threads,
                                    std::shared_ptr<Peers> job) {
  OwnedDevices devices = devicesFor(data, threads, kernelsOf(cpu::machineLevel()));
  for (size_t i = 0; i < devices.size(); ++i)
    if (job->rankOf(i, devices.size()) != job->rank())
      devices[i] = session::makeRemoteDevice(devices[i]->name());
  SessionOptions options;
  options.peers = std::move(job);
  return openOn(std::move(devices), data, options);
}

std::unique_ptr<Session> openUnseen(const package::PackageData &data) {
  OwnedDevices devices = devicesFor(data, 1, kernelsOf(cpu::machineLevel()));
  for (std::unique_ptr<Device> &device : devices)
    device = trap::makeTrapDevice(std::move(device));
  return openOn(std::move(devices), data);
}

std::unique_ptr<Session> openShuffled(const package::PackageData &data, uint64_t seed) {
  OwnedDevices devices = devicesFor(data, 1, kernelsOf(cpu::machineLevel()));
  for (std::unique_ptr<Device> &device : devices)
    device = trap::makeShuffleDevice(std::move(device), seed++);
  return openOn(std::move(devices), data);
}

/// On the emulated card of that number.
static std::unique_ptr<Device> emulated(const std::string &name, size_t card,
                                        const cuda::TextCompiler *compiler,
                                        std::optional<bool> tiles) {
  return check(cuda::makeGpuDevice(name, cuda::emulatedDriver(),
                                   {.card = int(card),
                                    .images = cuda::emulatedImages(),
                                    .onHost = kernelsOf(cpu::machineLevel()),
                                    .compiler = compiler,
                                    .tiles = tiles}));
}

std::unique_ptr<Session> openEmulated(const package::PackageData &data, uint64_t seed,
                                      WrapDevice wrap, const cuda::TextCompiler *compiler,
                                      const SessionOptions &options) {
  cuda::seedEmulatedDriver(seed);
  OwnedDevices devices;
  for (const package::Device &device : data.devices) {
    devices.push_back(emulated(device.name, devices.size(), compiler, std::nullopt));
    if (wrap)
      devices.back() = wrap(std::move(devices.back()));
  }
  return openOn(std::move(devices), data, options);
}

std::unique_ptr<Session> openNamed(const package::PackageData &data, uint64_t seed,
                                   std::optional<bool> tiles) {
  cuda::seedEmulatedDriver(seed);
  OwnedDevices devices;
  for (const package::Device &device : data.devices)
    devices.push_back(device.name.starts_with("emu:")
                          ? emulated(device.name, devices.size(), nullptr, tiles)
                          : check(makeHostDevice(device.name, kernelsOf(cpu::machineLevel()), 1)));
  return openOn(std::move(devices), data);
}

void feed(Session &session, std::string_view entry, int64_t update, int64_t classes,
          int64_t steps) {
  const package::PackageData &data = session.package().data();
  for (const package::Binding &binding : data.entries[*session.package().findEntry(entry)].inputs) {
    if (binding.role == "scalar")
      continue;
    Tensor to = check(session.input(entry, binding.name));
    uint32_t salt = 0;
    for (char letter : binding.name)
      salt = salt * 31 + uint8_t(letter);
    for (int64_t i = 0; i < to.elements(); ++i) {
      double value =
          elementFor(binding.name, to.dtype, randomUniform(7, uint64_t(i), salt, uint32_t(update)),
                     classes, steps);
      if (to.dtype == DType::F32)
        to.as<float>()[i] = float(value);
      else if (to.dtype == DType::F64)
        to.as<double>()[i] = value;
      else if (to.dtype == DType::I32)
        to.as<int32_t>()[i] = int32_t(value);
      else
        throw std::runtime_error("no values for input " + binding.name);
    }
  }
}

std::vector<Model> models() {
  Model characters{
      .name = "characters", .recipe = {.file = "samples/char_lm.lnet", .steps = 9}, .classes = 21};
  characters.recipe.load.settings = {{"vocab", "21"}, {"hidden", "37"}, {"batch", "10"}};
  characters.recipe.compile.optimizer = {.name = "adam", .clipGradientNorm = 0.5};
  characters.recipe.compile.carry = {"lstm*"};

  Model words{.name = "words",
              .recipe = {.file = "tests/e2e/nets/words.lnet", .steps = 11},
              .classes = 29,
              .learningRate = 0.5};
  words.recipe.compile.optimizer = {
      .name = "sgd", .keys = {{"momentum", 0.9}}, .wd = 1e-3, .clipGradientNorm = 0.2};
  words.recipe.compile.carry = {"lstm*"};

  Model lengths{.name = "lengths", .recipe = {.file = "samples/forecast.lnet", .steps = 7}};
  lengths.recipe.load.settings = {{"hidden", "24"}, {"batch", "13"}};
  lengths.recipe.compile.optimizer = {.name = "adam", .wd = 1e-3};
  lengths.stages = 3;

  Model directions{.name = "directions",
                   .recipe = {.file = "tests/e2e/nets/directions.lnet", .steps = 6},
                   .classes = 5};
  directions.recipe.compile.optimizer = {
      .name = "sgd", .keys = {{"momentum", 0.5}}, .clipGradient = 0.05};

  Model classes{.name = "classes",
                .recipe = {.file = "tests/e2e/nets/classes.lnet"},
                .classes = 6,
                .stages = 3};
  classes.recipe.compile.optimizer = {
      .name = "sgd", .keys = {{"momentum", 0.9}}, .clipGradientNorm = 1};

  Model rows{.name = "rows",
             .recipe = {.file = "tests/e2e/nets/rows.lnet"},
             .learningRate = 0.05,
             .stages = 1};
  rows.recipe.compile.optimizer = {.name = "sgd", .keys = {{"momentum", 0.9}}};

  Model mixed{.name = "mixed",
              .recipe = {.file = "tests/e2e/nets/mixed.lnet"},
              .classes = 4,
              .learningRate = 0.05,
              .stages = 2};
  mixed.recipe.compile.optimizer = {.name = "sgd", .keys = {{"momentum", 0.9}}};
  return {characters, words, lengths, directions, classes, rows, mixed};
}

std::vector<Model> modelsOf(const std::string &folder) {
  std::vector<Model> models;
  std::filesystem::path path = std::filesystem::path(LSTMC_SOURCE_DIR) / folder;
  for (const auto &entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() != ".lnet")
      continue;
    Model model{.name = entry.path().stem(),
                .recipe = {.file = std::filesystem::absolute(entry.path())},
                .classes = 5,
                .stages = 2};
    symbol::Network net = check(lnet::load(model.recipe.file));
    for (const lnet::SettingInForce &setting : net.settings)
      if (const int64_t *extent = std::get_if<int64_t>(&setting.value);
          extent && setting.isDim && setting.name == "seq")
        model.recipe.steps = *extent;
    model.recipe.compile.optimizer = {.name = "adam", .clipGradientNorm = 1};
    models.push_back(std::move(model));
  }
  std::sort(models.begin(), models.end(),
            [](const Model &a, const Model &b) { return a.name < b.name; });
  return models;
}

uint64_t train(Session &session, const Model &model, int64_t first, int64_t count, int64_t *ahead) {
  session.setScalar("learning_rate", model.learningRate);
  session.setScalar("seed", int64_t(3));
  const package::PackageData &data = session.package().data();
  std::vector<uint64_t> hashes;
  int64_t filled = first - 1;
  for (int64_t update = first; update < first + count; ++update) {
    auto fill = [&](int64_t next) {
      feed(session, "step", next, model.classes, model.recipe.steps);
      filled = next;
    };
    if (filled < update)
      fill(update);
    session.setScalar("update", update);
    const std::function<bool()> fillNext = [&] {
      fill(update + 1);
      ++*ahead;
      return true;
    };
    check(ahead ? session.run("step", fillNext) : session.run("step"));
    for (const package::Binding &output :
         data.entries[*session.package().findEntry("step")].outputs) {
      Tensor value = check(session.output("step", output.name));
      hashes.push_back(hashBytes(value.data, size_t(value.elements()) * dtypeBytes(value.dtype)));
    }
  }
  hashes.push_back(session.weightsHash());
  return combineHashes(hashes);
}

} // namespace lstmc::e2e

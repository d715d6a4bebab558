#include <algorithm>

#include "backends/cuda/runtime/GpuDeviceImpl.h"
#include "backends/cuda/text/FusedText.h"
#include "backends/cuda/text/ImageCache.h"
#include "executor/abi/Packing.h"

namespace lstmc::cuda {

/// A kernel has one limit for all its launches, so it only grows.
DriverResult GpuDevice::allowShared(DriverFunction function, int64_t bytes) {
  int64_t &most = shared_[function];
  if (bytes <= most)
    return 0;
  most = bytes;
  return driver_.setAttribute(function, kMostSharedBytes, int(bytes));
}

/// Without an image the programs are interpreted, to the same bits.
Status GpuDevice::compile(std::span<const FusedProgram> programs) {
  if (!options_.compiler || programs.empty())
    return {};
  enter();
  int major = 0, minor = 0;
  DriverResult error = driver_.deviceAttribute(&major, kCapabilityMajor, options_.card);
  if (!error)
    error = driver_.deviceAttribute(&minor, kCapabilityMinor, options_.card);
  if (error)
    return refused(ErrorCode::E0501, "its compute capability", error);
  const Result<Bytes> image = imageOf(*options_.compiler, fusedText(programs), major * 10 + minor);
  if (!image.ok()) {
    interpreted(image.error().message);
    return {};
  }
  DriverModule module = nullptr;
  if ((error = driver_.loadModule(&module, image->data()))) {
    interpreted("the driver refuses the image: " + driver_.textOf(error));
    return {};
  }
  programs_.push_back(module);
  for (size_t i = 0; i < programs.size(); ++i)
    if (DriverFunction function;
        driver_.function(&function, module, fusedKernelName(i).c_str()) == 0)
      compiled_[&programs[i]] = function;
  return {};
}

/// A compiler's log may have many lines; the first says what is wrong.
void GpuDevice::interpreted(const std::string &why) {
  if (!noticed_)
    notice_ = fail(ErrorCode::E0503, "fused programs are interpreted, which takes longer: {}",
                   why.substr(0, why.find('\n')));
  noticed_ = true;
}

Result<std::unique_ptr<PreparedProgram>> GpuDevice::prepare(std::vector<LaunchSpec> specs) {
  enter();
  auto program = std::make_unique<GpuProgram>(driver_, context_);
  std::vector<ReadyLaunch> ready(specs.size());
  for (size_t i = 0; i < specs.size(); ++i)
    LSTMC_TRY(prepareOne(specs[i], ready[i]));
  program->take(std::move(ready));
  if (DriverResult error = findPlace(*program))
    return refused(ErrorCode::E0901, "tables of launches", error);
  return std::unique_ptr<PreparedProgram>(std::move(program));
}

/// Of its tables: in the arena, else besides.
DriverResult GpuDevice::findPlace(GpuProgram &program) {
  const uint64_t bytes = program.tableBytes();
  if (bytes == 0)
    return 0;
  if (bytes <= tableBytes_) {
    program.setTables(arena_ + tablesAt_);
    const auto taken = std::min(tableBytes_, uint64_t(roundUp(int64_t(bytes), kAlignment)));
    tablesAt_ += taken;
    tableBytes_ -= taken;
    return 0;
  }
  DeviceAddress address = 0;
  const DriverResult error = driver_.allocate(&address, bytes);
  if (!error)
    program.setTables(address, besides_);
  return error;
}

/// Only the module that has it is asked: tools that watch the driver report what it refuses.
DriverResult GpuDevice::findFunction(const std::string &name, DriverFunction &function) const {
  const auto module = modules_.find(fileOfKernel(name));
  return module == modules_.end() ? kNotFound
                                  : driver_.function(&function, module->second, name.c_str());
}

/// That of the program, if it was compiled, else that of the kernel's name.
DriverResult GpuDevice::findFunction(const LaunchSpec &spec, const GpuLaunch &kernel,
                                     DriverFunction &function) const {
  if (auto found = compiled_.find(spec.program); found != compiled_.end()) {
    function = found->second;
    return 0;
  }
  return findFunction(std::string(kernel.kernel), function);
}

std::string GpuDevice::cardName() const {
  char name[256] = {};
  driver_.deviceName(name, int(sizeof(name)) - 1, options_.card);
  return name;
}

/// The library that a rule of --fast names.
template <typename Library>
static Result<const Library *> libraryOf(Result<const Library *> (*load)(),
                                         const std::string &device, std::string_view rule) {
  if (!load)
    return fail(ErrorCode::E0503, "{}: this device has no library for --fast {}", device, rule);
  Result<const Library *> library = load();
  if (!library.ok())
    return fail(library.error().code, "{}: --fast {}: {}", device, rule, library.error().message);
  return library;
}

Status GpuDevice::bindProduct(const LibraryProduct &product, KernelStep &step) {
  if (!products_) {
    LSTMC_ASSIGN(const CublasLt *library, libraryOf(options_.cublasLt, name_, "cublaslt"));
    LSTMC_ASSIGN(products_, LibraryProducts::create(*library, cardName()));
  }
  LSTMC_ASSIGN(step.call, products_->bind(product));
  return {};
}

/// No kernel of the launch uses the workspace of its library.
static void leaveOut(const void *workspace, std::vector<MemoryUse> &uses) {
  const auto begin = DeviceAddress(reinterpret_cast<uintptr_t>(workspace));
  for (MemoryUse &use : uses)
    if (use.begin <= begin && begin < use.begin + use.bytes)
      use.bytes = begin - use.begin;
}

/// A recurrent layer, unless our own kernels carry it out: then `ready` has no kernels.
Status GpuDevice::bindLayer(const LaunchSpec &spec, ReadyLaunch &ready) {
  if (spec.kernel != KernelId::RnnForward ||
      spec.operands[RnnForwardOperand::y].dtype != DType::F32)
    return {};
  if (!layers_) {
    LSTMC_ASSIGN(const Cudnn *library, libraryOf(options_.cudnn, name_, "cudnn"));
    LSTMC_ASSIGN(layers_, LibraryLayers::create(*library, cardName(), shape_.multiprocessors));
  }
  const LaunchArgs args = {spec.operands, spec.ints, spec.floats, spec.program};
  for (LayerSteps &steps : layers_->bind(RnnForwardLaunch(args))) {
    ReadyLaunch way;
    bool fits = true; // copies need no room
    LSTMC_TRY(prepareKernels(spec, std::move(steps.before), way, fits));
    way.kernels.emplace_back().call = std::move(steps.call);
    LSTMC_TRY(prepareKernels(spec, std::move(steps.after), way, fits));
    leaveOut(steps.workspace, ready.uses);
    (ready.kernels.empty() ? ready.kernels : ready.instead.emplace_back()) = std::move(way.kernels);
  }
  return {};
}

Status GpuDevice::prepareOne(const LaunchSpec &spec, ReadyLaunch &ready) {
  ready.label = spec.label;
  for (size_t i = 0; i < spec.operands.size(); ++i)
    if (spec.operands[i] && spec.operands[i].elements() > 0) {
      auto [begin, end] = bytesOf(spec.operands[i]);
      ready.uses.push_back({begin, end - begin, writesOperand(spec, i), operandName(spec, i)});
    }
  if (spec.fast.cudnn) {
    LSTMC_TRY(bindLayer(spec, ready));
    if (!ready.kernels.empty())
      return {};
  }
  GpuShape shape = shape_;
  shape.fast = spec.fast;
  // A GPU that is a part of one may take no cluster as large as others of its kind.
  for (;; shape.cluster /= 2) {
    auto kernels =
        gpuLaunches(spec.kernel, {spec.operands, spec.ints, spec.floats, spec.program}, shape);
    if (!kernels)
      break;
    bool fits = true;
    ready.kernels.clear();
    LSTMC_TRY(prepareKernels(spec, std::move(*kernels), ready, fits));
    if (fits)
      return {};
    if (shape.cluster == 1)
      return fail(ErrorCode::E0402, "{}: a block of \"{}\" does not fit on the GPU", name_,
                  kernelRecord(spec.kernel).name);
  }
  KernelFunction function = options_.onHost(spec.kernel, spec.operands);
  if (!function)
    return fail(ErrorCode::E0402, "{} has no kernel \"{}\" for these types", name_,
                kernelRecord(spec.kernel).name);
  ready.onHost = std::make_unique<HostCall>(function, spec);
  return {};
}

/// Adds to those of `ready`. `fits`: whether the GPU has room for a block, or a cluster, of each.
Status GpuDevice::prepareKernels(const LaunchSpec &spec, std::vector<GpuLaunch> kernels,
                                 ReadyLaunch &ready, bool &fits) {
  for (GpuLaunch &kernel : kernels) {
    if (kernel.blocks == 0)
      continue;
    KernelStep &step = ready.kernels.emplace_back();
    if (kernel.library) {
      LSTMC_TRY(bindProduct(*kernel.library, step));
      leaveOut(kernel.library->workspace, ready.uses);
      continue;
    }
    const std::string symbol(kernel.kernel);
    DriverResult error = findFunction(spec, kernel, step.function);
    if (!error)
      error = allowShared(step.function, kernel.sharedBytes);
    if (!error && kernel.cluster > kPortableCluster)
      error = driver_.setAttribute(step.function, kLargeClusters, 1);
    LaunchAttribute attribute;
    const LaunchConfig config = configOf(kernel, attribute);
    int most = 0;
    if (!error)
      error = kernel.cluster > 1 ? driver_.mostClusters(&most, step.function, &config)
                                 : driver_.mostBlocks(&most, step.function, kernel.threads,
                                                      size_t(kernel.sharedBytes));
    if (error == kInvalidClusterSize) // as a driver may say in place of 0
      error = most = 0;
    if (error)
      return refused(ErrorCode::E0402, symbol, error);
    fits = fits && most > 0;
    step.launch = std::move(kernel);
  }
  return {};
}

} // namespace lstmc::cuda

#include "backends/cuda/runtime/GpuDevice.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <utility>

#include "backends/cuda/runtime/BoundLayer.h"
#include "backends/cuda/runtime/BoundProduct.h"
#include "backends/cuda/runtime/GpuProgram.h"
#include "backends/cuda/runtime/NcclChannel.h"
#include "backends/cuda/runtime/Shape.h"
#include "backends/cuda/runtime/Staging.h"
#include "backends/cuda/text/FusedText.h"
#include "backends/cuda/text/ImageCache.h"
#include "executor/abi/Packing.h"
#include "executor/device/GraphSharer.h"
#include "executor/device/HostPinner.h"
#include "executor/device/TableKeeper.h"

namespace lstmc::cuda {

namespace {

/// What the driver copies by way of memory of its own, at no cost to speak of.
constexpr size_t kLeastPinned = 64 << 10;

class GpuDevice final : public Device,
                        public ChannelMaker,
                        public GraphSharer,
                        public HostPinner,
                        public TableKeeper {
public:
  GpuDevice(std::string name, const Driver &driver, GpuOptions options)
      : name_(std::move(name)), driver_(driver), options_(options), streams_(driver),
        staging_(driver) {}
  ~GpuDevice() override;

  Status open();

  const std::string &name() const override { return name_; }
  uint64_t memoryBytes() const override { return memoryBytes_; }
  int threads() const override { return 1; }
  Status allocate(uint64_t bytes) override;
  std::byte *arena() const override {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses of a card are numbers
    return reinterpret_cast<std::byte *>(static_cast<uintptr_t>(arena_));
  }
  /// All that the driver was asked for: memory of a GPU has no pages that are not there.
  uint64_t touchedBytes() const override { return bytes_ + *besides_; }

  Status compile(std::span<const FusedProgram> programs) override;
  std::optional<Error> notice() override { return std::exchange(notice_, std::nullopt); }
  std::vector<std::string> choices() override;
  Result<std::unique_ptr<PreparedProgram>> prepare(std::vector<LaunchSpec> launches) override;
  Status reserve(uint32_t streams, uint32_t events) override;
  void launch(uint32_t stream, PreparedProgram &program, size_t first, size_t last,
              LaunchInterval *times) override;
  /// The range of a launch that is in a graph would lie where the graph was made, so there are none
  /// while a profiler listens.
  bool sharesGraphs(const Device &other) const override;
  bool mayBeShared(const PreparedProgram &program) const override;
  void runSharedGraph(std::span<const GraphShare> all, size_t number,
                      const std::function<void()> &give) override;
  void waitFor(uint32_t stream, const Device &other, uint32_t event) override {
    enter();
    check(streams_.waitFor(stream, static_cast<const GpuDevice &>(other).streams_, event));
  }
  bool keepsGraphs() const override { return !options_.profiler && !waits_; }
  bool wantsLabels() const override { return options_.profiler || waits_; }
  void runGraph(PreparedProgram &program, size_t graph, const std::function<void()> &give) override;
  void record(uint32_t stream, uint32_t event) override {
    enter();
    check(streams_.record(stream, event));
  }
  void wait(uint32_t stream, uint32_t event) override {
    enter();
    check(streams_.wait(stream, event));
  }
  void synchronize(uint32_t stream) override {
    enter();
    check(staging_.finish());
    check(streams_.synchronize(stream));
  }
  void finish() override {
    enter();
    check(staging_.finish());
    check(streams_.finish());
  }

  uint64_t launchesBegun() const override { return begun_.load(std::memory_order_relaxed); }
  void stop(bool stopped) override { stopped_.store(stopped); }

  bool hostVisible() const override { return false; }
  void copyIn(uint64_t offset, std::span<const std::byte> from) override;
  void copyOut(uint64_t offset, std::span<std::byte> to) const override;
  void clear(uint64_t offset, uint64_t bytes) override;
  bool reaches(const Device &other) const override;

  bool hasChannels() const override { return options_.nccl; }
  Result<ChannelId> newChannel() override { return newNcclChannel(*options_.nccl); }
  Result<std::unique_ptr<Channel>> openChannel(const ChannelId &id, bool sends) override {
    return openNcclChannel(name_, driver_, *options_.nccl, context_, id, sends);
  }

  HostPin pin(std::span<std::byte> bytes) override;

  void keepTables(uint64_t offset, uint64_t bytes) override {
    tablesAt_ = offset;
    tableBytes_ = bytes;
  }
  void placeAgain(PreparedProgram &program) override {
    static_cast<GpuProgram &>(program).loseTables();
  }

private:
  void enter() const { check(driver_.setContext(context_)); }
  void check(DriverResult error) const {
    if (error)
      throw std::runtime_error(driver_.textOf(error));
  }
  Error refused(ErrorCode code, std::string_view what, DriverResult error) const {
    return fail(code, "{}: {}: {}", name_, what, driver_.textOf(error));
  }
  Status prepareOne(const LaunchSpec &spec, ReadyLaunch &ready);
  Status prepareKernels(const LaunchSpec &spec, std::vector<GpuLaunch> kernels, ReadyLaunch &ready,
                        bool &fits);
  DriverResult findPlace(GpuProgram &program);
  void interpreted(const std::string &why);
  std::string cardName() const;
  Status bindProduct(const LibraryProduct &product, KernelStep &step);
  Status bindLayer(const LaunchSpec &spec, ReadyLaunch &ready);
  DriverResult findFunction(const std::string &name, DriverFunction &function) const;
  DriverResult findFunction(const LaunchSpec &spec, const GpuLaunch &kernel,
                            DriverFunction &function) const;
  void captureShared(KeptGraph &graph, const std::vector<GpuDevice *> &devices,
                     const std::function<void()> &give);
  bool makeGraph(const GpuProgram &program, KeptGraph &graph, const std::function<void()> &give);
  void give(ReadyLaunch &launch, DriverStream stream);
  void giveKernels(const ReadyLaunch &launch, DriverStream stream) const;
  void waitFor(const ReadyLaunch &ready, std::string_view what, DriverStream stream) const;
  DriverResult allowShared(DriverFunction function, int64_t bytes);
  void release();

  std::string name_;
  const Driver &driver_;
  GpuOptions options_;
  const bool waits_ = std::getenv("LSTMC_GPU_WAIT") != nullptr; ///< for each kernel
  DriverContext context_ = nullptr;
  /// Of the context: what is pinned may be let go as long as somebody holds it.
  std::shared_ptr<const DriverContext> alive_;
  std::map<std::string_view, DriverModule> modules_; ///< of the images, by file
  std::vector<DriverModule> programs_;               ///< fused programs, compiled
  std::map<const FusedProgram *, DriverFunction> compiled_;
  std::optional<Error> notice_;
  bool noticed_ = false; ///< whether there was a notice_
  std::vector<std::string> choices_;
  bool toldOfGraphs_ = false;
  GpuShape shape_;
  std::map<DriverFunction, int64_t> shared_; ///< bytes that kernels may ask for
  uint64_t memoryBytes_ = 0;
  DeviceAddress arena_ = 0;
  uint64_t bytes_ = 0;
  uint64_t tablesAt_ = 0, tableBytes_ = 0; ///< the place for tables that is left in the arena
  /// Bytes of tables that found no place there.
  std::shared_ptr<uint64_t> besides_ = std::make_shared<uint64_t>(0);
  std::unique_ptr<LibraryProducts> products_; ///< from the first product of a library on
  std::unique_ptr<LibraryLayers> layers_;     ///< from the first layer that one may carry out on
  DriverStream copies_ = nullptr;             ///< for what the host copies, beside a run too
  Streams streams_;
  Staging staging_; ///< on copies_
  bool capturing_ = false;
  std::atomic<uint64_t> begun_{0};
  std::atomic<bool> stopped_{false};
};

GpuDevice::~GpuDevice() {
  if (!context_)
    return;
  alive_.reset();
  driver_.setContext(context_);
  products_.reset();
  layers_.reset();
  staging_.close();
  streams_.destroy();
  if (copies_)
    driver_.destroyStream(copies_);
  release();
  for (const auto &[file, module] : modules_)
    driver_.unloadModule(module);
  for (DriverModule module : programs_)
    driver_.unloadModule(module);
  driver_.releaseContext(options_.card);
}

Status GpuDevice::open() {
  int cards = 0;
  if (DriverResult error = driver_.deviceCount(&cards))
    return refused(ErrorCode::E0501, "the GPUs cannot be counted", error);
  if (options_.card >= cards)
    return fail(ErrorCode::E0501, "{}: found {} GPU{}, numbered from 0", name_, cards,
                cards == 1 ? "" : "s");
  size_t bytes = 0;
  DriverResult error = driver_.deviceMemory(&bytes, options_.card);
  if (!error)
    error = driver_.retainContext(&context_, options_.card);
  if (!error)
    error = driver_.setContext(context_);
  if (!error)
    error = findShape(driver_, options_.card, shape_);
  shape_.asked = options_.way;
  shape_.tiles = options_.tiles;
  for (const KernelImage &image : options_.images)
    if (DriverModule module = nullptr;
        !error && !(error = driver_.loadModule(&module, image.bytes)))
      modules_[image.file] = module;
  if (!error)
    error = driver_.createStream(&copies_, kStreamNonBlocking);
  if (error)
    return refused(ErrorCode::E0501, "the GPU cannot be used", error);
  staging_.open(copies_);
  memoryBytes_ = bytes;
  alive_ = std::make_shared<const DriverContext>(context_);
  return reserve(1, 0);
}

/// A kernel has one limit for all its launches, so it only grows.
DriverResult GpuDevice::allowShared(DriverFunction function, int64_t bytes) {
  int64_t &most = shared_[function];
  if (bytes <= most)
    return 0;
  most = bytes;
  return driver_.setAttribute(function, kMostSharedBytes, int(bytes));
}

void GpuDevice::release() {
  staging_.finish();
  if (arena_)
    driver_.free(arena_);
  arena_ = 0;
  bytes_ = 0;
}

Status GpuDevice::allocate(uint64_t bytes) {
  enter();
  release();
  // A device's views have addresses even if it has no bytes.
  const uint64_t asked = std::max<uint64_t>(bytes, kAlignment);
  DriverResult error = driver_.allocate(&arena_, asked);
  if (!error)
    error = driver_.setBytes(arena_, 0, asked, copies_);
  if (!error)
    error = driver_.synchronize(copies_);
  if (error)
    return refused(ErrorCode::E0901, fmt::format("an arena of {} bytes", bytes), error);
  bytes_ = bytes;
  return {};
}

Status GpuDevice::reserve(uint32_t streams, uint32_t events) {
  enter();
  const DriverResult error = streams_.reserve(streams, events);
  return error ? Status(refused(ErrorCode::E0501, "streams and events", error)) : Status();
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

std::vector<std::string> GpuDevice::choices() {
  std::vector<std::string> all = std::exchange(choices_, {});
  if (products_)
    std::ranges::move(products_->takeChoices(), std::back_inserter(all));
  if (layers_)
    std::ranges::move(layers_->takeChoices(), std::back_inserter(all));
  return all;
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

Status GpuDevice::bindProduct(const LibraryProduct &product, KernelStep &step) {
  if (!products_) {
    if (!options_.cublasLt)
      return fail(ErrorCode::E0503, "{}: this device has no cuBLASLt", name_);
    const Result<const CublasLt *> library = options_.cublasLt();
    if (!library.ok())
      return fail(library.error().code, "{}: --fast cublaslt: {}", name_, library.error().message);
    LSTMC_ASSIGN(products_, LibraryProducts::create(**library, cardName()));
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
    if (!options_.cudnn)
      return fail(ErrorCode::E0503, "{}: this device has no cuDNN", name_);
    const Result<const Cudnn *> library = options_.cudnn();
    if (!library.ok())
      return fail(library.error().code, "{}: --fast cudnn: {}", name_, library.error().message);
    LSTMC_ASSIGN(layers_, LibraryLayers::create(**library, cardName(), shape_.multiprocessors));
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

/// As the driver takes it; a launch in a cluster, or with all blocks at the same time, has an
/// attribute.
static LaunchConfig configOf(const GpuLaunch &launch, LaunchAttribute &attribute) {
  LaunchConfig config = {.grid = {unsigned(launch.blocks), 1, 1},
                         .block = {unsigned(launch.threads), 1, 1},
                         .sharedBytes = unsigned(launch.sharedBytes)};
  attribute = launch.cooperative
                  ? LaunchAttribute{LaunchAttribute::Cooperative, 0, {1}}
                  : LaunchAttribute{LaunchAttribute::Cluster, 0, {unsigned(launch.cluster), 1, 1}};
  if (launch.cluster > 1 || launch.cooperative) { // never both
    config.attributes = &attribute;
    config.attributeCount = 1;
  }
  return config;
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

void GpuDevice::launch(uint32_t stream, PreparedProgram &program, size_t first, size_t last,
                       LaunchInterval *times) {
  enter();
  if (!capturing_) {
    check(static_cast<GpuProgram &>(program).placeTables(copies_));
    check(staging_.orderBefore(streams_));
  }
  auto &launches = static_cast<GpuProgram &>(program).launches;
  DriverStream handle = nullptr;
  check(streams_.use(stream, handle));
  for (size_t i = first; i < last; ++i) {
    if (times)
      times[i - first].begin = LaunchInterval::Clock::now();
    begun_.fetch_add(1, std::memory_order_relaxed);
    if (capturing_ || !stopped_.load()) { // a graph has all its launches
      const NvtxRange range(options_.profiler, launches[i].label);
      give(launches[i], handle);
    }
    if (times) {
      check(driver_.synchronize(handle));
      times[i - first].end = LaunchInterval::Clock::now();
    }
  }
}

void GpuDevice::runGraph(PreparedProgram &prepared, size_t number,
                         const std::function<void()> &give) {
  enter();
  auto &program = static_cast<GpuProgram &>(prepared);
  check(program.placeTables(copies_)); // before a capture, which allows none
  check(staging_.orderBefore(streams_));
  KeptGraph &graph = program.graph(number);
  // The host's copies are of pageable memory, which a capture need not allow. Nor need it allow
  // what a library does when it multiplies for the first time: load its own kernels.
  const bool first = program.needsLibrary() && !std::exchange(graph.ran, true);
  if (first || graph.refused || program.needsHost())
    return check(streams_.inPlaceOfGraph(give));
  if (graph.executable)
    begun_.fetch_add(graph.launches, std::memory_order_relaxed);
  else if (!makeGraph(program, graph, give))
    return check(streams_.inPlaceOfGraph(give));
  if (!stopped_.load())
    check(streams_.launch(graph));
}

bool GpuDevice::sharesGraphs(const Device &other) const {
  const auto *gpu = dynamic_cast<const GpuDevice *>(&other);
  return gpu && &gpu->driver_ == &driver_ && keepsGraphs() && gpu->keepsGraphs() &&
         reaches(other) && other.reaches(*this);
}

/// The first of the devices is this one. Counts the launches of all as its own. A graph of several
/// GPUs that the driver does not take is refused for good.
void GpuDevice::captureShared(KeptGraph &graph, const std::vector<GpuDevice *> &devices,
                              const std::function<void()> &give) {
  const auto begun = [&] {
    uint64_t all = 0;
    for (const GpuDevice *device : devices)
      all += device->begun_.load();
    return all;
  };
  const auto setCapturing = [&](bool on) {
    for (GpuDevice *device : devices)
      device->capturing_ = on;
  };
  const uint64_t before = begun();
  graph.guests.clear();
  for (GpuDevice *device : devices)
    if (device != this)
      graph.guests.push_back(&device->streams_);
  enter();
  setCapturing(true);
  try {
    check(streams_.capture(graph, [&] {
      give();
      enter();
    }));
  } catch (const std::runtime_error &error) {
    graph.refused = true;
    if (!std::exchange(toldOfGraphs_, true))
      choices_.push_back(std::string("no graph of several GPUs: ") + error.what());
  }
  setCapturing(false);
  graph.launches = begun() - before;
}

/// Nor does a library, whose first run need not be allowed in a capture.
bool GpuDevice::mayBeShared(const PreparedProgram &program) const {
  const auto &own = static_cast<const GpuProgram &>(program);
  return !own.needsHost() && !own.needsLibrary();
}

void GpuDevice::runSharedGraph(std::span<const GraphShare> all, size_t number,
                               const std::function<void()> &give) {
  const auto deviceOf = [](const GraphShare &share) -> GpuDevice & {
    return static_cast<GpuDevice &>(*share.device);
  };
  for (const GraphShare &share : all) {
    GpuDevice &device = deviceOf(share);
    device.enter();
    check(static_cast<GpuProgram *>(share.program)->placeTables(device.copies_));
    check(device.staging_.orderBefore(device.streams_));
  }
  KeptGraph &graph = static_cast<GpuProgram *>(all.front().program)->graph(number);
  if (graph.executable) {
    begun_.fetch_add(graph.launches, std::memory_order_relaxed);
  } else if (!graph.refused) {
    std::vector<GpuDevice *> devices;
    for (const GraphShare &share : all)
      if (std::ranges::find(devices, &deviceOf(share)) == devices.end())
        devices.push_back(&deviceOf(share));
    captureShared(graph, devices, give);
  }
  if (graph.refused) { // events order it all the same
    give();
    for (const GraphShare &share : all)
      share.device->finish();
    return;
  }
  enter();
  if (!stopped_.load())
    check(streams_.launch(graph));
}

/// False where the driver refuses a program with a library's launches, of which nobody knows what
/// they do in a capture: it then goes without this graph for good.
bool GpuDevice::makeGraph(const GpuProgram &program, KeptGraph &graph,
                          const std::function<void()> &give) {
  const uint64_t before = begun_.load();
  capturing_ = true;
  const std::unique_ptr<bool, void (*)(bool *)> over(&capturing_, [](bool *it) { *it = false; });
  try {
    check(streams_.capture(graph, give));
  } catch (const std::runtime_error &error) {
    if (!program.needsLibrary())
      throw;
    begun_.store(before);
    graph.refused = true;
    if (!std::exchange(toldOfGraphs_, true))
      choices_.push_back(std::string("no graph of a library's launches: ") + error.what());
    return false;
  }
  graph.launches = begun_.load() - before;
  return true;
}

/// What a library refuses at its first run is carried out in the next way, from the beginning: the
/// stream has got nothing but copies.
void GpuDevice::give(ReadyLaunch &ready, DriverStream stream) {
  if (ready.onHost)
    return check(ready.onHost->giveTo(driver_, stream));
  for (bool given = false; !given;) {
    try {
      giveKernels(ready, stream);
      given = true;
    } catch (const LibraryRefusal &refusal) {
      if (ready.instead.empty())
        throw;
      ready.kernels = std::move(ready.instead.front());
      ready.instead.erase(ready.instead.begin());
      for (const KernelStep &step : ready.kernels)
        if (step.call)
          step.call->takeOver(refusal.what());
    }
  }
  ready.instead.clear();
}

void GpuDevice::giveKernels(const ReadyLaunch &ready, DriverStream stream) const {
  for (const KernelStep &step : ready.kernels) {
    if (step.call) {
      step.call->giveTo(stream);
      waitFor(ready, "a library's call", stream);
      continue;
    }
    const GpuLaunch &launch = step.launch;
    if (driver_.expect)
      driver_.expect(ready.uses);
    void *parameters[] = {const_cast<std::byte *>(launch.arguments.data())};
    LaunchAttribute attribute;
    LaunchConfig config = configOf(launch, attribute);
    config.stream = stream;
    check(driver_.launch(&config, step.function, parameters, nullptr));
    waitFor(ready, launch.kernel, stream);
  }
}

/// With LSTMC_GPU_WAIT, so that an error names the kernel that made it.
void GpuDevice::waitFor(const ReadyLaunch &ready, std::string_view what,
                        DriverStream stream) const {
  const DriverResult error = waits_ ? driver_.synchronize(stream) : 0;
  if (error)
    throw std::runtime_error(fmt::format("{} ({}): {}", what, ready.label, driver_.textOf(error)));
}

void GpuDevice::copyIn(uint64_t offset, std::span<const std::byte> from) {
  if (from.empty())
    return;
  enter();
  check(staging_.copyIn(arena_ + offset, from));
}

void GpuDevice::copyOut(uint64_t offset, std::span<std::byte> to) const {
  if (to.empty())
    return;
  enter();
  check(driver_.copyOut(to.data(), arena_ + offset, to.size(), copies_));
  check(driver_.synchronize(copies_));
}

HostPin GpuDevice::pin(std::span<std::byte> bytes) {
  if (bytes.size() < kLeastPinned)
    return nullptr;
  enter();
  if (driver_.pin(bytes.data(), bytes.size(), kPinnedForAll))
    return nullptr;
  std::weak_ptr<const DriverContext> alive = alive_;
  return {bytes.data(), [&driver = driver_, alive](void *memory) {
            const std::shared_ptr<const DriverContext> context = alive.lock();
            if (context && !driver.setContext(*context))
              driver.unpin(memory);
          }};
}

void GpuDevice::clear(uint64_t offset, uint64_t bytes) {
  if (bytes == 0)
    return;
  enter();
  check(driver_.setBytes(arena_ + offset, 0, bytes, copies_));
  check(driver_.synchronize(copies_));
}

/// Cards of one driver that are peers.
bool GpuDevice::reaches(const Device &other) const {
  const auto *peer = dynamic_cast<const GpuDevice *>(&other);
  if (!peer || &peer->driver_ != &driver_)
    return false;
  if (peer->options_.card == options_.card)
    return true;
  int can = 0;
  if (driver_.canAccessPeer(&can, options_.card, peer->options_.card) || !can)
    return false;
  enter();
  const DriverResult error = driver_.enablePeer(peer->context_, 0);
  return error == 0 || error == kPeerAlreadyEnabled;
}

} // namespace

Result<std::unique_ptr<Device>> makeGpuDevice(std::string name, const Driver &driver,
                                              GpuOptions options) {
  auto device = std::make_unique<GpuDevice>(std::move(name), driver, options);
  LSTMC_TRY(device->open());
  return std::unique_ptr<Device>(std::move(device));
}

} // namespace lstmc::cuda

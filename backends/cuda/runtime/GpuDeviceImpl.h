// A GPU as a device, in the files that carry it out: GpuDevice.cpp opens it and reaches its memory,
// GpuPrepare.cpp chooses and binds kernels, GpuRun.cpp gives launches and graphs.
#pragma once

#include <atomic>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <utility>

#include "backends/cuda/model/TableBytes.h"
#include "backends/cuda/runtime/BoundLayer.h"
#include "backends/cuda/runtime/BoundProduct.h"
#include "backends/cuda/runtime/Fetching.h"
#include "backends/cuda/runtime/GpuDevice.h"
#include "backends/cuda/runtime/GpuProgram.h"
#include "backends/cuda/runtime/NcclChannel.h"
#include "backends/cuda/runtime/Staging.h"
#include "executor/device/AsyncCopier.h"
#include "executor/device/GraphSharer.h"
#include "executor/device/HostPinner.h"
#include "executor/device/TableKeeper.h"

namespace lstmc::cuda {

/// Bytes from which a copy goes straight to or from pinned memory of whoever asks for it.
constexpr size_t kLeastPinned = 64 << 10;

class GpuDevice final : public Device,
                        public ChannelMaker,
                        public GraphSharer,
                        public HostPinner,
                        public AsyncCopier,
                        public TableKeeper {
public:
  GpuDevice(std::string name, const Driver &driver, GpuOptions options)
      : name_(std::move(name)), driver_(driver), options_(options), streams_(driver),
        staging_(driver), small_(driver, kLeastPinned), fetching_(driver) {}
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

  void copyAhead(uint64_t offset, std::span<const std::byte> from) override;
  void awaitAhead() override;
  void copyWithin(uint64_t to, uint64_t from, uint64_t bytes) override;
  void copyBack(uint64_t offset, std::span<std::byte> to) override;
  void awaitBack() override;

  bool hasChannels() const override { return options_.nccl; }
  Result<ChannelId> newChannel() override { return newNcclChannel(*options_.nccl); }
  Result<std::unique_ptr<Channel>> openChannel(const ChannelId &id, bool sends) override {
    return openNcclChannel(name_, driver_, *options_.nccl, context_, id, sends);
  }

  HostPin pin(std::span<std::byte> bytes) override;

  uint64_t tableBytes(KernelId kernel, size_t operands, size_t rank, size_t ints,
                      size_t instructions) const override {
    return uint64_t(cuda::tableBytes(kernel, int64_t(operands), int64_t(rank), int64_t(ints),
                                     int64_t(instructions)));
  }
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
  DriverStream ahead_ = nullptr, back_ = nullptr; ///< for copies beside a run, either way
  Streams streams_;
  Staging staging_;   ///< on copies_
  Staging small_;     ///< on ahead_
  Fetching fetching_; ///< on back_
  bool capturing_ = false;
  std::atomic<uint64_t> begun_{0};
  std::atomic<bool> stopped_{false};
};

} // namespace lstmc::cuda

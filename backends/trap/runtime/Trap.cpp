#include "backends/trap/runtime/Trap.h"

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace lstmc::trap {

namespace {

/// The addresses that trap devices hand out, and where the memory really is.
class AddressTable {
public:
  void add(std::byte *begin, size_t bytes, std::byte *memory) {
    std::lock_guard lock(mutex_);
    ranges_[begin] = {bytes, memory};
  }
  void remove(std::byte *begin) {
    std::lock_guard lock(mutex_);
    ranges_.erase(begin);
  }
  /// The real address; an address that belongs to no trap device is one of the host's.
  std::byte *memoryOf(std::byte *address) {
    std::lock_guard lock(mutex_);
    auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin())
      return address;
    const auto &[begin, range] = *std::prev(after);
    const auto offset = size_t(address - begin);
    return offset < range.bytes ? range.memory + offset : address;
  }

private:
  struct Range {
    size_t bytes;
    std::byte *memory;
  };
  std::mutex mutex_;
  std::map<std::byte *, Range> ranges_;
};

AddressTable &addresses() {
  static auto *const table = new AddressTable; // devices may be destroyed after static objects
  return *table;
}

class TrapDevice final : public Device {
public:
  explicit TrapDevice(std::unique_ptr<Device> host) : host_(std::move(host)) {}
  ~TrapDevice() override { release(); }

  const std::string &name() const override { return host_->name(); }
  uint64_t memoryBytes() const override { return host_->memoryBytes(); }
  int threads() const override { return host_->threads(); }

  Status allocate(uint64_t bytes) override;
  std::byte *arena() const override { return begin_; }
  uint64_t touchedBytes() const override { return host_->touchedBytes(); }

  Result<std::unique_ptr<PreparedProgram>> prepare(std::vector<LaunchSpec> launches) override;
  Status reserve(uint32_t streams, uint32_t events) override {
    return host_->reserve(streams, events);
  }
  void launch(uint32_t stream, PreparedProgram &program, size_t first, size_t last,
              LaunchInterval *times) override {
    host_->launch(stream, program, first, last, times);
  }
  void record(uint32_t stream, uint32_t event) override { host_->record(stream, event); }
  void wait(uint32_t stream, uint32_t event) override { host_->wait(stream, event); }
  void synchronize(uint32_t stream) override { host_->synchronize(stream); }
  void finish() override { host_->finish(); }

  uint64_t launchesBegun() const override { return host_->launchesBegun(); }
  void stop(bool stopped) override { host_->stop(stopped); }

  bool hostVisible() const override { return false; }
  void copyIn(uint64_t offset, std::span<const std::byte> from) override {
    host_->copyIn(offset, from);
  }
  void copyOut(uint64_t offset, std::span<std::byte> to) const override {
    host_->copyOut(offset, to);
  }
  void clear(uint64_t offset, uint64_t bytes) override { host_->clear(offset, bytes); }
  bool reaches(const Device &other) const override {
    return dynamic_cast<const TrapDevice *>(&other);
  }

private:
  void release();

  std::unique_ptr<Device> host_;
  std::byte *begin_ = nullptr;
  size_t mapped_ = 0;
};

void TrapDevice::release() {
  if (!begin_)
    return;
  addresses().remove(begin_);
  munmap(begin_, mapped_);
  begin_ = nullptr;
}

Status TrapDevice::allocate(uint64_t bytes) {
  release();
  LSTMC_TRY(host_->allocate(bytes));
  // One page more, for a view without elements that begins at the end of the arena.
  const auto page = uint64_t(sysconf(_SC_PAGESIZE));
  mapped_ = size_t((bytes / page + 2) * page);
  void *range =
      mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED)
    return fail(ErrorCode::E0901, "{}: found no addresses for an arena of {} bytes: {}", name(),
                bytes, std::strerror(errno));
  begin_ = static_cast<std::byte *>(range);
  addresses().add(begin_, mapped_, host_->arena());
  return {};
}

Result<std::unique_ptr<PreparedProgram>> TrapDevice::prepare(std::vector<LaunchSpec> launches) {
  for (LaunchSpec &launch : launches)
    for (Tensor &operand : launch.operands)
      if (operand)
        operand.data = addresses().memoryOf(operand.as<std::byte>());
  return host_->prepare(std::move(launches));
}

} // namespace

std::unique_ptr<Device> makeTrapDevice(std::unique_ptr<Device> host) {
  return std::make_unique<TrapDevice>(std::move(host));
}

} // namespace lstmc::trap

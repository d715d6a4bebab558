#include "executor/session/RemoteDevice.h"

#include <cstring>

#include "executor/base/Arena.h"

namespace lstmc::session {

namespace {

class RemoteProgram final : public PreparedProgram {
public:
  explicit RemoteProgram(size_t size) : size_(size) {}
  size_t size() const override { return size_; }

private:
  size_t size_;
};

class RemoteDevice final : public Device {
public:
  explicit RemoteDevice(std::string name) : name_(std::move(name)) {}

  const std::string &name() const override { return name_; }
  uint64_t memoryBytes() const override { return UINT64_MAX; }
  int threads() const override { return 0; }
  Status allocate(uint64_t bytes) override { return arena_.allocate(bytes, name_); }
  std::byte *arena() const override { return arena_.data(); }
  uint64_t touchedBytes() const override { return 0; }

  Result<std::unique_ptr<PreparedProgram>> prepare(std::vector<LaunchSpec> launches) override {
    return std::unique_ptr<PreparedProgram>(std::make_unique<RemoteProgram>(launches.size()));
  }
  void launch(uint32_t, PreparedProgram &, size_t, size_t, LaunchInterval *) override {}

  uint64_t launchesBegun() const override { return 0; }
  void stop(bool) override {}

  bool hostVisible() const override { return true; }
  void copyIn(uint64_t offset, std::span<const std::byte> from) override {
    std::memcpy(arena_.data() + offset, from.data(), from.size());
  }
  void copyOut(uint64_t offset, std::span<std::byte> to) const override {
    std::memcpy(to.data(), arena_.data() + offset, to.size());
  }
  void clear(uint64_t offset, uint64_t bytes) override {
    std::memset(arena_.data() + offset, 0, bytes);
  }
  bool reaches(const Device &) const override { return false; }

private:
  std::string name_;
  Arena arena_;
};

} // namespace

std::unique_ptr<Device> makeRemoteDevice(std::string name) {
  return std::make_unique<RemoteDevice>(std::move(name));
}

bool isRemote(const Device &device) {
  return dynamic_cast<const RemoteDevice *>(&device) != nullptr;
}

} // namespace lstmc::session

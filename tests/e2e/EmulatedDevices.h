// Devices that tests put around emulated GPUs.
#pragma once

#include "executor/device/AsyncCopier.h"
#include "tests/e2e/Net.h"

namespace lstmc::e2e {

constexpr int64_t kUpdates = 2;

/// A package of the model for `devices` devices of a kind ("cpu:", "emu:").
inline package::PackageData compileFor(Model model, int devices, int64_t streams,
                                       const std::string &kind = "cpu:") {
  model.recipe.compile.devices.clear();
  for (int device = 0; device < devices; ++device)
    model.recipe.compile.devices.push_back(kind + std::to_string(device));
  model.recipe.compile.streams = streams;
  return compileNet(model.recipe).package;
}

/// Passes all calls on.
class PassesOn : public Device, public AsyncCopier {
public:
  explicit PassesOn(std::unique_ptr<Device> device)
      : device_(std::move(device)), copier_(dynamic_cast<AsyncCopier &>(*device_)) {}

  void copyAhead(uint64_t offset, std::span<const std::byte> from) override {
    copier_.copyAhead(offset, from);
  }
  void awaitAhead() override { copier_.awaitAhead(); }
  void copyWithin(uint64_t to, uint64_t from, uint64_t bytes) override {
    copier_.copyWithin(to, from, bytes);
  }
  void copyBack(uint64_t offset, std::span<std::byte> to) override { copier_.copyBack(offset, to); }
  void awaitBack() override { copier_.awaitBack(); }

  bool keepsGraphs() const override { return device_->keepsGraphs(); }
  void runGraph(PreparedProgram &program, size_t number,
                const std::function<void()> &give) override {
    device_->runGraph(program, number, give);
  }

  void wait(uint32_t stream, uint32_t event) override { device_->wait(stream, event); }
  const std::string &name() const override { return device_->name(); }
  uint64_t memoryBytes() const override { return device_->memoryBytes(); }
  int threads() const override { return device_->threads(); }
  Status allocate(uint64_t bytes) override { return device_->allocate(bytes); }
  std::byte *arena() const override { return device_->arena(); }
  uint64_t touchedBytes() const override { return device_->touchedBytes(); }
  Result<std::unique_ptr<PreparedProgram>> prepare(std::vector<LaunchSpec> launches) override {
    return device_->prepare(std::move(launches));
  }
  Status reserve(uint32_t streams, uint32_t events) override {
    return device_->reserve(streams, events);
  }
  void launch(uint32_t stream, PreparedProgram &program, size_t first, size_t last,
              LaunchInterval *times) override {
    device_->launch(stream, program, first, last, times);
  }
  void record(uint32_t stream, uint32_t event) override { device_->record(stream, event); }
  void synchronize(uint32_t stream) override { device_->synchronize(stream); }
  void finish() override { device_->finish(); }
  uint64_t launchesBegun() const override { return device_->launchesBegun(); }
  void stop(bool stopped) override { device_->stop(stopped); }
  bool hostVisible() const override { return device_->hostVisible(); }
  void copyIn(uint64_t offset, std::span<const std::byte> from) override {
    device_->copyIn(offset, from);
  }
  void copyOut(uint64_t offset, std::span<std::byte> to) const override {
    device_->copyOut(offset, to);
  }
  void clear(uint64_t offset, uint64_t bytes) override { device_->clear(offset, bytes); }
  bool reaches(const Device &) const override { return false; }

  Device &inner() const { return *device_; }

private:
  std::unique_ptr<Device> device_;
  AsyncCopier &copier_;
};

} // namespace lstmc::e2e

#include <filesystem>
#include <memory>

#include "executor/c/Guard.h"
#include "executor/c/Handles.h"
#include "executor/session/UpdateScalars.h"
#include "executor/training/Checkpoint.h"

using namespace lstmc;

namespace {

Result<package::Package::Pointer> open(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error))
    return package::Package::open(path);
  LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(path));
  auto attached = found.checkpoint.attachments.find("model.lstmc");
  if (attached == found.checkpoint.attachments.end())
    return failAt({found.checkpoint.folder}, ErrorCode::E0610,
                  "checkpoint: found no model.lstmc, want one");
  return package::Package::open(attached->second, found.checkpoint.folder + "/model.lstmc");
}

lstmc_package *handleOf(package::Package::Pointer opened) {
  auto handle = std::make_unique<lstmc_package>();
  for (const package::Parameter &parameter : opened->data().parameters)
    for (const package::Slot &slot : parameter.slots)
      handle->slots.push_back(parameter.name + "/" + slot.name);
  handle->package = std::move(opened);
  return handle.release();
}

template <typename List> const char *nameAt(const List &list, size_t index) {
  return index < list.size() ? list[index].name.c_str() : nullptr;
}

/// Without what the session computes.
const char *inputAt(const std::vector<package::Binding> &inputs, size_t index) {
  for (const package::Binding &input : inputs)
    if (!input.name.starts_with(session::kOptimizerPrefix) && index-- == 0)
      return input.name.c_str();
  return nullptr;
}

const package::Entry *entryOf(const lstmc_package *package, const char *name) {
  if (!package || !name)
    return nullptr;
  std::optional<size_t> index = package->package->findEntry(name);
  return index ? &package->package->data().entries[*index] : nullptr;
}

} // namespace

extern "C" {

lstmc_status lstmc_package_open(const char *path, lstmc_package **package) {
  if (!path || !package)
    return c::nullArgument();
  *package = nullptr;
  return c::guarded([&]() -> Status {
    LSTMC_ASSIGN(package::Package::Pointer opened, open(path));
    *package = handleOf(std::move(opened));
    return {};
  });
}

lstmc_status lstmc_package_open_memory(const void *bytes, size_t size, lstmc_package **package) {
  if (!bytes || !package)
    return c::nullArgument();
  *package = nullptr;
  return c::guarded([&]() -> Status {
    std::span<const uint8_t> given(static_cast<const uint8_t *>(bytes), size);
    LSTMC_ASSIGN(package::Package::Pointer opened, package::Package::open(given, "memory"));
    *package = handleOf(std::move(opened));
    return {};
  });
}

void lstmc_package_close(lstmc_package *package) { delete package; }

const char *lstmc_package_entry(const lstmc_package *package, size_t index) {
  return package ? nameAt(package->package->data().entries, index) : nullptr;
}

const char *lstmc_package_input(const lstmc_package *package, const char *entry, size_t index) {
  const package::Entry *found = entryOf(package, entry);
  return found ? inputAt(found->inputs, index) : nullptr;
}

const char *lstmc_package_output(const lstmc_package *package, const char *entry, size_t index) {
  const package::Entry *found = entryOf(package, entry);
  return found ? nameAt(found->outputs, index) : nullptr;
}

const char *lstmc_package_state(const lstmc_package *package, size_t index) {
  return package ? nameAt(package->package->data().states, index) : nullptr;
}

const char *lstmc_package_parameter(const lstmc_package *package, size_t index) {
  return package ? nameAt(package->package->data().parameters, index) : nullptr;
}

const char *lstmc_package_slot(const lstmc_package *package, size_t index) {
  return package && index < package->slots.size() ? package->slots[index].c_str() : nullptr;
}

uint64_t lstmc_package_planned_bytes(const lstmc_package *package) {
  uint64_t bytes = 0;
  if (package)
    for (const package::Device &device : package->package->data().devices)
      bytes += device.arenaBytes;
  return bytes;
}
}

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>

#include "executor/c/CallerStruct.h"
#include "executor/c/Guard.h"
#include "executor/c/Handles.h"
#include "executor/c/Options.h"
#include "executor/session/UnknownName.h"
#include "executor/training/Checkpoint.h"

using namespace lstmc;

namespace {

/// A file's, or those of a checkpoint.
Result<lstmc_package> open(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    LSTMC_ASSIGN(package::Package::Pointer opened, package::Package::open(path));
    return c::handleOf(std::move(opened));
  }
  LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(path));
  const auto &attachments = found.checkpoint.attachments;
  auto attached = [&](std::string_view name) {
    return package::Package::open(attachments.find(std::string(name))->second,
                                  found.checkpoint.folder + "/" + std::string(name));
  };
  if (!attachments.contains(std::string(training::kPackageFile)))
    return failAt({found.checkpoint.folder}, ErrorCode::E0610, "checkpoint: found no {}, want one",
                  training::kPackageFile);
  LSTMC_ASSIGN(package::Package::Pointer opened, attached(training::kPackageFile));
  lstmc_package handle = c::handleOf(std::move(opened));
  if (attachments.contains(std::string(training::kSamplePackageFile))) {
    LSTMC_ASSIGN(package::Package::Pointer sample, attached(training::kSamplePackageFile));
    handle.others.push_back(std::move(sample));
  }
  return handle;
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

const package::Binding *findBinding(const std::vector<package::Binding> &bindings,
                                    std::string_view name) {
  const auto found = std::ranges::find(bindings, name, &package::Binding::name);
  return found == bindings.end() || name.starts_with(session::kOptimizerPrefix) ? nullptr : &*found;
}

/// What a name stands for.
struct Named {
  const char *name;
  uint32_t buffer; ///< of its type
  uint32_t shape;  ///< of its shape: a slot's may be in slices
  const package::Binding *binding = nullptr;
};

Result<Named> findBound(const package::Package &package, bool input, const char *entry,
                        std::string_view name) {
  const package::PackageData &data = package.data();
  const auto found =
      std::ranges::find(data.entries, std::string_view(entry ? entry : ""), &package::Entry::name);
  if (found == data.entries.end())
    return session::unknownIn("entry", entry ? entry : "", "the package", data.entries);
  const std::vector<package::Binding> &bindings = input ? found->inputs : found->outputs;
  const package::Binding *binding = findBinding(bindings, name);
  if (!binding)
    return session::unknownIn(input ? "input" : "output", name, entry, bindings);
  return Named{binding->name.c_str(), binding->buffer, binding->buffer, binding};
}

Result<Named> findSlot(const lstmc_package &package, std::string_view name) {
  for (const package::Parameter &parameter : package.package->data().parameters)
    for (const package::Slot &slot : parameter.slots)
      if (name.size() == parameter.name.size() + 1 + slot.name.size() &&
          name.starts_with(parameter.name) && name.ends_with(slot.name) &&
          name[parameter.name.size()] == '/')
        return Named{std::ranges::find(package.slots, name)->c_str(), slot.buffers[0],
                     parameter.buffers[0]};
  return session::unknownName("slot", name, "the package",
                              {package.slots.begin(), package.slots.end()});
}

Result<Named> findNamed(const lstmc_package &package, lstmc_kind kind, const char *entry,
                        std::string_view name) {
  const package::PackageData &data = package.package->data();
  auto firstOf = [](const auto &found) {
    return Named{found.name.c_str(), found.buffers[0], found.buffers[0]};
  };
  switch (kind) {
  case LSTMC_INPUT:
  case LSTMC_OUTPUT:
    return findBound(*package.package, kind == LSTMC_INPUT, entry, name);
  case LSTMC_STATE:
    if (auto at = package.package->findState(name))
      return firstOf(data.states[*at]);
    return session::unknownIn("state", name, "the package", data.states);
  case LSTMC_PARAMETER:
    if (auto at = package.package->findParameter(name))
      return firstOf(data.parameters[*at]);
    return session::unknownIn("parameter", name, "the package", data.parameters);
  case LSTMC_SLOT:
    return findSlot(package, name);
  }
  return fail(ErrorCode::E0001, "kind: found {}, want an lstmc_kind", int(kind));
}

lstmc_tensor_info describe(const package::PackageData &data, const Named &named) {
  lstmc_tensor_info info = {};
  const package::Binding *binding = named.binding;
  info.name = named.name;
  info.role = binding ? binding->role.c_str() : "";
  const std::vector<int64_t> &shape = data.buffers[named.shape].shape;
  info.tensor.dtype = lstmc_dtype(data.buffers[named.buffer].dtype);
  info.tensor.rank = int32_t(shape.size());
  std::ranges::copy(shape, info.tensor.shape);
  for (size_t i = 0; i < LSTMC_MAX_RANK; ++i)
    info.dims[i] = binding && i < binding->dims.size() ? binding->dims[i].c_str() : "";
  if (binding && binding->range) {
    info.has_range = 1;
    info.low = binding->range->low;
    info.high = binding->range->high;
    info.has_ignored = binding->range->ignored.has_value();
    info.ignored = binding->range->ignored.value_or(0);
  }
  return info;
}

} // namespace

lstmc_package c::handleOf(package::Package::Pointer opened) {
  lstmc_package handle;
  for (const package::Parameter &parameter : opened->data().parameters)
    for (const package::Slot &slot : parameter.slots)
      handle.slots.push_back(parameter.name + "/" + slot.name);
  handle.package = std::move(opened);
  return handle;
}

extern "C" {

lstmc_status lstmc_package_open(const char *path, lstmc_package **package) {
  if (!path || !package)
    return c::nullArgument();
  *package = nullptr;
  return c::guarded([&]() -> Status {
    LSTMC_ASSIGN(lstmc_package opened, open(path));
    *package = new lstmc_package(std::move(opened));
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
    *package = new lstmc_package(c::handleOf(std::move(opened)));
    return {};
  });
}

lstmc_status lstmc_package_find_plan(const lstmc_package *package, const char *dims,
                                     uint32_t *found) {
  if (!package || !dims || !found)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    LSTMC_ASSIGN(const bool has, c::hasPlan(*package, dims));
    *found = has ? 1 : 0;
    return {};
  });
}

lstmc_status lstmc_package_add_plan(lstmc_package *package, const char *dims, const void *bytes,
                                    size_t size) {
  if (!package || !dims || !bytes)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    std::span<const uint8_t> given(static_cast<const uint8_t *>(bytes), size);
    LSTMC_ASSIGN(package::Package::Pointer opened, package::Package::open(given, "memory"));
    return c::addPlan(*package, dims, std::move(opened));
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

lstmc_status lstmc_package_tensor(const lstmc_package *package, lstmc_kind kind, const char *entry,
                                  const char *name, lstmc_tensor_info *info) {
  if (!package || !name || !info)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    if (info->size < sizeof(lstmc_tensor_info)) // the first version of this struct
      return fail(ErrorCode::E0001,
                  "info: found size {}, want sizeof(lstmc_tensor_info), which is {}", info->size,
                  sizeof(lstmc_tensor_info));
    LSTMC_ASSIGN(const Named named, findNamed(*package, kind, entry, name));
    c::give(describe(package->package->data(), named), info);
    return {};
  });
}

uint64_t lstmc_package_planned_bytes(const lstmc_package *package) {
  uint64_t bytes = 0;
  if (package)
    for (const package::Device &device : package->package->data().devices)
      bytes += device.arenaBytes;
  return bytes;
}
}

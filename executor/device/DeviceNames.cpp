#include "executor/device/DeviceNames.h"

#include <algorithm>

#include "executor/base/ParseNumber.h"
#include "executor/device/DeviceKinds.h"

namespace lstmc {

namespace {

/// In the order of DeviceKind.
constexpr KindFacts kKinds[] = {{.name = "cpu"},
                                {.name = "gpu", .isCard = true},
                                {.name = "trap"},
                                {.name = "null"},
                                {.name = "emu", .isCard = true, .isEmulated = true}};

std::optional<int> number(std::string_view text) {
  std::optional<int> value = parseNumber<int>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

std::optional<DeviceKind> kindOf(std::string_view text) {
  for (size_t i = 0; i < std::size(kKinds); ++i)
    if (text == kKinds[i].name)
      return DeviceKind(i);
  return std::nullopt;
}

} // namespace

const KindFacts &factsOf(DeviceKind kind) { return kKinds[size_t(kind)]; }

std::string DeviceName::text() const {
  const std::string whole = fmt::format("{}:{}", factsOf(kind).name, index);
  return part == 0 ? whole : fmt::format("{}.{}", whole, part);
}

/// A card that stands in the list again is the next part of it. A name of a part that is taken
/// stands twice.
static Status nameParts(std::string_view list, std::vector<DeviceName> &devices) {
  for (auto device = devices.begin(); device != devices.end(); ++device) {
    auto taken = [&] { return std::find(devices.begin(), device, *device) != device; };
    const bool isCard = factsOf(device->kind).isCard;
    if (taken() && (!isCard || device->part > 0))
      return fail(ErrorCode::E0001, "devices \"{}\": found {} twice, want each {} once", list,
                  device->text(), isCard ? "part" : "cpu");
    while (taken())
      ++device->part;
  }
  return {};
}

Result<std::vector<DeviceName>> parseDevices(std::string_view list) {
  std::vector<DeviceName> devices;
  std::optional<DeviceKind> kind; // of the item before, where it had an index
  std::string_view rest = list;
  while (true) {
    std::string_view item = rest.substr(0, rest.find(','));
    auto refuse = [&](std::string_view why) {
      return fail(ErrorCode::E0001,
                  "device \"{}\": {}, want a list such as cpu, 4xcpu, cpu:0,2 or gpu:0", item, why);
    };
    int first = 0, count = 1;
    if (std::optional<int> index = number(item)) {
      if (!kind)
        return refuse("found a number without a kind of device before it");
      first = *index;
    } else if (size_t colon = item.find(':'); colon != std::string_view::npos) {
      kind = kindOf(item.substr(0, colon));
      const std::string_view index = wholeDevice(item.substr(colon + 1));
      std::optional<int> at = number(index);
      if (!kind)
        return refuse("found an unknown kind of device");
      if (!at)
        return refuse("found no index after the colon");
      first = *at;
      if (std::string_view rest = item.substr(colon + 1 + index.size()); !rest.empty()) {
        std::optional<int> part = number(rest.substr(1));
        if (!part || *part == 0 || !factsOf(*kind).isCard)
          return refuse("found a part that is none of a GPU");
        devices.push_back({*kind, first, *part});
        count = 0;
      }
    } else {
      size_t x = item.find('x');
      std::optional<int> counted =
          x == std::string_view::npos ? std::nullopt : number(item.substr(0, x));
      std::optional<DeviceKind> named = kindOf(counted ? item.substr(x + 1) : item);
      if (!named)
        return refuse("found an unknown kind of device");
      if (counted && (*counted < 1 || *counted > kMaxDevices))
        return refuse(fmt::format("found a count outside 1 to {}", kMaxDevices));
      count = counted.value_or(1);
      kind.reset();
      for (int i = 0; i < count; ++i)
        devices.push_back({*named, i});
      count = 0;
    }
    for (int i = 0; i < count; ++i)
      devices.push_back({*kind, first + i});
    if (devices.size() > size_t(kMaxDevices))
      return refuse(fmt::format("found more than {} devices", kMaxDevices));
    if (item.size() == rest.size())
      break;
    rest.remove_prefix(item.size() + 1);
  }
  LSTMC_TRY(nameParts(list, devices));
  return devices;
}

std::optional<DeviceKind> localGpus(std::string_view list) {
  constexpr std::string_view kLocal = ":local";
  if (!list.ends_with(kLocal))
    return std::nullopt;
  const std::optional<DeviceKind> kind = kindOf(list.substr(0, list.size() - kLocal.size()));
  return kind && factsOf(*kind).isCard ? kind : std::nullopt;
}

bool isEmulated(std::string_view list) {
  if (std::optional<DeviceKind> local = localGpus(list))
    return factsOf(*local).isEmulated;
  const Result<std::vector<DeviceName>> devices = parseDevices(list);
  return devices.ok() && std::ranges::any_of(*devices, [](const DeviceName &device) {
           return factsOf(device.kind).isEmulated;
         });
}

} // namespace lstmc

#include "frontend/driver/Layout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include <fmt/ranges.h>

#include "executor/abi/Streams.h"
#include "frontend/driver/RankDevices.h"
#include "frontend/driver/Ranks.h"
#include "frontend/symbol/View.h"

namespace lstmc::driver {

/// Most parts that a batch or a sequence may be asked to be cut into; far beyond what is of use.
static constexpr int64_t kMostParts = 65536;

Result<std::vector<DeviceName>> devicesAsked(const LayoutOptions &options) {
  LSTMC_ASSIGN(std::vector<DeviceName> devices, devicesOfRank(options));
  return devicesOfJob(devices);
}

static Result<int64_t> partsAsked(std::string_view flag, int64_t parts, int64_t least) {
  if (parts < least || parts > kMostParts)
    return fail(ErrorCode::E0001, "--{} takes {} to {}, got {}", flag, least, kMostParts, parts);
  return parts;
}

static Status readWorkLoads(const LayoutOptions &options, passes::CompileOptions &compile) {
  if (!options.workLoadList.given())
    return {};
  for (int64_t part : *options.workLoadList) {
    if (part < 1 || part > 1'000'000)
      return fail(ErrorCode::E0001, "--work-load-list takes numbers from 1 to 1,000,000, got {}",
                  part);
    compile.workLoads.push_back(part);
  }
  // Where `auto` weighs how many devices share a replica's layers, the compiler knows how many
  // replicas there are.
  size_t replicas =
      compile.devices.size() / size_t(std::max<int64_t>(1, compile.devicesPerReplica()));
  if (compile.stages > 0 && compile.workLoads.size() != replicas)
    return fail(ErrorCode::E0001, "--work-load-list has {} numbers, want one for each of {} {}",
                compile.workLoads.size(), replicas,
                replicas == compile.devices.size() ? "devices" : "replicas");
  return {};
}

Result<double> compressionAsked(const LayoutOptions &options) {
  const std::string &text = *options.gradientCompression;
  if (text == "none")
    return 0;
  const size_t colon = text.find(':');
  if (text.substr(0, colon) != "2bit")
    return fail(ErrorCode::E0001, "--gradient-compression takes none or 2bit[:T], got \"{}\"{}",
                text, didYouMean(text, {"none", "2bit"}));
  double threshold = 0.5;
  if (colon != std::string::npos) {
    LSTMC_ASSIGN(threshold, Number::parse("gradient-compression", text.substr(colon + 1)));
  }
  // Of a type that networks compute in.
  if (!(threshold >= std::numeric_limits<float>::min()) || !std::isfinite(float(threshold)))
    return fail(ErrorCode::E0001,
                "--gradient-compression {}: found threshold {}, want a positive number", text,
                threshold);
  return double(float(threshold));
}

static Status readCompression(const LayoutOptions &options, bool ofOneWorker,
                              passes::CompileOptions &compile) {
  LSTMC_ASSIGN(double threshold, compressionAsked(options));
  compile.ranks = jobServers() > 0 ? 1 : jobRanks();
  compile.compressionThreshold.reset();
  if (threshold == 0 || jobServers() > 0 || ofOneWorker) // workers of dist_async do it themselves
    return {};
  if (!options.kvStore->starts_with("dist_"))
    return fail(ErrorCode::E0001,
                "--gradient-compression is for what ranks send one another: it wants --kv-store "
                "dist_sync, dist_device_sync or dist_async, found {}",
                *options.kvStore);
  compile.compressionThreshold = threshold;
  return {};
}

constexpr std::string_view kStores[] = {"auto",
                                        "local",
                                        "device",
                                        "nccl",
                                        "dist_sync",
                                        "dist_device_sync",
                                        "dist_sync_device",
                                        "dist_async",
                                        "dist_async_device"};

static Status readStore(const LayoutOptions &options, bool ofOneWorker,
                        passes::CompileOptions &compile) {
  std::string store = *options.kvStore;
  if (std::ranges::find(kStores, store) == std::end(kStores)) {
    const std::vector<std::string_view> known(std::begin(kStores), std::end(kStores));
    return fail(ErrorCode::E0001, "--kv-store takes {}, got \"{}\"{}", fmt::join(known, ", "),
                store, didYouMean(store, known));
  }
  if (store == "nccl") { // as device: only how values go from GPU to GPU is asked for
    Result<std::string> nccl = ncclOf(compile.devices);
    if (!nccl.ok())
      return fail(ErrorCode::E0503, "--kv-store nccl: {}", nccl.error().message);
    if (nccl->empty())
      return fail(ErrorCode::E0001,
                  "--kv-store nccl is for GPUs, found {}; want local or device, of ranks also "
                  "dist_sync, dist_device_sync or dist_async",
                  fmt::join(compile.devices, ", "));
    store = "device";
  }
  if (store.starts_with("dist_") && jobRanks() == 1 && !ofOneWorker)
    return fail(ErrorCode::E0001,
                "--kv-store {} is for several processes: lstmc launch -n N -- COMMAND ...; devices "
                "of one process have local and device",
                store);
  const bool alone = ofOneWorker || jobServers() > 0; // the package is of one worker
  if (alone) // whatever the name is, since a replay has none
    store = compile.devices.size() == 1 ? "local" : "device";
  else if (store == "dist_sync" || store == "dist_async")
    store = "local";
  else if (store.starts_with("dist_"))
    store = "device";
  compile.kvStore.reset();
  if (store != "auto")
    compile.kvStore = store == "local" ? passes::KvStore::Local : passes::KvStore::Device;
  compile.updateOnStore.reset();
  if (*options.updateOnKvstore != UpdatePlace::Auto)
    compile.updateOnStore = *options.updateOnKvstore == UpdatePlace::Store;
  compile.bigArrayBound = *options.bigarrayBound;
  compile.bucketBytes = *options.bucketBytes;
  if (alone) { // servers update, so a worker only adds up, and each gradient by itself is sent
    compile.updateOnStore = false;
    compile.bucketBytes = 0;
  }
  return readCompression(options, ofOneWorker, compile);
}

/// The groups of the net, each once, in the order of the source.
static std::vector<std::string> groupsOf(const symbol::Graph &graph) {
  std::vector<std::string> groups;
  for (const symbol::NodeView &node : symbol::view(graph).nodes)
    if (!node.group.empty() && std::find(groups.begin(), groups.end(), node.group) == groups.end())
      groups.push_back(node.group);
  return groups;
}

/// "layer1" and "cpu:1" of `layer1=cpu:1`, where the net has the one and -d the other.
static Result<std::pair<std::string, std::string>>
placeOf(const std::string &text, const std::vector<std::string> &groups,
        const std::vector<std::string> &devices) {
  size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    return fail(ErrorCode::E0001, "--place takes GROUP=DEVICE,..., auto or auto=STAGES, got \"{}\"",
                text);
  std::string group = text.substr(0, equals), device = text.substr(equals + 1);
  if (groups.empty())
    return fail(ErrorCode::E0001,
                "--place {}: the net has no groups; `with ctx_group(\"{}\"):` makes one", text,
                group);
  if (std::find(groups.begin(), groups.end(), group) == groups.end())
    return fail(ErrorCode::E0001, "--place {}: the net has no group \"{}\", it has {}{}", text,
                group, fmt::join(groups, ", "), didYouMean(group, {groups.begin(), groups.end()}));
  LSTMC_ASSIGN(std::vector<DeviceName> named, parseDevices(device));
  if (named.size() != 1)
    return fail(ErrorCode::E0001, "--place {}: a group is on one device, \"{}\" is {}", text,
                device, named.size());
  if (std::find(devices.begin(), devices.end(), named[0].text()) == devices.end())
    return fail(ErrorCode::E0001, "--place {}: {} is none of the devices in use, {}", text,
                named[0].text(), fmt::join(devices, ", "));
  return std::pair(group, named[0].text());
}

static std::vector<std::string> texts(const std::vector<DeviceName> &devices) {
  std::vector<std::string> texts;
  for (const DeviceName &device : devices)
    texts.push_back(device.text());
  return texts;
}

static Error at(const symbol::Setting &setting, Error error) {
  error.place = {setting.origin.file, setting.origin.line, setting.origin.column};
  return error;
}

Result<std::vector<DeviceName>> devicesAsked(const LayoutOptions &options,
                                             const symbol::Network &net) {
  if (options.devices.given() || net.place.empty())
    return devicesAsked(options);
  std::vector<DeviceName> devices;
  for (const symbol::Setting &setting : net.place) {
    Result<std::vector<DeviceName>> named = parseDevices(std::get<std::string>(setting.value));
    if (!named.ok())
      return at(setting, named.error());
    for (const DeviceName &device : *named)
      if (std::none_of(devices.begin(), devices.end(),
                       [&](const DeviceName &d) { return d.text() == device.text(); }))
        devices.push_back(device);
  }
  std::sort(devices.begin(), devices.end(), [](const DeviceName &a, const DeviceName &b) {
    return std::tuple(a.kind, a.index, a.part) < std::tuple(b.kind, b.index, b.part);
  });
  return devices;
}

/// The file's own, if -d has all of its devices.
static Status placeAsFile(const symbol::Network &net, passes::CompileOptions &compile) {
  if (net.place.empty())
    return {};
  const std::vector<std::string> groups = groupsOf(*net.graph);
  for (const symbol::Setting &setting : net.place) {
    Result<std::vector<DeviceName>> named = parseDevices(std::get<std::string>(setting.value));
    if (!named.ok())
      return at(setting, named.error());
    std::string device = fmt::format("{}", fmt::join(texts(*named), ","));
    if (named->size() == 1 && std::find(compile.devices.begin(), compile.devices.end(), device) ==
                                  compile.devices.end()) {
      compile.place.clear();
      return {};
    }
    auto placed = placeOf(setting.key + "=" + device, groups, compile.devices);
    if (!placed.ok())
      return at(setting, placed.error());
    compile.place.push_back(*placed);
  }
  return {};
}

static Status readPlace(const LayoutOptions &options, const symbol::Network &net,
                        passes::CompileOptions &compile) {
  const symbol::Graph &graph = *net.graph;
  const std::string &place = *options.place;
  if (!place.starts_with("auto"))
    LSTMC_TRY(placeAsFile(net, compile));
  if (place == "auto") {
    compile.stages = 0;
  } else if (place.starts_with("auto=")) {
    LSTMC_ASSIGN(compile.stages, Count::parse("place", place.substr(5)));
    if (compile.stages < 1 || compile.stages > int64_t(compile.devices.size()))
      return fail(ErrorCode::E0001,
                  "--place {}: layers are split over 1 to {} devices, as many as are in use", place,
                  compile.devices.size());
  } else if (!place.empty()) {
    std::vector<std::string> groups = groupsOf(graph);
    std::set<std::string> named;
    for (const std::string &part : splitCommas(place)) {
      LSTMC_ASSIGN(auto placed, placeOf(part, groups, compile.devices));
      if (!named.insert(placed.first).second)
        return fail(ErrorCode::E0001, "--place names group \"{}\" twice", placed.first);
      std::erase_if(compile.place, [&](const auto &known) { return known.first == placed.first; });
      compile.place.push_back(placed);
    }
  }
  return {};
}

Status readLayout(const LayoutOptions &options, const symbol::Network &net,
                  const std::vector<DeviceName> &devices, bool ofOneWorker,
                  passes::CompileOptions &compile) {
  compile.devices.clear();
  for (const DeviceName &device : devices)
    compile.devices.push_back(device.text());
  LSTMC_TRY(readStore(options, ofOneWorker, compile));
  LSTMC_TRY(readPlace(options, net, compile));
  LSTMC_TRY(readWorkLoads(options, compile));
  LSTMC_ASSIGN(compile.accumulate, partsAsked("accumulate", *options.accumulate, 1));
  LSTMC_ASSIGN(compile.chunks, partsAsked("chunks", *options.chunks, 0));
  if (*options.streams < 0 || *options.streams > kMaxStreams)
    return fail(ErrorCode::E0001, "--streams takes 0 to {}, got {}", kMaxStreams, *options.streams);
  compile.streams.reset();
  if (*options.streams > 0)
    compile.streams = *options.streams;
  return {};
}

} // namespace lstmc::driver

#include "frontend/cli/IdleFlags.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontend/driver/AsyncStore.h"

namespace lstmc::cli {

namespace {

/// Those that only the entry `step` reads.
constexpr Flag kOfUpdates[] = {Flag::kvStore,     Flag::updateOnKvstore,     Flag::bigarrayBound,
                               Flag::bucketBytes, Flag::gradientCompression, Flag::accumulate,
                               Flag::recompute};

bool isTyped(const Options &options, Flag flag) {
  return std::ranges::any_of(options.given, [&](const GivenValue &each) {
    return each.record->flag == flag && each.origin == ValueOrigin::Flag;
  });
}

void warn(Diagnostics &found, Flag flag, std::string_view why) {
  Diagnostic warning;
  warning.code = ErrorCode::E0001;
  warning.severity = Severity::Warning;
  warning.message = fmt::format("--{} has no effect: {}", recordOf(flag).name, why);
  found.push_back(std::move(warning));
}

int64_t elementsOf(const package::PackageData &package, uint32_t buffer) {
  int64_t elements = 1;
  for (int64_t extent : package.buffers[buffer].shape)
    elements *= extent;
  return elements;
}

int64_t largestParameter(const package::PackageData &package) {
  int64_t largest = 0;
  for (const package::Parameter &parameter : package.parameters)
    largest = std::max(largest, elementsOf(package, parameter.buffers[0]));
  return largest;
}

/// Whether a state of an optimizer shows that parameters are whole; without states nothing does.
bool isNothingCut(const package::PackageData &package) {
  bool states = false;
  for (const package::Parameter &parameter : package.parameters)
    for (const package::Slot &slot : parameter.slots) {
      states = true;
      if (elementsOf(package, slot.buffers[0]) < elementsOf(package, parameter.buffers[0]))
        return false;
    }
  return states;
}

/// Why --bigarray-bound cuts what it cuts without it too; empty where it does not.
std::string whyNothingIsCut(const passes::CompileOptions &compile,
                            const passes::Compiled &compiled) {
  if (compile.devices.size() < 2)
    return "there is one device";
  std::optional<passes::KvStore> store = compile.kvStore;
  std::optional<bool> onStore = compile.updateOnStore;
  if (!compiled.layouts.empty()) { // what was taken
    store = compiled.layouts.front().kvStore;
    onStore = compiled.layouts.front().updateOnStore;
  }
  if (store == passes::KvStore::Local || onStore == false)
    return "arrays are cut by --kv-store device with --update-on-kvstore 1";
  const int64_t usual = passes::CompileOptions().bigArrayBound, bound = compile.bigArrayBound;
  const int64_t largest = largestParameter(compiled.package);
  if (largest < usual && (bound == 0 || largest < bound))
    return fmt::format("the largest parameter has {} elements", largest);
  return largest < usual && isNothingCut(compiled.package)
             ? "no gradient here is a sum that may be added in slices"
             : "";
}

} // namespace

Diagnostics idleFlags(const Options &options, const passes::CompileOptions &compile,
                      const passes::Compiled &compiled) {
  Diagnostics found;
  const bool updates = std::ranges::any_of(
      compiled.package.entries, [](const package::Entry &entry) { return entry.name == "step"; });
  // A training compiles forward too, to write texts with, by the same flags.
  if (!updates && options.command != CommandId::Train)
    for (Flag flag : kOfUpdates)
      if (isTyped(options, flag))
        warn(found, flag, "nothing that is compiled here updates weights");
  if (updates && isTyped(options, Flag::bigarrayBound) && !options.kvStore->starts_with("dist_"))
    if (const std::string why = whyNothingIsCut(compile, compiled); !why.empty())
      warn(found, Flag::bigarrayBound, why);
  if (isTyped(options, Flag::staleness) && updates && !saysAsync(options))
    warn(found, Flag::staleness, "it is of --kv-store dist_async");
  if (options.command == CommandId::Plan && isTyped(options, Flag::data) &&
      options.data->find("buckets=") == std::string::npos)
    warn(found, Flag::data, "a plan reads nothing of it but buckets=");
  return found;
}

std::function<Diagnostics(const passes::CompileOptions &, const passes::Compiled &)>
idleFlagsIn(const Options &options) {
  return [&options](const passes::CompileOptions &compile, const passes::Compiled &compiled) {
    return idleFlags(options, compile, compiled);
  };
}

} // namespace lstmc::cli

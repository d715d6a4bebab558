#include "frontend/cli/IdleFlags.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "frontend/driver/AsyncStore.h"
#include "frontend/driver/Ranks.h"

namespace lstmc::cli {

namespace {

/// Those that only the entry `step` reads.
constexpr Flag kOfUpdates[] = {Flag::kvStore,     Flag::updateOnKvstore,     Flag::bigarrayBound,
                               Flag::bucketBytes, Flag::gradientCompression, Flag::accumulate,
                               Flag::recompute};

/// Flags that only several devices read.
constexpr Flag kOfDevices[] = {Flag::workLoadList,    Flag::chunks,      Flag::kvStore,
                               Flag::updateOnKvstore, Flag::bucketBytes, Flag::bigarrayBound};

/// What a picture of a source on one device shows the meaning of.
constexpr Flag kOfDrawings[] = {Flag::shape, Flag::set, Flag::net, Flag::batch};

constexpr std::string_view kWhyDrawn =
    "the network is drawn as it is written; --what schedule and memory show what is compiled";

/// Flags that only validations read.
constexpr Flag kOfValidations[] = {Flag::validEvery, Flag::earlyStop};

/// Flags that only --expect-output reads.
constexpr Flag kOfComparisons[] = {Flag::ulp, Flag::rtol, Flag::atol};

/// With another value than is in force without it.
bool isTyped(const Options &options, Flag flag) {
  return std::ranges::any_of(options.given, [&](const GivenValue &each) {
    return each.record->flag == flag && each.origin == ValueOrigin::Flag &&
           (each.value.empty() || each.value != each.record->fallback);
  });
}

void warn(Diagnostics &found, Flag flag, std::string_view why) {
  Diagnostic warning;
  warning.code = ErrorCode::E0001;
  warning.severity = Severity::Warning;
  warning.message = fmt::format("--{} has no effect: {}", recordOf(flag).name, why);
  found.push_back(std::move(warning));
}

bool isWarned(const Diagnostics &found, Flag flag) {
  const std::string begin = fmt::format("--{} ", recordOf(flag).name);
  return std::ranges::any_of(
      found, [&](const Diagnostic &each) { return each.message.starts_with(begin); });
}

void warnTyped(Diagnostics &found, const Options &options, std::span<const Flag> flags,
               std::string_view why) {
  for (Flag flag : flags)
    if (isTyped(options, flag) && !isWarned(found, flag))
      warn(found, flag, why);
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
    warnTyped(found, options, kOfUpdates, "nothing that is compiled here updates weights");
  if (compile.devices.size() < 2 && !options.kvStore->starts_with("dist_"))
    warnTyped(found, options, kOfDevices, "there is one device");
  else if (updates && isTyped(options, Flag::bigarrayBound) &&
           !options.kvStore->starts_with("dist_"))
    if (const std::string why = whyNothingIsCut(compile, compiled); !why.empty())
      warn(found, Flag::bigarrayBound, why);
  if (isTyped(options, Flag::staleness) && updates && !saysAsync(options))
    warn(found, Flag::staleness, "it is of --kv-store dist_async");
  if (options.command == CommandId::Plan && isTyped(options, Flag::data) &&
      options.data->find("buckets=") == std::string::npos)
    warn(found, Flag::data, "a plan reads nothing of it but buckets=");
  return found;
}

Status warned(const Diagnostics &found, const Options &options, const Console &console) {
  if (!options.werror)
    console.warn(found);
  else if (!found.empty())
    return fail(found.front().code, "{}", found.front().message);
  return {};
}

Diagnostics idleInTraining(const Options &options, const TrainJob &job) {
  Diagnostics found;
  if (!job.data.valid && job.data.data->spec().valid == 0)
    warnTyped(found, options, kOfValidations,
              "there are no data to validate on: --valid 0.1 keeps a tenth of them");
  if (job.package().devices.size() < 2 && jobRanks() < 2)
    warnTyped(found, options, {{Flag::checkReplicas}}, "one device has the weights");
  if (jobRanks() < 2)
    warnTyped(found, options, {{Flag::dataOn}},
              "it is of several processes, as launch starts them");
  return found;
}

Diagnostics idleInRun(const Options &options) {
  Diagnostics found;
  if (options.expectOutput.empty())
    warnTyped(found, options, kOfComparisons, "nothing is compared without --expect-output");
  return found;
}

Diagnostics idleInDrawing(const Options &options) {
  Diagnostics found;
  for (const GivenValue &given : options.given)
    if (given.record->group == FlagGroup::Compiled &&
        std::ranges::find(kOfDrawings, given.record->flag) == std::end(kOfDrawings))
      warnTyped(found, options, {{given.record->flag}}, kWhyDrawn);
  warnTyped(found, options, {{Flag::mem}}, kWhyDrawn);
  if (std::ranges::find(*options.show, "device") == options.show->end())
    warnTyped(found, options, {{Flag::devices}},
              "one device has no colour; --show device writes it into the boxes");
  return found;
}

std::function<Diagnostics(const passes::CompileOptions &, const passes::Compiled &)>
idleFlagsIn(const Options &options) {
  return [&options](const passes::CompileOptions &compile, const passes::Compiled &compiled) {
    return idleFlags(options, compile, compiled);
  };
}

} // namespace lstmc::cli

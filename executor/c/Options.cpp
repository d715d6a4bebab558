#include "executor/c/Options.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "executor/base/ParseNumber.h"
#include "executor/base/Quote.h"
#include "executor/c/CallerStruct.h"
#include "executor/package/Plan.h"
#include "executor/session/UnknownName.h"

namespace lstmc::c {

namespace {

/// The named extents of a plan's inputs and outputs.
Extents extentsOf(const package::PackageData &data) {
  Extents extents;
  for (const package::Entry &entry : data.entries)
    for (const std::vector<package::Binding> *bindings : {&entry.inputs, &entry.outputs})
      for (const package::Binding &binding : *bindings)
        for (size_t i = 0; i < binding.dims.size(); ++i)
          if (!binding.dims[i].empty())
            extents.try_emplace(binding.dims[i], data.buffers[binding.buffer].shape[i]);
  return extents;
}

std::string textOf(const Extents &extents) {
  std::vector<std::string> parts;
  for (const auto &[name, extent] : extents)
    parts.push_back(fmt::format("{}={}", name, extent));
  return fmt::format("{}", fmt::join(parts, ","));
}

std::vector<std::string_view> parts(std::string_view list) {
  std::vector<std::string_view> found;
  while (!list.empty()) {
    found.push_back(list.substr(0, list.find(',')));
    list.remove_prefix(std::min(list.size(), found.back().size() + 1));
  }
  return found;
}

Result<Extents> parseExtents(std::string_view text) {
  Extents extents;
  for (std::string_view part : parts(text)) {
    const size_t equals = std::min(part.find('='), part.size());
    const auto extent = parseNumber<int64_t>(part.substr(std::min(equals + 1, part.size())));
    if (!extent || *extent < 1)
      return fail(ErrorCode::E0001, "dims: found {}, want NAME=EXTENT", inQuotes(part));
    extents[std::string(part.substr(0, equals))] = *extent;
  }
  return extents;
}

bool has(const Extents &plan, const Extents &asked) {
  return std::ranges::all_of(asked, [&](const auto &extent) {
    const auto found = plan.find(extent.first);
    return found != plan.end() && found->second == extent.second;
  });
}

/// Those that a package was opened with.
std::vector<package::Package::Pointer> openedPlans(const lstmc_package &package) {
  std::vector<package::Package::Pointer> plans = {package.package};
  plans.insert(plans.end(), package.others.begin(), package.others.end());
  return plans;
}

/// The first that was opened and has these extents, else the one that was added for them, else
/// null. E0001 for a name that no plan has.
Result<package::Package::Pointer> findPlan(const lstmc_package &package, const Extents &asked) {
  const std::vector<package::Package::Pointer> opened = openedPlans(package);
  for (const package::Package::Pointer &plan : opened)
    if (has(extentsOf(plan->data()), asked))
      return plan;
  for (const auto &[name, extent] : asked) {
    if (std::ranges::any_of(
            opened, [&](const auto &plan) { return extentsOf(plan->data()).contains(name); }))
      continue;
    std::vector<std::string_view> names;
    const Extents first = extentsOf(package.package->data());
    for (const auto &[known, _] : first)
      names.push_back(known);
    return session::unknownName("dims", name, "the package", std::move(names));
  }
  std::lock_guard lock(package.added->mutex);
  const auto found = package.added->plans.find(asked);
  return found == package.added->plans.end() ? nullptr : found->second;
}

/// E0001 for a plan of another network.
Status checkSameParameters(const package::PackageData &found, const package::PackageData &want) {
  auto typesOf = [](const package::PackageData &data) {
    std::map<std::string_view, std::string> types;
    for (const package::Parameter &parameter : data.parameters) {
      const package::Buffer &buffer = data.buffers[parameter.buffers[0]];
      types[parameter.name] = package::typeText(buffer.dtype, buffer.shape);
    }
    return types;
  };
  const auto foundTypes = typesOf(found), wantTypes = typesOf(want);
  for (const auto &[name, type] : wantTypes) {
    const auto same = foundTypes.find(name);
    if (same == foundTypes.end() || same->second != type)
      return fail(ErrorCode::E0001,
                  "parameter {}: found {}, want {}: the plan is of another network", inQuotes(name),
                  same == foundTypes.end() ? "none" : same->second, type);
  }
  for (const auto &[name, type] : foundTypes)
    if (!wantTypes.contains(name))
      return fail(ErrorCode::E0001,
                  "parameter {}: found {}, want none: the plan is of another network",
                  inQuotes(name), type);
  return {};
}

} // namespace

Result<lstmc_session_options> checkedOptions(const lstmc_session_options *given) {
  if (!given)
    return lstmc_session_options{};
  // The first version ended where the allocator begins.
  if (given->size < offsetof(lstmc_session_options, allocate))
    return fail(ErrorCode::E0001,
                "options: found size {}, want sizeof(lstmc_session_options), which is {}",
                given->size, sizeof *given);
  if (!restIsZero(*given))
    return fail(ErrorCode::E0001,
                "options: found {} bytes, of which lstmc {} knows {}: the program was built with "
                "a newer lstmc.h",
                given->size, LSTMC_VERSION, sizeof *given);
  lstmc_session_options options = taken(*given);
  if (!options.allocate != !options.release)
    return fail(ErrorCode::E0001, "an allocator has both functions, found only {}",
                options.allocate ? "allocate" : "release");
  if (options.threads < 0)
    return fail(ErrorCode::E0001, "threads: found {}, want a number from 0 on", options.threads);
  return options;
}

std::vector<std::string> entriesOf(const lstmc_session_options &options) {
  const std::vector<std::string_view> names = parts(options.entries ? options.entries : "");
  return {names.begin(), names.end()};
}

Result<package::Package::Pointer> planOf(const lstmc_package &package,
                                         const lstmc_session_options &options) {
  LSTMC_ASSIGN(const Extents asked, parseExtents(options.dims ? options.dims : ""));
  LSTMC_ASSIGN(package::Package::Pointer plan, findPlan(package, asked));
  if (plan)
    return plan;
  std::vector<std::string> texts;
  for (const package::Package::Pointer &opened : openedPlans(package))
    texts.push_back(textOf(extentsOf(opened->data())));
  std::lock_guard lock(package.added->mutex);
  for (const auto &[extents, added] : package.added->plans)
    texts.push_back(textOf(extents));
  return fail(ErrorCode::E0001,
              "dims: found {}, want those of a plan that the package has: {}; compile its source "
              "for others",
              textOf(asked), fmt::join(texts, " or "));
}

Result<bool> hasPlan(const lstmc_package &package, std::string_view dims) {
  LSTMC_ASSIGN(const Extents asked, parseExtents(dims));
  LSTMC_ASSIGN(const package::Package::Pointer plan, findPlan(package, asked));
  return plan != nullptr;
}

Status addPlan(lstmc_package &package, std::string_view dims, package::Package::Pointer plan) {
  LSTMC_ASSIGN(const Extents asked, parseExtents(dims));
  LSTMC_TRY(findPlan(package, asked).status()); // names that are unknown
  const Extents found = extentsOf(plan->data());
  if (asked.empty() || !has(found, asked))
    return fail(ErrorCode::E0001, "dims: found a plan of {}, want one of {}", textOf(found),
                asked.empty() ? "some extents" : textOf(asked));
  LSTMC_TRY(checkSameParameters(plan->data(), package.package->data()));
  std::lock_guard lock(package.added->mutex);
  package.added->plans.try_emplace(asked, std::move(plan));
  return {};
}

LaunchWatch watchOf(const lstmc_session_options &options) {
  LaunchWatch watch;
  if (!options.log)
    return watch;
  watch.notice = [log = options.log, user = options.user](const Error &error) {
    log(user, ("warning: " + error.text()).c_str());
  };
  watch.choice = [log = options.log, user = options.user](const std::string &choice) {
    log(user, choice.c_str());
  };
  return watch;
}

} // namespace lstmc::c

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
#include "executor/session/UnknownName.h"

namespace lstmc::c {

namespace {

using Extents = std::map<std::string_view, int64_t>;

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
    extents[part.substr(0, equals)] = *extent;
  }
  return extents;
}

bool has(const Extents &plan, const Extents &asked) {
  return std::ranges::all_of(asked, [&](const auto &extent) {
    const auto found = plan.find(extent.first);
    return found != plan.end() && found->second == extent.second;
  });
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
  std::vector<Extents> plans = {extentsOf(package.package->data())};
  if (has(plans[0], asked))
    return package.package;
  for (const package::Package::Pointer &other : package.others) {
    plans.push_back(extentsOf(other->data()));
    if (has(plans.back(), asked))
      return other;
  }
  for (const auto &[name, extent] : asked)
    if (std::ranges::none_of(plans, [&](const Extents &plan) { return plan.contains(name); })) {
      std::vector<std::string_view> names;
      for (const auto &[known, _] : plans[0])
        names.push_back(known);
      return session::unknownName("dims", name, "the package", std::move(names));
    }
  std::vector<std::string> texts;
  for (const Extents &plan : plans)
    texts.push_back(textOf(plan));
  return fail(ErrorCode::E0001,
              "dims: found {}, want those of a plan that the package has: {}; compile its source "
              "for others",
              textOf(asked), fmt::join(texts, " or "));
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

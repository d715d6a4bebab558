// The words that flags of the command alone choose from.
#pragma once

#include "executor/base/Completion.h"
#include "frontend/driver/FieldTypes.h"
#include "frontend/importers/WeightRules.h"
#include "frontend/launch/Hosts.h"

namespace lstmc::cli {

using namespace driver; // the command is text over it

enum class When { Auto, Always, Never };
enum class Form { Text, Json, JsonLines, Csv, Markdown };
enum class EngineKind { Fast, Naive };
enum class Picture { Network, Schedule, Memory, Scaling };
using Origin = importers::WeightRule;
enum class ExportForm { Mxnet };
enum class EmitForm { Lnet, Sym, Module, Exec, Dot };

} // namespace lstmc::cli

namespace lstmc::driver {

template <> inline constexpr std::string_view kWords<cli::When> = "auto|always|never";
template <> inline constexpr std::string_view kWords<cli::Form> = "text|json|jsonl|csv|md";
template <> inline constexpr std::string_view kWords<cli::EngineKind> = "fast|naive";
template <>
inline constexpr std::string_view kWords<cli::Picture> = "network|schedule|memory|scaling";
template <> inline constexpr std::string_view kWords<cli::Origin> = importers::kWeightRules;
template <> inline constexpr std::string_view kWords<cli::ExportForm> = "mxnet";
template <> inline constexpr std::string_view kWords<cli::EmitForm> = "lnet|sym|module|exec|dot";
template <> inline constexpr std::string_view kWords<Shell> = kShellNames;
template <>
inline constexpr std::string_view kWords<launch::Launcher> = "local|ssh|mpi|slurm|sge|yarn";

} // namespace lstmc::driver

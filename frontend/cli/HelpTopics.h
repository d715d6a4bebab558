// `lstmc help NAME`, where NAME is no command: ops, layers, optimizers, schedules, metrics and
// more, from their records.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Errors.h"
#include "frontend/cli/Options.h"

namespace lstmc::cli {

/// Columns that help is folded to.
inline constexpr size_t kHelpColumns = 100;

/// `text` after `first`, folded at kHelpColumns; the lines after the first are indented so far.
std::string folded(std::string_view first, std::string_view text, size_t indent);

/// "-o, --output PATH"
std::string flagSynopsis(const FlagRecord &flag);
/// What the flag does, and its default.
std::string helpOf(const FlagRecord &flag);
/// The text of an error's record, with its example.
std::string explanation(const ErrorRecord &record);

/// The text on a thing of that name; nothing if there is none.
std::optional<std::string> topicText(std::string_view name);
/// All names that it knows, but for error codes.
std::vector<std::string> topicNames();

} // namespace lstmc::cli

// Which launches read indices, labels and lengths, and which of them are valid.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "executor/base/ValueRange.h"
#include "executor/package/PackageData.h"

namespace lstmc::session {

/// What values are to an op. Indices out of range are refused where the op says so; all others are
/// clipped or mean nothing.
enum class Use : uint8_t { Nearest, Refused, OneHot, Label, Length };

/// An operand whose values may be out of range, and which of them are valid.
struct Reading {
  Use use;
  const package::Operand *values;
  ValueRange valid; ///< of the launch's own numbers: a chunk counts lengths from its first step
  /// Of the launches of one op that read the same values, those with the least are counted.
  int turn = 0;
};

/// Nothing for a launch that reads no such values.
std::optional<Reading> readingOf(const package::Launch &launch);

/// What the op accepts, of whose steps a launch may compute a chunk.
ValueRange validOf(const package::Launch &launch, const Reading &reading);

/// Whether a launch of a recurrent layer has the first steps of the layer, or the last; both for
/// every other launch.
bool hasFirstSteps(const package::Launch &launch);
bool hasLastSteps(const package::Launch &launch, const Reading &reading);

/// Equal for launches that read the values of the same rows for the same op.
std::vector<int64_t> identityOf(const package::Launch &launch, uint32_t op, Use use);

} // namespace lstmc::session

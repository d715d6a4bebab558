// Resource limits for .lnet files (docs/language.md §4), and their names in `--limit NAME=VALUE`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "executor/base/Diagnostic.h"
#include "executor/base/Status.h"

namespace lstmc::lnet {

// LSTMC_LNET_LIMIT(name, default, what it counts)
#define LSTMC_LNET_LIMITS(X)                                                                       \
  X(depth, 256, "height of the syntax tree, and calls within calls")                               \
  X(nodes, 1'000'000, "nodes of the graph, variables included")                                    \
  X(steps, 10'000'000, "expressions evaluated")                                                    \
  X(name, 4096, "bytes of a name")                                                                 \
  X(rank, 16, "dimensions of a tensor")                                                            \
  X(list, 1'000'000, "elements of a list, tuple or dict, or bytes of a string")                    \
  X(source, 16 << 20, "bytes of a file")                                                           \
  X(errors, 20, "errors shown")

struct Limits {
#define LSTMC_X(NAME, DEFAULT, WHAT) uint64_t NAME = DEFAULT;
  LSTMC_LNET_LIMITS(LSTMC_X)
#undef LSTMC_X
};

/// Limits of CPython itself. They hold even if `depth` is raised above them.
inline constexpr uint64_t kMaxBrackets = 200;
inline constexpr uint64_t kMaxIndentations = 99;

/// Whether there is a limit of this name.
bool isLimit(std::string_view name);

/// Sets the limit called NAME. E0001 for another name, for 0 (no limit can be switched off), or for
/// a value above what the reader's own counters and stack hold (2^31 bytes of source, 10,000 of
/// depth, 10^12 of anything else).
Status setLimit(Limits &limits, std::string_view name, uint64_t value);

/// E0316 for a text of more bytes than the limit `source`.
std::optional<Diagnostic> checkLength(const std::string &path, size_t bytes, const Limits &limits);

} // namespace lstmc::lnet

// Where in a package's bytes a field stands, for messages.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "executor/base/Status.h"

namespace lstmc::package {

/// Offset of the field that a path like `entries[1].programs[0].launches[12].kernel` names, in
/// bytes that the verifier passed; of the nearest table around it where the field is left at its
/// default.
int64_t locate(std::span<const uint8_t> bytes, std::string_view path);

/// The number that stands in field `digest` of bytes that the verifier passed: XXH3-64 of what
/// stands before it and after it.
uint64_t contentDigest(std::span<const uint8_t> bytes);

/// The error for bytes that the verifier refused: path and offset of the first field that lies
/// outside.
Error explainMalformed(std::span<const uint8_t> bytes);

} // namespace lstmc::package

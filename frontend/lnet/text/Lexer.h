// Text to tokens: docs/language.md §1, first part.
#pragma once

#include <optional>
#include <string>

#include "frontend/lnet/text/Limits.h"
#include "frontend/lnet/text/Problems.h"
#include "frontend/lnet/text/Token.h"

namespace lstmc::lnet {

/// Cuts a file into tokens. Goes on after every error (E0101 to E0106, E0109); text that makes no
/// token becomes a token of kind Broken.
Tokens lex(const SourceFile &file, const Limits &limits, Problems &problems);

/// The value of a string token, without its quotes. Line ends in it are LF.
std::string stringValue(std::string_view token);
/// The value of an integer token; nullopt if it exceeds 64 bits.
std::optional<int64_t> integerValue(std::string_view token);
/// Whether an integer token is 2^63, which only its negative makes a number of 64 bits.
bool isNegatedLeast(std::string_view token);
/// The value of a float token; infinite if it is beyond what a double holds.
double floatValue(std::string_view token);

} // namespace lstmc::lnet

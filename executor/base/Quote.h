// Names out of files, made fit for a message.
#pragma once

#include <string>
#include <string_view>

namespace lstmc {

/// `name` in double quotes with control characters, quotes, backslashes and bytes that are no UTF-8
/// escaped, cut after 80 bytes with "...".
std::string inQuotes(std::string_view name);

} // namespace lstmc

// Makes names from files safe to show in a message.
#pragma once

#include <string>
#include <string_view>

namespace lstmc {

/// `name` in double quotes. Control characters, quotes, backslashes and bytes that are not UTF-8
/// are escaped; cut after 80 bytes, with "...".
std::string inQuotes(std::string_view name);

} // namespace lstmc

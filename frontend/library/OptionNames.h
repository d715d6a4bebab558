// What C++ calls the fields of request.def: snake_case, and plurals where a field is a list.
#pragma once

#include <string>
#include <string_view>

namespace lstmc::library {

/// "kv_store" for "kv-store", "dims" for "set".
std::string fieldName(std::string_view flag);

/// The text with ".kv_store" for "--kv-store" of every flag that is a field.
std::string withFieldNames(std::string_view text);

} // namespace lstmc::library

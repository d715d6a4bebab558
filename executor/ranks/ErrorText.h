// Errors as bytes that go from one process to another.
#pragma once

#include <string>
#include <string_view>

#include "executor/base/Status.h"

namespace lstmc::ranks {

std::string packError(const Error &error);
/// E0801 for bytes that are none.
Error unpackError(std::string_view bytes);

} // namespace lstmc::ranks

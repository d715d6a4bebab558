// Counts every allocation of the process.
#pragma once

#include <cstddef>

namespace lstmc::test {

size_t allocations();

} // namespace lstmc::test

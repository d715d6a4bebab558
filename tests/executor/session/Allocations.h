// Every allocation of the process, counted.
#pragma once

#include <cstddef>

namespace lstmc::test {

size_t allocations();

} // namespace lstmc::test

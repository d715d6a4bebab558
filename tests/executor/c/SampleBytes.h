// The sample package for programs that know the installed headers alone.
#pragma once

#include <cstddef>
#include <vector>

namespace lstmc::test {

/// Its bytes; x of `forward` may be -100 to 100, or 7777.
std::vector<std::byte> sampleBytes();

} // namespace lstmc::test

// Numbers formatted for people.
#pragma once

#include <cstdint>
#include <string>

namespace lstmc {

/// "1,041"
std::string grouped(int64_t number);

/// "512 bytes", "44.5 KiB", "44.5 MiB", "1.89 GiB"; KiB and MiB get `decimals` decimals.
std::string bytesText(uint64_t bytes, int decimals = 1);

} // namespace lstmc

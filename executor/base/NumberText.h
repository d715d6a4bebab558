// Numbers as text: for people, and to the bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lstmc {

/// "1,041"
std::string grouped(int64_t number);

/// "512 bytes", "44.5 KiB", "44.5 MiB", "1.89 GiB"; KiB and MiB get `decimals` decimals.
std::string bytesText(uint64_t bytes, int decimals = 1);

/// "0x1.8p+1", which parseHexFloat() (ParseNumber.h) reads bit for bit.
std::string hexFloat(double value);

/// 4096 of "4K" with a `kilo` of 1,024: a number with K, M or G after it, where there is one. None
/// for what is no whole number from 0 to 9e18.
std::optional<int64_t> scaledNumber(std::string_view text, int64_t kilo);

} // namespace lstmc

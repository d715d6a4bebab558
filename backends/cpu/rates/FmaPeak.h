#pragma once

#include <cstdint>

namespace lstmc::cpu {

/// Independent chains in a round of spinMultiplyAdds.
inline constexpr int kPeakChains = 12;

// Runs `rounds` rounds of kPeakChains vector multiply-adds. The result is only returned so that the
// compiler does not remove them.
namespace scalar {
float spinMultiplyAdds(int64_t rounds);
}
namespace avx2 {
float spinMultiplyAdds(int64_t rounds);
}
namespace avx512 {
float spinMultiplyAdds(int64_t rounds);
}

} // namespace lstmc::cpu

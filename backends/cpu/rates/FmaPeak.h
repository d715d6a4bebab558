#pragma once

#include <cstdint>

namespace lstmc::cpu {

/// Independent chains in a round of spinMultiplyAdds.
inline constexpr int kPeakChains = 12;

// Carries out `rounds` rounds of kPeakChains vector multiply-adds; the result only keeps them
// alive.
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

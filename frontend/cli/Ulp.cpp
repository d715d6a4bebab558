#include "frontend/cli/Ulp.h"

#include <algorithm>
#include <cmath>

namespace lstmc::cli {

double ulps(DType dtype, double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return 0;
  double larger = std::max(std::fabs(a), std::fabs(b));
  double unit = dtype == DType::F64
                    ? std::nextafter(larger, INFINITY) - larger
                    : double(std::nextafter(float(larger), INFINITY) - float(larger));
  return std::fabs(a - b) / unit;
}

Tolerance Tolerance::asked(const Options &options) {
  return {*options.ulp, *options.rtol, *options.atol};
}

bool Tolerance::near(DType dtype, double a, double b) const {
  return ulps(dtype, a, b) <= ulp || std::fabs(a - b) <= atol + rtol * std::fabs(b);
}

} // namespace lstmc::cli

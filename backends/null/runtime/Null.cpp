#include "backends/null/runtime/Null.h"

namespace lstmc::null {

KernelFunction kernel(KernelId) {
  return [](const LaunchArgs &, Worker &) {};
}

} // namespace lstmc::null

// Groups of kernels, for colours and sums.
#pragma once

#include <array>
#include <string_view>

#include "executor/abi/Kernels.h"

namespace lstmc::viz {

struct KernelKind {
  std::string_view name, color;
  KernelId last; ///< last kernel of the group; the first one follows the previous group's last
};

/// The sections of Kernels.def, in its order, then fused programs.
inline constexpr std::array<KernelKind, 8> kKernelKinds = {
    {{"movement", "#fdb462", KernelId::SequenceReverse},
     {"product", "#fb8072", KernelId::BiasGradient},
     {"recurrence", "#b3cde3", KernelId::RnnBackward},
     {"reduction", "#b3de69", KernelId::NormSquared},
     {"metric", "#bebada", KernelId::LossMetric},
     {"initial value", "#fccde5", KernelId::Initialise},
     {"transfer", "#d9d9d9", KernelId::Receive},
     {"fused", "#ffed6f", KernelId::Fused}}};

/// Index into kKernelKinds.
constexpr size_t kindOf(KernelId kernel) {
  if (kernel == KernelId::Fused)
    return kKernelKinds.size() - 1;
  size_t kind = 0;
  while (kKernelKinds[kind].last < kernel)
    ++kind;
  return kind;
}

} // namespace lstmc::viz

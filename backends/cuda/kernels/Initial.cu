#include "backends/cuda/kernels/Initial.h"

#include "backends/cuda/kernels/Elements.h"
#include "executor/abi/Gate.h"
#include "executor/base/InitialNumbers.h"

namespace lstmc::gpu {

LSTMC_GPU_KERNEL(lstmc_arange, ArangeArguments, a) {
  for (int64_t i = globalThreadIndex(); i < a.count; i += gridThreads()) {
    const int64_t place = i / a.repeat;
    const Double value = Double{a.start} + Double{double(place)} * Double{a.step};
    storeElement(a.y, at(a.y, i), value.v);
  }
}

LSTMC_GPU_KERNEL(lstmc_initialise, InitialiseArguments, a) {
  const InitialNumbers numbers = {a.seed.data ? uint64_t(indexAt(a.seed, 0)) : 0, a.ordinal};
  for (int64_t e = globalThreadIndex(); e < a.count; e += gridThreads()) {
    Double value = {a.a};
    if (a.kind == InitKind::Uniform) {
      value = value + (Double{a.b} - Double{a.a}) * Double{numbers.uniform(uint64_t(e))};
    } else if (a.kind == InitKind::Normal) {
      value = value * Double{numbers.normal(uint64_t(e))};
    } else if (a.kind == InitKind::LstmBias && e * 4 / a.count != kGateF) {
      value = {0};
    }
    storeElement(a.w, e, value.v);
  }
}

} // namespace lstmc::gpu

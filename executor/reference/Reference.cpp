#include "executor/reference/Reference.h"

#include "executor/reference/Groups.h"

namespace lstmc::reference {

namespace {

template <typename Launch, void (*run)(const Launch &)>
void byWorker0(const LaunchArgs &args, Worker &worker) {
  if (worker.index == 0)
    run(Launch(args));
}

constexpr KernelFunction kKernels[] = {
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING) byWorker0<ID##Launch, run##ID>,
#include "executor/abi/Kernels.def"
};

} // namespace

KernelFunction kernel(KernelId id) { return kKernels[size_t(id)]; }

} // namespace lstmc::reference

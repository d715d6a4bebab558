// The driver's table for emulated GPUs.
#pragma once

#include <cstdint>

#include "backends/cuda/runtime/Driver.h"
#include "backends/cuda/runtime/KernelImage.h"

namespace lstmc::cuda {

/// There are kMaxDevices cards, or as many as the environment variable LSTMC_EMU_CARDS says, each
/// with as much memory as the machine, at addresses that the host may not touch. Nothing that a
/// stream is given is done at once: what is ready, on any stream of the card, is carried out in an
/// order drawn from a seed, some of it at every call and the rest when somebody waits for it. A
/// copy from or to memory of the host that is not pinned is made while it is given for half of the
/// draws.
///
/// An error in a kernel (Machine.h) and two operations without an order between them (OrderCheck.h)
/// are CUDA_ERROR_LAUNCH_FAILED, whose text says what was found and by which seed; the card then
/// fails every call, as a real one does.
const Driver &emulatedDriver();

/// Of each file of kernels, as those of a real GPU.
std::span<const KernelImage> emulatedImages();

/// Draws all orders from now on from another seed. At first it is that of the environment variable
/// LSTMC_EMU_SEED, or 0.
void seedEmulatedDriver(uint64_t seed);

/// Bytes of memory that a card has given out, for tests.
uint64_t emulatedBytes(CardNumber card);
/// Bytes of the host's memory that are pinned for cards, for tests.
uint64_t emulatedPinnedBytes();

} // namespace lstmc::cuda

// NCCL's table for emulated GPUs.
#pragma once

#include "backends/cuda/runtime/Nccl.h"

namespace lstmc::cuda {

/// Communicators of two ranks, in one process or in two of a user on this machine, that never
/// block. Bytes go through a socket. A send is done when its receive was given, and the reverse, so
/// that a program that counts on buffers in between is found to hang; what is given to a stream of
/// the emulated driver is carried out in the order of that. Stricter than the real library:
///
/// * a send and a receive that do not match in size or type are errors of both cards, and one whose
///   partner has left a second ago is an error;
/// * a call while another one of the communicator is in progress, on another stream than the one
///   before, or after ncclCommAbort is an error;
/// * two ranks on one card are refused.
///
/// What the other process ends without ncclCommAbort, or with it while something is under way,
/// never comes to an end here. E0503 where LSTMC_EMU_NCCL is 0, as on machines without NCCL.
Result<const Nccl *> emulatedNccl();

} // namespace lstmc::cuda

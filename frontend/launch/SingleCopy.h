// Whether messages within a host need one copy or two.
#pragma once

namespace lstmc::launch {

/// Whether a process of this user may read the memory of another one that it did not start, which
/// containers and hardened kernels forbid: found out by two processes that try. MPI itself finds it
/// out when a message is lost.
bool processesReadOneAnother();

} // namespace lstmc::launch

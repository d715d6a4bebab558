// The process of MPI that has started the ranks of this host.
#pragma once

namespace lstmc::ranks {

/// Ends mpirun's daemon if this process comes of one. For a host that is cut off: there, nobody
/// else ends it. Other ranks of this host end with it, or by their own deadline.
void endDaemon();

} // namespace lstmc::ranks

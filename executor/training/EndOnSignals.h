// What signals do to a program of ours.
#pragma once

namespace lstmc::training {

/// From this call on, the signals of Signals.h end the process at once with 128 + signal, output
/// files in the making removed, unless a SignalWatch lives. SIGHUP, SIGQUIT and SIGUSR1 stay
/// ignored where they are.
void endOnSignals();

} // namespace lstmc::training

// A device of another process of the job.
#pragma once

#include <memory>
#include <string>

#include "executor/device/Device.h"

namespace lstmc::session {

/// Stands for a device that another process works for. Launches do nothing. Its arena is a mirror:
/// the host's own memory, in which only what the host reads or writes (inputs, outputs, what
/// persists) takes any; what is in it is what this process wrote or was last sent (Peers::share).
std::unique_ptr<Device> makeRemoteDevice(std::string name);

bool isRemote(const Device &device);

} // namespace lstmc::session

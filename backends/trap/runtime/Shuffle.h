// A device that carries its streams out in a random order, for tests.
#pragma once

#include <cstdint>
#include <memory>

#include "executor/device/Device.h"

namespace lstmc::trap {

/// `host` as a device on which nothing is done when launch() returns: what is ready, on any stream,
/// is carried out in an order drawn from `seed`, launch by launch, some of it at every call and the
/// rest when somebody waits for it. A result that depends on the seed lacks an event.
std::unique_ptr<Device> makeShuffleDevice(std::unique_ptr<Device> host, uint64_t seed);

} // namespace lstmc::trap

// Devices of this machine besides its processors, as commands show them: facts as rows, without a
// target's own types.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "executor/device/DeviceNames.h"

namespace lstmc {

struct Accelerator {
  std::string name; ///< as `-d` has it: "gpu:0"
  uint64_t memoryBytes = 0;
  int cores = 0;
  std::string level;                                     ///< of its instructions: "sm_90"
  std::string model;                                     ///< "NVIDIA H200"
  std::vector<std::string> notes;                        ///< for a reader: "71.2 GiB free"
  std::vector<std::pair<std::string, uint64_t>> figures; ///< for a program: {"free_bytes", ..}
  std::vector<std::string> links;                        ///< to each device; empty: unknown
};

/// The devices of one kind.
struct Accelerators {
  std::string kind; ///< "gpu"
  std::vector<Accelerator> devices;
  int count = 0;        ///< of all devices, where `devices` has one of many that are alike
  std::string driver;   ///< its version
  std::string compiler; ///< of fused programs; or why there is none
  struct Library {
    std::string name, version; ///< version: empty where it is not here
    std::string missing;       ///< why
  };
  std::vector<Library> libraries;
  std::string missing; ///< why there are no devices, or why nothing can run on them; may be empty
};

/// Lists the accelerators of this machine, by kind.
std::vector<Accelerators> accelerators();

/// One device of each kind that is emulated, all of a kind being alike.
std::vector<Accelerators> emulatedAccelerators();

/// A part of an accelerator's software, for `doctor`.
struct AcceleratorFinding {
  std::string what;
  bool here = false;
  std::string found, remedy;
};
std::vector<AcceleratorFinding> acceleratorFindings();

/// Memory of the accelerator of this machine that a device is, or is a part of. 0: it is none, or
/// not here.
uint64_t acceleratorBytes(const DeviceName &device);

/// "gpus      gpu:0 71.2 GiB free, 93 % busy; gpu:1 …" of the devices that are accelerators of this
/// machine, by their names; empty where nothing is known of them.
std::string acceleratorLoadText(std::span<const std::string> devices);

} // namespace lstmc

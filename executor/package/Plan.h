// The memory plan of a package in figures: what `inspect`, `compile` and `train` print, and what a
// plan that does not fit is explained with.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "executor/base/Status.h"
#include "executor/package/PackageData.h"

namespace lstmc::package {

/// Whether it is where a device keeps what its launches read besides operands
/// (device/TableKeeper.h).
inline bool holdsTables(const Buffer &buffer) {
  return buffer.kind == Kind::Workspace && buffer.entry == kPersistent;
}

using BytesOfKind = std::array<uint64_t, kKindCount>; ///< by Kind

/// Bytes of a device that hold values during each launch of an entry, what persists included. Where
/// a launch makes a buffer in the place of another, their common bytes count once, for the new.
std::vector<BytesOfKind> bytesAlive(const PackageData &data, uint32_t device, size_t entry);

/// Bytes of the arena that some entries of the package need, with all that persists and what
/// initial values are made with; packed weights only where one of these entries uses them.
/// `entries`: by entry, whether it is one of them.
uint64_t arenaBytes(const PackageData &data, uint32_t device, const std::vector<bool> &entries);

/// E0605 unless both packages have the same devices, and on them the same parameters, optimizer
/// slots and states at the same offsets, so that sessions of both can use one arena in turn.
Status checkSamePlaces(const PackageData &a, const PackageData &b);

/// A device's arena at the moment when most of it holds values. The parts add up to arenaBytes.
struct DevicePlan {
  std::string device;
  uint64_t arenaBytes = 0;
  BytesOfKind bytesOfKind{}; ///< of the buffers that live at the peak
  uint64_t unusedBytes = 0;  ///< holes and padding between them

  int32_t peakEntry = kPersistent; ///< entry and launch of the peak; kPersistent: nothing ever runs
  uint32_t peakLaunch = 0;

  std::vector<uint32_t>
      largest; ///< buffers that live at the peak, largest first, at most as many as asked

  uint64_t weightBytes() const; ///< parameters, auxiliaries, and their packed copies
  uint64_t gradientBytes() const;
  uint64_t optimizerBytes() const;
  uint64_t activationBytes() const; ///< activations, states, inputs, outputs, scalars
  uint64_t workspaceBytes() const;  ///< workspaces, and what is unused
};

/// What runs at the peak: entry, name of the op or what it is backward of (may be empty), kernel;
/// of a recurrent layer, the first and the last step that it works on, in its own order; the chunk
/// of steps where layers work in chunks. None where nothing ever runs.
struct PeakLaunch {
  std::string entry, op, kernel;
  struct Steps {
    int64_t first, last;
  };
  std::optional<Steps> steps;
  std::optional<int32_t> chunk;
};
/// Of an op without a name, such as backward's, the one that all named ops of its place have.
std::string opNameOf(const PackageData &data, const Location &location);
std::optional<PeakLaunch> launchAtPeak(const PackageData &data, const DevicePlan &plan);

std::vector<DevicePlan> planOf(const PackageData &data, size_t largest = 5);

/// "cpu:0,cpu:1": the package's devices, as -d takes them.
std::string deviceList(const PackageData &data);

/// "f32[64, 32, 256]"
std::string typeText(DType dtype, const std::vector<int64_t> &shape);

} // namespace lstmc::package

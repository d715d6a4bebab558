// A kind of device as the compiler sees it: what is chosen for it, and what things cost on it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "backends/target/Machine.h"
#include "backends/target/Way.h"
#include "backends/target/Work.h"

namespace lstmc::target {

/// What a figure of a machine says: seconds of `kernel` for one unit of `term`.
struct FigureName {
  std::string_view kernel, term;
};

/// A launch that was measured.
struct Sample {
  KernelId kernel;
  Work work;
  double seconds;
  double share = 1; ///< of the time of its entry
};

/// A message between two devices.
struct MessageCost {
  double latency; ///< seconds from the send until it begins to arrive
  double seconds; ///< that it takes to arrive
  bool byItself;  ///< arrives while the receiver works; else the receiver copies it
};

/// Occupancy of a launch that overlaps others: 0 for `alone` seconds, then `part`.
struct Share {
  double alone = 0, part = 1;
};

/// A machine that is known by a name, as "H200".
struct KnownMachine {
  std::string_view name;
  Machine machine;
  uint64_t memoryBytes;
};

/// Of f32, or what its elements are: y [.., N] from x [.., K] and a weight [A, N, K].
struct LibraryProduct {
  int64_t matrices, columns, depth, elementBytes;
};

/// Forward, in one direction, without lengths and with nothing kept for backward. `copiesX`: x has
/// gaps, or is read from its last step on; `copiesY` the same of y.
struct LibraryLayer {
  int64_t gates, steps, batch, inputs, units, elementBytes;
  bool copiesX, copiesY;
};

/// `interpreted`: where fused programs are not compiled.
struct DriverBytes {
  uint64_t compiled = 0, interpreted = 0;
};

/// The input projection of a recurrent layer: a step has `batch` rows of `width` elements.
struct Projection {
  int64_t steps, batch, width, elementBytes;
  uint64_t maxBytes; ///< that the projections of a chunk of steps may take
  bool keepsGates;   ///< for backward; or it is backward
};

/// A launch, as far as it decides how much its device keeps for it besides operands.
struct LaunchExtents {
  int64_t operands = 0, rank = 0, ints = 0; ///< the rank of the operand that has the highest
  int64_t instructions = 0;                 ///< of a fused program
};

/// One object per kind, without state: equal arguments give equal answers, and none asks a clock.
/// Machines that are handed in are of this kind, or have no figures.
class Target {
public:
  virtual ~Target() = default;

  // What is chosen.

  /// Steps whose input projection is one product, from 1 to all, or one more where
  /// the target needs the place of one. Every choice gives the same bits.
  virtual int64_t projectionSteps(const Projection &all) const = 0;
  /// Streams of a device that launches are shared out to, where nobody asks for another number.
  /// More than 1 takes memory, because what may run side by side cannot lie in one place.
  virtual int streams() const { return 1; }
  /// Bytes of the arena that a device keeps for what the launch reads besides its operands.
  virtual int64_t tableBytes(KernelId, const LaunchExtents &) const { return 0; }

  /// Scratch that a library of the device wants for a product; 0 where none carries it out.
  virtual int64_t libraryBytes(FastRules, const LibraryProduct &) const { return 0; }
  /// The same for a recurrent layer, in the place of the scratch of the kernel.
  virtual int64_t libraryBytes(FastRules, const LibraryLayer &) const { return 0; }

  // What it costs.

  /// Of a launch that is no transfer.
  virtual double launchSeconds(const Machine &machine, KernelId kernel, const Work &work) const = 0;
  /// What of the device the launch leaves to others on other streams.
  virtual Share shareOf(const Machine &, KernelId, const Work &) const { return {}; }
  /// How a recurrent layer is carried out; nothing where there is one way only.
  virtual std::optional<Way> wayOf(const Machine &, KernelId, const Work &) const {
    return std::nullopt;
  }
  /// Bytes that the driver of a device takes beside the plan to carry out what the package has for
  /// device number `device`, at most.
  virtual DriverBytes driverBytes(const Machine &, const package::PackageData &,
                                  uint32_t /*device*/) const {
    return {};
  }
  /// Of a message to `receiver`; as its links say, unless a target knows better.
  virtual MessageCost messageCost(const Machine &receiver, uint32_t sender, double bytes) const;
  /// Of an op that is no launch yet: the longer of computing and moving, and a launch.
  double opSeconds(const Machine &machine, int64_t flops, int64_t movedBytes) const;

  // Machines.

  virtual Speeds speeds(const Machine &machine) const = 0;
  /// Those that descriptions of clusters may name. Empty: there is the built-in one only.
  virtual std::span<const KnownMachine> knownMachines() const { return {}; }
  /// A known machine, or without figures the built-in one, with everything so much faster or slower
  /// that it has these speeds.
  virtual Machine withSpeeds(const Machine &known, const Speeds &speeds) const = 0;
  /// With every launch `times` as long.
  virtual Machine slowed(const Machine &machine, double times) const = 0;
  /// In the order of Machine::figures. Empty: costs are fixed, and nothing is to be measured.
  virtual std::span<const FigureName> figureNames() const { return {}; }
  /// The machine whose figures come nearest to what was measured with so many threads; the same
  /// samples give the same figures.
  virtual Machine fit(std::span<const Sample> samples, int threads) const;
};

} // namespace lstmc::target

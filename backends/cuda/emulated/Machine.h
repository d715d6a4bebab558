// The emulated GPU: runs a kernel thread by thread and reports errors that a real GPU may not show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lstmc::gpu {

/// Memory that a launch may touch.
struct Region {
  const void *begin = nullptr; ///< the address that kernels use
  uint64_t bytes = 0;
  bool writable = false;
  std::string name;       ///< of the operand, for messages
  void *memory = nullptr; ///< where the bytes are on the host; null: at `begin`

  void *place(uint64_t offset) const {
    return static_cast<std::byte *>(memory ? memory : const_cast<void *>(begin)) + offset;
  }
};

struct LaunchShape {
  int64_t blocks = 1;
  int threads = 32; ///< per block, whole warps
  int sharedBytes = 0;
  /// All blocks run at the same time and may wait for one another.
  bool cooperative = false;
  /// Blocks of a cluster, which reach one another's shared memory.
  int cluster = 1;
};

/// Limits of the emulated GPU: those of an H100.
inline constexpr int kMultiprocessors = 132;
inline constexpr int kMaxThreads = 1024;
inline constexpr int kMaxSharedBytes = 227 * 1024;
inline constexpr int kMaxCluster = 16;
inline constexpr int kUsualCluster = 8; ///< unless a kernel is allowed more

/// An error in a kernel, and where it happened.
struct Fault {
  std::string kernel;
  int64_t block = 0;
  int thread = 0;
  std::string what;
  std::string file;
  int line = 0;

  /// "scale, block 3, thread 17, Scale.cu:12: reads 4 bytes outside of its operands"
  std::string text() const;
};

/// Runs `body` once for each thread. `seed` chooses the order in which threads take turns, so that
/// an error can be reproduced. The host rounds to nearest and keeps denormals meanwhile, as a GPU
/// does in f64; EmulatedGpu.h flushes f32.
///
/// Reported are: accesses outside of the regions and of shared memory; misaligned accesses; stores
/// to regions that are not writable; reads of shared memory that was never written; data races (two
/// threads use one place, at least one writes, and no barrier separates them); barriers that not
/// all threads reach, or that they reach at different lines; waiting for another block in a launch
/// that is not cooperative, or for a value that is never written; a cooperative launch that does
/// not fit on the GPU; use of the shared memory of another block before a barrier of the cluster
/// has shown that it is there, or after the block has ended. Only the last two readers of a place
/// are remembered, so a race with an earlier reader can be missed.
std::optional<Fault> launch(std::string_view kernel, void (*body)(const void *arguments),
                            const void *arguments, const LaunchShape &shape,
                            std::span<const Region> regions, uint64_t seed = 0);

/// The same for a kernel as LSTMC_GPU_KERNEL defines it.
template <auto Kernel, typename Arguments>
std::optional<Fault> launchKernel(std::string_view name, const Arguments &arguments,
                                  const LaunchShape &shape, std::span<const Region> regions,
                                  uint64_t seed = 0) {
  return launch(
      name, [](const void *a) { Kernel(*static_cast<const Arguments *>(a)); }, &arguments, shape,
      regions, seed);
}

} // namespace lstmc::gpu

// The launches of each kernel, with one source file for a group of kernels; Launches.cpp makes the
// table of all.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "backends/cuda/kernels/Operand.h"
#include "backends/cuda/runtime/Launches.h"
#include "executor/base/Numeric.h"
#include "executor/device/KernelLaunch.h"

namespace lstmc::cuda {

/// Nothing: the host carries the launch out.
using Launches = std::optional<std::vector<GpuLaunch>>;

#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING)                                    \
  Launches launches##ID(const ID##Launch &launch, const GpuShape &gpu);
#include "executor/abi/Kernels.def"

/// Threads per block, and most blocks, of a launch with one thread per element. With more elements,
/// the kernel loops.
inline constexpr int kThreads = 256;
inline constexpr int64_t kMaxBlocks = 1024;

gpu::Operand operandOf(const Tensor &tensor);

inline int bytesOf(DType type) { return int(dtypeBytes(type)); }

/// The bits of `value` as stored in an element of this type.
inline uint64_t storedBits(DType type, double value) {
  uint64_t bits = 0;
  writeElement(&bits, type, 0, value);
  return bits;
}

/// So many threads as make whole warps, up to kThreads.
inline int threadsFor(int64_t count) {
  return int(std::clamp<int64_t>((count + 31) / 32 * 32, 32, kThreads));
}

template <typename Arguments>
GpuLaunch launchOf(std::string_view kernel, const Arguments &arguments) {
  GpuLaunch launch;
  launch.kernel = kernel;
  launch.arguments.resize(sizeof(arguments));
  std::memcpy(launch.arguments.data(), &arguments, sizeof(arguments));
  return launch;
}

/// A launch with one thread per element.
template <typename Arguments>
GpuLaunch elementwise(std::string_view kernel, const Arguments &arguments) {
  GpuLaunch launch = launchOf(kernel, arguments);
  launch.threads = threadsFor(arguments.count);
  launch.blocks = std::min((arguments.count + launch.threads - 1) / launch.threads, kMaxBlocks);
  return launch;
}

/// The table of a launch: rows of one type. `tableAt` is the offset of the member of the arguments
/// that takes its address.
template <typename Row>
GpuLaunch withTable(GpuLaunch launch, const std::vector<Row> &rows, size_t tableAt) {
  launch.table.resize(rows.size() * sizeof(Row));
  std::memcpy(launch.table.data(), rows.data(), launch.table.size());
  launch.tableAt = tableAt;
  return launch;
}

/// y [A, M, N] = x p + bias; with `oneMatrix`, p has one matrix for all A. p is packed with so many
/// gates, 1 for none. In f32 by tensor cores, if a rule rounds, else as ProductWay.h says.
GpuLaunch productOf(const Tensor &x, const Tensor &p, const Tensor &bias, const Tensor &y,
                    bool oneMatrix, const GpuShape &gpu, int gates = 1);

/// The same by cuBLASLt, after a kernel that unpacks p into the scratch, which begins at `scratch`
/// and has so many bytes. Nothing where the library cannot take the operands, or the scratch is too
/// small. `roundedTo`: what the library may round x and p to.
std::vector<GpuLaunch> libraryProductOf(const Tensor &x, const Tensor &p, const Tensor &bias,
                                        const Tensor &y, bool oneMatrix, int gates,
                                        std::byte *scratch, int64_t scratchBytes,
                                        RoundedTo roundedTo);

/// The first byte from here on where a library's part of a scratch may begin.
std::byte *alignedForLibrary(std::byte *address);

/// y = x, of f32.
GpuLaunch copyOf(const Tensor &x, const Tensor &y);

/// Weights that are packed with so many gates as matrices [units, depth], `apart` elements from one
/// gate's to the next one's.
std::vector<GpuLaunch> unpackedRows(const Tensor &p, float *to, int64_t gates, int64_t units,
                                    int64_t depth, int64_t apart);

} // namespace lstmc::cuda

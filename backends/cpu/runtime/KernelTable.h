// Which function runs a kernel: one table per level, filled by the kernel files.
#pragma once

#include <array>
#include <span>
#include <type_traits>

#include "backends/cpu/runtime/Level.h"
#include "executor/device/KernelLaunch.h"

namespace lstmc::cpu {

inline constexpr size_t kKernelCount = 0
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING) +1
#include "executor/abi/Kernels.def"
    ;

/// Of a call. g++ can be told so at the function only.
#ifdef __clang__
#define LSTMC_OUT_OF_LINE [[clang::noinline]]
#else
#define LSTMC_OUT_OF_LINE
#endif

class KernelTable {
public:
  /// Which operands a function accepts. F32: no operand that is present is f64, f16 or bf16. Any:
  /// the function selects the type itself.
  enum class Types : uint8_t { F32, Any };

  /// Adds `function`, which takes its kernel's launch: set<softmax>().
  template <auto function> void set(Types types = Types::F32) {
    using Launch = typename decltype(launchOf(function))::type;
    entries_[size_t(Launch::kKernel)] = {[](const LaunchArgs &args, Worker &worker) {
                                           const Launch launch(args);
                                           // If it were inlined here, less would be inlined into
                                           // it: reduce becomes a third slower.
                                           LSTMC_OUT_OF_LINE function(launch, worker);
                                         },
                                         types};
  }

  /// The level's function if it accepts operands of these types, else the reference's. Called once,
  /// when a launch is bound.
  KernelFunction find(KernelId id, std::span<const Tensor> operands) const;

  /// The level's own function; null if it has none.
  KernelFunction own(KernelId id) const { return entries_[size_t(id)].function; }

private:
  template <typename Launch>
  static std::type_identity<Launch> launchOf(void (*)(const Launch &, Worker &));

  struct Entry {
    KernelFunction function = nullptr;
    Types types = Types::F32;
  };
  std::array<Entry, kKernelCount> entries_{};
};

const KernelTable &kernelTable(Level level);

// One function per kernel file and level, listed in KernelFiles.def.
#define LSTMC_CPU_KERNEL_FILE(NAME)                                                                \
  namespace scalar {                                                                               \
  void register##NAME(KernelTable &);                                                              \
  }                                                                                                \
  namespace avx2 {                                                                                 \
  void register##NAME(KernelTable &);                                                              \
  }                                                                                                \
  namespace avx512 {                                                                               \
  void register##NAME(KernelTable &);                                                              \
  }
#include "backends/cpu/runtime/KernelFiles.def"

} // namespace lstmc::cpu

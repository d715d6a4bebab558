// The kernels of the cuda target, compiled for the host.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace lstmc::cuda {

struct EmulatedKernel {
  std::string_view name;
  void (*body)(const void *arguments);
  size_t argumentBytes;
};

/// Null if there is no such kernel.
const EmulatedKernel *findKernel(std::string_view name);

/// A shared library of the host as a module: the text of fused programs, as a compiler of the host
/// made it. Its kernels call the emulated machine, so the program exports its symbols.
class EmulatedModule {
public:
  /// Whether an image begins as such a library does.
  static bool isLibrary(const void *image);
  /// Null if the system does not load it.
  static std::unique_ptr<EmulatedModule> load(const void *image);

  EmulatedModule(const EmulatedModule &) = delete;
  EmulatedModule &operator=(const EmulatedModule &) = delete;
  ~EmulatedModule();

  /// Null if there is no such kernel.
  const EmulatedKernel *find(const char *name);

private:
  explicit EmulatedModule(void *library) : library_(library) {}

  void *library_;
  std::deque<std::string> names_;
  std::deque<EmulatedKernel> kernels_;
};

} // namespace lstmc::cuda

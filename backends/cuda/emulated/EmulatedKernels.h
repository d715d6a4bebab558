// The kernels of the cuda target, compiled for the host.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lstmc::cuda {

struct EmulatedKernel {
  std::string_view name;
  std::string_view file; ///< of kernels/Entries.def; "" of a fused program
  void (*body)(const void *arguments);
  size_t argumentBytes;
};

/// The files of kernels, each once. Such a name is the image of its file.
std::vector<const char *> emulatedFiles();

/// The kernels of a file, or a shared library of the host: the text of fused programs, as a
/// compiler of the host made it. Its kernels call the emulated machine, so the program exports its
/// symbols.
class EmulatedModule {
public:
  /// Of the name of a file, or of a library. Null if the system does not load it.
  static std::unique_ptr<EmulatedModule> load(const void *image);

  EmulatedModule(const EmulatedModule &) = delete;
  EmulatedModule &operator=(const EmulatedModule &) = delete;
  ~EmulatedModule();

  /// Null if there is no such kernel.
  const EmulatedKernel *find(const char *name);

private:
  explicit EmulatedModule(void *library) : library_(library) {}
  explicit EmulatedModule(const char *file) : file_(file) {}

  void *library_ = nullptr;
  const char *file_ = nullptr; ///< null of a library
  std::deque<std::string> names_;
  std::deque<EmulatedKernel> kernels_;
};

} // namespace lstmc::cuda

#include "backends/cuda/emulated/EmulatedKernels.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "backends/cuda/kernels/Fused.h"
#include "backends/cuda/kernels/Gradients.h"
#include "backends/cuda/kernels/Initial.h"
#include "backends/cuda/kernels/Losses.h"
#include "backends/cuda/kernels/Movement.h"
#include "backends/cuda/kernels/Products.h"
#include "backends/cuda/kernels/RecurrenceOnChip.h"
#include "backends/cuda/kernels/RecurrenceSteps.h"
#include "backends/cuda/kernels/RecurrenceTensor.h"
#include "backends/cuda/kernels/Reductions.h"
#include "backends/cuda/kernels/TiledProducts.h"

namespace lstmc::cuda {

namespace {

template <auto Kernel> struct BodyOf;
template <typename Arguments, void (*Kernel)(const Arguments &)> struct BodyOf<Kernel> {
  static void call(const void *arguments) { Kernel(*static_cast<const Arguments *>(arguments)); }
  static constexpr size_t kBytes = sizeof(Arguments);
};

constexpr EmulatedKernel kKernels[] = {
#define LSTMC_GPU_ENTRY(NAME, FILE)                                                                \
  {#NAME, #FILE, BodyOf<gpu::NAME>::call, BodyOf<gpu::NAME>::kBytes},
#include "backends/cuda/kernels/Entries.def"
};

} // namespace

std::vector<const char *> emulatedFiles() {
  std::vector<const char *> files;
  for (const EmulatedKernel &kernel : kKernels)
    if (std::ranges::find(files, kernel.file) == files.end())
      files.push_back(kernel.file.data());
  return files;
}

std::unique_ptr<EmulatedModule> EmulatedModule::load(const void *image) {
  const auto *text = static_cast<const char *>(image);
  if (std::strncmp(text, ELFMAG, SELFMAG) != 0)
    return std::unique_ptr<EmulatedModule>(new EmulatedModule(text));
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  const size_t bytes =
      header.e_shoff + size_t(header.e_shnum) * header.e_shentsize; // its last part
  const int file = memfd_create("module", MFD_CLOEXEC);
  if (file < 0)
    return nullptr;
  void *library = nullptr;
  if (write(file, image, bytes) == ssize_t(bytes))
    library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  close(file);
  return library ? std::unique_ptr<EmulatedModule>(new EmulatedModule(library)) : nullptr;
}

EmulatedModule::~EmulatedModule() {
  if (library_)
    dlclose(library_);
}

const EmulatedKernel *EmulatedModule::find(const char *name) {
  if (file_) {
    const EmulatedKernel *found = std::ranges::find(kKernels, name, &EmulatedKernel::name);
    return found != std::end(kKernels) && found->file == file_ ? found : nullptr;
  }
  for (const EmulatedKernel &kernel : kernels_)
    if (kernel.name == name)
      return &kernel;
  // Only fused programs are compiled; they take these arguments by reference.
  auto body = reinterpret_cast<void (*)(const void *)>(dlsym(library_, name));
  if (!body)
    return nullptr;
  const std::string &kept = names_.emplace_back(name);
  return &kernels_.emplace_back(EmulatedKernel{kept, "", body, sizeof(gpu::FusedArguments)});
}

} // namespace lstmc::cuda

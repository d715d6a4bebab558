// The compiler of the host in place of NVRTC: what it makes of a text runs on the emulated GPU.
#pragma once

#include "backends/cuda/text/TextCompiler.h"

namespace lstmc::cuda {

/// The compiler that built this. An image is a shared library, which finds the emulated machine in
/// the program that loads it. Counts how often it compiled.
class HostText final : public TextCompiler {
public:
  std::string identity(int) const override { return "the compiler of the host"; }
  Result<Bytes> compile(const std::string &text, int architecture) const override;

  mutable int compiled = 0;
};

} // namespace lstmc::cuda

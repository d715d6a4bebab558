// What compiles the text of kernels.
#pragma once

#include <cstdint>
#include <string>

#include "executor/base/InputFile.h"
#include "executor/base/Status.h"

namespace lstmc::cuda {

class TextCompiler {
public:
  virtual ~TextCompiler() = default;

  /// All that an image depends on besides the text: compiler, version, options, headers. Two that
  /// are equal give the same image of a text.
  virtual std::string identity(int architecture) const = 0;

  /// An image as the driver loads it, for GPUs of compute capability architecture / 10,
  /// architecture % 10. E0503 with the compiler's words if it refuses the text.
  virtual Result<Bytes> compile(const std::string &text, int architecture) const = 0;
};

} // namespace lstmc::cuda

#include "tests/backends/cuda/HostText.h"

#include <cstdlib>

#include "cmake/SourceFolder.h"
#include "executor/base/OutputFile.h"
#include "tests/executor/data/Files.h"

namespace lstmc::cuda {

Result<Bytes> HostText::compile(const std::string &text, int) const {
  ++compiled;
  const test::TemporaryFolder folder;
  const std::string source = folder / "fused.cc", image = folder / "fused.so";
  LSTMC_TRY(writeFile(source, text, OutputFile::Existing::Keep));
  const std::string command =
      fmt::format("'{}' -std=c++20 -O1 -ffp-contract=off -fPIC -shared -I '{}' -o '{}' '{}' >&2",
                  LSTMC_HOST_COMPILER, LSTMC_SOURCE_DIR, image, source);
  if (std::system(command.c_str()) != 0) // NOLINT(cert-env33-c,concurrency-mt-unsafe): a test
    return fail(ErrorCode::E0503, "the compiler of the host refuses {}", text);
  return readFile(image);
}

} // namespace lstmc::cuda

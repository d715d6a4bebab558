// The fused programs of every sample, as text, are taken by NVRTC, which needs no GPU.
#include <gtest/gtest.h>

#include "backends/cuda/text/FusedText.h"
#include "backends/cuda/text/Nvrtc.h"
#include "tests/e2e/Net.h"

namespace lstmc::e2e {
namespace {

size_t occurrences(const std::string &text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(NvrtcSamples, AreTakenForTheArchitecturesOfTheKernels) {
  const Result<const cuda::TextCompiler *> compiler = cuda::machineCompiler(13000);
  if (!compiler.ok())
    GTEST_SKIP() << compiler.error().message;
  const std::vector<Model> samples = modelsOf("samples");
  ASSERT_GE(samples.size(), 9u);
  for (const Model &sample : samples) {
    const std::vector<FusedProgram> programs = compileNet(sample.recipe).package.programs;
    const std::string text = cuda::fusedText(programs);
    EXPECT_EQ(occurrences(text, "LSTMC_GPU_KERNEL("), programs.size()) << sample.name;
    for (int architecture : {80, 90}) {
      const Result<Bytes> image = (*compiler)->compile(text, architecture);
      ASSERT_TRUE(image.ok()) << sample.name << ": " << image.error().text();
      for (size_t i = 0; i < programs.size(); ++i)
        EXPECT_NE(asText(*image).find(cuda::fusedKernelName(i)), std::string::npos)
            << sample.name << " for " << architecture;
    }
  }
}

} // namespace
} // namespace lstmc::e2e

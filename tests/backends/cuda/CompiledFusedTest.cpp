// Fused programs as text: the emulated GPU computes with it what the reference does, and NVRTC
// takes it for real ones.
#include <gtest/gtest.h>

#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/runtime/GpuDevice.h"
#include "backends/cuda/text/FusedText.h"
#include "backends/cuda/text/Nvrtc.h"
#include "executor/base/functions/Functions.h"
#include "tests/backends/conformance/CompiledFused.h"
#include "tests/backends/cuda/HostText.h"
#include "tests/executor/data/Files.h"

namespace lstmc::cuda {
namespace {

TEST(CompiledFused, GivesTheBitsOfTheReference) {
  const test::TemporaryFolder cache;
  setenv("LSTMC_CACHE_DIR", cache.path().c_str(), 1);
  const HostText compiler;
  auto device =
      makeGpuDevice("emu:0", emulatedDriver(), {.images = emulatedImages(), .compiler = &compiler});
  ASSERT_TRUE(device.ok());
  const std::vector<conformance::TestLaunch> launches = conformance::fusedLaunches();
  ASSERT_GT(conformance::programsOf(launches).size(), 100u);
  conformance::expectCompiledBits(**device, launches);
  EXPECT_EQ(compiler.compiled, 1);
}

bool isOnly(const FusedProgram &program, ScalarOp op, DType type) {
  return program.instructions.size() == 1 && program.instructions[0].op == op &&
         program.instructions[0].type == type;
}

/// Every function for every type that is computed has a program of its own.
TEST(CompiledFused, HasAProgramForEachFunctionAndType) {
  const std::vector<FusedProgram> all = conformance::programsOf(conformance::fusedLaunches());
  for (const ScalarRecord &record : kScalarRecords) {
    if (!real::isFunction(record.op))
      continue;
    for (DType type : {DType::F32, DType::F64, DType::I32, DType::I64})
      EXPECT_TRUE(std::ranges::any_of(
          all, [&](const FusedProgram &program) { return isOnly(program, record.op, type); }))
          << record.name << " " << dtypeName(type);
  }
}

/// One program that does what both do.
FusedProgram joined(const FusedProgram &first, const FusedProgram &second) {
  const size_t operands = first.types.size() + second.types.size();
  FusedProgram both;
  for (const FusedProgram *program : {&first, &second}) {
    // Of the value with this number in its own program.
    const auto number = [&, begin = both.types.size(),
                         made = both.instructions.size()](size_t value) {
      const size_t own = program->types.size();
      return value < own ? begin + value : operands + made + value - own;
    };
    for (int32_t result : program->results)
      both.results.push_back(result < 0 ? -1 : int32_t(number(size_t(result))));
    std::vector<FusedInstruction> instructions = program->instructions;
    for (FusedInstruction &instruction : instructions)
      for (uint16_t *value : {&instruction.a, &instruction.b, &instruction.c})
        *value = uint16_t(number(*value));
    both.types.insert(both.types.end(), program->types.begin(), program->types.end());
    both.instructions.insert(both.instructions.end(), instructions.begin(), instructions.end());
  }
  return both;
}

/// In fewer programs, because NVRTC takes its time for each kernel.
std::vector<FusedProgram> grouped(const std::vector<FusedProgram> &programs) {
  constexpr size_t kMost = 16;
  std::vector<FusedProgram> groups;
  for (const FusedProgram &program : programs)
    if (!groups.empty() && groups.back().types.size() + program.types.size() <= kMost)
      groups.back() = joined(groups.back(), program);
    else
      groups.push_back(program);
  return groups;
}

TEST(CompiledFused, IsTakenByNvrtc) {
  const Result<const TextCompiler *> compiler = machineCompiler(13000);
  if (!compiler.ok())
    GTEST_SKIP() << compiler.error().message;
  const std::vector<FusedProgram> all =
      grouped(conformance::programsOf(conformance::fusedLaunches()));
  // Each for one of the two, for the same reason.
  for (size_t number : {0, 1}) {
    std::vector<FusedProgram> programs;
    for (size_t i = number; i < all.size(); i += 2)
      programs.push_back(all[i]);
    const std::string text = fusedText(programs);
    for (size_t i = 0; i < programs.size(); ++i)
      EXPECT_NE(text.find(fusedKernelName(i) + ","), std::string::npos) << i;
    const Result<Bytes> image = (*compiler)->compile(text, number == 0 ? 80 : 90);
    ASSERT_TRUE(image.ok()) << image.error().text();
    EXPECT_EQ(asText(std::span(*image).first(4)), "\177ELF");
  }
  // For a GPU that the library does not know it is text, which the driver compiles.
  const Result<Bytes> later = (*compiler)->compile("extern \"C\" __global__ void k() {}", 999);
  ASSERT_TRUE(later.ok()) << later.error().text();
  EXPECT_NE(asText(*later).find(".entry k"), std::string::npos);
}

TEST(CompiledFused, ATextThatNvrtcRefusesIsShownWithItsWords) {
  const Result<const TextCompiler *> compiler = machineCompiler(13000);
  if (!compiler.ok())
    GTEST_SKIP() << compiler.error().message;
  const Result<Bytes> image = (*compiler)->compile("no C++ at all", 90);
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().code, ErrorCode::E0503);
  EXPECT_NE(image.error().message.find("fused.cu(1): error"), std::string::npos)
      << image.error().message;
}

/// A library that makes a program and then has no memory, or another error, and no words for it.
template <NvrtcResult Error> std::string wordsOfNvrtcWith() {
  Nvrtc nvrtc;
  nvrtc.where = "libnvrtc.so.13";
  nvrtc.version = [](int *major, int *minor) { return *major = 13, *minor = 0; };
  nvrtc.architectures = [](int *count) { return *count = 0; };
  nvrtc.listArchitectures = [](int *) { return 0; };
  nvrtc.create = [](NvrtcProgram *, const char *, const char *, int, const char *const *,
                    const char *const *) { return 0; };
  nvrtc.destroy = [](NvrtcProgram *) { return 0; };
  nvrtc.compile = [](NvrtcProgram, int, const char *const *) { return Error; };
  nvrtc.logBytes = [](NvrtcProgram, size_t *bytes) { return *bytes = 1, 0; };
  nvrtc.log = [](NvrtcProgram, char *text) { return *text = '\0', 0; };
  const Result<Bytes> image = nvrtcCompiler(nvrtc)->compile("", 90);
  return image.ok() ? "" : image.error().message;
}

TEST(Nvrtc, AnErrorWithoutWordsIsNamed) {
  EXPECT_EQ(wordsOfNvrtcWith<1>(),
            "libnvrtc.so.13 refuses the text of fused programs: out of memory");
  EXPECT_EQ(wordsOfNvrtcWith<11>(), "libnvrtc.so.13 refuses the text of fused programs: error 11");
}

TEST(Nvrtc, ALibraryThatIsMissingOrOtherIsNamed) {
  const Result<Nvrtc> loaded = loadNvrtc({{"libno_such_nvrtc.so", "libm.so.6"}, {"/none"}});
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().message, "NVRTC was not found; looked for libno_such_nvrtc.so, "
                                    "libm.so.6 (has no function nvrtcVersion) " +
                                        systemPlaces() + ", and in /none");
}

} // namespace
} // namespace lstmc::cuda

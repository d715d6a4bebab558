// Where results are so small that they are flushed, a GPU has the bits of the CPU: shown without a
// GPU, by what ptxas computes when an operation has constant operands.
#include <bit>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include "executor/base/FloatMode.h"
#include "executor/base/InputFile.h"
#include "executor/base/Philox.h"
#include "tests/executor/data/Files.h"

namespace lstmc::cuda {
namespace {

/// In PTX, from %a and %b to %p, as nvcc writes it with -ftz=true; and what the CPU computes. As
/// bits of f32.
struct Operation {
  const char *text;
  uint32_t (*onCpu)(uint32_t a, uint32_t b);
};
struct Operands {
  uint32_t a, b;
};

float value(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }

// `volatile`: not by the compiler, which does not flush.
uint32_t multiplied(uint32_t a, uint32_t b) {
  const volatile float x = value(a), y = value(b);
  return bitsOf(x * y);
}
uint32_t added(uint32_t a, uint32_t b) {
  const volatile float x = value(a), y = value(b);
  return bitsOf(x + y);
}
uint32_t less(uint32_t a, uint32_t b) {
  const volatile float x = value(a), y = value(b);
  return bitsOf(x < y ? 1 : 0);
}
uint32_t smaller(uint32_t a, uint32_t b) {
  const volatile float x = value(a), y = value(b);
  return bitsOf(_mm_cvtss_f32(_mm_min_ss(_mm_set_ss(x), _mm_set_ss(y))));
}
/// a is the high word of an f64, b the low one.
uint32_t narrowed(uint32_t a, uint32_t b) {
  const volatile double x = std::bit_cast<double>(uint64_t(a) << 32 | b);
  return bitsOf(float(x));
}
/// The high word of the f64.
uint32_t widened(uint32_t a, uint32_t) {
  const volatile float x = value(a);
  return uint32_t(std::bit_cast<uint64_t>(double(x)) >> 32);
}

constexpr Operation kMultiply{"mul.rn.ftz.f32 %p, %a, %b;", multiplied},
    kAdd{"add.rn.ftz.f32 %p, %a, %b;", added},
    kLess{"setp.lt.ftz.f32 %q, %a, %b; selp.f32 %p, 0f3F800000, 0f00000000, %q;", less},
    // As Float has it: min.ftz takes -0 before +0, and another operand than a NaN.
    kSmaller{"setp.lt.ftz.f32 %q, %a, %b; selp.f32 %p, %a, %b, %q; mov.b32 %r, %p; "
             "and.b32 %v, %r, 0x7f800000; setp.ne.u32 %q, %v, 0; and.b32 %v, %r, 0x80000000; "
             "selp.b32 %r, %r, %v, %q; mov.b32 %p, %r;",
             smaller},
    kNarrow{"mov.b64 %d, {%b, %a}; cvt.rn.ftz.f32.f64 %p, %d;", narrowed},
    kWiden{"cvt.ftz.f64.f32 %d, %a; mov.b64 {%v, %r}, %d; mov.b32 %p, %r;", widened};

/// The constant that a kernel stores: this plus the number of equal results.
constexpr uint32_t kMark = 0x1BAD0000;

/// A kernel that counts for how many operands the result is the CPU's.
std::string kernelText(const Operation &operation, std::span<const Operands> all,
                       std::string_view architecture) {
  std::string text = fmt::format(
      ".version 8.0\n.target {}\n.address_size 64\n.visible .entry count(.param .u64 result) {{\n"
      "  .reg .f32 %a, %b, %p; .reg .f64 %d; .reg .b32 %r, %v, %s; .reg .pred %q;\n"
      "  .reg .u64 %o;\n  ld.param.u64 %o, [result];\n  mov.u32 %s, {:#x};\n",
      architecture, kMark);
  for (const Operands &o : all)
    text += fmt::format("  mov.b32 %a, {:#x}; mov.b32 %b, {:#x}; {}\n"
                        "  mov.b32 %r, %p; setp.eq.u32 %q, %r, {:#x}; selp.u32 %v, 1, 0, %q; "
                        "add.u32 %s, %s, %v;\n",
                        o.a, o.b, operation.text, operation.onCpu(o.a, o.b));
  return text + "  st.global.u32 [%o], %s;\n  ret;\n}\n";
}

/// For how many operands ptxas has the CPU's result; -1 if it leaves the computation to the GPU.
int equalResults(const Operation &operation, std::span<const Operands> all,
                 std::string_view architecture) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "count.ptx", image = folder / "count.cubin";
  {
    const FloatMode flushing;
    test::writeText(file, kernelText(operation, all, architecture));
  }
  const std::string command =
      fmt::format("{} -arch={} {} -o {}", LSTMC_PTXAS, architecture, file, image);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  const Bytes code = *readFile(image);
  const std::string_view bytes = asText(code);
  // What is left to the GPU has several of these constants, to choose from.
  int found = -1;
  for (int count = 0; count <= int(all.size()); ++count) {
    const uint32_t word = kMark + uint32_t(count);
    if (bytes.find({reinterpret_cast<const char *>(&word), sizeof(word)}) == bytes.npos)
      continue;
    if (found >= 0)
      return -1;
    found = count;
  }
  return found;
}

void expectBitsOfCpu(const Operation &operation, std::span<const Operands> all) {
  for (const char *architecture : {"sm_80", "sm_90"}) {
    if (equalResults(operation, all, architecture) == int(all.size()))
      continue;
    for (const Operands &o : all) {
      const int equal = equalResults(operation, {&o, 1}, architecture);
      ASSERT_EQ(equal, 1) << fmt::format("{} of {:#x} and {:#x} for {}{}", operation.text, o.a, o.b,
                                         architecture, equal < 0 ? " is not folded" : "");
    }
    ADD_FAILURE() << operation.text << " for " << architecture << " is not folded for all operands";
  }
}

uint32_t drawn(uint64_t element) { return randomBlock(1, element, 0, 0)[0]; }

TEST(Folding, FlushesProductsWhereTheCpuDoes) {
  // Tininess is found after rounding: the first product is below 2^-126 and becomes that.
  std::vector<Operands> all = {{0x3F7FFFFF, 0x00800001}, {0x3F7FFFFF, 0x00800000},
                               {0xBF7FFFFF, 0x00800001}, {0x3F000000, 0x00FFFFFF},
                               {0x3F000000, 0x01000000}, {0x00000001, 0x7F000000},
                               {0x007FFFFF, 0x3F800000}, {0x80000001, 0x3F800000}};
  constexpr uint64_t kPairs = 2000;
  for (uint64_t i = 0; i < kPairs; ++i) {
    const uint32_t a = 0x3F000000 | drawn(2 * i) >> 9;
    all.push_back({a, bitsOf(0x1p-126f * (1 / value(a))) + drawn(2 * i + 1) % 5 - 2});
  }
  expectBitsOfCpu(kMultiply, all);
}

TEST(Folding, FlushesSumsConversionsAndComparisons) {
  const Operands sums[] = {{0x00800001, 0x80800000}, {0x00FFFFFF, 0x80800000},
                           {0x01000000, 0x80800000}, {0x00000001, 0x00000001},
                           {0x80000001, 0x80000001}, {0x80000001, 0x00000000},
                           {0x007FFFFF, 0x00800000}, {0x80800001, 0x00800000}};
  expectBitsOfCpu(kAdd, sums);
  const Operands numbers[] = {{0x00000000, 0x00000001}, {0x80000001, 0x00000000},
                              {0x00000001, 0x00800000}, {0x80800000, 0x80000001},
                              {0x3F800000, 0x00000001}, {0x00000001, 0x3F800000}};
  expectBitsOfCpu(kLess, numbers);
  expectBitsOfCpu(kSmaller, numbers);
  expectBitsOfCpu(kWiden, numbers);
  // Numbers of f64 just below 2^-126, of which some are rounded to it, and below.
  const Operands wide[] = {{0x380FFFFF, 0xFFFFFFFF}, {0x380FFFFF, 0xF0000000},
                           {0x380FFFFF, 0xEFFFFFFF}, {0x380FFFFF, 0xE0000000},
                           {0x380FFFFF, 0xDFFFFFFF}, {0x38100000, 0x00000000},
                           {0xB80FFFFF, 0xFFFFFFFF}, {0x36A00000, 0x00000000}};
  expectBitsOfCpu(kNarrow, wide);
}

/// Why Float negates bits: the CPU's kernels keep a denormal there.
TEST(Folding, FlushesWhatIsNegated) {
  const Operands denormal[] = {{0x00000001, 0}};
  constexpr Operation kNegate{"neg.ftz.f32 %p, %a;", [](uint32_t, uint32_t) { return 0x80000000; }};
  expectBitsOfCpu(kNegate, denormal);
}

/// What this rests on: a result that differs is found, and so is what ptxas does not compute.
TEST(Folding, ADifferenceIsFound) {
  const Operands all[] = {{0x3F7FFFFF, 0x00800001}, {0x3F800000, 0x3F800000}};
  constexpr Operation kBefore{kMultiply.text,
                              [](uint32_t a, uint32_t b) { return a == b ? 0x3F800000u : 0u; }};
  EXPECT_EQ(equalResults(kBefore, all, "sm_90"), 1);
  constexpr Operation kDivide{"div.rn.ftz.f32 %p, %a, %b;",
                              [](uint32_t, uint32_t) { return 0x12345678u; }};
  EXPECT_EQ(equalResults(kDivide, all, "sm_90"), -1);
}

} // namespace
} // namespace lstmc::cuda

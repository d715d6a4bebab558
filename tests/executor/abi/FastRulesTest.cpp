// Rules of --fast as a package records them.
#include <gtest/gtest.h>

#include "executor/abi/FastRules.h"

namespace lstmc {
namespace {

TEST(FastRules, AreRecordedInOneOrder) {
  EXPECT_EQ(numericsText(DType::F32, {}), "cpu-f32");
  FastRules rules;
  for (size_t rule : {4, 3, 1}) // cudnn, cublaslt, bf16
    rules.add(rule);
  EXPECT_EQ(numericsText(DType::F64, rules), "cpu-f64+bf16+cublaslt+cudnn");
}

TEST(FastRules, AreReadAsTheyAreRecorded) {
  for (RoundedTo roundedTo : {RoundedTo::F32, RoundedTo::Tf32, RoundedTo::Bf16, RoundedTo::Fp16})
    for (bool cublasLt : {false, true})
      for (bool cudnn : {false, true}) {
        const FastRules rules = {roundedTo, cublasLt, cudnn};
        EXPECT_EQ(fastRulesOf(numericsText(DType::F32, rules)), rules) << rulesText(rules);
      }
}

TEST(FastRules, AreReadInNoOtherForm) {
  for (const char *text :
       {"cpu-f32+", "+", "cpu-f32++bf16", "cpu-f32+bf16+", "cpu-f32+bf17", "cpu-f32+BF16",
        "cpu-f32+bf16 ", "cpu-f32+bf16+bf16", "cpu-f32+tf32+bf16", "cpu-f32+bf16+tf32",
        "cpu-f32+cublaslt+bf16", "cpu-f32+cudnn+cublaslt", "cpu-f32+cudnn+cudnn",
        "cpu-f32+bf16,cublaslt", "cpu-f32+bf16+cublaslt+cudnn+x"})
    EXPECT_FALSE(fastRulesOf(text)) << text;
}

} // namespace
} // namespace lstmc

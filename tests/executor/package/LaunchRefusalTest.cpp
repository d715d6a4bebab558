// One case per check of a launch: the field is changed, and the whole message is compared.
#include <gtest/gtest.h>

#include "executor/package/Package.h"
#include "tests/executor/package/RefusalCase.h"
#include "tests/executor/package/SamplePackage.h"

namespace lstmc::package {
namespace {

using namespace sample;

class LaunchRefusals : public testing::TestWithParam<RefusalCase> {};

TEST_P(LaunchRefusals, NameFieldFoundAndWant) { expectRefused(samplePackage(), GetParam()); }

/// With a division by the learning rate, an f32.
Launch softmaxOutput(SoftmaxNormalization normalization) {
  Operand p{kStepY, 0, {kBatch, kUnits, 1}, {}}, label{kX, 0, {kBatch, 1}, {kInputs, 1}};
  Launch launch{KernelId::SoftmaxOutputGradient, {p, label, {kRate, 0, {1}, {}}, p}, {}, {}, 1};
  setArguments(launch, SoftmaxOutputGradientArguments{.useIgnore = false,
                                                      .normalization = normalization,
                                                      .multi = false,
                                                      .ignoreLabel = -1,
                                                      .gradScale = 1,
                                                      .smoothAlpha = 0});
  return launch;
}

const RefusalCase kCases[] = {
    // ---- fused programs ----
    {"ProgramOp", [](auto &d) { d.programs[0].instructions[0].op = ScalarOp(200); }, "E0604",
     "programs[0].instructions[0].op: found 200, want below 59"},
    {"ProgramTypeJustUnknown", [](auto &d) { d.programs[0].types[0] = DType(kDTypeCount); },
     "E0604", "programs[0].types[0]: found 9, want below 9"},
    {"ProgramOpJustUnknown",
     [](auto &d) { d.programs[0].instructions[0].op = ScalarOp(kScalarOpCount); }, "E0604",
     "programs[0].instructions[0].op: found 59, want below 59"},
    {"ProgramType", [](auto &d) { d.programs[0].instructions[0].type = DType::F16; }, "E0604",
     "programs[0].instructions[0].type: found f16, want f32, f64, i32, i64 or bool"},
    {"ProgramTypeUnknown", [](auto &d) { d.programs[0].instructions[0].type = DType(77); }, "E0604",
     "programs[0].instructions[0].type: found 77, want f32, f64, i32, i64 or bool"},
    {"ProgramOperandNotMade", [](auto &d) { d.programs[0].instructions[0].b = 4; }, "E0604",
     "programs[0].instructions[0].b: found value 4, want one made earlier, below 4"},
    {"ProgramOperandWritten", [](auto &d) { d.programs[0].instructions[0].b = 3; }, "E0604",
     "programs[0].instructions[0].b: found operand 3, which is written, want one that is read"},
    {"ProgramOperandType", [](auto &d) { d.programs[0].types[1] = DType::I8; }, "E0605",
     "programs[0].instructions[0].a: found value 1 of type i32, want f32 for mul"},
    {"ProgramCompareType", [](auto &d) { d.programs[0].instructions[1].op = ScalarOp::Less; },
     "E0605", "programs[0].instructions[1].type: found f32, want bool for less"},
    {"ProgramLogicalType", [](auto &d) { d.programs[0].instructions[1].op = ScalarOp::And; },
     "E0605", "programs[0].instructions[1].type: found f32, want bool for and"},
    {"ProgramArithmeticOnBool", [](auto &d) { d.programs[0].instructions[1].type = DType::Bool; },
     "E0605", "programs[0].instructions[1].type: found bool, want a number for sub"},
    {"ProgramUniformType", [](auto &d) { d.programs[0].instructions[1].op = ScalarOp::Uniform; },
     "E0605", "programs[0].instructions[1].a: found value 0 of type f32, want i64 for uniform"},
    {"ProgramResultType", [](auto &d) { d.programs[0].types[3] = DType::I32; }, "E0605",
     "programs[0].results[3]: found value 5 of type f32, want i32 for an operand of i32"},
    {"ProgramResultNotMade", [](auto &d) { d.programs[0].results[3] = 6; }, "E0604",
     "programs[0].results[3]: found value 6, want one made earlier, below 6"},
    {"ProgramResultNegative", [](auto &d) { d.programs[0].results[3] = -2; }, "E0604",
     "programs[0].results[3]: found value -2, want one made earlier, below 6"},
    {"ProgramStoresNothing", [](auto &d) { d.programs[0].results[3] = -1; }, "E0604",
     "programs[0].results: found nothing stored, want a result"},
    {"ProgramResultCount", [](auto &d) { d.programs[0].results.pop_back(); }, "E0605",
     "programs[0].results: found 3, want 4, one per operand"},
    {"ProgramTooLong",
     [](auto &d) { d.programs[0].instructions.resize(513, d.programs[0].instructions[0]); },
     "E0604", "programs[0].instructions: found 513, want at most 512"},
    {"ProgramTooManyOperands",
     [](auto &d) {
       d.programs[0].types.resize(65);
       d.programs[0].results.resize(65, -1);
     },
     "E0604", "programs[0].types: found 65 operands, want 1 to 64"},
    {"ProgramTooManyLive",
     [](auto &d) {
       // 65 products that are all computed before a chain of sums uses each once.
       auto &list = d.programs[0].instructions;
       list.clear();
       for (int i = 0; i < 65; ++i)
         list.push_back({ScalarOp::Mul, DType::F32, 1, 2, 0, 0});
       for (int i = 0; i < 64; ++i)
         list.push_back(
             {ScalarOp::Add, DType::F32, uint16_t(i == 0 ? 4 : 68 + i), uint16_t(5 + i), 0, 0});
       d.programs[0].results[3] = int32_t(4 + list.size() - 1);
     },
     "E0604", "programs[0].instructions: found 66 values alive at once, want at most 64"},

    // ---- launches ----
    {"KernelUnknown", [](auto &d) { stepLaunch(d, 1).kernel = KernelId(999); }, "E0604",
     "entries[2].programs[0].launches[1].kernel: found 999, want below 33, the number of kernels"},
    {"LaunchLocation", [](auto &d) { stepLaunch(d, 1).location = 9; }, "E0604",
     "entries[2].programs[0].launches[1].location: found 9, want below 2, the number of locations"},
    {"OperandCount", [](auto &d) { stepLaunch(d, 1).operands.pop_back(); }, "E0605",
     "entries[2].programs[0].launches[1].operands: found 3, want 4 for product"},
    {"OperandCountAbove",
     [](auto &d) {
       stepLaunch(d, 1).operands.push_back({});
       stepLaunch(d, 1).operands.push_back({});
     },
     "E0605", "entries[2].programs[0].launches[1].operands: found 6, want 5 for product"},
    {"OperandGroup", [](auto &d) { stepLaunch(d, 3).operands.pop_back(); }, "E0605",
     "entries[2].programs[0].launches[3].operands: found 4, want 3 and a multiple of 2 for "
     "weight_gradient"},
    {"IntCount", [](auto &d) { stepLaunch(d, 3).ints.clear(); }, "E0605",
     "entries[2].programs[0].launches[3].ints: found 0, want 4 for weight_gradient"},
    {"FloatCount", [](auto &d) { stepLaunch(d, 1).floats = {1}; }, "E0605",
     "entries[2].programs[0].launches[1].floats: found 1, want 0 for product"},
    {"IntRange", [](auto &d) { stepLaunch(d, 3).ints[WeightGradientInt::shards] = 0; }, "E0604",
     intOf("entries[2].programs[0].launches[3]", WeightGradientInt::shards) +
         ": found 0, want 1 to 4096 for shards of "
         "weight_gradient"},
    {"ShardsFirst", [](auto &d) { stepLaunch(d, 3).ints[WeightGradientInt::first] = 2; }, "E0604",
     intOf("entries[2].programs[0].launches[3]", WeightGradientInt::first) +
         ": found 2, want 0 to 1 for first of "
         "weight_gradient"},
    {"ShardsCount",
     [](auto &d) {
       setArguments(stepLaunch(d, 2),
                    LossMetricArguments{
                        .range = {kBatch, 2, 1, 2}, .valid = false, .validThresh = 0, .scale = 1});
     },
     "E0604",
     intOf("entries[2].programs[0].launches[2]", LossMetricInt::count) +
         ": found 2, want 1 to 1 for count of loss_metric"},
    {"ShardsOfAnotherBatch", [](auto &d) { stepLaunch(d, 2).ints[LossMetricInt::batch] = 3; },
     "E0605",
     "entries[2].programs[0].launches[2].operands[0].shape: found [1, 2, 3], want [O, 3, Q] for x "
     "of loss_metric"},
    {"ShardsOfFewerRows",
     [](auto &d) {
       setArguments(stepLaunch(d, 3), WeightGradientArguments{.range = {kBatch, 2, 0, 1}});
     },
     "E0605",
     "entries[2].programs[0].launches[3].operands[3].shape: found [1, 2, 1, 3], want [1, 1, 1, 3] "
     "for dy of weight_gradient"},
    {"SumGoesOnInShards",
     [](auto &d) {
       auto &launch = stepLaunch(d, 3);
       launch.operands[WeightGradientOperand::begin] = launch.operands[WeightGradientOperand::dw];
     },
     "E0604",
     intOf("entries[2].programs[0].launches[3]", WeightGradientInt::count) +
         ": found 2, want 1 to 1 for count of weight_gradient"},
    {"SumGoesOnFromAnotherShape",
     [](auto &d) {
       auto &launch = stepLaunch(d, 3);
       setArguments(launch, WeightGradientArguments{.range = {kBatch, 1, 0, 1}});
       launch.operands[WeightGradientOperand::begin] = {kWeight, 0, {1, 12}, {}};
     },
     "E0605",
     "entries[2].programs[0].launches[3].operands[2].shape: found [1, 12], want [3, 4] for begin "
     "of "
     "weight_gradient"},
    {"ShardsWithoutRows",
     [](auto &d) {
       setArguments(stepLaunch(d, 2),
                    LossMetricArguments{
                        .range = {1, 2, 0, 1}, .valid = false, .validThresh = 0, .scale = 1});
     },
     "E0605",
     "entries[2].programs[0].launches[2].operands[0].shape: found [1, 2, 3], want [O, 0, Q] for x "
     "of loss_metric"},
    {"OperandMissing", [](auto &d) { stepLaunch(d, 1).operands[0] = {}; }, "E0611",
     "entries[2].programs[0].launches[1].operands[0].buffer: found none, want one: x is required"},
    {"OperandBuffer", [](auto &d) { stepLaunch(d, 1).operands[0].buffer = 13; }, "E0604",
     "entries[2].programs[0].launches[1].operands[0].buffer: found 13, want below 13, the number "
     "of buffers"},
    {"OperandExtent", [](auto &d) { stepLaunch(d, 1).operands[0].shape[1] = 0; }, "E0604",
     "entries[2].programs[0].launches[1].operands[0].shape[1]: found 0, want at least 1"},
    {"OperandElements",
     [](auto &d) {
       stepLaunch(d, 1).operands[0].shape = {1ll << 40, 1ll << 40};
       stepLaunch(d, 1).operands[0].strides = {0, 0};
     },
     "E0604",
     "entries[2].programs[0].launches[1].operands[0].shape: found more than 281474976710656 "
     "elements"},
    {"OperandRepeated",
     [](auto &d) {
       // A norm of as many elements as a view may have; all of them are one element.
       stepLaunch(d, 4).operands[2].shape = {1 << 24, 1 << 24};
       stepLaunch(d, 4).operands[2].strides = {0, 0};
     },
     "E0604",
     "entries[2].programs[0].launches[4].operands[2].shape: found 281474976710656 elements, want "
     "at most 1073741824"},
    {"OperandStrideCount", [](auto &d) { stepLaunch(d, 1).operands[0].strides = {1}; }, "E0605",
     "entries[2].programs[0].launches[1].operands[0].strides: found 1, want 3, one per axis"},
    {"ViewBeyond", [](auto &d) { stepLaunch(d, 1).operands[0].strides = {0, 8, 1}; }, "E0604",
     "entries[2].programs[0].launches[1].operands[0].strides: found a view of elements 0 to 11, "
     "want 0 to 7, those of buffers[5]"},
    {"ViewBefore", [](auto &d) { stepLaunch(d, 1).operands[0].strides = {0, -4, 1}; }, "E0604",
     "entries[2].programs[0].launches[1].operands[0].strides: found a view of elements -4 to 3, "
     "want 0 to 7, those of buffers[5]"},
    {"ViewOffset", [](auto &d) { stepLaunch(d, 1).operands[0].offset = 1; }, "E0604",
     "entries[2].programs[0].launches[1].operands[0].shape: found a view of elements 1 to 8, "
     "want 0 to 7, those of buffers[5]"},
    {"ViewWraps", [](auto &d) { stepLaunch(d, 1).operands[0].strides = {0, INT64_MAX, INT64_MAX}; },
     "E0604",
     "entries[2].programs[0].launches[1].operands[0].strides: found a view of elements beyond 63 "
     "bits, want 0 to 7, those of buffers[5]"},
    {"ViewOffsetWraps", [](auto &d) { stepLaunch(d, 1).operands[0].offset = INT64_MAX; }, "E0604",
     "entries[2].programs[0].launches[1].operands[0].shape: found a view of elements beyond 63 "
     "bits, want 0 to 7, those of buffers[5]"},
    {"WrittenTwice",
     [](auto &d) { d.entries[kForward].programs[0].launches[1].operands[1].strides = {0, 1}; },
     "E0604",
     "entries[1].programs[0].launches[1].operands[1].strides: found a written view that holds an "
     "element twice, want each once"},
    {"OutputIsInput",
     [](auto &d) {
       d.entries[kForward].programs[0].launches[1].operands[1] =
           d.entries[kForward].programs[0].launches[1].operands[0];
     },
     "E0611",
     "entries[1].programs[0].launches[1].operands[1].buffer: found bytes that operands[0] has "
     "too, want others for y of copy"},
    {"FusedShifted",
     [](auto &d) {
       std::swap(stepLaunch(d, 5).operands[0].shape[0], stepLaunch(d, 5).operands[0].shape[1]);
     },
     "E0605",
     "entries[2].programs[0].launches[5].operands[1].shape: found [3, 4], want [4, 3], that of "
     "operands[0] for operand of fused"},
    {"FusedOtherView", [](auto &d) { stepLaunch(d, 5).operands[0].strides = {0, 1}; }, "E0611",
     "entries[2].programs[0].launches[5].operands[3].buffer: found bytes that operands[0] has "
     "too, want others for operand of fused"},
    {"PieceOperand",
     [](auto &d) {
       stepLaunch(d, 1).pieces = {lastRows()};
       stepLaunch(d, 1).pieces[0].operand = 4;
     },
     "E0604",
     "entries[2].programs[0].launches[1].pieces[0].operand: found 4, want below 4, the number of "
     "operands"},
    {"PieceIsRead",
     [](auto &d) {
       stepLaunch(d, 1).pieces = {lastRows()};
       stepLaunch(d, 1).pieces[0].operand = 0;
     },
     "E0604",
     "entries[2].programs[0].launches[1].pieces[0].operand: found 0, want one that is written"},
    {"PieceIsAbsent",
     [](auto &d) {
       stepLaunch(d, 1).pieces = {lastRows()};
       stepLaunch(d, 1).pieces[0].operand = 2;
     },
     "E0604",
     "entries[2].programs[0].launches[1].pieces[0].operand: found 2, want one that is written"},
    {"PieceRank",
     [](auto &d) {
       stepLaunch(d, 1).pieces = {lastRows()};
       stepLaunch(d, 1).pieces[0].shape = {5, kUnits};
     },
     "E0604",
     "entries[2].programs[0].launches[1].pieces[0].shape: found rank 2, want 3, the operand's"},
    {"PieceExtent",
     [](auto &d) {
       stepLaunch(d, 1).pieces = {lastRows()};
       stepLaunch(d, 1).pieces[0].shape = {1, 0, kUnits};
     },
     "E0604",
     "entries[2].programs[0].launches[1].pieces[0].shape: found extent 0, want at least 1 and at "
     "most "
     "281474976710656 elements"},
    {"PieceElements",
     [](auto &d) {
       stepLaunch(d, 1).pieces = {lastRows()};
       stepLaunch(d, 1).pieces[0].window[3] = 1;
     },
     "E0604",
     "entries[2].programs[0].launches[1].pieces[0].window: found numbers that are no window of 6 "
     "elements on 15"},
    {"PieceBeyondTheWhole",
     [](auto &d) {
       stepLaunch(d, 1).pieces = {lastRows()};
       stepLaunch(d, 1).pieces[0].window[0] += 1;
     },
     "E0604",
     "entries[2].programs[0].launches[1].pieces[0].window: found numbers that are no window of 6 "
     "elements on 15"},
    {"PieceWithoutWindow",
     [](auto &d) {
       stepLaunch(d, 1).pieces = {lastRows()};
       stepLaunch(d, 1).pieces[0].window.clear();
     },
     "E0604",
     "entries[2].programs[0].launches[1].pieces[0].window: found numbers that are no window of 6 "
     "elements on 15"},
    {"Chunk", [](auto &d) { stepLaunch(d, 1).chunk = -2; }, "E0604",
     "entries[2].programs[0].launches[1].chunk: found -2, want at least -1"},
    {"FusedProgramUnknown", [](auto &d) { stepLaunch(d, 5).ints[FusedInt::program] = 1; }, "E0604",
     intOf("entries[2].programs[0].launches[5]", FusedInt::program) +
         ": found 1, want 0 to 0 for program of fused"},
    {"FusedOperandCount", [](auto &d) { stepLaunch(d, 5).operands.pop_back(); }, "E0605",
     "entries[2].programs[0].launches[5].operands[0].shape: found 3 operands, want 4, those of "
     "programs[0] for operand of fused"},
    {"ReadBeforeWritten",
     [](auto &d) {
       d.buffers[kStepY].from = 0;
       std::swap(stepLaunch(d, 1), stepLaunch(d, 2));
     },
     "E0611",
     "entries[2].programs[0].launches[1].operands[0].buffer: found buffers[10], which no launch "
     "before wrote"},
    {"UsedBeforeItsLife", [](auto &d) { d.buffers[kStepY].from = 2; }, "E0611",
     "entries[2].programs[0].launches[1].operands[3].buffer: found buffers[10], which lives from "
     "launch 2 to 3, want one alive at 1"},
    {"UsedAfterItsLife", [](auto &d) { d.buffers[kStepY].to = 2; }, "E0611",
     "entries[2].programs[0].launches[3].operands[3].buffer: found buffers[10], which lives from "
     "launch 1 to 2, want one alive at 3"},
    {"BufferOfAnotherEntry", [](auto &d) { stepLaunch(d, 1).operands[3].buffer = kForwardY; },
     "E0611",
     "entries[2].programs[0].launches[1].operands[3].buffer: found buffers[11] of entry 1, want "
     "one of entry 2"},
    {"CommitBeyond", [](auto &d) { d.entries[kStep].programs[0].commit = 7; }, "E0604",
     "entries[2].programs[0].commit: found 7, want at most 6"},
    {"WeightsBeforeCommit", [](auto &d) { d.entries[kStep].programs[0].commit = 6; }, "E0611",
     "entries[2].programs[0].launches[5].operands[3].buffer: found buffers[0] of kind parameter "
     "written before `commit`, want it from there on"},
    {"StateBeforeCommit", [](auto &d) { d.entries[kForward].programs[0].commit = 2; }, "E0611",
     "entries[1].programs[0].launches[1].operands[1].buffer: found buffers[4] of kind state "
     "written before `commit`, want it from there on"},
    {"InputWritten",
     [](auto &d) {
       d.entries[kForward].programs[0].launches[1].operands[1] = {kX, 0, {2, 3}, {4, 1}};
     },
     "E0611",
     "entries[1].programs[0].launches[1].operands[1].buffer: found buffers[5] of kind input "
     "written, want one that launches may write"},
    {"ProgramDevice", [](auto &d) { d.entries[kForward].programs[0].device = 1; }, "E0604",
     "buffers[11].to: found 1, want below 1, the number of launches of its entry"},
    {"DeviceTwiceInEntry",
     [](auto &d) { d.entries[kForward].programs.push_back(d.entries[kForward].programs[0]); },
     "E0612", "entries[1].programs[1].device: found 0 again, want it once"},
    {"OutputNeverWritten",
     [](auto &d) {
       d.entries[kForward].programs[0].launches[0].operands[3].buffer = kState;
       d.entries[kForward].programs[0].launches[0].operands[3].shape = {1, 2, 3};
       d.entries[kForward].programs[0].launches.pop_back();
       d.entries[kForward].programs[0].commit = 0;
       d.buffers[kForwardY].to = 0;
     },
     "E0611", "entries[1].outputs[0].buffer: found buffers[11], which no launch writes"},

    // ---- kernel rules ----
    {"SoftmaxOfTemperature0",
     [](auto &d) {
       const Operand x{kX, 0, {kBatch, kUnits}, {kInputs, 1}}, y{kStepY, 0, {kBatch, kUnits}, {}};
       stepLaunch(d, 2) = {KernelId::Softmax, {x, {}, y}, {0}, {0}, 1};
     },
     "E0604",
     floatOf("entries[2].programs[0].launches[2]", SoftmaxFloat::temperature) +
         ": found 0, want a number above 0 for temperature of softmax"},
    {"CopyOfAnotherShape",
     [](auto &d) {
       d.entries[kForward].programs[0].launches[1].operands[1] = {
           kState, 0, {kBatch, 2}, {kUnits, 1}};
     },
     "E0605",
     "entries[1].programs[0].launches[1].operands[1].shape: found [2, 2], want [2, 3] for y of "
     "copy"},
    {"RuleShape", [](auto &d) { stepLaunch(d, 1).operands[3].shape = {1, 3, 2}; }, "E0605",
     "entries[2].programs[0].launches[1].operands[3].shape: found [1, 3, 2], want [1, 2, N] for y "
     "of product"},
    {"RuleType", [](auto &d) { d.buffers[kX].dtype = DType::I32; }, "E0605",
     "entries[1].programs[0].launches[0].operands[0].buffer: found i32, want f32 or f64 for x of "
     "product"},
    {"RuleSameType", [](auto &d) { d.buffers[kPackedWeight].dtype = DType::I32; }, "E0605",
     "entries[0].programs[0].launches[0].operands[1].buffer: found i32, want f32 for p of pack"},
    {"RulePacked",
     [](auto &d) { d.entries[kPrepare].programs[0].launches[0].operands[1].shape = {48}; }, "E0605",
     "entries[0].programs[0].launches[0].operands[1].shape: found [48], want [64], the elements "
     "of 1 packed [3, 4] for p of pack"},
    {"RulePackedAligned",
     [](auto &d) {
       auto &buffer = d.buffers[kPackedWeight];
       buffer.bytes = 320;
       buffer.shape = {80};
       d.entries[kPrepare].programs[0].launches[0].operands[1].offset = 1;
       for (uint32_t b = kState; b < kBufferCount; ++b)
         d.buffers[b].offset += 64;
       d.devices[0].arenaBytes += 64;
     },
     "E0605",
     "entries[0].programs[0].launches[0].operands[1].offset: found 1, want a multiple of 64 bytes "
     "for p of pack"},
    {"RuleGates", [](auto &d) { d.entries[kPrepare].programs[0].launches[0].ints = {2}; }, "E0605",
     "entries[0].programs[0].launches[0].operands[0].shape: found [1, 3, 4], want N a multiple of "
     "2 gates for w of pack"},
    {"RuleRows",
     [](auto &d) {
       auto &x = stepLaunch(d, 1).operands[0];
       x.strides = {8, 1, 2};
     },
     "E0605",
     "entries[2].programs[0].launches[1].operands[0].strides: found 2 on the last axis, want 1 "
     "for x of product"},
    {"RuleWindowCount", [](auto &d) { stepLaunch(d, 5).ints = {0, 0, 3}; }, "E0605",
     "entries[2].programs[0].launches[5].ints: found 2 for window of fused, want none or an offset "
     "and 1 to 16 pairs"},
    {"RuleWindowRank",
     [](auto &d) {
       const std::vector<int64_t> window(35, 1);
       setArguments(stepLaunch(d, 5), FusedArguments{.program = 0, .window = window});
     },
     "E0605",
     "entries[2].programs[0].launches[5].ints: found 35 for window of fused, want none or an "
     "offset "
     "and 1 to 16 pairs"},
    {"RuleWindowElements", [](auto &d) { stepLaunch(d, 5).ints = {0, 7, 3, 40, 3, 1}; }, "E0605",
     "entries[2].programs[0].launches[5].ints: found a window of 9 elements, want 12, those of the "
     "operands of fused"},
    {"RuleWindowOffset", [](auto &d) { stepLaunch(d, 5).ints = {0, -1, 12, 1}; }, "E0604",
     "entries[2].programs[0].launches[5].ints: found a window of fused that reaches below 0 or "
     "above "
     "281474976710656"},
    {"RuleWindowStride", [](auto &d) { stepLaunch(d, 5).ints = {0, 12, 12, -1}; }, "E0604",
     "entries[2].programs[0].launches[5].ints: found a window of fused that reaches below 0 or "
     "above "
     "281474976710656"},
    {"RuleWindowExtent", [](auto &d) { stepLaunch(d, 5).ints = {0, 0, 0, 1}; }, "E0604",
     "entries[2].programs[0].launches[5].ints: found a window of fused that reaches below 0 or "
     "above "
     "281474976710656"},
    {"RuleWindowWraps", [](auto &d) { stepLaunch(d, 5).ints = {0, 0, 3, 1ll << 62, 4, 1ll << 62}; },
     "E0604",
     "entries[2].programs[0].launches[5].ints: found a window of fused that reaches below 0 or "
     "above "
     "281474976710656"},
    {"RuleWindowExtentsWrap",
     [](auto &d) { stepLaunch(d, 5).ints = {0, 0, 1ll << 32, 0, 1ll << 32, 0, 12, 1}; }, "E0604",
     "entries[2].programs[0].launches[5].ints: found a window of fused that reaches below 0 or "
     "above "
     "281474976710656"},
    {"RuleEmbeddingScratch",
     [](auto &d) {
       // dw [3, 4] gathers rows of dy [1, 2, 1, 4] by the indices [1, 2, 1].
       auto &l = stepLaunch(d, 3);
       l.operands[3] = {kX, 0, {1, 2, 1, 4}, {}};
       l.operands[4] = {kX, 0, {1, 2, 1}, {}};
     },
     "E0605",
     "entries[2].programs[0].launches[3].operands[1].buffer: found none, want one as a use is an "
     "embedding for scratch of weight_gradient"},

    {"ValidOfNothing",
     [](auto &d) { stepLaunch(d, 2) = softmaxOutput(SoftmaxNormalization::Null); }, "E0605",
     "entries[2].programs[0].launches[2].operands[2].buffer: found one, want none with "
     "normalization null for valid of softmax_output_gradient"},
    {"ValidType", [](auto &d) { stepLaunch(d, 2) = softmaxOutput(SoftmaxNormalization::Valid); },
     "E0605",
     "entries[2].programs[0].launches[2].operands[2].buffer: found f32, want f64 for valid of "
     "softmax_output_gradient"},
};

INSTANTIATE_TEST_SUITE_P(Checks, LaunchRefusals, testing::ValuesIn(kCases),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace lstmc::package

// One case per check of what a package has besides launches: the field is changed, and the whole
// message is compared.
#include <functional>

#include <gtest/gtest.h>

#include "executor/package/Package.h"
#include "tests/executor/package/RefusalCase.h"
#include "tests/executor/package/SamplePackage.h"

namespace lstmc::package {
namespace {

using namespace sample;

class Refusals : public testing::TestWithParam<RefusalCase> {};

TEST_P(Refusals, NameFieldFoundAndWant) { expectRefused(samplePackage(), GetParam()); }

const RefusalCase kCases[] = {
    // ---- devices, locations ----
    {"NoDevice", [](auto &d) { d.devices.clear(); }, "E0604", "devices: found 0, want 1 to 64"},
    {"DeviceWithoutName", [](auto &d) { d.devices[0].name = ""; }, "E0604",
     "devices[0].name: found no name, want one"},
    {"DeviceTwice", [](auto &d) { d.devices.push_back({"cpu:0", 0}); }, "E0612",
     "devices[1].name: found \"cpu:0\" again, want it once"},
    {"ArenaTooLarge", [](auto &d) { d.devices[0].arenaBytes += 64; }, "E0605",
     "devices[0].arena_bytes: found 1024, want at most 960, where the last buffer ends"},
    {"ArenaEnormous", [](auto &d) { d.devices[0].arenaBytes = 1ull << 60; }, "E0604",
     "devices[0].arena_bytes: found 1152921504606846976, want at most 281474976710656"},
    {"UnknownRule", [](auto &d) { d.numerics = "cpu-f32+int4"; }, "E0604",
     "numerics: found \"cpu-f32+int4\", want rules that are known here"},
    {"TwoRoundings", [](auto &d) { d.numerics = "cpu-f32+tf32+bf16"; }, "E0604",
     "numerics: found \"cpu-f32+tf32+bf16\", want rules that are known here"},
    {"RulesInAnotherOrder", [](auto &d) { d.numerics = "cpu-f32+cublaslt+bf16"; }, "E0604",
     "numerics: found \"cpu-f32+cublaslt+bf16\", want rules that are known here"},
    {"RuleWithoutName", [](auto &d) { d.numerics = "cpu-f32+bf16+"; }, "E0604",
     "numerics: found \"cpu-f32+bf16+\", want rules that are known here"},
    {"NoShards", [](auto &d) { d.shards = 0; }, "E0604", "shards: found 0, want 1 to 4096"},
    {"NoLocations", [](auto &d) { d.locations.clear(); }, "E0604",
     "locations: found none, want at least 1"},
    {"TooManyDevices",
     [](auto &d) {
       for (int i = 1; i < 1024; ++i)
         d.devices.push_back({"cpu:" + std::to_string(i), 0});
     },
     "E0604", "devices: found 1024, want 1 to 64"},
    {"EscapeInAName", [](auto &d) { d.locations[1].name = "\x1b[2Jfc"; }, "E0604",
     "locations[1].name: found \"\\u001b[2Jfc\", want UTF-8 without control characters"},
    {"LineEndInAText", [](auto &d) { d.locations[1].text = "a\nb"; }, "E0604",
     "locations[1].text: found \"a\\nb\", want UTF-8 without control characters"},
    {"TextThatTurns", [](auto &d) { d.locations[1].notes[0] = "\u202ei"; }, "E0604",
     "locations[1].notes[0]: found \"\\u202ei\", want UTF-8 without control characters"},
    {"BytesThatAreNoText", [](auto &d) { d.buffers[kX].name = "\xff"; }, "E0604",
     "buffers[5].name: found \"\\xff\", want UTF-8 without control characters"},
    {"EscapeInAParameter", [](auto &d) { d.parameters[0].name = "w\x7f"; }, "E0604",
     "parameters[0].name: found \"w\\u007f\", want UTF-8 without control characters"},
    {"LineBelowZero", [](auto &d) { d.locations[1].line = uint32_t(-1); }, "E0604",
     "locations[1].line: found 4294967295, want at most 1073741824"},
    {"TooManyEntries", [](auto &d) { d.entries.resize(65); }, "E0604",
     "entries: found 65, want at most 64"},

    // ---- buffers ----
    {"BufferDevice", [](auto &d) { d.buffers[kX].device = 1; }, "E0604",
     "buffers[5].device: found 1, want below 1, the number of devices"},
    {"BufferKind", [](auto &d) { d.buffers[kX].kind = Kind(11); }, "E0604",
     "buffers[5].kind: found 11, want below 11"},
    {"BufferDType", [](auto &d) { d.buffers[kX].dtype = DType(9); }, "E0604",
     "buffers[5].dtype: found 9, want below 9"},
    {"BufferExtentZero", [](auto &d) { d.buffers[kX].shape = {2, 0}; }, "E0604",
     "buffers[5].shape[1]: found 0, want at least 1"},
    {"BufferExtentNegative", [](auto &d) { d.buffers[kX].shape = {-2, -4}; }, "E0604",
     "buffers[5].shape[0]: found -2, want at least 1"},
    {"BufferShapeWraps", [](auto &d) { d.buffers[kX].shape = {1ll << 62, 4}; }, "E0604",
     "buffers[5].shape: found more bytes than 63 bits count"},
    {"BufferRank", [](auto &d) { d.buffers[kX].shape.assign(17, 1); }, "E0604",
     "buffers[5].shape: found 17 axes, want at most 16"},
    {"BufferBytes", [](auto &d) { d.buffers[kX].bytes = 31; }, "E0605",
     "buffers[5].bytes: found 31, want at least 32 for f32[2, 4]"},
    {"BufferMisaligned", [](auto &d) { d.buffers[kX].offset += 4; }, "E0604",
     "buffers[5].offset: found 516, want a multiple of 64"},
    {"BufferOutsideArena", [](auto &d) { d.buffers[kX].bytes = 1 << 20; }, "E0604",
     "buffers[5].offset: found 1048576 bytes at offset 512, want them within the arena's 960"},
    {"BufferEndWraps", [](auto &d) { d.buffers[kX].bytes = ~0ull; }, "E0604",
     "buffers[5].offset: found 18446744073709551615 bytes at offset 512, want them within the "
     "arena's 960"},
    {"BufferLocation", [](auto &d) { d.buffers[kX].location = 2; }, "E0604",
     "buffers[5].location: found 2, want below 2, the number of locations"},
    {"BufferEntry", [](auto &d) { d.buffers[kStepY].entry = 3; }, "E0604",
     "buffers[10].entry: found 3, want below 3, the number of entries"},
    {"BufferEntryNegative", [](auto &d) { d.buffers[kStepY].entry = -3; }, "E0604",
     "buffers[10].entry: found -3, want at least -2"},
    {"ActivationOfInitialValues", [](auto &d) { d.buffers[kStepY].entry = kInitial; }, "E0611",
     "buffers[10].entry: found activation of initial values, want workspace"},
    {"ActivationPersists", [](auto &d) { d.buffers[kStepY].entry = -1; }, "E0611",
     "buffers[10].entry: found activation that persists, want one of an entry"},
    {"StateOfAnEntry", [](auto &d) { d.buffers[kState].entry = 1; }, "E0611",
     "buffers[4].entry: found state of entry 1, want -1: it persists"},
    {"LifeBeyondTheEntry", [](auto &d) { d.buffers[kStepY].to = 6; }, "E0604",
     "buffers[10].to: found 6, want below 6, the number of launches of its entry"},
    {"LifeBackwards", [](auto &d) { d.buffers[kStepY].from = 4; }, "E0605",
     "buffers[10].from: found 4, want at most 3, its `to`"},
    {"InputNotFromTheStart",
     [](auto &d) {
       d.buffers[kX].entry = kStep;
       d.buffers[kX].from = 1;
       d.buffers[kX].to = 4;
     },
     "E0611", "buffers[5].from: found 1, want 0 for input"},
    {"OutputNotToTheEnd", [](auto &d) { d.buffers[kForwardY].to = 0; }, "E0611",
     "buffers[11].to: found 0, want 1, the last launch, for output"},

    {"TablesAsOperand", [](auto &d) { d.buffers[kPackedWeight].kind = Kind::Workspace; }, "E0611",
     "entries[0].programs[0].launches[0].operands[1].buffer: found buffers[3], which is a device's "
     "own"},

    // ---- places for next values ----
    {"NextOfNoBuffer", [](auto &d) { addNext(d).nextOf = 99; }, "E0604",
     "buffers[13].next_of: found 99, want below 14, the number of buffers"},
    {"NextOfAWeight", [](auto &d) { addNext(d).nextOf = kWeight; }, "E0611",
     "buffers[13].next_of: found buffers[0], want an input for an input, both persistent"},
    {"NextThatIsAWeight", [](auto &d) { d.buffers[kWeight].nextOf = kX; }, "E0611",
     "buffers[0].next_of: found buffers[5], want an input for an input, both persistent"},
    {"NextOfANext",
     [](auto &d) {
       addNext(d);
       addNext(d).nextOf = 13;
     },
     "E0611",
     "buffers[14].next_of: found buffers[13], want an input for an input, both persistent"},
    {"NextOfItself", [](auto &d) { addNext(d).nextOf = 13; }, "E0611",
     "buffers[13].next_of: found buffers[13], want an input for an input, both persistent"},
    {"NextOfAnotherShape", [](auto &d) { addNext(d).shape = {kBatch * kInputs}; }, "E0605",
     "buffers[13].next_of: found f32[8] of device 0 for f32[2, 4] of device 0, want the same"},
    {"NextTwice",
     [](auto &d) {
       addNext(d);
       addNext(d);
     },
     "E0612", "buffers[14].next_of: found buffers[5] again, want it once"},
    {"NextAsOperand",
     [](auto &d) {
       addNext(d);
       d.entries[kForward].programs[0].launches[0].operands[0].buffer = 13;
     },
     "E0611",
     "entries[1].programs[0].launches[0].operands[0].buffer: found buffers[13], where the caller "
     "puts the next value of an input"},
    {"NextAsInput",
     [](auto &d) {
       addNext(d);
       d.entries[kForward].inputs[0].buffer = 13;
     },
     "E0611",
     "entries[1].inputs[0].buffer: found buffers[13], where the caller puts the next value of an "
     "input"},

    // ---- lifetimes ----
    {"PersistentOverlap", [](auto &d) { d.buffers[kGradient].offset = 0; }, "E0611",
     "buffers[1].offset: found bytes 0 to 48, want none of those that buffers[0] holds always, 0 "
     "to 48"},
    {"ActivationOverWeights", [](auto &d) { d.buffers[kStepY].offset = 0; }, "E0611",
     "buffers[10].offset: found bytes 0 to 24, want none of those that buffers[0] holds always, 0 "
     "to 48"},
    {"WorkspaceOverPackedWeights",
     [](auto &d) {
       packApart(d);
       d.buffers.push_back({0,
                            d.buffers[kPackedWeight].offset,
                            64,
                            DType::U8,
                            {64},
                            Kind::Workspace,
                            "scratch",
                            0,
                            kForward,
                            1,
                            1});
     },
     "E0611",
     "buffers[14].offset: found bytes 192 to 256, want none of those that buffers[3] holds always, "
     "192 to 448"},
    {"WorkspaceOverPackedWeightsOfItsEntry",
     [](auto &d) {
       d.buffers.push_back({0,
                            d.buffers[kPackedWeight].offset,
                            64,
                            DType::U8,
                            {64},
                            Kind::Workspace,
                            "scratch",
                            0,
                            kStep,
                            3,
                            3});
     },
     "E0611",
     "buffers[13].offset: found bytes 192 to 256, want none of those that buffers[3] holds always, "
     "192 to 448"},
    {"InputOverPackedWeights",
     [](auto &d) {
       packApart(d);
       d.buffers.push_back(d.buffers[kX]);
       Buffer &input = d.buffers.back();
       input.entry = kStep;
       input.to = 5;
       input.offset = d.buffers[kPackedWeight].offset;
       d.entries[kStep].inputs[0].buffer = uint32_t(d.buffers.size() - 1);
       auto &launches = d.entries[kStep].programs[0].launches;
       launches[1].operands[0].buffer = launches[3].operands[4].buffer =
           uint32_t(d.buffers.size() - 1);
     },
     "E0611",
     "buffers[14].offset: found bytes 192 to 224, want none of those that buffers[3] holds always, "
     "192 to 448"},
    {"ActivationsOverlap",
     [](auto &d) {
       d.buffers.push_back(d.buffers[kStepY]);
       d.buffers[kBufferCount].from = 3;
       d.buffers[kBufferCount].kind = Kind::Workspace;
     },
     "E0611",
     "buffers[13].offset: found bytes 832 to 856, want none of those that buffers[10] holds at "
     "launch 3, 832 to 856"},
    {"PrepareOverInputs",
     [](auto &d) {
       // x of forward moves after all; a workspace of prepare:forward overlaps it.
       d.buffers[kX].entry = kForward;
       d.buffers[kX].to = 1;
       d.entries[kStep] = {"other", {}, {}, {}};
       d.buffers[kStepY].entry = kForward;
       d.buffers[kStepY].from = d.buffers[kStepY].to = 0;
       d.buffers[kStepY].offset = 960;
       d.devices[0].arenaBytes += 64;
       d.metrics.clear();
       d.buffers.push_back(d.buffers[kX]);
       d.buffers.back().entry = kPrepare;
       d.buffers.back().kind = Kind::Workspace;
       d.buffers.back().to = 0;
     },
     "E0611",
     "buffers[13].offset: found bytes 512 to 544, want none of those that buffers[5] holds "
     "always, 512 to 544"},

    {"StrideOfOneRowFarBeyond",
     [](auto &d) {
       stepLaunch(d, 1).operands[0] = {kX, 0, {1, kBatch, kInputs}, {int64_t(1) << 62, kInputs, 1}};
     },
     "E0604",
     "entries[2].programs[0].launches[1].operands[0].strides[0]: found 4611686018427387904, want "
     "at most 281474976710656 in either direction"},
    {"StrideOfOneRowFarBefore",
     [](auto &d) {
       const int64_t before = -(int64_t(1) << 48) - 1;
       stepLaunch(d, 1).operands[0] = {kX, 0, {1, kBatch, kInputs}, {before, kInputs, 1}};
     },
     "E0604",
     "entries[2].programs[0].launches[1].operands[0].strides[0]: found -281474976710657, want "
     "at most 281474976710656 in either direction"},

    // ---- names ----
    {"EntryTwice", [](auto &d) { d.entries[kStep].name = "forward"; }, "E0612",
     "entries[2].name: found \"forward\" again, want it once"},
    {"EntryWithoutName", [](auto &d) { d.entries[kStep].name = ""; }, "E0604",
     "entries[2].name: found 0 bytes, want 1 to 4096"},
    {"PrepareOfNothing", [](auto &d) { d.entries[kPrepare].name = "prepare:x"; }, "E0604",
     "entries[0].name: found \"prepare:x\", want another entry's name after the colon"},
    {"ParameterTwice", [](auto &d) { d.parameters.push_back(d.parameters[0]); }, "E0612",
     "parameters[1].name: found \"w\" again, want it once"},
    {"ParameterBufferTwice",
     [](auto &d) {
       d.parameters.push_back(d.parameters[0]);
       d.parameters[1].name = "v";
     },
     "E0612", "parameters[1].buffers[0]: found buffers[0] again, want it once"},
    {"ParameterKind", [](auto &d) { d.parameters[0].buffers = {kMomentum}; }, "E0605",
     "parameters[0].buffers[0]: found buffers[2] of kind optimizer, want parameter"},
    {"ParameterValuesOfAnotherSize", [](auto &d) { d.parameters[0].values = {1, 2, 3}; }, "E0605",
     "parameters[0].values: found 3 bytes, want none or 48"},
    {"ParameterWithoutBuffer", [](auto &d) { d.parameters[0].buffers.clear(); }, "E0604",
     "parameters[0].buffers: found none, want at least 1"},
    {"ParameterMultiplier", [](auto &d) { d.parameters[0].lrMult = 0.0 / 0.0; }, "E0604",
     "parameters[0].lr_mult: found nan, want a finite number"},
    {"GradientIndex", [](auto &d) { d.parameters[0].gradients = {77}; }, "E0604",
     "parameters[0].gradients[0]: found 77, want below 13, the number of buffers"},
    {"SlotTwice", [](auto &d) { d.parameters[0].slots.push_back(d.parameters[0].slots[0]); },
     "E0612", "parameters[0].slots[1].name: found \"momentum\" again, want it once"},
    {"InitialiseWritesElsewhere",
     [](auto &d) { d.parameters[0].initialise.operands[1].buffer = kMomentum; }, "E0611",
     "parameters[0].initialise.operands[1].buffer: found buffers[2] written, want all of "
     "buffers[0]"},
    {"InitialiseReadsElsewhere",
     [](auto &d) {
       d.parameters[0].initialise = {
           KernelId::Copy, {{kMomentum, 0, {3, 4}, {}}, {kWeight, 0, {3, 4}, {}}}, {}, {}, 0};
     },
     "E0611",
     "parameters[0].initialise.operands[0].buffer: found buffers[2] read, want a scalar that "
     "persists"},
    {"StateLocation", [](auto &d) { d.states[0].location = 99; }, "E0604",
     "states[0].location: found 99, want below 2, the number of locations"},
    {"StateKind", [](auto &d) { d.states[0].buffers = {kX}; }, "E0605",
     "states[0].buffers[0]: found buffers[5] of kind input, want state"},
    {"PackedPart", [](auto &d) { d.packed[0].parts = {"v"}; }, "E0604",
     "packed[0].parts[0]: found \"v\", want the name of a parameter"},
    {"InputRole", [](auto &d) { d.entries[kForward].inputs[0].role = "dta"; }, "E0604",
     "entries[1].inputs[0].role: found \"dta\", want data, label or scalar"},
    {"InputKind", [](auto &d) { d.entries[kForward].inputs[0].buffer = kWeight; }, "E0605",
     "entries[1].inputs[0].buffer: found buffers[0] of kind parameter, want input for role data"},
    {"InputTwice",
     [](auto &d) { d.entries[kForward].inputs.push_back(d.entries[kForward].inputs[0]); }, "E0612",
     "entries[1].inputs[1].name: found \"x\" again, want it once"},
    {"InputDims", [](auto &d) { d.entries[kForward].inputs[0].dims.pop_back(); }, "E0605",
     "entries[1].inputs[0].dims: found 1, want 2, one per axis"},
    {"OutputOfAnotherEntry", [](auto &d) { d.entries[kStep].outputs[0].buffer = kForwardY; },
     "E0611", "entries[2].outputs[0].buffer: found buffers[11] of entry 1, want one of entry 2"},
    {"OutputKind", [](auto &d) { d.entries[kStep].outputs.push_back({"y", kStepY, "output", {}}); },
     "E0605",
     "entries[2].outputs[2].buffer: found buffers[10] of kind activation, want one that lives to "
     "the end"},
    {"MetricType",
     [](auto &d) {
       d.buffers[kLoss].shape = {3};
       auto &l = stepLaunch(d, 2);
       l = {KernelId::Fill, {{kLoss, 0, {3}, {}}}, {}, {0}, 0};
     },
     "E0605", "entries[2].outputs[0].buffer: found f64[3], want f64[6] or f64[B,6] for a metric"},
    {"NormType",
     [](auto &d) {
       d.buffers[kNorm].dtype = DType::F32;
       stepLaunch(d, 4) = {KernelId::Fill, {{kNorm, 0, {1}, {}}}, {}, {0}, 0};
     },
     "E0605", "entries[2].outputs[1].buffer: found f32[1], want f64[1] for gradient_norm"},
    {"MetricOfEvaluate", [](auto &d) { d.entries[kStep].name = "evaluate"; }, "E0605",
     "entries[2].outputs[0].buffer: found f64[6], want f64[18] or f64[B,18] for a metric"},
    {"OutputRole", [](auto &d) { d.entries[kStep].outputs[0].role = "metrics"; }, "E0604",
     "entries[2].outputs[0].role: found \"metrics\", want output, metric or scores"},
    {"ScoresType", [](auto &d) { d.entries[kStep].outputs[1].role = "scores"; }, "E0605",
     "entries[2].outputs[1].buffer: found f64[1], want f64[2,O,B,Q] for scores"},
    {"ScoresOfOneNumber",
     [](auto &d) {
       d.entries[kStep].outputs[1].role = "scores";
       d.buffers[kNorm].shape = {1, 1, 1, 1};
     },
     "E0605", "entries[2].outputs[1].buffer: found f64[1, 1, 1, 1], want f64[2,O,B,Q] for scores"},
    {"RangeOfAScalar", [](auto &d) { d.entries[kStep].inputs[1].range = {0, 4, {}}; }, "E0611",
     "entries[2].inputs[1].range: found one for role scalar, want none"},
    {"RangeOfAnOutput", [](auto &d) { d.entries[kForward].outputs[0].range = {0, 4, {}}; }, "E0611",
     "entries[1].outputs[0].range: found one for role output, want none"},
    {"RangeThatIsEmpty", [](auto &d) { d.entries[kStep].inputs[0].range = {4, 3, {}}; }, "E0604",
     "entries[2].inputs[0].range: found 4 to 3, want low to high"},
    {"EscapeInAnInitialiser", [](auto &d) { d.parameters[0].init = "\x1b[2J"; }, "E0604",
     "parameters[0].init: found \"\\u001b[2J\", want UTF-8 without control characters"},
    {"EscapeInAGroup", [](auto &d) { d.parameters[0].group = "\x1b[2J"; }, "E0604",
     "parameters[0].group: found \"\\u001b[2J\", want UTF-8 without control characters"},
    {"ScoresUnknown", [](auto &d) { d.metrics[0].scores = "gradient_norm"; }, "E0604",
     "metrics[0].scores: found \"gradient_norm\", want an output of evaluate of role scores"},
    {"MetricUnknown", [](auto &d) { d.metrics[0].name = "y"; }, "E0604",
     "metrics[0].name: found \"y\", want an output of evaluate or step"},
    {"MetricTwice", [](auto &d) { d.metrics.push_back(d.metrics[0]); }, "E0612",
     "metrics[1].name: found \"loss\" again, want it once"},
};

INSTANTIATE_TEST_SUITE_P(Checks, Refusals, testing::ValuesIn(kCases),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace lstmc::package

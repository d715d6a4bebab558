// A small valid package, made by hand: one layer y = x w^T with a carried state, and its training
// step.
#pragma once

#include "executor/abi/Packing.h"
#include "executor/package/PackageData.h"

namespace lstmc::package {

/// Positions in the lists of the sample, so that a test can name what it changes.
namespace sample {
enum BufferIndex : uint32_t {
  kWeight,
  kGradient,
  kMomentum,
  kPackedWeight,
  kState,
  kX,
  kRate,
  kUpdate,
  kSeed,
  kLoss,
  kStepY, ///< activation of step, launches 1 to 3
  kForwardY,
  kNorm,
  kBufferCount,
};
enum EntryIndex : uint32_t { kPrepare, kForward, kStep };
inline constexpr int64_t kBatch = 2, kInputs = 4, kUnits = 3;
} // namespace sample

/// Rows 3 and 4 of five rows of y, which `product` writes.
inline Piece lastRows() {
  using namespace sample;
  return {3, {3 * kUnits, 1, 5 * kUnits, kBatch, kUnits, kUnits, 1}, {1, 5, kUnits}};
}

/// w f32[3, 4], x f32[2, 4], y f32[2, 3].
///   prepare:forward   p = pack(w)
///   forward           y = x w^T; commit; state = y
///   step              y = x w^T; loss = sum of y; gradient = y^T x and its norm; commit; w = w -
///   rate * gradient
inline PackageData samplePackage() { // NOLINT(readability-function-size): a table
  using namespace sample;
  PackageData data;
  data.producer = "test";
  data.net = "sample";
  data.shards = 2;
  data.locations = {
      {},
      {"net.lnet", 3, 9, 14, "    y = FullyConnected(x)", "FullyConnected", "fc", {"for i = 1"}}};

  uint64_t end = 0;
  auto add = [&](Kind kind, DType dtype, std::vector<int64_t> shape, std::string name,
                 int32_t entry = kPersistent, uint32_t from = 0, uint32_t to = 0) {
    uint64_t bytes = dtypeBytes(dtype);
    for (int64_t extent : shape)
      bytes *= uint64_t(extent);
    data.buffers.push_back(
        {0, end, bytes, dtype, std::move(shape), kind, std::move(name), 1, entry, from, to});
    end = uint64_t(roundUp(int64_t(end + bytes), kAlignment));
  };
  add(Kind::Parameter, DType::F32, {kUnits, kInputs}, "w");
  add(Kind::Gradient, DType::F32, {kUnits, kInputs}, "w gradient");
  add(Kind::Optimizer, DType::F32, {kUnits, kInputs}, "w momentum");
  add(Kind::Packed, DType::F32, {packedElements(kUnits, kInputs, 0)}, "w packed");
  add(Kind::State, DType::F32, {kBatch, kUnits}, "h");
  add(Kind::Input, DType::F32, {kBatch, kInputs}, "x");
  add(Kind::Scalar, DType::F32, {1}, "learning_rate");
  add(Kind::Scalar, DType::I64, {1}, "update");
  add(Kind::Scalar, DType::I64, {1}, "seed");
  add(Kind::Output, DType::F64, {kMetricFields}, "loss");
  add(Kind::Activation, DType::F32, {kBatch, kUnits}, "y", kStep, 1, 3);
  // It is used in another entry, so it may have the same place.
  data.buffers.push_back(data.buffers[kStepY]);
  data.buffers[kForwardY].kind = Kind::Output;
  data.buffers[kForwardY].entry = kForward;
  data.buffers[kForwardY].from = 0;
  data.buffers[kForwardY].to = 1;
  add(Kind::Output, DType::F64, {1}, "gradient_norm");
  data.devices = {{"cpu:0", end}};

  Operand w{kWeight, 0, {kUnits, kInputs}, {}};
  Operand wRows{kWeight, 0, {1, kUnits, kInputs}, {}};
  Operand packed{kPackedWeight, 0, {packedElements(kUnits, kInputs, 0)}, {}};
  Operand x{kX, 0, {1, kBatch, kInputs}, {}};
  auto y = [](uint32_t buffer) { return Operand{buffer, 0, {1, kBatch, kUnits}, {}}; };
  Launch pack{KernelId::Pack, {wRows, packed}, {0}, {}, 1};
  auto product = [&](uint32_t to) {
    return Launch{KernelId::Product, {x, packed, {}, y(to)}, {}, {}, 1};
  };

  // w - rate * gradient
  data.programs = {
      {{DType::F32, DType::F32, DType::F32, DType::F32},
       {{ScalarOp::Mul, DType::F32, 1, 2, 0, 0}, {ScalarOp::Sub, DType::F32, 0, 4, 0, 0}},
       {-1, -1, -1, 5}}};
  Operand gradient{kGradient, 0, {kUnits, kInputs}, {}};
  Operand rate{kRate, 0, {kUnits, kInputs}, {0, 0}};
  Launch update{KernelId::Fused, {w, rate, gradient, w}, {0}, {}, 1};

  Launch keep{KernelId::Copy,
              {{kForwardY, 0, {kBatch, kUnits}, {}}, {kState, 0, {kBatch, kUnits}, {}}},
              {},
              {},
              1};
  Launch loss{KernelId::LossMetric,
              {{kStepY, 0, {1, kBatch, kUnits}, {}}, {kLoss, 0, {kMetricFields}, {}}},
              {kBatch, 2, 0, 2, 0},
              {0, 1},
              1};
  Launch norm{KernelId::NormSquared, {{kNorm, 0, {1}, {}}, {}, gradient}, {}, {}, 1};
  Launch weightGradient{KernelId::WeightGradient,
                        {gradient,
                         {},
                         {},
                         {kStepY, 0, {1, kBatch, 1, kUnits}, {}},
                         {kX, 0, {1, kBatch, 1, kInputs}, {}}},
                        {kBatch, 2, 0, 2},
                        {},
                        1};
  data.entries.resize(3);
  data.entries[kPrepare] = {"prepare:forward", {}, {}, {{0, {pack}, 1}}};
  Binding inputX{"x", kX, "data", {"batch", ""}}, scalarRate{"learning_rate", kRate, "scalar", {}},
      scalarUpdate{"update", kUpdate, "scalar", {}};
  data.entries[kForward] = {"forward",
                            {inputX},
                            {{"y", kForwardY, "output", {"batch", ""}}},
                            {{0, {product(kForwardY), keep}, 1}}};
  data.entries[kStep] = {"step",
                         {inputX, scalarRate, scalarUpdate},
                         {{"loss", kLoss, "metric", {}}, {"gradient_norm", kNorm, "output", {}}},
                         {{0, {pack, product(kStepY), loss, weightGradient, norm, update}, 5}}};

  Parameter parameter;
  parameter.name = "w";
  parameter.buffers = {kWeight};
  parameter.gradients = {kGradient};
  parameter.slots = {{"momentum", {kMomentum}}};
  parameter.initialise = {
      KernelId::Initialise, {{kSeed, 0, {1}, {}}, w, {}}, {1, 7, 0}, {-0.5, 0.5}, 1};
  parameter.init = "Uniform(0.5)";
  parameter.location = 1;
  data.parameters = {parameter};
  data.states = {{"h", {kState}, 1}};
  data.packed = {{"fc_parameters", {"w"}}};
  data.metrics = {{"loss", "softmax"}};
  data.settings = {{"hidden", "3"}};
  return data;
}

inline Launch &stepLaunch(PackageData &data, size_t index) {
  return data.entries[sample::kStep].programs[0].launches[index];
}

/// Step packs into a workspace of its own, so that what forward reads is lost to it.
inline void packApart(PackageData &data) {
  using namespace sample;
  Buffer apart = data.buffers[kPackedWeight];
  apart.kind = Kind::Workspace;
  apart.entry = kStep;
  apart.from = 0;
  apart.to = 1;
  apart.offset = uint64_t(roundUp(int64_t(data.devices[0].arenaBytes), kAlignment));
  data.devices[0].arenaBytes = apart.offset + apart.bytes;
  std::vector<Launch> &launches = data.entries[kStep].programs[0].launches;
  launches[0].operands[PackOperand::p].buffer = uint32_t(data.buffers.size());
  launches[1].operands[ProductOperand::p].buffer = uint32_t(data.buffers.size());
  data.buffers.push_back(std::move(apart));
}

/// A place for the next value of x, as the last buffer.
inline Buffer &addNext(PackageData &data) {
  data.buffers.push_back(data.buffers[sample::kX]);
  Buffer &next = data.buffers.back();
  next.name = "x.next";
  next.nextOf = sample::kX;
  next.offset = data.devices[0].arenaBytes;
  data.devices[0].arenaBytes += uint64_t(roundUp(int64_t(next.bytes), kAlignment));
  return next;
}

} // namespace lstmc::package

// What each kernel of executor/abi/Kernels.def asks of its launch, beyond the counts of its record:
// one function per kernel, in the order of the list. Operands that are indices, labels or lengths
// may have any type.
#include "executor/package/Check.h"

#include "executor/abi/Scratch.h"
#include "executor/abi/ShardLimits.h"
#include "executor/package/Rule.h"

namespace lstmc::package {

namespace {

constexpr int64_t kMaxSteps = int64_t(1) << 40;

// ---- movement ----

void ruleFill(Rule &) {}

void ruleCopy(Rule &r) {
  r.sameShape("y", "x");
  r.sameType("y", "x");
}

void ruleFused(Rule &r) {
  int64_t number = r.integer("program", 0, int64_t(r.data.programs.size()) - 1);
  if (!r.ok())
    return;
  const FusedProgram &program = r.data.programs[size_t(number)];
  if (size_t places = r.launch.instructions.size();
      places != 0 && places != program.instructions.size())
    r.refuseField("instructions", "found {}, want {} or none", places, program.instructions.size());
  if (r.groups() != program.types.size())
    return r.refuseOperand(0, "shape", "found {} operands, want {}, those of programs[{}]",
                           r.groups(), program.types.size(), number);
  for (size_t i = 0; i < r.groups(); ++i) {
    const CheckedView &v = r.view(i), &first = r.view(size_t(0));
    if (v.dtype != program.types[i])
      r.refuseOperand(i, "buffer", "found {}, want {}, as programs[{}] has it", dtypeName(v.dtype),
                      dtypeName(program.types[i]), number);
    else if (v.rank != first.rank || v.shape != first.shape)
      r.refuseOperand(i, "shape", "found {}, want {}, that of operands[0]", shapeText(v),
                      shapeText(first));
  }
  r.window(r.groups() == 0 ? 0 : r.view(size_t(0)).elements);
}

void ruleArange(Rule &r) {
  r.shape("y", "N");
  r.dense("y");
  r.integer("repeat", 1, kMaxElements);
  r.finite("start");
  r.finite("step");
}

void ruleGather(Rule &r) {
  r.choice<IndexMode>("mode");
  r.shape("w", "A V D");
  r.bind("n", r.view("indices").elements);
  r.shape("y", "A n D");
  r.sameType("y", "w");
}

void ruleOneHot(Rule &r) {
  r.finite("on");
  r.finite("off");
  r.shape("indices", "n");
  r.shape("y", "n depth");
}

void rulePick(Rule &r) {
  r.flag("wrap");
  r.shape("x", "A C D");
  r.shape("indices", "A D");
  r.shape("y", "A D");
  r.sameType("y", "x");
}

void rulePickGradient(Rule &r) {
  r.flag("wrap");
  r.shape("dx", "A C D");
  r.shape("indices", "A D");
  r.shape("dy", "A D");
  r.sameType("dx", "dy");
}

void ruleSequenceMask(Rule &r) {
  r.shape("x", "T B D");
  r.shape("length", "B");
  r.shape("y", "T B D");
  r.sameType("y", "x");
}

void ruleSequenceLast(Rule &r) {
  r.shape("x", "T B D");
  r.shape("length", "B");
  r.shape("y", "B D");
  r.sameType("y", "x");
}

void ruleSequenceLastGradient(Rule &r) {
  r.shape("dx", "T B D");
  r.shape("length", "B");
  r.shape("dy", "B D");
  r.sameType("dx", "dy");
}

void ruleSequenceReverse(Rule &r) { ruleSequenceMask(r); }

// ---- products ----

void rulePack(Rule &r) {
  int64_t gates = r.integer("gates", 0, 4);
  r.reals({"w", "p"});
  r.shape("w", "A N K");
  if (r.ok() && gates > 0 && r.extent("N") % gates != 0)
    r.refuseOperand(r.position("w"), "shape", "found {}, want N a multiple of {} gates",
                    shapeText(r.view("w")), gates);
  r.packed("p", r.extent("A"), r.extent("N"), r.extent("K"), gates);
}

void ruleProduct(Rule &r) {
  r.reals({"x", "p", "bias", "y"});
  r.shape("x", "A M K");
  r.shape("y", "A M N");
  r.shape("bias", "N");
  r.packed("p", r.extent("A"), r.extent("N"), r.extent("K"), 0);
  r.dense("bias");
  r.rows("x");
  r.rows("y");
  r.bytesAtLeast("scratch", 0);
}

/// The range of shards that a launch sums is one; B is its rows.
void shardRange(Rule &r) {
  ShardRange range;
  range.batch = r.integer("batch", 1, kMaxElements);
  range.shards = r.integer("shards", 1, kMaxShards);
  range.first = r.integer("first", 0, range.shards - 1);
  range.count = r.integer("count", 1, range.shards - range.first);
  r.bind("B", range.rows());
}

/// The sum that a gradient goes on from, as the result; one shard, since each would need its own.
static void sumSoFar(Rule &r, std::string_view result, std::string_view axes) {
  r.shape(result, axes);
  r.shape("begin", axes);
  r.reals({result, "begin"});
  if (!r.has("begin"))
    return;
  r.integer("count", 1, 1);
  if (r.ok() && r.extent("B") == 0)
    r.refuseOperand(r.position("begin"), "buffer",
                    "found a sum that goes on over a shard without rows, want rows");
}

void ruleWeightGradient(Rule &r) {
  shardRange(r);
  sumSoFar(r, "dw", "N K");
  if (r.ok() && r.groups() == 0)
    r.refuseOperand(0, "buffer", "found no use of the weight, want at least one");
  bool embedding = false;
  for (size_t use = 0; r.ok() && use < r.groups(); ++use) {
    size_t dy = r.position(use, 0), x = r.position(use, 1);
    // O and Q are the use's own.
    const CheckedView &v = r.view(dy);
    if (v.rank != 4)
      return r.refuseOperand(dy, "shape", "found {}, want [O, B, Q, N]", shapeText(v));
    r.real(dy, r.view("dw").dtype);
    bool product = r.view(x).rank == 4;
    embedding |= !product;
    const int64_t outer = v.shape[0], inner = v.shape[2];
    r.shape(dy, fmt::format("{} B {} {}", outer, inner, product ? "N" : "K"));
    r.shape(x, fmt::format("{} B {}{}", outer, inner, product ? " K" : ""));
    if (product)
      r.real(x, r.view("dw").dtype);
  }
  if (!embedding || !r.ok())
    return;
  r.present("scratch", "as a use is an embedding");
  r.bytesAtLeast("scratch", scratchOf(r.arguments<WeightGradientArguments>(), r.size("N"),
                                      r.size("K"), int64_t(dtypeBytes(r.view("dw").dtype)))
                                .bytes);
}

void ruleBiasGradient(Rule &r) {
  shardRange(r);
  sumSoFar(r, "db", "N");
  if (r.ok() && r.groups() == 0)
    r.refuseOperand(0, "buffer", "found no use of the bias, want at least one");
  for (size_t use = 0; r.ok() && use < r.groups(); ++use) {
    size_t dy = r.position(use, 0);
    const CheckedView &v = r.view(dy);
    if (v.rank != 4)
      return r.refuseOperand(dy, "shape", "found {}, want [O, B, Q, N]", shapeText(v));
    r.real(dy, r.view("db").dtype);
    r.shape(dy, std::to_string(v.shape[0]) + " B " + std::to_string(v.shape[2]) + " N");
  }
}

// ---- recurrence ----

/// The arguments, and the axes T, B, H and GH from `y`.
template <typename Arguments> Arguments layer(Rule &r) {
  auto mode = r.choice<RnnMode>("mode");
  r.flag("reverse");
  r.integer("chunk", 1, kMaxSteps);
  r.shape("y", "T B H");
  r.bind("GH", gateCount(mode) * r.extent("H"));
  return r.arguments<Arguments>();
}

void ruleRnnForward(Rule &r) {
  const auto arguments = layer<RnnForwardArguments>(r);
  const int64_t gates = gateCount(arguments.mode);
  r.reals({"x", "w", "r", "bi", "bh", "h0", "c0", "y", "hN", "cN", "gates", "cells", "before"});
  r.shape("x", "T B I");
  r.packed("w", 1, r.extent("GH"), r.extent("I"), gates);
  r.packed("r", 1, r.extent("GH"), r.extent("H"), gates);
  for (std::string_view bias : {"bi", "bh"}) {
    r.shape(bias, "GH");
    r.dense(bias);
  }
  for (std::string_view state : {"h0", "c0", "hN", "cN"}) {
    r.shape(state, "B H");
    r.rows(state);
  }
  r.shape("length", "B");
  r.shape("gates", "T B GH");
  r.shape("cells", "T B H");
  r.shape("before", "T B H");
  for (std::string_view rows : {"x", "y", "gates", "cells", "before"})
    r.rows(rows);
  r.bytesAtLeast("scratch", scratchOf(arguments, r.size("B"), r.size("H"),
                                      int64_t(dtypeBytes(r.view("y").dtype)), r.has("gates"))
                                .bytes);
}

void ruleRnnBackward(Rule &r) {
  const auto arguments = layer<RnnBackwardArguments>(r);
  const RnnMode mode = arguments.mode;
  r.reals({"gates", "cells", "y", "h0", "c0", "before", "wt", "rt", "dy", "dhN", "dcN", "dgates",
           "dhidden", "dx", "dh0", "dc0"});
  for (std::string_view wide : {"gates", "dgates", "dhidden"}) {
    r.shape(wide, "T B GH");
    r.rows(wide);
  }
  for (std::string_view narrow : {"cells", "before", "dy"}) {
    r.shape(narrow, "T B H");
    r.rows(narrow);
  }
  r.rows("y");
  for (std::string_view state : {"h0", "c0", "dhN", "dcN", "dh0", "dc0"}) {
    r.shape(state, "B H");
    r.rows(state);
  }
  r.shape("length", "B");
  r.packed("rt", 1, r.extent("H"), r.extent("GH"), 0);
  if (r.has("dx")) {
    r.present("wt", "as there is dx");
    r.shape("dx", "T B I");
    r.rows("dx");
    r.packed("wt", 1, r.extent("I"), r.extent("GH"), 0);
  } else {
    r.absent("wt", "without dx");
  }
  if (mode == RnnMode::Lstm || mode == RnnMode::Gru)
    r.present("cells", "in modes lstm and gru");
  if (mode == RnnMode::Gru)
    r.present("dhidden", "in mode gru");
  r.bytesAtLeast(
      "scratch",
      scratchOf(arguments, r.size("B"), r.size("H"), int64_t(dtypeBytes(r.view("y").dtype))).bytes);
}

// ---- reductions and normalisation ----

void ruleReduce(Rule &r) {
  const CheckedView &x = r.view("x"), &y = r.view("y");
  auto kind = r.choice<ReduceKind>("kind");
  int64_t kept = r.integer("kept", 0, x.rank);
  if (kind != ReduceKind::ArgMax)
    r.sameType("y", "x");
  std::string axes;
  for (int64_t i = 0; i < kept; ++i)
    axes += (i ? " " : "") + std::to_string(x.shape[size_t(i)]);
  r.shape("y", kept == 0 && y.rank == 1 ? "1" : axes);
}

void ruleSoftmax(Rule &r) {
  r.flag("log");
  r.positive("temperature");
  r.reals({"x", "y"});
  r.shape("x", "R C");
  r.shape("length", "R");
  r.shape("y", "R C");
}

void ruleSoftmaxGradient(Rule &r) {
  r.flag("log");
  r.positive("temperature");
  r.reals({"y", "dy", "dx"});
  r.shape("y", "R C");
  r.shape("dy", "R C");
  r.shape("length", "R");
  r.shape("dx", "R C");
}

void ruleSoftmaxOutputGradient(Rule &r) {
  r.flag("useIgnore");
  auto normalization = r.choice<SoftmaxNormalization>("normalization");
  r.flag("multi");
  for (std::string_view number : {"ignoreLabel", "gradScale", "smoothAlpha"})
    r.finite(number);
  r.reals({"p", "dx"});
  r.shape("p", "A C D");
  r.shape("dx", "A C D");
  r.shape("label", r.view("label").rank == 3 ? "A C D" : "A D");
  if (normalization == SoftmaxNormalization::Null)
    r.absent("valid", "with normalization null");
  r.type("valid", DType::F64);
  r.shape("valid", "1");
}

void ruleValidCount(Rule &r) {
  r.finite("ignoreLabel");
  r.shape("label", "A D");
  r.type("y", DType::F64);
  r.shape("y", "1");
}

void ruleSoftmaxCrossEntropy(Rule &r) {
  r.reals({"x", "y"});
  r.shape("x", "N C");
  r.shape("label", "N");
  r.shape("y", "1");
}

void ruleLayerNorm(Rule &r) {
  r.finite("epsilon");
  r.reals({"x", "gamma", "beta", "y", "mean", "rstd"});
  r.shape("x", "R C");
  r.shape("gamma", "C");
  r.shape("beta", "C");
  r.shape("y", "R C");
  r.shape("mean", "R");
  r.shape("rstd", "R");
}

void ruleLayerNormGradient(Rule &r) {
  r.reals({"x", "gamma", "mean", "rstd", "dy", "dx", "dgammaRows"});
  r.shape("x", "R C");
  r.shape("gamma", "C");
  r.shape("mean", "R");
  r.shape("rstd", "R");
  r.shape("dy", "R C");
  r.shape("dx", "R C");
  r.shape("dgammaRows", "R C");
}

void ruleNormSquared(Rule &r) {
  for (const char *number : {"y", "begin"}) {
    r.type(number, DType::F64);
    r.shape(number, "1");
  }
  for (size_t i = 0; i < r.groups(); ++i)
    r.real(r.position(i, 0));
}

// ---- metrics ----

/// y [6] or [18], or [B, 6] or [B, 18] with the sums of each row.
static void sumsOrRows(Rule &r) {
  static_assert(kMetricFields == 6 && kEvaluationFields == 18);
  r.finite("scale");
  r.type("y", DType::F64);
  const CheckedView &y = r.view("y");
  const bool all = y.rank > 0 && y.shape[size_t(y.rank) - 1] == kEvaluationFields;
  r.shape("y", y.rank == 2 ? (all ? "B 18" : "B 6") : (all ? "18" : "6"));
  r.dense("y");
}

void ruleSoftmaxMetric(Rule &r) {
  shardRange(r);
  r.flag("useIgnore");
  r.flag("valid");
  r.finite("ignoreLabel");
  r.finite("smoothAlpha");
  r.reals({"x"});
  r.shape("x", "O B Q C");
  r.shape("label", r.view("label").rank == 4 ? "O B Q C" : "O B Q");
  sumsOrRows(r);
}

void ruleRegressionMetric(Rule &r) {
  shardRange(r);
  r.integer("loss", 0, int64_t(RegressionLoss::Logistic));
  r.reals({"x"});
  r.shape("x", "O B Q");
  r.shape("label", "O B Q");
  sumsOrRows(r);
}

void ruleLossMetric(Rule &r) {
  shardRange(r);
  r.flag("valid");
  r.finite("validThresh");
  r.reals({"x"});
  r.shape("x", "O B Q");
  sumsOrRows(r);
}

// ---- initial values ----

void ruleInitialise(Rule &r) {
  auto kind = r.choice<InitKind>("kind");
  r.integer("ordinal", 0, 4294967295);
  r.choice<OrthogonalStart>("variant");
  r.finite("a");
  r.finite("b");
  r.type("seed", DType::I64);
  r.shape("seed", "1");
  r.reals({"w"});
  r.dense("w");
  if (kind != InitKind::Orthogonal)
    return r.absent("scratch", "with a kind that is not orthogonal");
  r.present("scratch", "with kind orthogonal");
  const CheckedView &w = r.view("w");
  const int64_t rows = w.rank > 0 ? w.shape[0] : 1;
  r.bytesAtLeast("scratch", scratchOf<SafeSize>(r.arguments<InitialiseArguments>(), rows,
                                                w.elements / rows, int64_t(dtypeBytes(w.dtype)))
                                .bytes);
}

// ---- transfers: each end by itself; CheckTransfers.cpp brings the two together ----

void ruleSend(Rule &r) {
  r.integer("peer", 0, int64_t(r.data.devices.size()) - 1);
  r.integer("message", 0, kMaxElements);
}

void ruleReceive(Rule &r) { ruleSend(r); }

using RuleFunction = void (*)(Rule &);

constexpr RuleFunction kRules[] = {
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING) rule##ID,
#define LSTMC_TRANSFER LSTMC_KERNEL
#include "executor/abi/Kernels.def"
};

} // namespace

bool hasKernelRule(KernelId id) {
  return size_t(id) < std::size(kRules) && kRules[size_t(id)] != nullptr;
}

Status checkKernelRule(const PackageData &data, const Launch &launch, const Path &path,
                       std::span<const CheckedView> views) {
  Rule rule(data, launch, path, views);
  kRules[size_t(launch.kernel)](rule);
  return rule.status();
}

} // namespace lstmc::package

// The whole compiler on a small character model. The runtime accepts and runs its packages, and the
// results are the same whichever passes are left out.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "backends/registry/Devices.h"
#include "executor/session/Session.h"
#include "ir/exec/Exec.h"
#include "ir/sym/SymDialect.h"
#include "passes/Compile.h"

namespace lstmc::passes {
namespace {

struct Shape {
  int64_t steps = 6, batch = 4, vocab = 11, hidden = 8;
};

/// Embedding, two LSTM layers as one RNN, a decoder, SoftmaxOutput.
std::string network(Shape s) {
  std::string text = R"(
func.func @lm(%data: tensor<NxTxi32> {sym.name = "data", sym.role = "data", sym.dims = ["batch", "seq"]},
              %label: tensor<NxTxi32> {sym.name = "label", sym.role = "label", sym.dims = ["batch", "seq"]})
    -> (tensor<TxNxVxf32> {sym.name = "softmax_output"}) {
  %we = sym.variable {name = "embed_weight", init = ["uniform", {scale = 0.2}]} : tensor<VxHxf32>
  %e = sym.embedding %data, %we {input_dim = V : i64, output_dim = H : i64} : (tensor<NxTxi32>, tensor<VxHxf32>) -> tensor<NxTxHxf32>
  %x = sym.swap_axis %e {dim1 = 0 : i64, dim2 = 1 : i64} : (tensor<NxTxHxf32>) -> tensor<TxNxHxf32>
  %w0 = sym.variable {name = "l0_i2h_weight", init = ["uniform", {scale = 0.2}]} : tensor<GxHxf32>
  %r0 = sym.variable {name = "l0_h2h_weight", init = ["uniform", {scale = 0.2}]} : tensor<GxHxf32>
  %w1 = sym.variable {name = "l1_i2h_weight", init = ["uniform", {scale = 0.2}]} : tensor<GxHxf32>
  %r1 = sym.variable {name = "l1_h2h_weight", init = ["uniform", {scale = 0.2}]} : tensor<GxHxf32>
  %b0 = sym.variable {name = "l0_i2h_bias"} : tensor<Gxf32>
  %c0 = sym.variable {name = "l0_h2h_bias"} : tensor<Gxf32>
  %b1 = sym.variable {name = "l1_i2h_bias"} : tensor<Gxf32>
  %c1 = sym.variable {name = "l1_h2h_bias"} : tensor<Gxf32>
  %p = sym.rnn_param_concat %w0, %r0, %w1, %r1, %b0, %c0, %b1, %c1 {dim = 0 : i64, sym.name = "lm_parameters"}
     : (tensor<GxHxf32>, tensor<GxHxf32>, tensor<GxHxf32>, tensor<GxHxf32>, tensor<Gxf32>, tensor<Gxf32>, tensor<Gxf32>, tensor<Gxf32>) -> tensor<Pxf32>
  %h = sym.begin_state {name = "lm_begin_state_0"} : tensor<2xNxHxf32>
  %c = sym.begin_state {name = "lm_begin_state_1"} : tensor<2xNxHxf32>
  %y, %hN, %cN = sym.rnn %x, %p state %h cell %c {mode = "lstm", num_layers = 2 : i64, state_outputs = true, state_size = H : i64}
     : (tensor<TxNxHxf32>, tensor<Pxf32>, tensor<2xNxHxf32>, tensor<2xNxHxf32>) -> (tensor<TxNxHxf32>, tensor<2xNxHxf32>, tensor<2xNxHxf32>)
  %wd = sym.variable {name = "decoder_weight", init = ["uniform", {scale = 0.2}]} : tensor<VxHxf32>
  %bd = sym.variable {name = "decoder_bias"} : tensor<Vxf32>
  %t = sym.tanh %y : (tensor<TxNxHxf32>) -> tensor<TxNxHxf32>
  %u = sym.elemwise_mul %t, %y : (tensor<TxNxHxf32>, tensor<TxNxHxf32>) -> tensor<TxNxHxf32>
  %d = sym.fully_connected %u, %wd, %bd {flatten = false, num_hidden = V : i64} : (tensor<TxNxHxf32>, tensor<VxHxf32>, tensor<Vxf32>) -> tensor<TxNxVxf32>
  %lt = sym.swap_axis %label {dim1 = 0 : i64, dim2 = 1 : i64} : (tensor<NxTxi32>) -> tensor<TxNxi32>
  %o = sym.softmax_output %d, %lt {normalization = "valid", preserve_shape = true} : (tensor<TxNxVxf32>, tensor<TxNxi32>) -> tensor<TxNxVxf32>
  return %o : tensor<TxNxVxf32>
})";
  int64_t parameters = 2 * (2 * 4 * s.hidden * s.hidden + 2 * 4 * s.hidden);
  const std::pair<std::string, int64_t> letters[] = {{"T", s.steps},      {"N", s.batch},
                                                     {"V", s.vocab},      {"H", s.hidden},
                                                     {"G", 4 * s.hidden}, {"P", parameters}};
  for (const auto &[letter, extent] : letters)
    for (std::string pattern : {"<" + letter + "x", "x" + letter + "x", "= " + letter + " :"})
      for (size_t at; (at = text.find(pattern)) != std::string::npos;)
        text.replace(at + pattern.find(letter), 1, std::to_string(extent));
  return text;
}

class CompileTest : public ::testing::Test {
protected:
  CompileTest() {
    context.disableMultithreading();
    context.loadDialect<mlir::func::FuncDialect, sym::SymDialect, exec::ExecDialect>();
    options.optimizer.name = "adam";
    options.optimizer.clipGradientNorm = 0.5;
    options.carry = {"lm*"};
  }

  Checked<Compiled> compileNet(Shape shape = {}) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::parseSourceString<mlir::ModuleOp>(network(shape), &context);
    if (!module)
      return Diagnostic{.code = ErrorCode::E0099, .message = "the test's text does not parse"};
    return compile(*module, options);
  }

  static std::string text(const Diagnostics &diagnostics) {
    std::string all;
    for (const Diagnostic &d : diagnostics)
      all += d.message + "\n";
    return all;
  }

  /// A session on one cpu device.
  std::unique_ptr<Session> open(const package::PackageData &data, Engine engine = Engine::Fast) {
    auto package = package::Package::open(package::serialize(data), "test.lstmc");
    EXPECT_TRUE(package.ok()) << (package.ok() ? "" : package.error().text());
    if (!package.ok())
      return nullptr;
    auto devices = makeDevices("cpu", {.threads = 2, .engine = engine});
    EXPECT_TRUE(devices.ok());
    auto session = Session::create(*package, std::move(*devices));
    EXPECT_TRUE(session.ok()) << (session.ok() ? "" : session.error().text());
    EXPECT_TRUE((*session)->initialise(1).ok());
    return std::move(*session);
  }

  /// The next letter is the one after it; the last is followed by the first.
  static void feed(Session &session, const char *entry, Shape s) {
    for (const char *name : {"data", "label"}) {
      auto input = session.input(entry, name);
      if (!input.ok())
        continue;
      for (int64_t i = 0; i < s.batch * s.steps; ++i)
        input->as<int32_t>()[i] = int32_t((i + (name[0] == 'l')) % s.vocab);
    }
  }

  static double loss(Session &session, const char *entry) {
    auto metric = session.output(entry, "softmax_output_metric");
    EXPECT_TRUE(metric.ok());
    double sums[2] = {}; // sums of the batch, or of each row
    const int64_t fields = metric->shape[size_t(metric->rank) - 1];
    for (int64_t at = 0; at < metric->elements(); at += fields)
      for (int field = 0; field < 2; ++field)
        sums[field] += metric->as<double>()[at + field];
    return sums[0] / sums[1];
  }

  uint64_t train(Session &session, Shape s, int updates, double *last = nullptr) {
    feed(session, "step", s);
    session.setScalar("learning_rate", 0.02);
    for (int update = 1; update <= updates; ++update) {
      session.setScalar("update", int64_t(update));
      Status status = session.run("step");
      EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().text());
      if (!status.ok())
        return 0;
    }
    if (last)
      *last = loss(session, "step");
    return session.weightsHash();
  }

  mlir::MLIRContext context;
  CompileOptions options;
};

TEST_F(CompileTest, ForwardGivesProbabilities) {
  auto compiled = compileNet();
  ASSERT_TRUE(compiled.ok()) << text(compiled.diagnostics());
  auto session = open(compiled->package);
  ASSERT_TRUE(session);
  feed(*session, "forward", {});
  Status status = session->run("forward");
  ASSERT_TRUE(status.ok()) << status.error().text();
  auto output = session->output("forward", "softmax_output");
  ASSERT_TRUE(output.ok());
  for (int64_t row = 0; row < 24; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < 11; ++i)
      sum += double(output->as<float>()[row * 11 + i]);
    EXPECT_NEAR(sum, 1, 11 * 6e-8);
  }
  for (const DevicePeak &peak : session->peaks())
    EXPECT_LE(peak.touchedBytes, peak.plannedBytes);
}

TEST_F(CompileTest, TrainingLearns) {
  auto compiled = compileNet();
  ASSERT_TRUE(compiled.ok()) << text(compiled.diagnostics());
  auto session = open(compiled->package);
  ASSERT_TRUE(session);
  double first, last;
  train(*session, {}, 1, &first);
  train(*session, {}, 300, &last);
  EXPECT_NEAR(first, std::log(11), 0.3);
  EXPECT_LT(last, 0.2);
  feed(*session, "evaluate", {});
  ASSERT_TRUE(session->run("evaluate").ok());
  EXPECT_LT(loss(*session, "evaluate"), 0.3);
}

TEST_F(CompileTest, LeavingOutAnyOptimisationGivesTheSameBits) {
  auto all = compileNet();
  ASSERT_TRUE(all.ok()) << text(all.diagnostics());
  uint64_t want = train(*open(all->package), {}, 3);
  for (std::vector<std::string> disabled : std::vector<std::vector<std::string>>{
           {"hoist-projection"},
           {"fuse"},
           {"schedule"},
           {"in-place"},
           {"sharing"},
           {"hoist-projection", "fuse", "schedule", "in-place", "sharing"}}) {
    options.disabled = disabled;
    auto less = compileNet();
    ASSERT_TRUE(less.ok()) << text(less.diagnostics());
    EXPECT_EQ(train(*open(less->package), {}, 3), want) << disabled.front();
    EXPECT_GE(less->package.devices[0].arenaBytes + 8192, all->package.devices[0].arenaBytes)
        << disabled.front();
  }
}

TEST_F(CompileTest, ReferenceGivesTheSameBits) {
  auto compiled = compileNet();
  ASSERT_TRUE(compiled.ok()) << text(compiled.diagnostics());
  EXPECT_EQ(train(*open(compiled->package), {}, 3),
            train(*open(compiled->package, Engine::Naive), {}, 3));
}

TEST_F(CompileTest, EqualInputGivesEqualBytes) {
  auto first = compileNet(), second = compileNet();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(package::serialize(first->package), package::serialize(second->package));
}

TEST_F(CompileTest, PackageDoesNotGrowWithTheNumberOfSteps) {
  auto few = compileNet({.steps = 100}), many = compileNet({.steps = 10000});
  ASSERT_TRUE(few.ok() && many.ok());
  EXPECT_EQ(few->package.buffers.size(), many->package.buffers.size());
  EXPECT_EQ(package::serialize(few->package).size(), package::serialize(many->package).size());
}

TEST_F(CompileTest, GradientsOfParametersAreShownAsSuch) {
  auto compiled = compileNet();
  ASSERT_TRUE(compiled.ok()) << text(compiled.diagnostics());
  // The gradients of a layer's two biases are equal, and computed once.
  for (const package::Parameter &parameter : compiled->package.parameters)
    for (uint32_t gradient : parameter.gradients)
      EXPECT_EQ(compiled->package.buffers[gradient].kind, package::Kind::Gradient);
  EXPECT_GT(std::ranges::count(compiled->package.buffers, package::Kind::Gradient,
                               &package::Buffer::kind),
            0);
}

TEST_F(CompileTest, PlanThatDoesNotFitNamesTheLargest) {
  options.memoryLimit = 10000;
  auto compiled = compileNet();
  ASSERT_FALSE(compiled.ok());
  const Diagnostic &error = compiled.diagnostics().front();
  EXPECT_EQ(error.code, ErrorCode::E0401);
  EXPECT_EQ(error.message.rfind("the plan needs ", 0), 0u) << error.message;
  ASSERT_FALSE(error.reasons.empty());
  EXPECT_EQ(error.reasons[0].text.rfind("largest at the peak (step, ", 0), 0u)
      << error.reasons[0].text;
}

} // namespace
} // namespace lstmc::passes

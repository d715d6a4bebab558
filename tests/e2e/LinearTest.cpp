// The time to compile grows as the number of ops does. Processor time, so that other processes
// matter little; of two sizes in one process, so that the machine does not matter.
#include <algorithm>
#include <ctime>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "executor/package/Package.h"
#include "frontend/lnet/Load.h"
#include "frontend/symbol/Module.h"
#include "frontend/symbol/Render.h"
#include "passes/Compile.h"

namespace lstmc::e2e {
namespace {

double cpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/// From the text to a package that has passed the checks.
double secondsToCompile(const std::string &text, const std::string &entry) {
  const double begin = cpuSeconds();
  Checked<symbol::Network> net = lnet::loadText("t.lnet", text);
  if (!net.ok())
    throw std::runtime_error(symbol::render(net.diagnostics()));
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*net->graph);
  passes::CompileOptions options;
  options.entries = {entry};
  Checked<passes::Compiled> compiled = passes::compile(*module, options);
  if (!compiled.ok())
    throw std::runtime_error(symbol::render(compiled.diagnostics()));
  if (!package::Package::open(package::serialize(compiled->package), "t.lstmc").ok())
    throw std::runtime_error("the package is refused");
  return cpuSeconds() - begin;
}

/// How many layers of the net become one op each.
int64_t rolledIn(const std::string &text) {
  Checked<symbol::Network> net = lnet::loadText("t.lnet", text);
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*net->graph);
  Checked<passes::Compiled> compiled = passes::compile(*module, {});
  return std::ranges::count_if(
      compiled->rolled, [](const passes::RolledLayer &layer) { return layer.reason.empty(); });
}

/// Ten times the ops take ten times as long where it is linear, and a hundred times where each op
/// looks at all others. In between are caches that a small net fits into, and noise.
void expectLinear(const std::string &entry, const std::function<std::string(int64_t)> &net,
                  int64_t small) {
  double least = secondsToCompile(net(small), entry);
  for (int again = 0; again < 2; ++again)
    least = std::min(least, secondsToCompile(net(small), entry));
  const double large = secondsToCompile(net(10 * small), entry);
  fmt::print("{}: {:.2f} s, with ten times the ops {:.2f} s\n", entry, least, large);
  EXPECT_LT(large, 25 * least);
}

/// 3 * 10^4 and 3 * 10^5 ops one after the other.
TEST(Linear, AChainOfOps) {
  expectLinear(
      "forward",
      [](int64_t ops) {
        return fmt::format("def net(data: float32[2, 3]):\n"
                           "    x = data\n"
                           "    for i in range({}):\n"
                           "        x = tanh(x)\n"
                           "    return x\n",
                           ops);
      },
      30'000);
}

/// A cell that is written out for each of its steps, with weights that all of them share.
TEST(Linear, AnUnrolledCellThatTrains) {
  expectLinear(
      "step",
      [](int64_t ops) {
        return fmt::format(
            "def net(data: float32[4, 3], label: float32[4, 3]):\n"
            "    w, h = Variable(\"w\", shape=(3, 3)), data\n"
            "    for t in range({}):\n"
            "        h = tanh(FullyConnected(h, weight=w, num_hidden=3, no_bias=True) + data)\n"
            "    return LinearRegressionOutput(h, label)\n",
            ops / 3);
      },
      6'000);
}

/// A layer that is written out for each of its steps and becomes one op (roll-recurrence).
TEST(Linear, AnUnrolledLayerThatIsRolled) {
  auto net = [](int64_t steps) {
    return fmt::format("def net(data: float32[{0}, 4, 3], label: float32[4, 2]):\n"
                       "    wi, bi = Variable(\"wi\", shape=(8, 3)), Variable(\"bi\", shape=(8,))\n"
                       "    wh, bh = Variable(\"wh\", shape=(8, 2)), Variable(\"bh\", shape=(8,))\n"
                       "    h, c = zeros((4, 2)), zeros((4, 2))\n"
                       "    for t in range({0}):\n"
                       "        a = FullyConnected(data[t], weight=wi, bias=bi, num_hidden=8)\n"
                       "        b = FullyConnected(h, weight=wh, bias=bh, num_hidden=8)\n"
                       "        i, f, g, o = SliceChannel(a + b, num_outputs=4)\n"
                       "        c = sigmoid(f) * c + sigmoid(i) * tanh(g)\n"
                       "        h = sigmoid(o) * tanh(c)\n"
                       "    return LinearRegressionOutput(h, label)\n",
                       steps);
  };
  EXPECT_EQ(rolledIn(net(5)), 1);
  expectLinear("step", net, 2'000);
}

} // namespace
} // namespace lstmc::e2e

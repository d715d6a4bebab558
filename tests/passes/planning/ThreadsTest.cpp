// Default number of threads per device.
#include <gtest/gtest.h>

#include "backends/cpu/compiler/CostModel.h"
#include "frontend/lnet/Load.h"
#include "frontend/symbol/Module.h"
#include "passes/planning/Threads.h"
#include "tests/e2e/Net.h"

namespace lstmc::planning {
namespace {

/// A layer of 2,000 units that reads 4,000 numbers of one row, by this initialiser.
package::PackageData layer(const std::string &initialiser) {
  Checked<symbol::Network> net = lnet::loadText("wide.lnet", R"(
def wide(data: float32[1, 4000], label: float32[1, 2000]):
    w = Variable("w", init=)" + initialiser + R"()
    y = FullyConnected(data, weight=w, num_hidden=2000, no_bias=True)
    return LinearRegressionOutput(y, label)
)");
  EXPECT_TRUE(net.ok());
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*net->graph);
  passes::CompileOptions options;
  options.entries = {"forward"};
  return passes::compile(*module, options)->package;
}

/// As fast from memory as another machine, with more multiplications per second.
target::Machines computing(double times) {
  target::Speeds speeds = cpu::speeds({});
  speeds.flopsPerSecond *= times;
  return {cpu::withSpeeds(speeds)};
}

/// Forward reads 32 MB of weights, which two threads do no faster. Making them orthogonal takes
/// 3.2e10 operations, which is as much as a hundred forwards.
TEST(Threads, OfALayerThatBeginsOrthogonalAreThoseThatMakeItSo) {
  EXPECT_EQ(threadsThatGain(layer("Uniform(0.1)"), 2, computing(1), computing(1)), 1);
  EXPECT_EQ(threadsThatGain(layer("Orthogonal()"), 2, computing(1), computing(1)), 1);
  EXPECT_EQ(threadsThatGain(layer("Uniform(0.1)"), 2, computing(1), computing(2)), 1);
  EXPECT_EQ(threadsThatGain(layer("Orthogonal()"), 2, computing(1), computing(2)), 2);
}

} // namespace
} // namespace lstmc::planning

// Recurrent layers step by step: which steps there are, in which direction the state goes, and what
// reads which step.
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "ir/sym/SymDialect.h"
#include "viz/Dot.h"
#include "viz/Network.h"

namespace lstmc::viz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

size_t count(const std::string &text, std::string_view what) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at)
    ++found;
  return found;
}

/// Two stacks, one above the other, with so many layers and steps.
std::string drawn(int steps, int layers, bool bidirectional, bool allSteps = true) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, sym::SymDialect>();
  int directions = bidirectional ? 2 : 1, width = 4 * directions;
  int elements = 4 * directions * 4 * (width + 4 + 2) * layers;
  std::string x = fmt::format("tensor<{}x3x{}xf32>", steps, width),
              w = fmt::format("tensor<{}xf32>", elements);
  std::string rnn = fmt::format("{{mode = \"lstm\", num_layers = {} : i64, bidirectional = {}, "
                                "state_size = 4 : i64}} : ({}, {}) -> {}",
                                layers, bidirectional, x, w, x);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      fmt::format("func.func @f(%x: {0}, %w: {1}) -> {0} {{\n%a = sym.rnn %x, %w {2}\n%b = sym.rnn "
                  "%a, %w {2}\n%c = sym.tanh %b : ({0}) -> {0}\n"
                  "return %c : {0}\n}}",
                  x, w, rnn),
      &context);
  EXPECT_TRUE(module);
  NetworkOptions options;
  options.allSteps = allSteps;
  return module ? networkDot(*module, options) : "";
}

TEST(Unfold, DrawsUpToFourStepsEach) {
  std::string dot = drawn(4, 1, false);
  for (int t = 0; t < 4; ++t)
    EXPECT_EQ(count(dot, fmt::format("label=\"t = {}\"", t)), 2u) << dot;
  EXPECT_THAT(dot, Not(HasSubstr("…")));
  EXPECT_THAT(drawn(4, 1, false, false), Not(HasSubstr("t = ")));
}

TEST(Unfold, DrawsFirstTwoAndLastOfMore) {
  std::string dot = drawn(5, 1, false);
  for (int t : {0, 1, 4})
    EXPECT_EQ(count(dot, fmt::format("label=\"t = {}\"", t)), 2u) << dot;
  EXPECT_EQ(count(dot, "t = "), 6u);
  EXPECT_EQ(count(dot, "label=\"…\""), 2u);
  EXPECT_EQ(count(drawn(9000, 1, false), "\n"), count(dot, "\n"));
}

TEST(Unfold, CarriesTheStateFromStepToStep) {
  std::string dot = drawn(3, 1, false);
  EXPECT_THAT(dot, HasSubstr("u0_0 -> u0_1 [color=\"#1f78b4\", label=\"h, c\"]"));
  EXPECT_THAT(dot, HasSubstr("u0_1 -> u0_2 [color=\"#1f78b4\"]"));
  EXPECT_THAT(dot, Not(HasSubstr("dir=back")));
}

TEST(Unfold, JoinsAStepToThatStepOfTheNextLayer) {
  std::string dot = drawn(3, 1, false);
  for (int t = 0; t < 3; ++t) {
    EXPECT_EQ(count(dot, fmt::format("  u0_{0} -> u1_{0}", t)), 1u) << dot;
    EXPECT_EQ(count(dot, fmt::format("  n0 -> u0_{}", t)), 1u) << dot;
    EXPECT_EQ(count(dot, fmt::format("  u1_{} -> n4", t)), 1u) << dot;
  }
  EXPECT_THAT(dot, Not(HasSubstr("u0_0 -> u1_1")));
  // One step is passed on; its shape is written once.
  EXPECT_THAT(dot, HasSubstr("u0_0 -> u1_0 [label=\"3x4\"]"));
  EXPECT_THAT(dot, HasSubstr("u0_1 -> u1_1;"));
}

TEST(Unfold, OfBothDirectionsHasTheStateGoBothWays) {
  std::string dot = drawn(6, 2, true);
  // For two stacks and two layers, three gaps between the steps that are drawn.
  EXPECT_EQ(count(dot, "→"), 2u * 2 * 3);
  EXPECT_EQ(count(dot, "←"), 2u * 2 * 3);
  for (const char *edge : {"n0 -> u0_0:i0:s", "u0_0:o0:n -> u1_0:i0:s", "u0_0:o3:n -> u1_0:i3:s"})
    EXPECT_EQ(count(dot, edge), 1u) << edge;
  for (const char *row :
       {"layer 0, forward", "layer 0, backward", "layer 1, forward", "layer 1, backward"})
    EXPECT_EQ(count(dot, row), 2u * 3) << row; // the ellipsis has no such row
}

TEST(Unfold, IsReadByGraphviz) {
  if (std::system("dot -V 2>/dev/null") != 0)
    GTEST_SKIP() << "no program dot";
  for (bool bidirectional : {false, true}) {
    Result<std::string> picture = render(drawn(6, 2, bidirectional), "svg");
    ASSERT_TRUE(picture.ok());
    // Two frames, in each a title and the table; two inputs and tanh.
    EXPECT_EQ(count(*picture, "class=\"cluster\""), 2u);
    EXPECT_EQ(count(*picture, "class=\"node\""), 2u * 2 + 3);
  }
}

} // namespace
} // namespace lstmc::viz

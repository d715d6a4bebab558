// Networks as DOT text that Graphviz reads: each layer with its shape, and names that look like DOT
// syntax.
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmake/SourceFolder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "frontend/lnet/Load.h"
#include "frontend/symbol/Module.h"
#include "ir/sym/SymDialect.h"
#include "viz/Dot.h"
#include "viz/Network.h"

namespace lstmc::viz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The picture, or the error.
std::string svg(const std::string &dot) {
  Result<std::string> picture = render(dot, "svg");
  return picture.ok() ? *picture : picture.error().text();
}
bool hasGraphviz() { return std::system("dot -V 2>/dev/null") == 0; }

std::string drawn(const std::string &file, const NetworkOptions &options = {},
                  const char *steps = nullptr) {
  lnet::LoadOptions load;
  if (steps)
    load.settings = {{"seq", steps}};
  Checked<symbol::Network> net = lnet::load(LSTMC_SOURCE_DIR "/" + file, load);
  EXPECT_TRUE(net.ok());
  return net.ok() ? networkDot(*symbol::takeModule(*net->graph), options) : "";
}

TEST(Network, ShowsEveryLayerWithItsShape) {
  std::string dot = drawn("samples/char_lm.lnet");
  for (const char *label :
       {"\"data\"", "\"label\"", "\"embed\\nEmbedding\\n65 x 256\"", "\"lstm0\\nlstm 256\"",
        "\"lstm1\\nlstm 256\"", "\"decoder\\nFullyConnected\\n65\""})
    EXPECT_THAT(dot, HasSubstr(fmt::format("label={}]", label)));
  // [N, T, hidden], with swapped axes on the edge; the decoder's output; groups as frames; the loop
  // over time.
  for (const char *shape :
       {"\"64x32x256\"", "\"64x32x65\"", "label=\"layer0\"", "label=\"layer1\"", "\"64 steps\""})
    EXPECT_THAT(dot, HasSubstr(shape));
  EXPECT_THAT(dot, Not(HasSubstr("weight")));
  NetworkOptions bare;
  bare.shapes = false;
  EXPECT_THAT(drawn("samples/char_lm.lnet", bare), Not(HasSubstr("64x32x65")));
}

TEST(Network, DoesNotGrowWithTheNumberOfSteps) {
  auto boxes = [](const std::string &dot) { return std::count(dot.begin(), dot.end(), '\n'); };
  EXPECT_EQ(boxes(drawn("samples/char_lm.lnet", {}, "10000")),
            boxes(drawn("samples/char_lm.lnet")));
}

TEST(Network, OfEverySampleIsReadByGraphviz) {
  if (!hasGraphviz())
    GTEST_SKIP() << "no program dot";
  for (const char *file :
       {"samples/char_lm.lnet", "samples/forecast.lnet", "samples/mnist_rows.lnet",
        "samples/pollution.lnet", "samples/tiny.lnet", "samples/word_lm.lnet"})
    for (bool all : {false, true}) {
      NetworkOptions options;
      options.allOps = all;
      EXPECT_THAT(svg(drawn(file, options)), HasSubstr("</svg>")) << file;
    }
}

/// A cell of single ops for every step, as boxes.
TEST(Network, ThatIsUnrolledIsReadByGraphviz) {
  if (hasGraphviz()) {
    EXPECT_THAT(svg(drawn("samples/cell.lnet", {}, "4")), HasSubstr("</svg>"));
  }
}

TEST(Network, NamesAreTextWhateverTheyHold) {
  const std::string hostile[] = {
      R"(a"]; b [label="c)", R"(ends in \)", "<b>html</b>", R"(\N \G \l)", "a\nb", "{x|y}", "// no",
      "a\x01\x1b[31mb"};
  for (const std::string &name : hostile) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.loadDialect<mlir::func::FuncDialect, sym::SymDialect>();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
        "%y = sym.tanh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>\nreturn %y : tensor<2x3xf32>\n}",
        &context);
    ASSERT_TRUE(module);
    auto net = *module->getOps<mlir::func::FuncOp>().begin();
    mlir::Builder builder(&context);
    net.setName(name);
    net.setArgAttr(0, "sym.name", builder.getStringAttr(name));
    net.front().front().setAttr("sym.name", builder.getStringAttr(name));
    net.front().front().setAttr("sym.group", builder.getStringAttr(name));
    std::string dot = networkDot(*module);
    for (char c : dot)
      EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << name;
    if (!hasGraphviz())
      continue;
    // One input, one op, one edge, one frame: no name has become a node.
    std::string picture = svg(dot);
    auto count = [&](std::string_view what) {
      size_t found = 0;
      for (size_t at = 0; (at = picture.find(what, at)) != std::string::npos; ++at)
        ++found;
      return found;
    };
    EXPECT_EQ(count("class=\"node\""), 2u) << picture;
    EXPECT_EQ(count("class=\"edge\""), 1u) << name;
    EXPECT_EQ(count("class=\"cluster\""), 1u) << name;
  }
}

TEST(Dot, QuotesWhatItIsGiven) { EXPECT_EQ(quoted("a\"b\\c\nd\te"), R"("a\"b\\c\nde")"); }

} // namespace
} // namespace lstmc::viz

// The picture of a network after every pass of the pipeline.
#include <cstdlib>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/registry/Targets.h"
#include "cmake/SourceFolder.h"
#include "frontend/symbol/Module.h"
#include "passes/Pipelines.h"
#include "tests/e2e/Net.h"
#include "viz/Dot.h"
#include "viz/Network.h"

namespace lstmc::viz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string after(const std::string &pass, const NetworkOptions &drawing = {},
                  bool *lowered = nullptr, const std::string &sample = "char_lm") {
  lnet::LoadOptions load;
  load.settings = {{"seq", "4"}};
  if (sample == "char_lm")
    load.settings.emplace_back("hidden", "8");
  Checked<symbol::Network> net = lnet::load(LSTMC_SOURCE_DIR "/samples/" + sample + ".lnet", load);
  if (!net.ok())
    return "no net";
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*net->graph);
  passes::CompileOptions options;
  options.stopAfter = pass;
  Checked<passes::Compiled> compiled = passes::compile(*module, options);
  EXPECT_TRUE(compiled.ok()) << pass;
  EXPECT_EQ(compiled.ok() && compiled->package.entries.empty(), pass != "lower-to-package");
  EXPECT_TRUE(compiled.ok() && compiled->times.back().pass == pass);
  if (lowered)
    *lowered = isLowered(*module);
  return networkDot(*module, drawing);
}

TEST(AfterPass, EveryPassLeavesAPicture) {
  bool graphviz = std::system("dot -V 2>/dev/null") == 0, lowered = false;
  std::vector<std::string> names = passes::passNames({});
  EXPECT_EQ(names.front(), "unroll-foreach");
  EXPECT_EQ(names.back(), "lower-to-package");
  bool entries = false; // instead of the net
  for (const std::string &pass : names) {
    bool now = false;
    std::string dot = after(pass, {}, &now);
    entries |= pass == "make-entries";
    EXPECT_THAT(dot, HasSubstr(entries ? "digraph \"step\"" : "digraph \"char_lm\"")) << pass;
    lowered |= pass == "lower-to-exec";
    EXPECT_EQ(now, lowered) << pass;
    if (graphviz) {
      EXPECT_TRUE(render(dot, "svg").ok()) << pass;
    }
  }
}

TEST(AfterPass, ShowsWhatThePassDid) {
  EXPECT_THAT(after("make-entries"), HasSubstr("lstm0\\nlstm 8"));
  // A stack of two becomes two layers.
  EXPECT_THAT(after("make-entries", {}, nullptr, "tiny"), Not(HasSubstr("lstm_l1")));
  EXPECT_THAT(after("unpack-rnn", {}, nullptr, "tiny"), HasSubstr("lstm_l1\\nlstm 128"));
  EXPECT_THAT(after("unpack-rnn"), Not(HasSubstr("rnn_layer_gradient")));
  EXPECT_THAT(after("gradient"), HasSubstr("rnn_layer_gradient"));
  EXPECT_THAT(after("gradient"), HasSubstr("gradient of\\ndecoder_weight"));
  EXPECT_THAT(after("apply-optimizer"), HasSubstr("write\\ndecoder_weight"));
}

TEST(AfterPass, LaunchesAreBoxesAndBuffersEdges) {
  NetworkOptions drawing;
  drawing.memory = true;
  drawing.devices = {"all"};
  drawing.target = &targetOf(DeviceKind::Cpu);
  std::string dot = after("validate-plan", drawing);
  for (const char *text : {"label=\"rnn_forward\\n", "label=\"product\\ndecoder\\n", "\\ncpu:0\\n",
                           "after the commit", "µs\"", "built-in rates"})
    EXPECT_THAT(dot, HasSubstr(text));
  // The embedding reads the data; the decoder reads its own packed weight.
  EXPECT_TRUE(std::regex_search(dot, std::regex("n[0-9]+ -> n[0-9]+ \\[label=\"data\\\\n"))) << dot;
  EXPECT_TRUE(std::regex_search(
      dot, std::regex("n[0-9]+ -> n[0-9]+ \\[label=\"decoder_weight.packed\\\\n")))
      << dot;
}

TEST(AfterPass, LayersAreUnfoldedToo) {
  NetworkOptions drawing;
  drawing.allSteps = true;
  std::string dot = after("gradient", drawing);
  // Two layers forward and two backward, through time; gradients go from the last step to the
  // first.
  auto count = [&](std::string_view what) {
    size_t found = 0;
    for (size_t at = 0; (at = dot.find(what, at)) != std::string::npos; ++at)
      ++found;
    return found;
  };
  EXPECT_EQ(count("label=\"t = 3\""), 4u);
  EXPECT_EQ(count("label=\"h, c\""), 2u);
  EXPECT_EQ(count("dir=back, label=\"dh, dc\""), 2u);
}

} // namespace
} // namespace lstmc::viz

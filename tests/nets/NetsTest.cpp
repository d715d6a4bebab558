// Tests the generator of nets, and that a finding is reduced.
#include <set>

#include <gtest/gtest.h>

#include "frontend/lnet/Load.h"
#include "frontend/symbol/View.h"
#include "ir/sym/OpTable.h"
#include "tests/nets/Generator.h"
#include "tests/nets/Judge.h"
#include "tests/nets/Shrink.h"
#include "tests/nets/plain/Rules.h"

namespace lstmc::nets {
namespace {

symbol::GraphView viewOf(const std::string &text) {
  Checked<symbol::Network> net = lnet::loadText("net.lnet", text);
  EXPECT_TRUE(net.ok()) << text;
  return symbol::view(*net->graph);
}

TEST(Generator, DrawsOneTextForASeed) {
  EXPECT_EQ(generate(7), generate(7));
  EXPECT_NE(generate(7), generate(8));
}

/// If calls of a new op are never accepted, describe its inputs in Arguments.cpp.
TEST(Generator, DrawsEveryOpOfTheRecords) {
  std::set<std::string_view> missing;
  for (const sym::OpRecord &op : sym::opRecords())
    if (!op.mxnetName.empty())
      missing.insert(op.mxnetName);
  EXPECT_GT(missing.size(), 150u);
  for (uint64_t seed = 1; seed <= 6000 && !missing.empty(); ++seed)
    for (const symbol::NodeView &node : viewOf(generate(seed)).nodes)
      missing.erase(node.op);
  std::string names;
  for (std::string_view name : missing)
    names += std::string(name) + " ";
  EXPECT_EQ(names, "");
}

TEST(Generator, SharesParametersAndEndsInSeveralHeads) {
  int shared = 0, heads = 0, states = 0, groups = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    symbol::GraphView view = viewOf(generate(seed));
    std::map<size_t, int> reads;
    for (const symbol::NodeView &node : view.nodes) {
      for (const auto &[name, edge] : node.inputs)
        if (!edge.input && view.nodes[edge.index].kind == symbol::NodeView::Kind::Variable)
          shared += ++reads[edge.index] == 2;
      states += node.kind == symbol::NodeView::Kind::BeginState;
      groups += !node.group.empty();
    }
    heads += view.outputs.size() > 1;
  }
  for (int count : {shared, heads, states, groups})
    EXPECT_GT(count, 5);
}

/// The interpreter has a rule for every op that users can write, but for one that is always random.
TEST(Plain, HasARuleForEveryOpOfTheRecords) {
  std::string names;
  for (const sym::OpRecord &op : sym::opRecords())
    if (!op.mxnetName.empty() && op.mxnetName != "sample_multinomial" &&
        !plain::allRules().contains(std::string(op.opName)))
      names += std::string(op.opName) + " ";
  EXPECT_EQ(names, "");
}

TEST(Shrink, LeavesWhatFailsAlone) {
  auto fails = [](const std::string &text) { return text.find("= RNN(") != std::string::npos; };
  uint64_t seed = 1;
  while (!fails(generate(seed)))
    ++seed;
  std::string small = shrink(generate(seed), fails);
  EXPECT_TRUE(fails(small));
  EXPECT_LE(std::ranges::count(small, '\n'), 16) << small;
}

TEST(Ways, AreOfEveryKind) {
  std::set<int> devices, stages;
  bool recompute = false, place = false, segments = false;
  for (const Way &way : coveringWays()) {
    devices.insert(way.variant.devices);
    stages.insert(way.variant.stages);
    recompute |= way.recompute;
    place |= way.place;
    segments |= way.segments;
  }
  EXPECT_EQ(devices.size(), 8u);
  EXPECT_EQ(stages.size(), 4u);
  EXPECT_TRUE(recompute && place && segments);
}

} // namespace
} // namespace lstmc::nets

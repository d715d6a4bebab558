// What folds, and what only looks as if it did.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "viz/Diagram.h"
#include "viz/Fold.h"

namespace lstmc::viz {
namespace {

/// Builds diagrams op by op: each reads boxes by number.
struct Net {
  Diagram diagram;

  size_t add(const std::string &like, const std::vector<size_t> &reads,
             Box::Kind kind = Box::Kind::Op) {
    Box box;
    box.kind = kind;
    box.like = like;
    box.what = like;
    box.label = box.name = fmt::format("{}{}", like, diagram.boxes.size());
    for (size_t from : reads)
      diagram.edges.push_back({from, diagram.boxes.size(), "4x8", "", ""});
    diagram.boxes.push_back(std::move(box));
    return diagram.boxes.size() - 1;
  }
  size_t input() { return add("input", {}, Box::Kind::Input); }
  size_t parameter() { return add("weight", {}, Box::Kind::Parameter); }

  size_t ops() const {
    return size_t(std::count_if(diagram.boxes.begin(), diagram.boxes.end(),
                                [](const Box &box) { return box.kind == Box::Kind::Op; }));
  }
  bool has(const std::string &text) const {
    return std::any_of(diagram.boxes.begin(), diagram.boxes.end(),
                       [&](const Box &box) { return box.label.find(text) != std::string::npos; });
  }
};

/// Steps of an unrolled cell: two products of shared weights, a sum, a function.
size_t addSteps(Net &net, int steps, size_t state, const std::vector<size_t> &weights) {
  size_t x = net.input();
  for (int t = 0; t < steps; ++t) {
    size_t slice = net.add("slice", {x});
    size_t sum = net.add(
        "add", {net.add("product", {slice, weights[0]}), net.add("product", {state, weights[1]})});
    state = net.add("tanh", {sum});
  }
  return state;
}

TEST(Fold, StepsOfALoop) {
  Net net;
  size_t first = net.parameter(), second = net.parameter();
  net.add("head", {addSteps(net, 400, net.add("zeros", {}), {first, second})});
  foldRepeats(net.diagram);
  EXPECT_EQ(net.ops(), 3u); // zeros, the loop, head
  EXPECT_TRUE(net.has(" × 400\nslice, 2 product, add, tanh"));
  size_t loops = 0;
  for (const Box &box : net.diagram.boxes)
    loops += box.loop == "400 times\n4x8";
  EXPECT_EQ(loops, 1u);
  for (const Edge &edge : net.diagram.edges)
    EXPECT_NE(edge.from, edge.to);
}

TEST(Fold, LayersOfLoopsFoldAgain) {
  Net net;
  size_t last = 0;
  for (int layer = 0; layer < 4; ++layer)
    last = addSteps(net, 10, net.add("zeros", {}), {net.parameter(), net.parameter()});
  (void)last;
  foldRepeats(net.diagram);
  EXPECT_EQ(net.ops(), 1u);
  EXPECT_TRUE(net.has(" × 4\n"));
}

TEST(Fold, TowersHaveNoArrowToThemselves) {
  Net net;
  size_t x = net.input();
  std::vector<size_t> ends;
  for (int i = 0; i < 9; ++i)
    ends.push_back(net.add("tanh", {net.add("product", {x, net.parameter()})}));
  net.add("concat", ends);
  foldRepeats(net.diagram);
  EXPECT_EQ(net.ops(), 2u);
  for (const Box &box : net.diagram.boxes)
    EXPECT_EQ(box.loop, "");
  // One arrow for the nine ends.
  EXPECT_EQ(std::count_if(net.diagram.edges.begin(), net.diagram.edges.end(),
                          [](const Edge &edge) { return edge.label == "9 × 4x8"; }),
            1);
}

TEST(Fold, PartsReadAlike) {
  // Every third layer reads the input besides, of the same shape.
  Net net;
  size_t input = net.input(), x = input;
  for (int i = 0; i < 9; ++i)
    x = net.add("add", {x, i % 3 == 2 ? input : x});
  foldRepeats(net.diagram);
  EXPECT_EQ(net.ops(), 1u);
  EXPECT_TRUE(net.has(" × 3\n3 add"));
  // Weights that come again in turns are of parts of three, not of one box.
  Net turns;
  size_t weights[] = {turns.parameter(), turns.parameter(), turns.parameter()};
  x = turns.input();
  for (int i = 0; i < 12; ++i)
    x = turns.add("product", {x, weights[i % 3]});
  foldRepeats(turns.diagram);
  EXPECT_EQ(turns.ops(), 1u);
  EXPECT_TRUE(turns.has(" × 4\n3 product"));
}

TEST(Fold, NotFewAndNotOthers) {
  Net net;
  size_t x = net.input();
  for (int i = 0; i < 6; ++i)
    x = net.add("product", {x, net.parameter()}); // saves five
  foldRepeats(net.diagram);
  EXPECT_EQ(net.ops(), 6u);
  Net others;
  x = others.input();
  for (int i = 0; i < 20; ++i)
    x = others.add(fmt::format("product {}", i), {x});
  foldRepeats(others.diagram);
  EXPECT_EQ(others.ops(), 20u);
  Net unlike;
  x = unlike.input();
  for (int i = 0; i < 20; ++i)
    x = unlike.add("", {x});
  foldRepeats(unlike.diagram);
  EXPECT_EQ(unlike.ops(), 20u);
}

} // namespace
} // namespace lstmc::viz

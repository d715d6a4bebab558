// How shapes become known while a graph grows.
#include "TestGraph.h"

namespace lstmc::symbol {
namespace {

TEST(Inference, ShapesCanBeReadAtOnce) {
  Graph graph("net");
  Symbol x = input(graph, "data", Shape({{32, "batch"}, {64, "seq"}}), DType::I32);
  Symbol e =
      make(graph, "Embedding", {x}, {{"input_dim", int64_t(65)}, {"output_dim", int64_t(8)}});
  Symbol t = make(graph, "SwapAxis", {e}, {{"dim1", int64_t(0)}, {"dim2", int64_t(1)}});
  EXPECT_EQ(extents(t), (Extents{64, 32, 8}));
  EXPECT_EQ(t.shape().dims[0].name, "seq");
  EXPECT_EQ(t.shape().dims[1].name, "batch");
  EXPECT_EQ(t.shape().dims[2].name, "");
  EXPECT_EQ(t.dtype(), DType::F32);
}

TEST(Inference, RunsBackwards) {
  Graph graph("net");
  Symbol h = make(graph, "_zeros", {}, {{"shape", Tuple{0, 4}}});
  EXPECT_EQ(extents(h), (Extents{kUnknown, 4}));
  Symbol s = make(graph, "FullyConnected", {h}, {{"num_hidden", int64_t(4)}});
  EXPECT_EQ(extents(s), (Extents{kUnknown, 4}));
  make(graph, "elemwise_add", {s, input(graph, "x", {32, 4})});
  EXPECT_EQ(extents(s), (Extents{32, 4}));
  EXPECT_EQ(extents(h), (Extents{32, 4}));
}

TEST(Inference, TypesRunBackwardsToo) {
  Graph graph("net");
  Symbol w = *graph.variable("w", {});
  EXPECT_EQ(w.dtype(), std::nullopt);
  make(graph, "elemwise_mul", {input(graph, "x", {2}, DType::F64), w});
  EXPECT_EQ(w.dtype(), DType::F64);
}

TEST(Inference, WhatNothingFixesIsFloat32) {
  Graph graph("net");
  Symbol w = *graph.variable("w", shaped({2}));
  Symbol y = make(graph, "tanh", {w});
  ASSERT_TRUE(graph.finish({y}).empty());
  EXPECT_EQ(w.dtype(), DType::F32);
  EXPECT_EQ(y.dtype(), DType::F32);
}

TEST(Inference, AFailedCallTakesBackWhatItLearned) {
  Graph graph("net");
  Symbol w = *graph.variable("w", {});
  // The bias cannot have 3 elements. Before that error is found, the weight has become [4, 8].
  Symbol b = *graph.variable("b", shaped({3}));
  EXPECT_FALSE(graph
                   .apply(callOf("FullyConnected", {input(graph, "x", {2, 8}), w, b},
                                 {{"num_hidden", int64_t(4)}}))
                   .ok());
  EXPECT_FALSE(w.shape().ranked);
  EXPECT_EQ(w.dtype(), std::nullopt);
}

TEST(Inference, ListsArgumentsAndOutputs) {
  Graph graph("net");
  Symbol y = make(graph, "FullyConnected", {input(graph, "data", {2, 3, 4})},
                  {{"num_hidden", int64_t(5)}}, "fc");
  ASSERT_TRUE(graph.finish({y}).empty());
  auto shapes = graph.inferredShapes();
  ASSERT_EQ(shapes.size(), 4u);
  EXPECT_EQ(shapes[1].first, "fc_weight");
  EXPECT_EQ(shapes[1].second.dims[1].extent, 12);
  EXPECT_EQ(shapes[3].first, "fc_output");
  EXPECT_EQ(shapes[3].second.dims[1].extent, 5);
}

/// A long chain of ops with one weight: each op is visited once, and the weight's users once more.
TEST(Inference, ALongChainAroundOneWeight) {
  Graph graph("net", {2'000'000});
  Symbol h = input(graph, "x", {2, 3});
  Symbol w = *graph.variable("w", {});
  Call call = callOf("elemwise_mul", {h, w});
  for (int i = 0; i < 20'000; ++i) {
    call.positional[0] = h;
    h = graph.apply(call)->front();
  }
  EXPECT_EQ(extents(h), (Extents{2, 3}));
  EXPECT_TRUE(graph.finish({h}).empty());
}

} // namespace
} // namespace lstmc::symbol

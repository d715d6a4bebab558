// Uses of ops that other ops say: both have the same bits.
#include <cstring>

#include <gtest/gtest.h>

#include "frontend/symbol/Module.h"
#include "tests/e2e/Net.h"

namespace lstmc::e2e {
namespace {

struct Spelling {
  const char *name, *arguments, *one, *other;
};

const Spelling kSpellings[] = {
    {"ReductionOfData", "x: float32[3, 4]", "sum(data=x, axis=1)", "sum_axis(x, axis=1)"},
    {"LargestOfData", "x: float32[3, 4]", "max(data=x)", "max_axis(x)"},
    {"NormOfOrder1", "x: float32[3, 4]", "norm(x, ord=1)", "sum(abs(x))"},
    {"SumOfIntegers", "i: int32[3, 4]", "sum(i, axis=0)",
     "cast(sum(cast(i, dtype=\"float32\"), axis=0), dtype=\"int32\")"},
    {"MeanOfIntegers", "i: int32[2, 3]", "mean(i)",
     "cast(sum(cast(i, dtype=\"float64\")) / 6, dtype=\"int32\")"},
    {"LargestOfIntegers", "i: int32[3, 4]", "max(i, axis=1, keepdims=True)",
     "cast(max(cast(i, dtype=\"float32\"), axis=1, keepdims=True), dtype=\"int32\")"},
    {"WiderSoftmax", "x: float32[3, 4]", "softmax(x, dtype=\"float64\")",
     "softmax(cast(x, dtype=\"float64\"))"},
    {"NarrowerLogSoftmax", "x: float64[3, 4]", "log_softmax(x, dtype=\"float32\")",
     "cast(log_softmax(x), dtype=\"float32\")"},
    {"LengthsOnAxis0", "x: float32[5, 4], i: int32[4]",
     "softmax(x, length=i, axis=0, use_length=True)",
     "SwapAxis(softmax(SwapAxis(x, dim1=0, dim2=1), length=i, use_length=True), dim1=0, dim2=1)"},
    {"LengthsBetween", "x: float32[2, 5, 3], i: int32[2, 3]",
     "softmax(x, length=i, axis=1, use_length=True)",
     "SwapAxis(softmax(SwapAxis(x, dim1=1, dim2=2), length=i, use_length=True), dim1=1, dim2=2)"},
    {"WhereOfRows", "i: int32[4], x: float32[4, 3], y: float32[4, 3]", "where(i, x, y)",
     "where(broadcast_to(Reshape(i, shape=(4, 1)), shape=(4, 3)), x, y)"},
    {"BatchDotOf4Axes", "x: float32[2, 3, 4, 5], y: float32[2, 3, 5, 2]", "batch_dot(x, y)",
     "Reshape(batch_dot(Reshape(x, shape=(6, 4, 5)), Reshape(y, shape=(6, 5, 2))),"
     " shape=(2, 3, 4, 2))"},
    {"FullyConnectedOfOneAxis", "x: float32[4]",
     "FullyConnected(x, num_hidden=3, weight=w, bias=b)",
     "FullyConnected(Reshape(x, shape=(4, 1)), num_hidden=3, weight=w, bias=b)"},
    {"PartThatIsAViewOfAnother", "x: float32[7, 2]",
     "Concat(reverse(tanh(x), axis=0), tanh(x), dim=1)",
     "SwapAxis(Concat(SwapAxis(reverse(tanh(x), axis=0), dim1=0, dim2=1),"
     " SwapAxis(tanh(x), dim1=0, dim2=1), dim=0), dim1=0, dim2=1)"},
};

class Spellings : public ::testing::TestWithParam<Spelling> {};

INSTANTIATE_TEST_SUITE_P(Uses, Spellings, ::testing::ValuesIn(kSpellings),
                         [](const auto &info) { return info.param.name; });

TEST_P(Spellings, SayTheSame) {
  const Spelling &spelling = GetParam();
  std::string text =
      fmt::format("def net({}):\n"
                  "    w, b = Variable(\"w\", shape=(3, 1)), Variable(\"b\", shape=(3,))\n"
                  "    return {}, {}\n",
                  spelling.arguments, spelling.one, spelling.other);
  Checked<lnet::LoadedNet> net = lnet::loadText("spelling.lnet", text);
  ASSERT_TRUE(net.ok()) << net.diagnostics().front().message;
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*net->graph);
  Checked<passes::Compiled> compiled = passes::compile(*module, {});
  ASSERT_TRUE(compiled.ok()) << compiled.diagnostics().front().message;
  auto session = openSession(compiled->package, 1);
  feed(*session, "forward", 1, 4, 0);
  ASSERT_TRUE(session->run("forward").ok());
  const auto &outputs = compiled->package.entries[*session->package().findEntry("forward")].outputs;
  ASSERT_EQ(outputs.size(), 2u);
  Tensor one = *session->output("forward", outputs[0].name),
         other = *session->output("forward", outputs[1].name);
  ASSERT_EQ(one.dtype, other.dtype);
  ASSERT_EQ(one.elements(), other.elements());
  EXPECT_EQ(std::memcmp(one.data, other.data, size_t(one.elements()) * dtypeBytes(one.dtype)), 0);
}

} // namespace
} // namespace lstmc::e2e

// Uses of ops that other ops can express: both give the same bits.
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
    {"Argmin", "x: float32[3, 4]", "argmin(x, axis=1)", "argmax(0 - x, axis=1)"},
    {"SoftminOfAType", "x: float32[3, 4]", "softmin(x, axis=0, dtype=\"float64\")",
     "softmax(0 - cast(x, dtype=\"float64\"), axis=0)"},
    {"ReshapeLike", "x: float32[2, 6], y: float32[3, 4]", "reshape_like(x, y)",
     "Reshape(x, shape=(3, 4))"},
    {"ReshapeLikeOfSomeAxes", "x: float32[5, 12, 2], y: float32[9, 3, 4]",
     "reshape_like(x, y, lhs_begin=1, lhs_end=-1, rhs_begin=1)", "Reshape(x, shape=(5, 3, 4, 2))"},
    {"BroadcastLike", "x: float32[3, 1], y: float32[3, 4]", "broadcast_like(x, y)",
     "Concat(x, x, x, x, dim=1)"},
    {"BroadcastLikeOfSomeAxes", "x: float32[3, 1], y: float32[2, 5]",
     "broadcast_like(x, y, lhs_axes=(1,), rhs_axes=(0,))", "Concat(x, x, dim=1)"},
    {"SliceLike", "x: float32[5, 4], y: float32[3, 2]", "slice_like(x, y)",
     "slice(x, begin=(0, 0), end=(3, 2))"},
    {"SliceLikeOfSomeAxes", "x: float32[5, 4], y: float32[3, 2]", "slice_like(x, y, axes=(-1,))",
     "slice_axis(x, axis=1, begin=0, end=2)"},
    {"ArangeLike", "x: float32[3, 4]", "arange_like(x, start=2, step=0.5)",
     "Reshape(arange(2, 8, 0.5), shape=(3, 4))"},
    {"ArangeLikeOfAnAxis", "x: float32[3, 5]", "arange_like(x, repeat=2, axis=1)",
     "slice_axis(arange(0, 3, repeat=2), axis=0, begin=0, end=5)"},
    {"ArangeLikeOfIntegers", "x: int32[3, 4]", "arange_like(x, start=2.5, step=1.75)",
     "Reshape(arange(2, 14, 1, dtype=\"int32\"), shape=(3, 4))"},
    {"ArangeOfIntegers", "x: int32[4]", "x + arange(0.5, 11, 2.75, dtype=\"int32\")",
     "x + arange(0, 8, 2, dtype=\"int32\")"},
    {"L2NormalizationOfInstances", "x: float32[2, 3, 4]", "L2Normalization(x, eps=0.5)",
     "broadcast_div(x, sqrt(sum(square(x), axis=0, exclude=True, keepdims=True) + 0.5))"},
    {"L2NormalizationOfChannels", "x: float32[2, 3, 4]", "L2Normalization(x, mode=\"channel\")",
     "broadcast_div(x, sqrt(sum(square(x), axis=1, keepdims=True) + 1e-10))"},
    {"L2NormalizationInSpace", "x: float32[2, 3, 4, 2]", "L2Normalization(x, mode=\"spatial\")",
     "broadcast_div(x, sqrt(sum(square(x), axis=(2, 3), keepdims=True) + 1e-10))"},
    {"SoftmaxActivation", "x: float32[2, 3, 4]", "SoftmaxActivation(x)",
     "Reshape(softmax(Reshape(x, shape=(2, 12))), shape=(2, 3, 4))"},
    {"SoftmaxActivationOfChannels", "x: float32[2, 3, 4]", "SoftmaxActivation(x, mode=\"channel\")",
     "softmax(x, axis=1)"},
    {"LeakyRectifier", "x: float32[3, 4]", "LeakyReLU(x, slope=0.3)",
     "relu(x) - 0.3 * relu(0 - x)"},
    {"LearnedRectifier", "x: float32[2, 3]",
     "LeakyReLU(x, act_type=\"prelu\", gamma=Reshape(w, shape=(3,)))",
     "relu(x) - broadcast_mul(relu(0 - x), Reshape(w, shape=(1, 3)))"},
    {"ExponentialRectifier", "x: float32[3, 4]", "LeakyReLU(x, act_type=\"elu\")",
     "relu(x) + 0.25 * expm1(minimum(x, 0))"},
    {"ScaledRectifier", "x: float32[3, 4]", "LeakyReLU(x, act_type=\"selu\")",
     "1.0507009873554805 * relu(x) + 1.7580993408473766 * expm1(minimum(x, 0))"},
    {"GaussianRectifier", "x: float32[3, 4]", "LeakyReLU(x, act_type=\"gelu\")", "gelu(x)"},
    {"Softplus", "x: float32[3, 4]", "softplus(x)", "Activation(x, act_type=\"softrelu\")"},
    {"LogSigmoid", "x: float32[3, 4]", "log_sigmoid(x)", "0 - softplus(0 - x)"},
    {"Silu", "x: float32[3, 4]", "silu(x)", "x * sigmoid(x)"},
    {"Mish", "x: float32[3, 4]", "mish(x)", "x * tanh(softplus(x))"},
    {"Gemm2", "x: float32[2, 3, 4], y: float32[2, 5, 4]",
     "linalg_gemm2(x, y, transpose_b=True, alpha=2)", "2 * batch_dot(x, y, transpose_b=True)"},
    {"Gemm", "x: float32[4, 3], y: float32[4, 5], z: float32[3, 5]",
     "linalg_gemm(x, y, z, transpose_a=True, beta=0.5)", "dot(x, y, transpose_a=True) + z * 0.5"},
    {"EinsumOfMatrices", "x: float32[2, 3, 4], y: float32[2, 5, 4]",
     "einsum(x, y, subscripts=\"bij,bkj->bik\")", "batch_dot(x, y, transpose_b=True)"},
    {"EinsumTurned", "x: float32[3, 4], y: float32[4, 5]",
     "einsum(x, y, subscripts=\"ij, jk -> ki\")", "transpose(dot(x, y))"},
    {"EinsumOverTwoLetters", "x: float32[3, 2, 4], y: float32[2, 4, 5]",
     "einsum(x, y, subscripts=\"iab,abk->ik\")",
     "dot(Reshape(x, shape=(3, 8)), Reshape(y, shape=(8, 5)))"},
    {"EinsumOfOneLetterAlone", "x: float32[3, 4], y: float32[5]",
     "einsum(x, y, subscripts=\"ij,k->ik\")",
     "dot(Reshape(sum(x, axis=1), shape=(3, 1)), Reshape(y, shape=(1, 5)))"},
    {"EinsumOfOneOperand", "x: float32[2, 3, 4]", "einsum(x, subscripts=\"abc->ca\")",
     "transpose(sum(x, axis=1))"},
    {"EinsumOfAll", "x: float32[2, 3]", "einsum(x, x, subscripts=\"ab,ab->\")",
     "dot(Reshape(x, shape=(6,)), Reshape(x, shape=(6,)))"},
    {"GatherElements", "x: float32[5, 4], i: int32[2, 3]", "gather_nd(x, i)",
     "pick(take(x, Reshape(slice_axis(i, axis=0, begin=0, end=1), shape=(3,))),"
     " Reshape(slice_axis(i, axis=0, begin=1, end=2), shape=(3,)))"},
    {"GatherRows", "x: float32[2, 3], i: int32[1, 2, 2]", "gather_nd(x, i)",
     "take(x, Reshape(i, shape=(2, 2)))"}, // some of the indices are outside
    {"DiagonalOfAMatrix", "x: float32[3, 5]", "diag(x)",
     "pick(slice_axis(x, axis=1, begin=0, end=3), arange(3))"},
    {"DiagonalToTheRight", "x: float32[3, 4]", "diag(x, k=2)",
     "pick(slice(x, begin=(0, 2), end=(2, 4)), arange(2))"},
    {"DiagonalBelowOfSeveral", "x: float32[3, 2, 4]", "diag(x, k=-1, axis2=-1)",
     "Concat(slice(x, begin=(1, 0, 0), end=(2, 2, 1)), slice(x, begin=(2, 0, 1), end=(3, 2, 2)),"
     " dim=2)[0]"},
    {"MatrixOfADiagonal", "x: float32[3]", "diag(x)",
     "where(one_hot(arange(3), depth=3), broadcast_to(Reshape(x, shape=(3, 1)), shape=(3, 3)),"
     " zeros(shape=(3, 3)))"},
    {"MatrixOfADiagonalAbove", "x: float32[3]", "diag(x, k=2)",
     "Concat(zeros(shape=(5, 2)), Concat(diag(x), zeros(shape=(2, 3)), dim=0), dim=1)"},
    {"MatrixOfADiagonalBelow", "x: float32[3]", "diag(x, k=-1)", "transpose(diag(x, k=1))"},
    {"RunningSums", "i: int32[2, 3]", "cumsum(i, axis=1)",
     "stack(slice_axis(i, axis=1, begin=0, end=1)[:, 0], sum(slice_axis(i, axis=1, begin=0, end=2),"
     " axis=1), sum(i, axis=1), axis=1)"},
    {"RunningSumsOfAll", "i: int32[2, 2]", "cumsum(i, dtype=\"int64\")",
     "cast(cumsum(Reshape(i, shape=(4,)), axis=0), dtype=\"int64\")"},
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
  Checked<symbol::Network> net = lnet::loadText("spelling.lnet", text);
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

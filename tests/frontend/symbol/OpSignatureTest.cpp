// The table of ops, made from their records.
#include <set>

#include "TestGraph.h"

namespace lstmc::symbol {
namespace {

TEST(OpSignature, NamesAreUnique) {
  std::set<std::string> names;
  for (const OpSignature &op : allOps()) {
    EXPECT_TRUE(names.insert(op.name).second) << op.name;
    for (const std::string &alias : op.aliases)
      EXPECT_TRUE(names.insert(alias).second) << alias << " of " << op.name;
  }
}

/// Every op that the first version needs, by the name and the aliases that users write.
TEST(OpSignature, HasMxnetsOps) {
  for (const char *name : {"_zeros",
                           "zeros",
                           "ones",
                           "full",
                           "arange",
                           "Embedding",
                           "FullyConnected",
                           "dot",
                           "batch_dot",
                           "Activation",
                           "tanh",
                           "sigmoid",
                           "relu",
                           "exp",
                           "log",
                           "sqrt",
                           "softsign",
                           "erf",
                           "gamma",
                           "elemwise_add",
                           "_plus",
                           "_Plus",
                           "_minus",
                           "_mul",
                           "_div",
                           "_mod",
                           "_power",
                           "_maximum",
                           "_hypot",
                           "_plus_scalar",
                           "_PlusScalar",
                           "_rminus_scalar",
                           "_RDivScalar",
                           "_rpower_scalar",
                           "_equal",
                           "_lesser_equal_scalar",
                           "broadcast_add",
                           "broadcast_plus",
                           "broadcast_lesser",
                           "where",
                           "clip",
                           "Cast",
                           "cast",
                           "Dropout",
                           "SwapAxis",
                           "swapaxes",
                           "transpose",
                           "Reshape",
                           "reshape",
                           "Flatten",
                           "flatten",
                           "expand_dims",
                           "squeeze",
                           "Concat",
                           "concat",
                           "concatenate",
                           "stack",
                           "SliceChannel",
                           "split",
                           "slice",
                           "crop",
                           "slice_axis",
                           "take",
                           "pick",
                           "choose_element_0index",
                           "one_hot",
                           "reverse",
                           "flip",
                           "tile",
                           "repeat",
                           "sum",
                           "sum_axis",
                           "mean",
                           "max",
                           "min",
                           "prod",
                           "norm",
                           "argmax",
                           "softmax",
                           "log_softmax",
                           "LayerNorm",
                           "SequenceMask",
                           "SequenceLast",
                           "SequenceReverse",
                           "BlockGrad",
                           "stop_gradient",
                           "MakeLoss",
                           "make_loss",
                           "SoftmaxOutput",
                           "Softmax",
                           "softmax_cross_entropy",
                           "LinearRegressionOutput",
                           "MAERegressionOutput",
                           "LogisticRegressionOutput",
                           "RNN",
                           "_rnn_param_concat",
                           "add_n",
                           "ElementWiseSum",
                           "_copy",
                           "identity",
                           "zeros_like",
                           "broadcast_axis",
                           "broadcast_to"})
    EXPECT_NE(findOp(name), nullptr) << name;
  EXPECT_EQ(findOp("Variable"), nullptr);
  EXPECT_EQ(findOp("weight_gradient"), nullptr);
}

TEST(OpSignature, SaysWhatACallTakes) {
  const OpSignature &op = *findOp("FullyConnected");
  ASSERT_EQ(op.inputs.size(), 3u);
  EXPECT_FALSE(op.inputs[0].parameter);
  EXPECT_TRUE(op.inputs[1].parameter);
  EXPECT_FALSE(op.inputs[1].optional);
  EXPECT_TRUE(op.inputs[2].optional);
  ASSERT_EQ(op.attributes.size(), 3u);
  EXPECT_EQ(op.attributes[0].name, "num_hidden");
  EXPECT_TRUE(op.attributes[0].required);
  EXPECT_EQ(op.attributes[2].defaultText, "True");
  EXPECT_TRUE(findOp("SoftmaxOutput")->inputs[1].label);
  EXPECT_TRUE(findOp("Concat")->variadic);
  EXPECT_EQ(findOp("Concat")->countAttribute, "num_args");
  EXPECT_EQ(findOp("Concat")->attributes[0].aliases, Names{"axis"});
  EXPECT_EQ(findOp("Activation")->attributes[0].choices,
            (Names{"relu", "sigmoid", "tanh", "softrelu", "softsign", "log_sigmoid", "mish"}));
}

} // namespace
} // namespace lstmc::symbol

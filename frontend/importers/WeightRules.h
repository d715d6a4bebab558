// Rules by which weights without a network become one: the recurrent layer that they are of.
#pragma once

#include <string_view>

namespace lstmc::importers {

enum class WeightRule {
  TorchLstm,
  TorchGru,
  TorchRnn,
  TorchRnnRelu,
  KerasLstm,
  KerasGru,
  KerasRnn,
  TensorFlowLstm
};

/// Their words, in the order of the enumerators.
inline constexpr std::string_view kWeightRules =
    "torch-lstm|torch-gru|torch-rnn|torch-rnn-relu|keras-lstm|keras-gru|keras-rnn|tf-lstm";

/// The word of a rule.
std::string_view wordOf(WeightRule rule);

} // namespace lstmc::importers

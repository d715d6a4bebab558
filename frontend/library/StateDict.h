// Weights without a network: a state_dict of torch.nn, or what Keras and TensorFlow keep.
#pragma once

#include <string>
#include <vector>

#include "executor/base/Status.h"
#include "executor/data/Array.h"

namespace lstmc::library {

/// The network that such weights belong to, in the language, with what it assumes as comments.
struct StateDict {
  std::string text;
  std::vector<data::NamedArray> weights; ///< under the network's names
};

/// Whether a file is read so.
bool isStateDict(const std::string &path);

/// The kind of recurrent layer is found by the names and shapes of its weights; nn.RNN and
/// SimpleRNN are those of tanh. Errors of torch::importStateDict and keras::asStateDict.
Result<StateDict> readStateDict(const std::string &path);

} // namespace lstmc::library

// Tensors of a state_dict, put together to the modules that they belong to.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "executor/data/SafeTensors.h"
#include "frontend/torch/StateDict.h"

namespace lstmc::torch {

/// One layer in one direction of a recurrent module; the biases may be null.
struct Direction {
  const data::TensorRecord *inputs = nullptr, *recurrent = nullptr; ///< [G*H, I] and [G*H, H]
  const data::TensorRecord *inputBias = nullptr, *recurrentBias = nullptr; ///< [G*H]
};

struct Module {
  /// Matrix: a two-dimensional weight without bias: an Embedding if it comes first, else a Linear.
  enum class Kind { Recurrent, Linear, Matrix, LayerNorm };
  std::string name; ///< as in the file, without the tensor's own; "" of a file of one module
  Kind kind = Kind::Linear;
  const data::TensorRecord *weight = nullptr, *bias = nullptr; ///< but of a recurrent one

  // For Recurrent.
  std::vector<std::vector<Direction>> layers; ///< forward, and backward where there are two
  int64_t units = 0;

  /// Features of a step in the input and in the output.
  int64_t inputs() const;
  int64_t outputs() const;
};

int64_t gatesOf(Recurrence recurrence);
/// "nn.LSTM"
std::string_view moduleName(Recurrence recurrence);

/// Modules by name. Errors: see importStateDict.
Result<std::vector<Module>> modulesOf(const data::SafeTensors &file, Recurrence recurrence);

/// The modules in the order of `names`, or else in the only order in which each one's output fits
/// the next one's input, with an Embedding first if there is one.
Result<std::vector<Module>> inOrder(std::vector<Module> modules,
                                    const std::vector<std::string> &names, const std::string &file);

} // namespace lstmc::torch

// The modules of torch.nn that a file of weights holds, as a network in .lnet text.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "executor/data/SafeTensors.h"

namespace lstmc::torch {

/// The recurrent layer of the file: nn.LSTM, nn.GRU, or nn.RNN with either nonlinearity.
enum class Recurrence { Lstm, Gru, RnnTanh, RnnRelu };

struct ImportRequest {
  Recurrence recurrence = Recurrence::Lstm;
  std::vector<std::string> order; ///< modules from input to output; empty: found by their shapes
  bool batchFirst = true;         ///< the input is [N, T, ...], else [T, N, ...]
  std::string_view layerNormEpsilon = "1e-5";
  std::vector<std::string>
      assumptions; ///< of the program that wrote the file, as Imported has them
};

struct Imported {
  std::string text;                       ///< the network, as `lstmc fmt` writes it
  std::vector<data::NamedTensor> weights; ///< under its names; they point into the file, or `zeros`
  std::vector<std::string> modules;       ///< "embed        Embedding 65 -> 32", in order
  /// Facts that the text states but a weights file does not contain: "the input is [N, T, ..]";
  /// written as comments in the text.
  std::vector<std::string> assumptions;
  std::vector<std::string>
      warnings;            ///< where something without weights probably stood; also comments
  std::deque<Bytes> zeros; ///< biases that a module without biases does not have
};

/// The network of one recurrent layer (any number of layers, both directions), and of whatever
/// nn.Embedding, nn.Linear and nn.LayerNorm stand around it, each the input of the next.
///
/// Weights keep their values: the gates of PyTorch have the order of abi/Gate.h (i, f, g, o and
/// r, z, n), its matrices are [outputs, inputs] as MXNet's, and both have two biases a gate.
///
/// Errors: E0613 for tensors of other modules, of another type than float32, and for projections
/// (`proj_size`); E0605 for shapes that no such layer has; E0610 where the file holds no recurrent
/// layer, where it is not the one asked for, or where no order or more than one fits the shapes.
///
/// Source: torch.nn.LSTM, "Variables" (names and shapes) and its equations; likewise GRU and RNN.
Result<Imported> importStateDict(const data::SafeTensors &file, const ImportRequest &request);

} // namespace lstmc::torch

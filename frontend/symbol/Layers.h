// Recurrent layers for C++ programs: the nodes that LSTM, GRU and RNNLayer of .lnet make
// (frontend/lnet/layers.lnet), in the same order, so that a network gives the same graph whichever
// way it is written.
#pragma once

#include <string>

#include "frontend/symbol/Symbol.h"

namespace lstmc::symbol {

struct LayerOptions {
  int64_t layers = 1;
  bool bidirectional = false;
  double dropout = 0; ///< between layers, in training
  Symbol h, c; ///< states before the first step [layers * directions, N, units]; zero unless given
  Symbol length;           ///< [N]: how many steps of each sequence are real
  bool batchMajor = false; ///< x is [N, T, inputs] instead of [T, N, inputs]
  Origin origin;
};

/// output [T, N, directions * units]; final states [layers * directions, N, units], c of an LSTM
/// only.
struct LayerOutputs {
  Symbol output, h, c;
};

/// Parameters NAME_i2h_weight [G*units, inputs], NAME_h2h_weight, NAME_i2h_bias, NAME_h2h_bias;
/// NAME_l1_... above the first layer, NAME_r0_... backward. Prefixes of name scopes
/// go before all of them.
Checked<LayerOutputs> lstm(Graph &graph, Symbol x, int64_t units, const std::string &name,
                           const LayerOptions &options = {});
Checked<LayerOutputs> gru(Graph &graph, Symbol x, int64_t units, const std::string &name,
                          const LayerOptions &options = {});
/// `activation` is "tanh" or "relu".
Checked<LayerOutputs> rnnLayer(Graph &graph, Symbol x, int64_t units, const std::string &activation,
                               const std::string &name, const LayerOptions &options = {});

} // namespace lstmc::symbol

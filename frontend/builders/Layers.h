// Recurrent layers with their parameters: the nodes that LSTM, GRU and RNNLayer of .lnet make.
#pragma once

#include "frontend/builders/Arguments.h"
#include "frontend/builders/Net.h"

namespace lstmc::build {

/// `output` [T, N, directions * num_hidden], in the order of axes that x has; the states after the
/// last step [num_layers * directions, N, num_hidden], c of an LSTM only.
struct LayerValues {
  Value output, h, c;
};

struct LstmOptions {
  Required<int64_t> num_hidden;
  int64_t num_layers = 1;
  bool bidirectional = false;
  double p = 0;                     ///< drops out between layers, in training
  Value h = {}, c = {};             ///< states before the first step; zero unless given
  Value length = {};                ///< [N]: how many steps of each sequence are real
  Choice<"TNC", "NTC"> layout = {}; ///< of x and the output; T first unless given
  std::string name = {};
};

/// A stack of LSTMs over x [T, N, inputs]. Parameters are NAME_i2h_weight, NAME_h2h_weight,
/// NAME_i2h_bias, NAME_h2h_bias; NAME_l1_... above the first layer, NAME_r0_... backward.
LayerValues lstm(const Value &x, const LstmOptions &options,
                 Net::Place place = Net::Place::current());

struct GruOptions {
  Required<int64_t> num_hidden;
  int64_t num_layers = 1;
  bool bidirectional = false;
  double p = 0;
  Value h = {}, length = {};
  Choice<"TNC", "NTC"> layout = {};
  std::string name = {};
};

/// A stack of GRUs.
LayerValues gru(const Value &x, const GruOptions &options,
                Net::Place place = Net::Place::current());

struct RnnLayerOptions {
  Required<int64_t> num_hidden;
  int64_t num_layers = 1;
  Choice<"tanh", "relu"> activation = {}; ///< tanh unless given
  bool bidirectional = false;
  double p = 0;
  Value h = {}, length = {};
  Choice<"TNC", "NTC"> layout = {};
  std::string name = {};
};

/// A stack of plain recurrent layers.
LayerValues rnnLayer(const Value &x, const RnnLayerOptions &options,
                     Net::Place place = Net::Place::current());

} // namespace lstmc::build

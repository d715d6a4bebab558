// MXNet's recurrent weights, which its checkpoints keep gate by gate.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "executor/data/Array.h"

namespace lstmc::data {

/// An array that a file has in pieces, as mx.rnn.save_rnn_checkpoint writes them; `find` gives the
/// arrays that the file has.
///
///   P i2h_weight, P i2h_bias, likewise h2h: the gates P i2h_i_weight, _f_, _c_, _o_ of an LSTM or
///   _r_, _z_, _o_ of a GRU, by rows in that order
///   P parameters, the vector of a FusedRNNCell: for each layer k from 0 and direction (l, and r
///   where the file has it) P l0_i2h_weight and P l0_h2h_weight, then all biases likewise; each of
///   them whole or by gates
///
/// nullopt for another name, and where a piece is missing or does not fit the others.
///
/// Source: MXNet 1.9.1, python/mxnet/rnn/rnn_cell.py (BaseRNNCell.pack_weights, FusedRNNCell).
std::optional<Array>
packedWeights(std::string_view name,
              const std::function<std::optional<Array>(std::string_view)> &find);

} // namespace lstmc::data

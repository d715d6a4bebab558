// Weights of Keras and TensorFlow as a state_dict of torch.nn modules.
#pragma once

#include <string_view>

#include "executor/data/SafeTensors.h"

namespace lstmc::keras {

/// The framework and recurrent layer that the weights were written by.
enum class Source { Lstm, Gru, SimpleRnn, TensorFlowLstm };

/// LayerNormalization's default.
inline constexpr std::string_view kLayerNormEpsilon = "1e-3";

/// The same weights under the names that nn.Embedding, nn.Linear, nn.LayerNorm and one nn.LSTM,
/// nn.GRU or nn.RNN would have, so that torch::importStateDict reads them.
///
/// Keras: tensors are LAYER/embeddings, LAYER/kernel, LAYER/bias, LAYER/gamma, LAYER/beta and, of a
/// recurrent layer, LAYER/CELL/kernel [I, G*H], LAYER/CELL/recurrent_kernel [H, G*H] and
/// LAYER/CELL/bias, as `variable.path` says them; a Bidirectional has LAYER/forward_.. and
/// LAYER/backward_.. . Matrices are transposed. Gates are i, f, c, o as here, and z, r, h of a GRU,
/// whose bias is [2, 3*H]. Recurrent layers are one stack, in the order of their numbers (lstm,
/// lstm_1, ..), and named as the first.
///
/// TensorFlow: ../cell_K/basic_lstm_cell/weights (or kernel) is [I + H, 4*H] with the gates i, c,
/// f, o, and 1 is added to the forget gate; `embedding`, `softmax_w` [H, V] and `softmax_b` are
/// what stands around it.
///
/// Errors: E0613 for tensors of other layers, of another type than float32, and for a GRU without
/// `reset_after`; E0605 for shapes that no such layer has; E0610 where there is no recurrent layer.
///
/// Source: keras.layers.LSTM, GRU, SimpleRNN, Dense, Embedding (`build`); tf.nn.rnn_cell.
/// BasicLSTMCell (`call`).
Result<data::SafeTensors> asStateDict(const data::SafeTensors &file, Source source);

/// Facts that such a file does not contain and import assumes.
std::vector<std::string> assumptions(const data::SafeTensors &file, Source source);

} // namespace lstmc::keras

#include "passes/planning/rates/CalibrationNets.h"

#include <fmt/format.h>

namespace lstmc::planning {

static constexpr int kHops = 32;

static std::string languageModel(const Cell &cell) {
  const bool gru = cell.layers == Layers::Gru;
  const int gates = gru ? 3 : 4, width = cell.hidden;
  std::string sequence = fmt::format("tensor<{}x{}x{}xf32>", cell.steps, cell.batch, width),
              state = fmt::format("tensor<1x{}x{}xf32>", cell.batch, width),
              labels = fmt::format("tensor<{}x{}xi32>", cell.batch, cell.steps),
              swapped = fmt::format("tensor<{}x{}xi32>", cell.steps, cell.batch),
              scores = fmt::format("tensor<{}x{}x{}xf32>", cell.steps, cell.batch, cell.vocab),
              table = fmt::format("tensor<{}x{}xf32>", cell.vocab, width);
  std::string text = fmt::format(
      R"(func.func @calibration(%data: {0} {{sym.name = "data", sym.role = "data"}},
          %label: {0} {{sym.name = "label", sym.role = "label"}}) -> ({1} {{sym.name = "y"}}) {{
        %symbols = sym.swap_axis %data {{dim2 = 1 : i64}} : ({0}) -> {2}
        %targets = sym.swap_axis %label {{dim2 = 1 : i64}} : ({0}) -> {2}
        %embed_w = sym.variable {{name = "embed_weight"}} : {3}
        %x0 = sym.embedding %symbols, %embed_w {{input_dim = {4} : i64, output_dim = {5} : i64,
            sym.name = "embed"}} : ({2}, {3}) -> {6}
)",
      labels, scores, swapped, table, cell.vocab, width, sequence);
  for (int layer = 0; layer < 2; ++layer)
    text += fmt::format(
        R"(
        %w{0} = sym.variable {{name = "layer{0}_i2h_weight"}} : tensor<{1}x{2}xf32>
        %r{0} = sym.variable {{name = "layer{0}_h2h_weight"}} : tensor<{1}x{2}xf32>
        %bw{0} = sym.variable {{name = "layer{0}_i2h_bias"}} : tensor<{1}xf32>
        %br{0} = sym.variable {{name = "layer{0}_h2h_bias"}} : tensor<{1}xf32>
        %p{0} = sym.rnn_param_concat %w{0}, %r{0}, %bw{0}, %br{0} {{dim = 0 : i64}}
          : (tensor<{1}x{2}xf32>, tensor<{1}x{2}xf32>, tensor<{1}xf32>, tensor<{1}xf32>)
            -> tensor<{3}xf32>
        %h{0} = sym.begin_state {{name = "layer{0}_begin_state_0"}} : {4}
        %c{0} = sym.begin_state {{name = "layer{0}_begin_state_1"}} : {4}
        %y{0}:{5} = sym.rnn %x{0}, %p{0} state %h{0} {6} {{mode = "{7}", num_layers = 1 : i64,
            state_outputs = true, state_size = {2} : i64, sym.name = "layer{0}"}}
          : ({8}, tensor<{3}xf32>, {4}{9}) -> ({8}, {4}{9})
        %x{10} = sym.dropout %y{0}#0 {{p = 2.000000e-01 : f64}} : ({8}) -> {8}
)",
        layer, gates * width, width, 2 * gates * width * (width + 1), state, gru ? 2 : 3,
        gru ? "" : fmt::format("cell %c{}", layer), gru ? "gru" : "lstm", sequence,
        gru ? "" : ", " + state, layer + 1);
  return text + fmt::format(
                    R"(
        %gamma = sym.variable {{name = "norm_gamma"}} : {5}
        %beta = sym.variable {{name = "norm_beta"}} : {5}
        %norm:3 = sym.layer_norm %x2, %gamma, %beta : ({2}, {5}, {5}) -> ({2}, {6}, {6})
        %decoder_w = sym.variable {{name = "decoder_weight"}} : {0}
        %decoder_b = sym.variable {{name = "decoder_bias"}} : tensor<{1}xf32>
        %scores = sym.fully_connected %norm#0, %decoder_w, %decoder_b {{flatten = false,
            num_hidden = {1} : i64, sym.name = "decoder"}} : ({2}, {0}, tensor<{1}xf32>) -> {3}
        %y = sym.softmax_output %scores, %targets {{normalization = "valid",
            preserve_shape = true}} : ({3}, {4}) -> {3}
        return %y : {3}
      }}
)",
                    table, cell.vocab, sequence, scores, swapped,
                    fmt::format("tensor<{}xf32>", width),
                    fmt::format("tensor<{}x{}xf32>", cell.steps, cell.batch));
}

static std::string regression(const Cell &cell) {
  const int width = cell.hidden;
  const std::string rows = fmt::format("tensor<{}x{}x{}xf32>", cell.batch, cell.steps, width),
                    sequence = fmt::format("tensor<{}x{}x{}xf32>", cell.steps, cell.batch, width),
                    each = fmt::format("tensor<{}x{}xf32>", cell.batch, width),
                    one = fmt::format("tensor<{}xf32>", cell.batch),
                    column = fmt::format("tensor<{}x1xf32>", cell.batch),
                    scale = fmt::format("tensor<1x1x{}xf32>", width),
                    matrix = fmt::format("tensor<{0}x{0}xf32>", width),
                    bias = fmt::format("tensor<{}xf32>", width);
  return fmt::format(
      R"(func.func @regression(%data: {0} {{sym.name = "data", sym.role = "data"}},
          %label: {2} {{sym.name = "label", sym.role = "label"}}) -> ({2} {{sym.name = "y"}}) {{
        %length = sym.full {{shape = array<i64: {11}>, value = {8} : f64}} : {3}
        %x = sym.swap_axis %data {{dim2 = 1 : i64}} : ({0}) -> {1}
        %back = sym.sequence_reverse %x, %length {{use_sequence_length = true}} : ({1}, {3}) -> {1}
        %mask = sym.sequence_mask %back, %length {{use_sequence_length = true}} : ({1}, {3}) -> {1}
        %last = sym.sequence_last %mask, %length {{use_sequence_length = true}} : ({1}, {3}) -> {2}
        %most = sym.argmax %last {{axis = 1 : i64}} : ({2}) -> {3}
        %classes = sym.one_hot %most {{depth = {9} : i64}} : ({3}) -> {2}
        %scale = sym.variable {{name = "scale"}} : {5}
        %scaled = sym.broadcast_mul %mask, %scale : ({1}, {5}) -> {1}
        %chances = sym.softmax %scaled {{axis = 1 : i64}} : ({1}) -> {1}
        %mean = sym.mean %chances {{axis = array<i64: 0>}} : ({1}) -> {2}
        %sum = sym.sum %mask {{axis = array<i64: 0>}} : ({1}) -> {2}
        %all = sym.elemwise_add %mean, %sum : ({2}, {2}) -> {2}
        %number = sym.arange {{start = 0.0 : f64, stop = {10} : f64}} : {3}
        %picked = sym.pick %all, %number {{axis = 1 : i64}} : ({2}, {3}) -> {3}
        %column = sym.reshape %picked {{shape = array<i64: -1, 1>}} : ({3}) -> {4}
        %w = sym.variable {{name = "weight"}} : {6}
        %b = sym.variable {{name = "bias"}} : {7}
        %linear = sym.fully_connected %all, %w, %b {{num_hidden = {9} : i64}}
          : ({2}, {6}, {7}) -> {2}
        %chosen = sym.broadcast_mul %classes, %column : ({2}, {4}) -> {2}
        %out = sym.elemwise_add %linear, %chosen : ({2}, {2}) -> {2}
        %y = sym.linear_regression_output %out, %label : ({2}, {2}) -> {2}
        return %y : {2}
      }}
)",
      rows, sequence, each, one, column, scale, matrix, bias, fmt::format("{}.0", cell.steps),
      width, fmt::format("{}.0", cell.batch), cell.batch);
}

std::string netOf(const Cell &cell) {
  return cell.layers == Layers::None ? regression(cell) : languageModel(cell);
}

std::string hopsNet(int elements) {
  std::string type = fmt::format("tensor<{}xf32>", elements);
  std::string text = fmt::format("func.func @hand_over(%x0: {0} {{sym.name = \"data\", "
                                 "sym.role = \"data\"}}) -> ({0} {{sym.name = \"y\"}}) {{\n",
                                 type);
  for (int hop = 0; hop < kHops; ++hop)
    text += fmt::format("  %x{} = sym.mul_scalar %x{} {{scalar = 5.000000e-01 : f64, "
                        "sym.group = \"group{}\"}} : ({}) -> {}\n",
                        hop + 1, hop, hop % 2, type, type);
  return text + fmt::format("  return %x{} : {}\n}}\n", kHops, type);
}

std::string productNet(int extent) {
  return fmt::format(R"(func.func @multiply(%x: {0} {{sym.name = "data", sym.role = "data"}})
          -> ({0} {{sym.name = "y"}}) {{
        %w = sym.variable {{name = "weight"}} : {0}
        %b = sym.variable {{name = "bias"}} : tensor<{1}xf32>
        %y = sym.fully_connected %x, %w, %b {{flatten = false, num_hidden = {1} : i64,
            sym.name = "product"}} : ({0}, {0}, tensor<{1}xf32>) -> {0}
        return %y : {0}
      }}
)",
                     fmt::format("tensor<{0}x{0}xf32>", extent), extent);
}

std::string halvesNet(int elements, int launches) {
  const std::string type = fmt::format("tensor<{}xf32>", elements);
  std::string text = fmt::format("func.func @halve(%x0: {0} {{sym.name = \"data\", "
                                 "sym.role = \"data\"}}) -> ({0} {{sym.name = \"y\"}}) {{\n",
                                 type);
  for (int i = 0; i < launches; ++i)
    text += fmt::format("  %x{0} = sym.mul_scalar %x{1} {{scalar = 5.000000e-01 : f64}} : ({2}) -> "
                        "{2}\n",
                        i + 1, i, type);
  return text + fmt::format("  return %x{} : {}\n}}\n", launches, type);
}

std::string recurrenceNet(int steps, int batch, int hidden) {
  const std::string sequence = fmt::format("tensor<{}x{}x{}xf32>", steps, batch, hidden),
                    state = fmt::format("tensor<1x{}x{}xf32>", batch, hidden);
  return fmt::format(
      R"(func.func @recur(%x: {0} {{sym.name = "data", sym.role = "data"}})
          -> ({0} {{sym.name = "y"}}) {{
        %w = sym.variable {{name = "i2h_weight"}} : tensor<{2}x{3}xf32>
        %r = sym.variable {{name = "h2h_weight"}} : tensor<{2}x{3}xf32>
        %bw = sym.variable {{name = "i2h_bias"}} : tensor<{2}xf32>
        %br = sym.variable {{name = "h2h_bias"}} : tensor<{2}xf32>
        %p = sym.rnn_param_concat %w, %r, %bw, %br {{dim = 0 : i64}}
          : (tensor<{2}x{3}xf32>, tensor<{2}x{3}xf32>, tensor<{2}xf32>, tensor<{2}xf32>)
            -> tensor<{4}xf32>
        %h = sym.begin_state {{name = "begin_state_0"}} : {1}
        %c = sym.begin_state {{name = "begin_state_1"}} : {1}
        %y:3 = sym.rnn %x, %p state %h cell %c {{mode = "lstm", num_layers = 1 : i64,
            state_outputs = true, state_size = {3} : i64, sym.name = "lstm"}}
          : ({0}, tensor<{4}xf32>, {1}, {1}) -> ({0}, {1}, {1})
        return %y#0 : {0}
      }}
)",
      sequence, state, 4 * hidden, hidden, 8 * hidden * (hidden + 1));
}

} // namespace lstmc::planning

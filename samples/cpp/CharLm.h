// The network of samples/char_lm.lnet, built in C++: sub-networks are functions.
#pragma once

#include <cstdint>
#include <string>

#include <lstmc/compile.hpp>

struct Settings {
  int64_t vocab = 65, hidden = 256, layers = 2;
  int64_t batch = 32, seq = 64;
};

/// [N, ...] to [T, ...] and back.
inline lstmc::build::Value timeFirst(const lstmc::build::Value &x) {
  return lstmc::build::swapAxis(x, {.dim1 = 0, .dim2 = 1});
}

/// Characters to a sequence of vectors [T, N, hidden].
inline lstmc::build::Value embed(const lstmc::build::Value &data, const Settings &s) {
  return timeFirst(lstmc::build::embedding(
      data, {.input_dim = s.vocab, .output_dim = s.hidden, .name = "embed"}));
}

/// A stack of LSTMs, each in a group of its own.
inline lstmc::build::Value stacked(const lstmc::build::Net &net, lstmc::build::Value x,
                                   const Settings &s) {
  for (int64_t i = 0; i < s.layers; ++i) {
    const lstmc::build::Scoped group = net.group("layer" + std::to_string(i));
    x = lstmc::build::lstm(x, {.num_hidden = s.hidden, .name = "lstm" + std::to_string(i)}).output;
  }
  return x;
}

/// Probabilities of the next character [T, N, vocab], and their loss.
inline lstmc::build::Value decode(const lstmc::build::Value &x, const lstmc::build::Value &label,
                                  const Settings &s) {
  const lstmc::build::Value scores =
      lstmc::build::fullyConnected(x, {.num_hidden = s.vocab, .flatten = false, .name = "decoder"});
  return lstmc::build::softmaxOutput(scores, timeFirst(label),
                                     {.preserve_shape = true, .normalization = "valid"});
}

/// All of it. Throws with everything that is wrong with it.
inline lstmc::Network charLm(const Settings &s) {
  lstmc::build::Net net("char_lm");
  const std::vector<lstmc::build::Dim> window = {{s.batch, "batch"}, {s.seq, "seq"}};
  const lstmc::build::Value data = net.data("data", lstmc::DType::I32, window);
  const lstmc::build::Value label = net.label("label", lstmc::DType::I32, window);
  return net.finish({decode(stacked(net, embed(data, s), s), label, s)});
}

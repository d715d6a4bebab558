// The network of samples/char_lm.lnet, built in C++: sub-networks are functions, errors are values.
//
//   char_lm [vocab [hidden [layers]]]
//
// prints its arguments with their inferred shapes, its outputs, and the hash that the .lnet file
// gives too.
#include <cstdio>
#include <cstdlib>

#include "frontend/builders/Layers.h"
#include "frontend/builders/Ops.h"
#include "frontend/symbol/Render.h"

using namespace lstmc;
using namespace lstmc::build;

namespace {

struct Settings {
  int64_t vocab = 65, hidden = 256, layers = 2;
  int64_t batch = 32, seq = 64;
};

/// [N, ...] to [T, ...] and back.
Value timeFirst(const Value &x) { return swapAxis(x, {.dim1 = 0, .dim2 = 1}); }

/// Characters to a sequence of vectors [T, N, hidden].
Value embed(const Value &data, const Settings &s) {
  return timeFirst(
      embedding(data, {.input_dim = s.vocab, .output_dim = s.hidden, .name = "embed"}));
}

/// A stack of LSTMs, each in a group of its own.
Value stacked(const Net &net, Value x, const Settings &s) {
  for (int64_t i = 0; i < s.layers; ++i) {
    const Scoped group = net.group("layer" + std::to_string(i));
    x = lstm(x, {.num_hidden = s.hidden, .name = "lstm" + std::to_string(i)}).output;
  }
  return x;
}

/// Scores of the next character, and their loss.
Value decode(const Value &x, const Value &label, const Settings &s) {
  const Value scores =
      fullyConnected(x, {.num_hidden = s.vocab, .flatten = false, .name = "decoder"});
  return softmaxOutput(scores, timeFirst(label),
                       {.preserve_shape = true, .normalization = "valid"});
}

std::string text(const symbol::Shape &shape) {
  std::string result;
  for (const symbol::Dim &dim : shape.dims)
    result += (result.empty() ? "" : ", ") + (dim.name.empty() ? "" : dim.name + "=") +
              std::to_string(dim.extent);
  return "[" + result + "]";
}

} // namespace

int main(int argc, char **argv) {
  Settings s;
  int64_t *values[] = {&s.vocab, &s.hidden, &s.layers};
  for (int i = 1; i < argc && i <= 3; ++i)
    *values[i - 1] = std::atoll(argv[i]);

  Net net("char_lm");
  const symbol::Shape window({{s.batch, "batch"}, {s.seq, "seq"}});
  const Value data = net.data("data", DType::I32, window);
  const Value label = net.label("label", DType::I32, window);
  const Value output = decode(stacked(net, embed(data, s), s), label, s);
  if (Diagnostics errors = net.finish({output}); !errors.empty()) {
    std::fputs(symbol::render(errors).c_str(), stderr);
    return 3;
  }

  std::printf("arguments:");
  for (const std::string &name : net.graph().listArguments())
    std::printf(" %s", name.c_str());
  std::printf("\n");
  for (const auto &[name, shape] : net.graph().inferredShapes())
    std::printf("  %-20s %s\n", name.c_str(), text(shape).c_str());
  std::printf("hash: %s\n", net.graph().hash().c_str());
  return 0;
}

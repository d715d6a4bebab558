// The network of samples/char_lm.lnet, built in C++: sub-networks are functions, errors are values.
//
//   char_lm [vocab [hidden [layers]]]
//
// prints its arguments with their inferred shapes, its outputs, and the hash that the .lnet file
// gives too.
#include <cstdio>
#include <cstdlib>

#include "frontend/symbol/Layers.h"
#include "frontend/symbol/Render.h"
#include "frontend/symbol/Symbol.h"

using namespace lstmc;
using namespace lstmc::symbol;

namespace {

struct Settings {
  int64_t vocab = 65, hidden = 256, layers = 2;
  int64_t batch = 32, seq = 64;
};

/// Ends the program with the diagnostics where a node could not be made.
template <typename T> T check(Checked<T> made) {
  if (made.ok())
    return std::move(*made);
  std::fputs(render(made.diagnostics()).c_str(), stderr);
  std::exit(3);
}

/// A call of an op with one output.
Symbol apply(Graph &net, const char *op, std::vector<Symbol> inputs,
             std::vector<NamedAttribute> attributes, const char *name = "") {
  Call call;
  call.op = op;
  call.positional = std::move(inputs);
  call.attributes = std::move(attributes);
  call.name = name;
  return check(net.apply(call)).front();
}

/// [N, ...] to [T, ...] and back.
Symbol timeFirst(Graph &net, Symbol x) {
  return apply(net, "SwapAxis", {x}, {{"dim1", int64_t(0)}, {"dim2", int64_t(1)}});
}

/// Characters to a sequence of vectors [T, N, hidden].
Symbol embed(Graph &net, Symbol data, const Settings &s) {
  Symbol x =
      apply(net, "Embedding", {data}, {{"input_dim", s.vocab}, {"output_dim", s.hidden}}, "embed");
  return timeFirst(net, x);
}

/// A stack of LSTMs, each in a group of its own.
Symbol stack(Graph &net, Symbol x, const Settings &s) {
  for (int64_t i = 0; i < s.layers; ++i) {
    net.push({Scope::Kind::ContextGroup, "layer" + std::to_string(i)});
    x = check(lstm(net, x, s.hidden, "lstm" + std::to_string(i))).output;
    net.pop();
  }
  return x;
}

/// Scores of the next character, and their loss.
Symbol decode(Graph &net, Symbol x, Symbol label, const Settings &s) {
  Symbol y =
      apply(net, "FullyConnected", {x}, {{"num_hidden", s.vocab}, {"flatten", false}}, "decoder");
  return apply(net, "SoftmaxOutput", {y, timeFirst(net, label)},
               {{"preserve_shape", true}, {"normalization", std::string("valid")}});
}

std::string text(const Shape &shape) {
  std::string result;
  for (const Dim &dim : shape.dims)
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

  Graph net("char_lm");
  Shape window({{s.batch, "batch"}, {s.seq, "seq"}});
  Symbol data = check(net.input("data", DType::I32, window, Role::Data));
  Symbol label = check(net.input("label", DType::I32, window, Role::Label));
  Symbol x = stack(net, embed(net, data, s), s);
  Symbol output = decode(net, x, label, s);
  if (Diagnostics errors = net.finish({output}); !errors.empty()) {
    std::fputs(render(errors).c_str(), stderr);
    return 3;
  }

  std::printf("arguments:");
  for (const std::string &name : net.listArguments())
    std::printf(" %s", name.c_str());
  std::printf("\n");
  for (const auto &[name, shape] : net.inferredShapes())
    std::printf("  %-20s %s\n", name.c_str(), text(shape).c_str());
  std::printf("hash: %s\n", net.hash().c_str());
  return 0;
}

// imports JSON PARAMS INPUT OUTPUT STATES WEIGHTS: the outputs of a network of MXNet, written as
// raw floats; what it and a network of weights alone are saved as is read again.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <lstmc/compile.hpp>

using namespace lstmc;

static std::vector<float> floats(const char *path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

static std::vector<float> outputOf(const Network &network, const std::vector<float> &x) {
  Session session =
      compile(network, {.entries = {"forward"}}).session({.weights = network.weights()});
  session.run({{"data", x}});
  const auto y = session.output<float>(session.outputs()[0].name);
  return {y.begin(), y.end()};
}

static int refused(const char *path) {
  const Result<Network> none = Network::try_open(path);
  std::printf("%s: %s\n", path, none ? "opened" : none.error().what());
  return none ? 1 : 0;
}

int main(int, char **argv) try {
  const Network mxnet = Network::open(
      argv[1], {.shapes = {{"data", {4, 12}}, {"softmax_label", {4, 12}}}, .weights = argv[2]});
  const std::vector<float> x = floats(argv[3]), y = outputOf(mxnet, x);
  std::ofstream(argv[4], std::ios::binary)
      .write(reinterpret_cast<const char *>(y.data()), std::streamsize(y.size() * sizeof(float)));
  mxnet.save("net.lnet");
  const Network saved = Network::open("net.lnet", argv[2]);
  if (outputOf(saved, x) != y || saved.arguments().size() != mxnet.arguments().size())
    return 1;

  mxnet.save("net-symbol.json");
  const Network json =
      Network::open("net-symbol.json", {.shapes = {{"data", {4, 12}}, {"softmax_label", {4, 12}}},
                                        .weights = argv[2]});
  if (outputOf(json, x) != y)
    return 1;

  const Network torch = Network::open(argv[5]); // weights of torch.nn, whose network is made
  const Package package = compile(torch, {.optimizer = Sgd{.momentum = 0.9}});
  const Trainer trainer(package, {.weights = torch.weights()});
  torch.save("torch.lnet");
  const Network again = Network::open("torch.lnet");
  if (again.hash() != torch.hash() || again.weights())
    return 1;
  std::printf("%zu weights\n", trainer.weights().list().size());
  if (trainer.weights().hash() != package.weights(argv[6]).hash())
    return 1;

  const Result<void> onnx = mxnet.try_save("net.onnx");
  if (onnx)
    return 1;
  std::puts(onnx.error().what());
  return refused("nothere.lnet") + refused(argv[2]) + refused(argv[4]);
} catch (const Error &error) {
  std::puts(error.what());
  return 1;
}

// Prints the network of CharLm.h: its arguments with their inferred shapes, and the hash that
// samples/char_lm.lnet gives too.
//
//   char_lm [vocab [hidden [layers]]]
#include <cstdio>
#include <cstdlib>

#include "CharLm.h"

static std::string text(const lstmc::TensorInfo &argument) {
  std::string result;
  for (std::size_t i = 0; i < argument.shape.size(); ++i) {
    const std::string &dim = argument.dims[i];
    result += (result.empty() ? "" : ", ") + (dim.empty() ? "" : dim + "=") +
              std::to_string(argument.shape[i]);
  }
  return "[" + result + "]";
}

int main(int argc, char **argv) try {
  Settings s;
  int64_t *values[] = {&s.vocab, &s.hidden, &s.layers};
  for (int i = 1; i < argc && i <= 3; ++i)
    *values[i - 1] = std::atoll(argv[i]);

  const lstmc::Network network = charLm(s);
  std::printf("arguments:\n");
  for (const lstmc::TensorInfo &argument : network.arguments())
    std::printf("  %-20s %s\n", argument.name.c_str(), text(argument).c_str());
  std::printf("hash: %s\n", network.hash().c_str());
  return 0;
} catch (const lstmc::Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.status());
}

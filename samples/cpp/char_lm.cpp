// Prints the network of CharLm.h: its arguments with their inferred shapes, and the hash that
// samples/char_lm.lnet gives too.
//
//   char_lm [vocab [hidden [layers]]]
#include <cstdio>
#include <cstdlib>

#include "CharLm.h"
#include "frontend/symbol/Render.h"

using namespace lstmc;

static std::string text(const symbol::Shape &shape) {
  std::string result;
  for (const symbol::Dim &dim : shape.dims)
    result += (result.empty() ? "" : ", ") + (dim.name.empty() ? "" : dim.name + "=") +
              std::to_string(dim.extent);
  return "[" + result + "]";
}

int main(int argc, char **argv) {
  Settings s;
  int64_t *values[] = {&s.vocab, &s.hidden, &s.layers};
  for (int i = 1; i < argc && i <= 3; ++i)
    *values[i - 1] = std::atoll(argv[i]);

  build::Net net("char_lm");
  if (Diagnostics errors = charLm(net, s); !errors.empty()) {
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

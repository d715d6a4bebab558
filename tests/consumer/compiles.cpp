// compiles NET.lnet NET.lstmc GRAPH.lstmc: what `lstmc compile -b 4` does, and a graph of its own.
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "frontend/library/Compiler.h"
#include "frontend/symbol/Render.h"

using namespace lstmc;

static bool write(const CompiledPackage &compiled, const std::string &path) {
  if (!compiled.ok()) {
    std::fputs(symbol::render(compiled.diagnostics()).c_str(), stderr);
    return false;
  }
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(compiled->data()), std::streamsize(compiled->size()));
  return true;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  auto graph = std::make_unique<symbol::Graph>("twice");
  auto data = graph->input("data", DType::F32, symbol::Shape({2, 3}), symbol::Role::Data);
  symbol::Call call;
  call.op = "_mul_scalar";
  call.positional = {*data};
  call.attributes = {{"scalar", 2.0}};
  call.name = "twice";
  auto twice = graph->apply(call);
  if (!twice.ok() || !graph->finish(*twice).empty())
    return 3;
  return write(compileGraph(std::move(graph)), argv[3]) &&
                 write(compileFile(argv[1], {"--batch-size=4"}), argv[2])
             ? 0
             : 1;
}

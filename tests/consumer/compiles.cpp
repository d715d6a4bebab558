// compiles NET.lnet NET.lstmc GRAPH.lstmc: what `lstmc compile -b 4` does, and a graph of its own.
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "frontend/builders/Ops.h"
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
  build::Net net("twice");
  const build::Value data = net.data("data", DType::F32, symbol::Shape({{2, "batch"}, {3, ""}}));
  const build::Value twice = data * 2.0;
  if (!net.finish({twice}).empty() || !write(compile(net), argv[3]))
    return 3;
  // The network is still there, and compiles to the same bytes.
  if (twice.shape().dims[1].extent != 3 || *compile(net) != *compile(net))
    return 4;
  // A graph of generic calls, which compiling uses up.
  auto graph = std::make_unique<symbol::Graph>("twice");
  auto input = graph->input("data", DType::F32, symbol::Shape({2, 3}), symbol::Role::Data);
  symbol::Call call;
  call.op = "_mul_scalar";
  call.positional = {*input};
  call.attributes = {{"scalar", 2.0}};
  auto doubled = graph->apply(call);
  if (!doubled.ok() || !graph->finish(*doubled).empty() || !compileGraph(std::move(graph)).ok())
    return 5;
  return write(compileFile(argv[1], {.batch = 4}), argv[2]) ? 0 : 1;
}

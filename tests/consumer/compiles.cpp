// compiles NET.lnet NET.lstmc GRAPH.lstmc: what `lstmc compile -b 4` does, and a network of its
// own.
#include <cstdio>
#include <lstmc/compile.hpp>

using namespace lstmc;

static bool write(const Network &network, const CompileOptions &options, const char *path) {
  const std::vector<std::byte> bytes = compile_bytes(network, options);
  std::FILE *file = std::fopen(path, "wb");
  const bool whole = file && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return file && std::fclose(file) == 0 && whole;
}

int main(int argc, char **argv) try {
  if (argc != 4)
    return 2;
  build::Net net("twice");
  const build::Value twice = net.data("data", DType::F32, {{2, "batch"}, 3}) * 2.0;
  if (!write(net.finish({twice}), {}, argv[3]))
    return 3;
  return write(Network::open(argv[1]), {.dims = {{"batch", 4}}}, argv[2]) ? 0 : 1;
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.status());
}

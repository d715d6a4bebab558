// Writes small valid files to FOLDER/LOADER/, with which the fuzzers begin.
#include <filesystem>

#include "executor/data/Npy.h"
#include "executor/data/Npz.h"
#include "executor/data/SafeTensors.h"
#include "executor/training/CheckpointState.h"
#include "tests/executor/data/MxnetFile.h"

using namespace lstmc;

int main(int, char **arguments) {
  std::filesystem::path folder = arguments[1];
  auto seed = [&](const char *loader, const char *name) {
    std::filesystem::create_directories(folder / loader);
    return (folder / loader / name).string();
  };
  constexpr auto kReplace = OutputFile::Existing::Replace;
  float w[6] = {1, 2, 3, 4, 5, 6};
  int64_t n[2] = {7, 8};
  int64_t wShape[] = {2, 3}, nShape[] = {2};
  std::vector<data::NamedTensor> tensors = {{"w", data::denseTensor(w, DType::F32, wShape)},
                                            {"n", data::denseTensor(n, DType::I64, nShape)}};
  test::MxnetFile list;
  std::vector<std::string> names;
  for (test::MxnetVersion version : test::kMxnetVersions) {
    list.array(version, {2, 3}, std::vector<float>(6, 1)).array(version, {}, std::vector<float>(1));
    names.push_back(fmt::format("arg:{}", names.size()));
    names.push_back(fmt::format("aux:{}", names.size()));
  }
  const Bytes params = list.named(names);
  Status results[] = {
      data::writeSafeTensors(seed("safetensors", "two"), tensors, kReplace, {{"net", "a"}}),
      data::writeNpy(seed("npy", "matrix"), tensors[0].tensor, kReplace),
      data::writeNpz(seed("npz", "two"), tensors, kReplace),
      writeFile(seed("params", "versions"), asText(params), kReplace),
      writeFile(seed("csv", "quoted"), "a,\"b \"\"c\"\"\"\n1.5,NW\nNA,\"x,y\"\n", kReplace),
      writeFile(seed("idx", "bytes"), std::string("\0\0\x08\x02\0\0\0\x01\0\0\0\x02\x05\x06", 14),
                kReplace),
      writeFile(seed("text", "words"), "one two\nthr\xc3\xa9\xc3\xa9 \\n\n", kReplace),
      writeFile(seed("checkpoint", "state"), training::CheckpointState().text(), kReplace),
  };
  for (const Status &status : results) {
    if (!status.ok()) {
      fmt::print(stderr, "{}\n", status.error().text());
      return 1;
    }
  }
}

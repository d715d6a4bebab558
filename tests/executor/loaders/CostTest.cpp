// Memory to load is at most 64 MiB and 4 times the size of the file, whatever the file contains.
#include "tests/executor/data/MxnetFile.h"
#include "tests/executor/loaders/Allocations.h"
#include "tests/executor/loaders/Loaders.h"

namespace lstmc::test {
namespace {

constexpr size_t kFileBytes = 8 << 20;

std::string repeated(std::string_view piece, size_t bytes) {
  std::string text;
  text.reserve(bytes + piece.size());
  while (text.size() < bytes)
    text += piece;
  return text;
}

/// "aaaa", "aaab", ...: as many different words as fit.
std::string differentWords(char separator, size_t bytes) {
  std::string text;
  for (uint32_t i = 0; text.size() < bytes; ++i) {
    for (uint32_t rest = i, digit = 0; digit < 5; ++digit, rest /= 26)
      text += char('a' + rest % 26);
    text += separator;
  }
  return text;
}

std::string safetensors(const std::string &header) {
  std::string file;
  for (int i = 0; i < 8; ++i)
    file += char(header.size() >> (8 * i));
  return file + header;
}

std::string npy(std::string header, size_t dataBytes) {
  header.resize((header.size() + 10 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\0", 8) + char(header.size()) + char(header.size() >> 8) +
         header + std::string(dataBytes, '\0');
}

/// As many arrays of `shape` as fit, each with a name where `named`.
std::string mxnetArrays(MxnetVersion version, const std::vector<int64_t> &shape, bool named) {
  MxnetFile file;
  std::vector<std::string> names;
  for (size_t each = 0; file.bytes().size() + each * names.size() < kFileBytes;) {
    file.array(version, shape, std::vector<float>());
    if (named)
      names.push_back(std::to_string(names.size()));
    each = named ? sizeof(uint64_t) + names.back().size() : 0;
  }
  return std::string(asText(file.named(names)));
}

struct Hostile {
  std::string what, loader, contents;
};

std::vector<Hostile> hostileFiles() {
  std::string tensors = "{";
  for (int i = 0; tensors.size() < kFileBytes; ++i)
    tensors += fmt::format("{}\"{}\":{{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[{},{}]}}",
                           i ? "," : "", i, i, i + 1);
  return {
      {"zeros in a header", "safetensors", safetensors("{\"w\":[" + repeated("0,", kFileBytes))},
      {"brackets in a header", "safetensors", safetensors("{\"w\":" + repeated("[", kFileBytes))},
      {"many tensors", "safetensors", safetensors(tensors + "}") + std::string(kFileBytes, 'x')},
      {"metadata", "safetensors",
       safetensors("{\"__metadata__\":{\"a\":\"" + repeated("\\u0001", kFileBytes) + "\"}}")},
      {"fortran order", "npy",
       npy("{'descr': '>f8', 'fortran_order': True, 'shape': (1024, 1024), }", kFileBytes)},
      {"an enormous shape", "npy",
       npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976,), }", 64)},
      {"an enormous shape", "idx", std::string("\0\0\x08\x02\x7f\xff\xff\xff\x7f\xff\xff\xff", 12)},
      {"many entries", "npz", repeated(std::string("PK\1\2\0\0", 6), kFileBytes)},
      {"places without arrays", "params", mxnetArrays(MxnetVersion::V0, {}, false)},
      {"named places without arrays", "params", mxnetArrays(MxnetVersion::V0, {}, true)},
      {"empty arrays", "params", mxnetArrays(MxnetVersion::V0, {0}, true)},
      {"many axes", "params", mxnetArrays(MxnetVersion::V0, std::vector<int64_t>(16, 0), false)},
      {"an enormous count", "params",
       std::string("\x12\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\x0f", 24)},
      {"many columns", "csv", repeated("a,", kFileBytes)},
      {"many different columns", "csv", differentWords(',', kFileBytes)},
      {"short numbers", "csv", "a\n" + repeated("1\n", kFileBytes)},
      {"different texts", "csv", "a\n" + differentWords('\n', kFileBytes)},
      {"one long line", "csv", "\"" + repeated("\"\"", kFileBytes)},
      {"two letters", "text", repeated("ab", kFileBytes)},
      {"different words", "words", differentWords(' ', kFileBytes)},
      {"zeros", "package", std::string(kFileBytes, '\0')},
      {"large offsets", "package", std::string("\x08\0\0\0LSTM", 8) + repeated("\x7f", kFileBytes)},
  };
}

TEST(Cost, MemoryIsBoundedByTheFile) {
  TemporaryFolder folder;
  std::vector<Loader> loaders = makeLoaders(folder);
  for (const Hostile &file : hostileFiles()) {
    std::string path = writeText(folder / "hostile", file.contents);
    auto loader = std::find_if(loaders.begin(), loaders.end(),
                               [&](const Loader &l) { return l.name == file.loader; });
    ASSERT_NE(loader, loaders.end());
    resetPeak();
    int64_t before = allocated().bytes;
    Status status = loader->load(path);
    int64_t took = allocated().peak - before;
    EXPECT_LE(took, (int64_t(64) << 20) + 4 * int64_t(file.contents.size()))
        << file.loader << " of " << file.what << ": "
        << (status.ok() ? "loaded" : status.error().text());
  }
}

} // namespace
} // namespace lstmc::test

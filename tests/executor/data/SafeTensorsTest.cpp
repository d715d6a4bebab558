#include "executor/data/SafeTensors.h"
#include "tests/executor/data/Files.h"

namespace lstmc::data {
namespace {

Bytes file(std::string header, size_t dataBytes) {
  Bytes bytes;
  for (int i = 0; i < 8; ++i)
    bytes.push_back(uint8_t(header.size() >> (8 * i)));
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.resize(bytes.size() + dataBytes, 0);
  return bytes;
}

Result<SafeTensors> parse(std::string header, size_t dataBytes, Limits limits = {}) {
  return SafeTensors::parse(file(std::move(header), dataBytes), "w.safetensors", limits);
}

TEST(SafeTensors, ReadsWhatItWrites) {
  test::TemporaryFolder folder;
  float w[6] = {1, 2, 3, 4, 5, -0.0f};
  int64_t n[1] = {int64_t(1) << 40};
  int64_t wShape[] = {2, 3}, nShape[] = {1};
  std::vector<NamedTensor> tensors = {{"z/weight", denseTensor(w, DType::F32, wShape)},
                                      {"a \"count\"", denseTensor(n, DType::I64, nShape)}};
  std::string path = folder / "w.safetensors";
  ASSERT_OK(writeSafeTensors(path, tensors, OutputFile::Existing::Keep, {{"net", "char_lm"}}));
  auto read = SafeTensors::load(path);
  ASSERT_OK(read);
  ASSERT_EQ(read->records().size(), 2u);
  EXPECT_EQ(read->records()[0].name, "z/weight"); // declared order, not alphabetic
  EXPECT_EQ(read->records()[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(read->metadata().at("net"), "char_lm");
  Array array = read->array(*read->find("z/weight"));
  EXPECT_TRUE(
      std::ranges::equal(array.bytes, std::span(reinterpret_cast<const uint8_t *>(w), sizeof w)));
  EXPECT_EQ(read->array(*read->find("a \"count\"")).tensor().as<int64_t>()[0], n[0]);
}

TEST(SafeTensors, Malformed) {
  std::string good = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  ASSERT_OK(parse(good, 8));
  EXPECT_REFUSED(parse("", 0), E0604,
                 "w.safetensors: byte 0: error[E0604]: header length: found 0");
  Bytes huge = file(good, 8);
  huge[7] = 0x80; // 2^63
  EXPECT_REFUSED(SafeTensors::parse(huge, "w.safetensors"), E0606, "limit header");
  Bytes beyond = file(good, 8);
  beyond[1] = 1;
  EXPECT_REFUSED(SafeTensors::parse(beyond, "w.safetensors"), E0602, "header: found 62 bytes left");
  Limits small;
  small.header = 10;
  EXPECT_REFUSED(parse(good, 8, small), E0606, "limit header");
  EXPECT_REFUSED(parse(" " + good, 8), E0603, "found byte 0x20, want \"{\"");
  EXPECT_REFUSED(parse("{]", 8), E0603, "byte 9");
  EXPECT_REFUSED(
      parse(
          R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
          8),
      E0612, "tensor \"w\": found twice");
  EXPECT_REFUSED(
      parse(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"data_offsets":[0,8]}})", 8),
      E0612, "data_offsets: found twice");
  EXPECT_REFUSED(parse(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8), E0605,
                 "found 8 before 0");
  EXPECT_REFUSED(
      parse(
          R"({"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
          12),
      E0605, "overlaps");
  EXPECT_REFUSED(
      parse(
          R"({"v":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
          12),
      E0605, "gap");
  EXPECT_REFUSED(parse(good, 7), E0602, "found end 8, want at most the 7 bytes");
  EXPECT_REFUSED(parse(good, 9), E0605, "found 1 bytes after the last tensor");
  EXPECT_REFUSED(
      parse(
          R"({"v":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
          0),
      E0605, "want its own");
  // 4 * 2^62 * 2 wraps to 0 in 64 bits.
  EXPECT_REFUSED(
      parse(R"({"w":{"dtype":"F32","shape":[4611686018427387904,2],"data_offsets":[0,0]}})", 0),
      E0605, "want more than 2^63");
  EXPECT_REFUSED(parse(R"({"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8), E0604,
                 "found -2");
  EXPECT_REFUSED(parse(R"({"w":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}})", 8), E0604,
                 "\"F33\"");
  EXPECT_REFUSED(parse(R"({"w":{"dtype":"U16","shape":[4],"data_offsets":[0,8]}})", 8), E0613,
                 "\"U16\"");
  EXPECT_REFUSED(
      parse(R"({"__metadata__":{"a":1},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8),
      E0604, "__metadata__ \"a\": found a number, want a string");
  EXPECT_REFUSED(parse(R"({"w":{"dtype":"F32","shape":[2]}})", 8), E0605, "found no data_offsets");
  EXPECT_REFUSED(
      parse(
          R"({"w":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]}})",
          8),
      E0606, "limit rank");
  EXPECT_REFUSED(parse(R"({"w\n":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})", 8), E0604,
                 "tensor \"w\\n\" shape: found a number, want an array");
  EXPECT_REFUSED(parse(std::string(100000, '['), 0), E0603, "found byte 0x5b");
  EXPECT_REFUSED(parse(R"({"w":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", 3), E0605,
                 "after");
}

TEST(SafeTensors, BoolsAreZeroOrOne) {
  Bytes bytes = file(R"({"w":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", 2);
  bytes.back() = 2;
  EXPECT_REFUSED(SafeTensors::parse(bytes, "w.safetensors"), E0604, "found 2 for a bool");
}

TEST(SafeTensors, OursCarryADigest) {
  test::TemporaryFolder folder;
  float values[] = {1, 2};
  int64_t shape[] = {2};
  std::vector<NamedTensor> tensors = {{"w", denseTensor(values, DType::F32, shape)}};
  ASSERT_OK(writeSafeTensors(folder / "x", tensors, OutputFile::Existing::Keep));
  std::string good = test::readText(folder / "x");
  auto refusal = [&](std::string text) {
    auto read = SafeTensors::parse({text.begin(), text.end()}, "x");
    return read.ok() ? "accepted" : read.error().text();
  };
  EXPECT_EQ(refusal(good), "accepted");
  std::string digest =
      SafeTensors::parse({good.begin(), good.end()}, "x")->metadata().at(std::string(kDigestKey));
  std::string bad = good;
  bad.back() ^= 1; // a value
  EXPECT_TRUE(refusal(bad).starts_with("x: byte 8: error[E0609]: lstmc_digest: found "))
      << refusal(bad);
  EXPECT_TRUE(refusal(bad).ends_with(", want \"" + digest + "\" as in the metadata"))
      << refusal(bad);
  bad = good;
  bad.replace(bad.find("\"w\""), 3, "\"v\""); // a name
  EXPECT_TRUE(refusal(bad).starts_with("x: byte 8: error[E0609]")) << refusal(bad);
  bad = good; // files of other programs have no digest
  bad.replace(bad.find(kDigestKey), kDigestKey.size(), "other_digest");
  bad.back() ^= 1;
  EXPECT_EQ(refusal(bad), "accepted");
}

} // namespace
} // namespace lstmc::data

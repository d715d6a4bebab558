#include <cstring>

#include <zlib.h>

#include "executor/data/Idx.h"
#include "executor/data/Inflate.h"
#include "executor/data/Npy.h"
#include "executor/data/Npz.h"
#include "tests/executor/data/Files.h"

namespace lstmc::data {
namespace {

Bytes npy(std::string header, size_t dataBytes, uint8_t major = 1) {
  header += '\n';
  Bytes bytes = {
      0x93, 'N', 'U', 'M', 'P', 'Y', major, 0, uint8_t(header.size()), uint8_t(header.size() >> 8)};
  if (major > 1)
    bytes.insert(bytes.end(), {0, 0});
  bytes.insert(bytes.end(), header.begin(), header.end());
  for (size_t i = 0; i < dataBytes; ++i)
    bytes.push_back(uint8_t(i));
  return bytes;
}

Result<Array> parse(std::string header, size_t dataBytes) {
  return parseNpy(npy(std::move(header), dataBytes), "x.npy");
}

TEST(Npy, ReadsWhatItWrites) {
  test::TemporaryFolder folder;
  for (std::vector<int64_t> shape : {std::vector<int64_t>{}, {3}, {2, 3}}) {
    double values[6] = {1, -2, 3e300, 4, 5, 6};
    std::string path = folder / "x.npy";
    ASSERT_OK(
        writeNpy(path, denseTensor(values, DType::F64, shape), OutputFile::Existing::Replace));
    auto array = loadNpy(path);
    ASSERT_OK(array);
    EXPECT_EQ(array->shape, shape);
    EXPECT_EQ(array->dtype, DType::F64);
    EXPECT_EQ(std::memcmp(array->bytes.data(), values, array->bytes.size()), 0);
  }
  EXPECT_REFUSED(
      writeNpy(folder / "x.npy", denseTensor(nullptr, DType::F32, {}), OutputFile::Existing::Keep),
      E0608, "--force");
}

TEST(Npy, ConvertsByteAndAxisOrder) {
  auto big = parse("{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }", 8);
  ASSERT_OK(big);
  EXPECT_EQ(big->tensor().as<int32_t>()[1], 0x04050607);
  // Bytes 0 1 2 3 4 5, column by column, of a 2 x 3 matrix.
  auto fortran = parse("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", 6);
  ASSERT_OK(fortran);
  EXPECT_EQ(fortran->bytes, (Bytes{0, 2, 4, 1, 3, 5}));
  auto later =
      parseNpy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 4, 3), "x.npy");
  ASSERT_OK(later);
  EXPECT_TRUE(later->shape.empty());
}

TEST(Npy, Malformed) {
  EXPECT_REFUSED(parseNpy(asBytes("\x93NUMPZ"), "x.npy"), E0603, "x.npy: byte 0");
  EXPECT_REFUSED(parseNpy(npy("{}", 0, 9), "x.npy"), E0603, "version: found 9.0");
  Bytes cut = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 4);
  cut[9] = 9;
  EXPECT_REFUSED(parseNpy(cut, "x.npy"), E0602, "byte 10: error[E0602]: header: found");
  EXPECT_REFUSED(parse("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8), E0613,
                 "pickle");
  EXPECT_REFUSED(parse("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4),
                 E0613, "structured");
  EXPECT_REFUSED(parse("{'descr': '<U4', 'fortran_order': False, 'shape': (1,), }", 16), E0613,
                 "\"<U4\"");
  EXPECT_REFUSED(parse("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 4), E0604,
                 "\"-1");
  EXPECT_REFUSED(parse("{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", 8), E0603,
                 "want a tuple");
  EXPECT_REFUSED(
      parse("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", 0),
      E0605, "fewer than 2^63 bytes");
  EXPECT_REFUSED(
      parse("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 0),
      E0604, "above 2^63-1");
  EXPECT_REFUSED(parse("dict(descr='<f4')", 0), E0603, "want \"{\"");
  EXPECT_REFUSED(parse("{'descr': '<f4', 'fortran_order': not True, 'shape': (1,), }", 4), E0603,
                 "True or False");
  EXPECT_REFUSED(parse("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'shape': (1,)}", 4),
                 E0612, "shape");
  EXPECT_REFUSED(parse("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } + 1", 4), E0603,
                 "after");
  EXPECT_REFUSED(parse("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 7), E0602,
                 "found 7 bytes, want 8");
  EXPECT_REFUSED(parse("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 9), E0605,
                 "found 9 bytes, want 8");
}

class NpzFile : public testing::Test {
protected:
  void SetUp() override {
    float w[4] = {1, 2, 3, 4};
    int32_t n[2] = {7, 8};
    int64_t wShape[] = {2, 2}, nShape[] = {2};
    std::vector<NamedTensor> tensors = {{"w", denseTensor(w, DType::F32, wShape)},
                                        {"n", denseTensor(n, DType::I32, nShape)}};
    ASSERT_OK(writeNpz(path(), tensors, OutputFile::Existing::Keep));
    text_ = test::readText(path());
  }
  std::string path() const { return folder_ / "x.npz"; }
  Result<std::vector<NamedArray>> parse() const { return parseNpz(asBytes(text_), "x.npz"); }
  /// Replaces occurrence number `which` of `from` by a text of the same length.
  void replace(std::string_view from, std::string_view to, int which) {
    size_t at = text_.find(from);
    while (which-- > 0)
      at = text_.find(from, at + 1);
    ASSERT_NE(at, std::string::npos);
    text_.replace(at, to.size(), to);
  }

  test::TemporaryFolder folder_;
  std::string text_;
};

TEST_F(NpzFile, ReadsWhatItWrites) {
  auto arrays = parse();
  ASSERT_OK(arrays);
  ASSERT_EQ(arrays->size(), 2u);
  EXPECT_EQ((*arrays)[0].name, "w");
  EXPECT_EQ((*arrays)[1].array.tensor().as<int32_t>()[1], 8);
}

TEST_F(NpzFile, NameThatLeavesTheFolder) {
  replace("w.npy", "../wy", 1);
  EXPECT_REFUSED(parse(), E0604, "found \"../wy\", want a plain relative path");
}
TEST_F(NpzFile, NameTwice) {
  replace("n.npy", "w.npy", 0);
  replace("n.npy", "w.npy", 0);
  EXPECT_REFUSED(parse(), E0612, "entry \"w.npy\": found twice");
}
TEST_F(NpzFile, LocalHeaderDiffers) {
  replace("w.npy", "v.npy", 0);
  EXPECT_REFUSED(parse(), E0605, "local header of \"w.npy\"");
}
TEST_F(NpzFile, DigestDiffers) {
  replace(std::string_view("\0\0\x80\x3f", 4), std::string_view("\0\0\x81\x3f", 4), 0);
  EXPECT_REFUSED(parse(), E0609, "entry \"w.npy\" crc");
}
TEST_F(NpzFile, EntryThatIsNoArray) {
  replace("w.npy", "w.txt", 0);
  replace("w.npy", "w.txt", 0);
  EXPECT_REFUSED(parse(), E0613, "\"w.txt\"");
}
TEST_F(NpzFile, FalseZip64Size) {
  size_t central = text_.rfind("PK\x01\x02");
  text_.replace(central + 20, 8, std::string(8, '\xff'));
  EXPECT_REFUSED(parse(), E0605, "zip64 field: found none");
}
TEST_F(NpzFile, Encrypted) {
  size_t central = text_.rfind("PK\x01\x02");
  text_[central + 8] = 1;
  EXPECT_REFUSED(parse(), E0613, "encryption");
}

std::string gzip(std::string_view text) {
  z_stream z{};
  EXPECT_EQ(::deflateInit2(&z, 9, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(::deflateBound(&z, text.size()), '\0');
  z.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
  z.avail_in = uInt(text.size());
  z.next_out = reinterpret_cast<Bytef *>(packed.data());
  z.avail_out = uInt(packed.size());
  EXPECT_EQ(::deflate(&z, Z_FINISH), Z_STREAM_END);
  packed.resize(z.total_out);
  ::deflateEnd(&z);
  return packed;
}

std::string idx(std::initializer_list<int> bytes) { return {bytes.begin(), bytes.end()}; }

TEST(Idx, Malformed) {
  auto parse = [](const std::string &text) { return parseIdx(asBytes(text), "i.idx"); };
  auto good = parse(idx({0, 0, 12, 1, 0, 0, 0, 1, 1, 2, 3, 4}));
  ASSERT_OK(good);
  EXPECT_EQ(good->tensor().as<int32_t>()[0], 0x01020304);
  EXPECT_REFUSED(parse(idx({1, 0, 8, 1, 0, 0, 0, 0})), E0603, "magic: found 0x0100");
  EXPECT_REFUSED(parse(idx({0, 0, 7, 1, 0, 0, 0, 0})), E0604,
                 "byte 2: error[E0604]: element type: found 0x07");
  EXPECT_REFUSED(parse(idx({0, 0, 11, 1, 0, 0, 0, 0})), E0613, "16-bit");
  EXPECT_REFUSED(parse(idx({0, 0, 8, 0})), E0604, "axes: found 0");
  EXPECT_REFUSED(parse(idx({0, 0, 8, 255, 0, 0, 0, 1})), E0606, "axes: found 255");
  EXPECT_REFUSED(parse(idx({0, 0, 14, 3, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1})), E0605,
                 "fewer than 2^63");
  EXPECT_REFUSED(parse(idx({0, 0, 8, 1, 0, 0, 0, 3, 1, 2})), E0602, "found 2 bytes, want 3");
  EXPECT_REFUSED(parse(idx({0, 0, 8, 1, 0, 0, 0, 1, 1, 2})), E0605, "found 2 bytes, want 1");
}

TEST(Idx, Gzip) {
  std::string plain = idx({0, 0, 8, 1, 0, 0, 0, 2, 5, 6});
  auto array = parseIdx(asBytes(gzip(plain)), "i.gz");
  ASSERT_OK(array);
  EXPECT_EQ(array->bytes, (Bytes{5, 6}));
  std::string packed = gzip(plain);
  EXPECT_REFUSED(parseIdx(asBytes(packed.substr(0, packed.size() - 1)), "i.gz"), E0602,
                 "inside a stream");
  EXPECT_REFUSED(parseIdx(asBytes(packed + "x"), "i.gz"), E0605, "found 1 bytes after the end");
  packed[packed.size() - 6] ^= 1; // a bit of the CRC
  EXPECT_REFUSED(parseIdx(asBytes(packed), "i.gz"), E0603, "gzip: found incorrect data check");
}

TEST(Idx, GzipBomb) {
  std::string bomb = gzip(std::string(8 << 20, '\0'));
  EXPECT_REFUSED(parseIdx(asBytes(bomb), "i.gz"), E0606, "limit ratio");
}

TEST(Idx, Mnist) {
  LSTMC_DATA_FILE(images, "mnist/t10k-images-idx3-ubyte.gz");
  LSTMC_DATA_FILE(labels, "mnist/t10k-labels-idx1-ubyte.gz");
  auto pixels = loadIdx(images), digits = loadIdx(labels);
  ASSERT_OK(pixels);
  ASSERT_OK(digits);
  EXPECT_EQ(pixels->shape, (std::vector<int64_t>{10000, 28, 28}));
  EXPECT_EQ(digits->shape, (std::vector<int64_t>{10000}));
  EXPECT_EQ(digits->bytes[0], 7); // the test set begins with 7 2 1 0 4
  EXPECT_EQ(digits->bytes[4], 4);
}

} // namespace
} // namespace lstmc::data

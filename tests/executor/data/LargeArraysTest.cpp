// Files npz and idx that are larger than what is held in memory, compared with the same in memory.

#include <numeric>

#include <zlib.h>

#include "executor/data/Idx.h"
#include "executor/data/Npy.h"
#include "executor/data/Npz.h"
#include "tests/executor/data/LargeData.h"

namespace lstmc::data {
namespace {

/// Unpacked bytes 0, 1, 2 ... of more than one block.
std::string manyBytes() {
  std::string bytes((5 << 18) + 12, '\0');
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = char(i * 7 >> (i / 4096 % 3));
  return bytes;
}

std::string packed(std::string_view text, int windowBits) {
  z_stream z{};
  EXPECT_EQ(::deflateInit2(&z, 6, Z_DEFLATED, windowBits, 9, Z_DEFAULT_STRATEGY), Z_OK);
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
std::string gzip(std::string_view text) { return packed(text, MAX_WBITS + 16); }

std::string bigWord(uint32_t value) {
  return {char(value >> 24), char(value >> 16), char(value >> 8), char(value)};
}

/// An idx file of samples [4, 3] of a type with elements of `width` bytes.
std::string idx(uint8_t type, size_t width) {
  std::string elements = manyBytes();
  uint32_t samples = uint32_t(elements.size() / width / 12);
  elements.resize(samples * 12 * width);
  return std::string("\0\0", 2) + char(type) + "\3" + bigWord(samples) + bigWord(4) + bigWord(3) +
         elements;
}

std::string idxLabels(std::string_view idx) {
  uint32_t samples = uint32_t(uint8_t(idx[5]) << 16 | uint8_t(idx[6]) << 8 | uint8_t(idx[7]));
  return std::string("\0\0\x08\1", 4) + bigWord(samples) + std::string(samples, '\2');
}

void expectSameBatches(const std::string &spec, DType dtype) {
  auto held = load(spec, {}), read = load(spec, nothingHeld());
  EXPECT_EQ(held->digest(), read->digest());
  Input x("data", dtype, {8, 4, 3}), y("label", DType::I32, {8});
  for (Part part : {Part::Train, Part::Valid, Part::All}) {
    auto want = contents(*held, kPositions, {&x, &y}, part);
    EXPECT_EQ(contents(*read, kPositions, {&x, &y}, part), want) << spec;
  }
}

TEST(LargeIdx, HasTheBatchesOfOneInMemory) {
  test::TemporaryFolder folder;
  for (auto [type, width] : {std::pair(0x08, 1), {0x0c, 4}, {0x0e, 8}}) {
    std::string file = idx(uint8_t(type), size_t(width));
    std::string y = test::writeText(folder / "y", idxLabels(file));
    std::string plain = test::writeText(folder / "x", file);
    std::string two = test::writeText( // two members
        folder / "x.gz", gzip(file.substr(0, 100'000)) + gzip(file.substr(100'000)));
    // Floats of any bits may be NaN with a payload, which an input of the same type keeps.
    for (const std::string &x : {plain, two})
      expectSameBatches("idx:data=" + x + ",label=" + y + ",valid=0.25",
                        type == 0x0e ? DType::F64 : DType::I32);
  }
}

TEST(LargeIdx, IsRefusedAlike) {
  test::TemporaryFolder folder;
  auto spec = [&](const std::string &text) {
    return "idx:data=" + test::writeText(folder / "x", text);
  };
  std::string good = idx(0x0c, 4), zipped = gzip(good);
  EXPECT_REFUSED_ALIKE(spec(good.substr(0, good.size() - 1)), E0602, "data: found");
  EXPECT_REFUSED_ALIKE(spec(good + "x"), E0605, "data: found");
  EXPECT_REFUSED_ALIKE(spec(good.substr(0, 7)), E0602, "extent: found");
  EXPECT_REFUSED_ALIKE(spec(zipped.substr(0, zipped.size() - 9)), E0602, "inside a stream");
  EXPECT_REFUSED_ALIKE(spec(zipped + "x"), E0605, "found 1 bytes after the end");
  std::string wrong = zipped;
  wrong[wrong.size() - 6] ^= 1; // a bit of the CRC
  EXPECT_REFUSED_ALIKE(spec(wrong), E0603, "incorrect data check");
  EXPECT_REFUSED_ALIKE(spec(gzip(std::string(8 << 20, '\0'))), E0606, "limit ratio");
}

std::string littleBytes(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += char(value >> (8 * i));
  return text;
}

/// A file in an archive: its bytes, and how they are packed.
struct Entry {
  std::string name, bytes;
  bool deflated = false;
};

std::string zip(const std::vector<Entry> &entries) {
  std::string archive, directory;
  for (const Entry &entry : entries) {
    auto *bytes = reinterpret_cast<const Bytef *>(entry.bytes.data());
    std::string body = entry.deflated ? packed(entry.bytes, -MAX_WBITS) : entry.bytes;
    std::string common = littleBytes(20, 2) + littleBytes(0, 2) +
                         littleBytes(entry.deflated ? 8 : 0, 2) + littleBytes(0, 4) +
                         littleBytes(::crc32_z(0, bytes, entry.bytes.size()), 4) +
                         littleBytes(body.size(), 4) + littleBytes(entry.bytes.size(), 4) +
                         littleBytes(entry.name.size(), 2) + littleBytes(0, 2);
    directory += "PK\1\2" + littleBytes(20, 2) + common + littleBytes(0, 10) +
                 littleBytes(archive.size(), 4) + entry.name;
    archive += "PK\3\4" + common + entry.name + body;
  }
  return archive + directory + "PK\5\6" + littleBytes(0, 4) + littleBytes(entries.size(), 2) +
         littleBytes(entries.size(), 2) + littleBytes(directory.size(), 4) +
         littleBytes(archive.size(), 4) + littleBytes(0, 2);
}

/// An npy file of 32-bit integers [rows, 4, 3] that are manyBytes().
std::string npy(std::string_view type, bool fortran, int64_t rows) {
  std::string header = "{'descr': '" + std::string(type) +
                       "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': (" +
                       std::to_string(rows) + ", 4, 3), }";
  header.resize((header.size() + 10) / 64 * 64 + 53, ' ');
  header += '\n';
  return std::string("\x93NUMPY\1\0", 8) + littleBytes(header.size(), 2) + header +
         manyBytes().substr(0, size_t(rows) * 48);
}

std::string labels(int64_t rows) {
  std::vector<int32_t> values(size_t(rows), 0);
  std::iota(values.begin(), values.end(), 0);
  int64_t shape[] = {rows};
  return *npyHeader(denseTensor(values.data(), DType::I32, shape)) +
         std::string(reinterpret_cast<const char *>(values.data()), values.size() * 4);
}

constexpr int64_t kRows = 27'000;

TEST(LargeNpz, HasTheBatchesOfOneInMemory) {
  test::TemporaryFolder folder;
  for (bool deflated : {false, true})
    for (std::string_view type : {"<i4", ">i4"})
      for (bool fortran : {false, true}) {
        std::string file = test::writeText(folder / "x.npz",
                                           zip({{"data.npy", npy(type, fortran, kRows), deflated},
                                                {"label.npy", labels(kRows), false}}));
        expectSameBatches("npz:" + file + ",valid=0.25", DType::I32);
      }
}

/// More elements than one slab holds.
TEST(LargeFortran, IsConvertedInSlabs) {
  constexpr int64_t kLong = 4 << 20;
  Bytes bytes(5 * size_t(kLong));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = uint8_t(i * 11 >> (i / 65536 % 4));
  StoredBytesWriter file(/*held=*/0);
  ASSERT_OK(file.append(bytes));
  auto elements = std::move(file).finish();
  ASSERT_OK(elements);
  auto array = StoredArray::of(DType::U8, {kLong, 5}, *elements, {.fortran = true});
  ASSERT_OK(array);
  ASSERT_OK(array->eachPart([&](const uint8_t *values, int64_t first, int64_t count) -> Status {
    for (int64_t i = first; i < first + count; ++i)
      if (values[i - first] != bytes[size_t(i % 5 * kLong + i / 5)])
        return fail(ErrorCode::E0605, "element {}", i);
    return {};
  }));
}

TEST(LargeNpz, LimitCountsUnpackedBytes) {
  test::TemporaryFolder folder;
  std::string zeros = npy("<i4", false, kRows);
  std::fill(zeros.end() - kRows * 48, zeros.end(), '\0');
  std::string archive = zip({{"data.npy", zeros, true}});
  ASSERT_LT(archive.size(), 100'000u);
  Limits limits;
  limits.dataMemory = 1 << 20;
  auto read = readNpz(asBytes(archive), "x.npz", limits);
  ASSERT_OK(read);
  EXPECT_TRUE((*read)[0].array.inFile());
  limits.dataMemory = 2 << 20;
  read = readNpz(asBytes(archive), "x.npz", limits);
  ASSERT_OK(read);
  EXPECT_FALSE((*read)[0].array.inFile());
}

/// Every cut and every changed byte gives the same error in both ways.
TEST(LargeNpz, IsRefusedAlike) {
  test::TemporaryFolder folder;
  std::string big = npy(">i4", true, 2), flags = npy("|b1", false, 2);
  flags.replace(flags.size() - 96, 96, 24, '\1');
  std::string good = zip({{"x.npy", big, true}, {"y.npy", big, false}, {"z.npy", flags, false}});
  auto compare = [&](const std::string &archive) {
    InputFile file = *InputFile::open(test::writeText(folder / "f", archive));
    Status held = parseNpz(asBytes(archive), "f").status();
    Status read = readNpz(StoredBytes(file), "f", nothingHeld()).status();
    ASSERT_EQ(held.ok(), read.ok());
    if (!held.ok()) {
      EXPECT_EQ(read.error().text(), held.error().text());
    }
  };
  compare(good);
  for (size_t length = 0; length < good.size(); ++length)
    compare(good.substr(0, length));
  for (size_t at = 0; at < good.size(); ++at)
    for (int change : {0x01, 0x80}) {
      std::string bad = good;
      bad[at] = char(bad[at] ^ change);
      compare(bad);
    }
}

} // namespace
} // namespace lstmc::data

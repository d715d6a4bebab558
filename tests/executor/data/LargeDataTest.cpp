// Texts and npy files that are larger than what is held in memory, compared with the same in
// memory.

#include <array>
#include <cstdlib>
#include <random>

#include <sys/resource.h>

#include "executor/data/Npy.h"
#include "tests/executor/data/LargeData.h"

namespace lstmc::data {
namespace {

/// Words of one to three bytes a letter, more of them than a block has bytes.
std::string longText() {
  std::mt19937 random(1);
  const std::array<std::string, 6> letters = {"a", "b", "\xc3\xa9", "\xe2\x82\xac", "z", "q"};
  std::string text;
  while (text.size() < (5 << 19)) {
    for (unsigned letter = 0; letter < 1 + random() % 3; ++letter)
      text += letters[random() % letters.size()];
    text += random() % 12 ? ' ' : '\n';
  }
  return text;
}

TEST(LargeText, HasTheBatchesOfOneInMemory) {
  test::TemporaryFolder folder;
  std::string file = test::writeText(folder / "t", longText());
  for (std::string unit : {"char", "word", "byte"}) {
    std::string spec = "text:" + file + ",valid=0.2,unit=" + unit;
    auto held = load(spec, {}), read = load(spec, nothingHeld());
    EXPECT_EQ(held->digest(), read->digest());
    EXPECT_EQ(held->learned().vocabulary->text(), read->learned().vocabulary->text());
    for (Part part : {Part::Train, Part::Valid}) {
      Input x("data", DType::I32, {3, 7}), y("label", DType::F32, {7, 3}, 1);
      auto want = contents(*held, kPositions, {&x, &y}, part);
      EXPECT_EQ(contents(*read, kPositions, {&x, &y}, part), want) << unit;
    }
    Input x("data", DType::I32, {2, 5});
    auto windows = held->samples({x.slot}, false), others = read->samples({x.slot}, false);
    ASSERT_OK(windows);
    ASSERT_OK(others);
    EXPECT_EQ(windows->symbols, others->symbols);
    for (int64_t batch : {int64_t(0), windows->feed->batches() - 1}) {
      ASSERT_OK(windows->feed->fill({0, batch}));
      auto want = x.memory;
      ASSERT_OK(others->feed->fill({0, batch}));
      EXPECT_EQ(x.memory, want);
    }
    EXPECT_EQ(*others->symbolAt(others->symbols - 1), *windows->symbolAt(windows->symbols - 1));
  }
}

TEST(LargeText, HasTheLinesOfOneInMemory) {
  test::TemporaryFolder folder;
  std::string spec = "text:" + test::writeText(folder / "t", longText()) + ",lines=yes,unit=word";
  auto held = load(spec, {}), read = load(spec, nothingHeld());
  Input x("data", DType::I32, {4, 256}), y("label", DType::I32, {4, 256}),
      n("length", DType::I32, {4});
  y.slot.range.emplace() = {0, int64_t(held->learned().vocabulary->size()) - 1, -1};
  auto want = contents(*held, kPositions, {&x, &y, &n});
  EXPECT_EQ(contents(*read, kPositions, {&x, &y, &n}), want);
}

TEST(LargeText, ErrorsHaveTheirPlace) {
  test::TemporaryFolder folder;
  std::string text = longText();
  std::string vocabulary =
      test::writeText(folder / "v", "a\nb\n\xc3\xa9\n\xe2\x82\xac\nz\nq\n\\n\n \n");
  std::string file = test::writeText(folder / "t", text + "\naz!\n");
  auto spec = DataSpec::parse("text:" + file + ",vocab=" + vocabulary);
  ASSERT_OK(spec);
  Status held = DataSet::load(*spec).status(),
         read = DataSet::load(*spec, nullptr, nothingHeld()).status();
  EXPECT_REFUSED(read, E0607, ":3: error[E0607]: token: found \"!\"");
  EXPECT_EQ(read.error().text(), held.error().text());

  Limits narrow = nothingHeld();
  narrow.csvLine = 2 << 20; // more than a block
  std::string line = test::writeText(folder / "line", "a\n" + std::string(3 << 20, 'b') + "\na\n");
  auto long1 = DataSpec::parse("text:" + line);
  EXPECT_REFUSED(DataSet::load(*long1, nullptr, narrow).status(), E0606, "line:2:1: ");
}

TEST(LargeText, NeedsAFolderForItsNumbers) {
  test::TemporaryFolder folder;
  auto spec = DataSpec::parse("text:" + test::writeText(folder / "t", "abcdefghijk"));
  std::string missing = folder / "none";
  ::setenv("TMPDIR", missing.c_str(), 1);
  EXPECT_REFUSED(DataSet::load(*spec, nullptr, nothingHeld()).status(), E0601, missing);
  ::unsetenv("TMPDIR");
}

/// An npy file of whole numbers 0, 1, 2 ... below 251.
std::string npyFile(const std::string &path, std::vector<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  std::vector<int32_t> values(size_t(elements), 0);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = int32_t(i % 251);
  Status written =
      writeNpy(path, denseTensor(values.data(), DType::I32, shape), OutputFile::Existing::Replace);
  EXPECT_TRUE(written.ok()) << written.error().text();
  return path;
}

TEST(LargeNpy, HasTheBatchesOfOneInMemory) {
  test::TemporaryFolder folder;
  // Samples are on the first axis of one array, and on the second of the other.
  std::string spec = "npy:data=" + npyFile(folder / "x.npy", {1013, 4, 3}) +
                     ",label=" + npyFile(folder / "y.npy", {4, 1013});
  auto held = load(spec, {}), read = load(spec, nothingHeld());
  EXPECT_EQ(held->digest(), read->digest());
  Input x("data", DType::F32, {8, 4, 3}), y("label", DType::I32, {4, 8}, 1);
  for (Part part : {Part::Train, Part::All}) {
    auto want = contents(*held, kPositions, {&x, &y}, part);
    EXPECT_EQ(contents(*read, kPositions, {&x, &y}, part), want);
  }
  y.slot.range.emplace().high = 249;
  Status heldStatus = held->feed(Part::All, {x.slot, y.slot}, 0).status(),
         readStatus = read->feed(Part::All, {x.slot, y.slot}, 0).status();
  EXPECT_REFUSED(readStatus, E0604, "row 250, at [0, 250]: found 250");
  EXPECT_EQ(readStatus.error().text(), heldStatus.error().text());
}

TEST(LargeNpy, AFileThatChangesIsAnError) {
  test::TemporaryFolder folder;
  std::string file = npyFile(folder / "x.npy", {64, 4});
  auto data = load("npy:data=" + file + ",shuffle=no", nothingHeld());
  Input x("data", DType::F32, {8, 4});
  auto feed = data->feed(Part::Train, {x.slot}, 0);
  ASSERT_OK(feed);
  ASSERT_OK((*feed)->fill({0, 0}));
  std::string text = test::readText(file);
  test::writeText(file, text.substr(0, text.size() - 300));
  (void)(*feed)->fill({0, 1}).ok(); // was read ahead, or not
  EXPECT_REFUSED((*feed)->fill({0, 2}), E0605, "file changed while it was read");
  EXPECT_REFUSED((*feed)->fill({1, 7}), E0602, "file shrank while it was read");
}

TEST(LargeNpy, TakesLittleMemory) {
  test::TemporaryFolder folder;
  constexpr int64_t kSamples = 100'000, kEach = 512;
  std::vector<int32_t> zero(size_t(kEach), 0);
  std::string header =
      *npyHeader(denseTensor(zero.data(), DType::I32, std::array{int64_t(1), kEach}));
  // The same header for more samples: spaces give way to digits.
  size_t one = header.find("(1, "), spaces = header.rfind("     \n");
  header = header.substr(0, one + 1) + "100000" + header.substr(one + 2, spaces - one - 2) + "\n";
  std::string file = test::writeText(folder / "x.npy", header);
  ASSERT_EQ(::truncate(file.c_str(), int64_t(header.size()) + kSamples * kEach * 4), 0);
  struct rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  auto data = load("npy:data=" + file, nothingHeld());
  Input x("data", DType::I32, {4, kEach});
  x.slot.range.emplace().high = 1;
  contents(*data, kPositions, {&x});
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 16 << 10) << "KiB, of an array of 195 MiB";
}

} // namespace
} // namespace lstmc::data

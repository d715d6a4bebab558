// Values that are out of range for a network are refused when the data are bound to it, with their
// place; data that fill no batch are counted.
#include <filesystem>

#include "executor/data/DataSet.h"
#include "executor/data/Npy.h"
#include "executor/data/Outside.h"
#include "tests/executor/data/Files.h"

namespace lstmc::data {
namespace {

class Ranges : public testing::Test {
protected:
  InputSlot slot(const std::string &name, DType dtype, std::vector<int64_t> shape,
                 std::optional<ValueRange> range) {
    memory_.emplace_back(4096);
    return {name, name == "label", denseTensor(memory_.back().data(), dtype, shape), 0, range};
  }
  std::unique_ptr<DataSet> load(const std::string &spec, const Learned *learned = nullptr) {
    auto data = DataSet::load(*DataSpec::parse(spec), learned);
    EXPECT_TRUE(data.ok()) << data.error().text();
    return std::move(*data);
  }
  std::string refusal(const DataSet &data, std::vector<InputSlot> slots, Part part = Part::All) {
    auto feed = data.feed(part, std::move(slots), 0);
    return feed.ok() ? "accepted" : withoutFolder(feed.error().text());
  }
  std::string withoutFolder(std::string text) const {
    std::string folder = folder_.path().string() + "/";
    for (size_t at; (at = text.find(folder)) != text.npos;)
      text.erase(at, folder.size());
    return text;
  }
  template <typename T>
  std::string writeArray(const std::string &name, DType dtype, std::vector<int64_t> shape,
                         std::vector<T> values) {
    EXPECT_TRUE(writeNpy(folder_ / name, denseTensor(values.data(), dtype, shape),
                         OutputFile::Existing::Keep)
                    .ok());
    return folder_ / name;
  }

  test::TemporaryFolder folder_;
  std::vector<std::vector<double>> memory_;
};

TEST_F(Ranges, Hold) {
  ValueRange range{0, 2, -1};
  for (double inside : {0.0, 2.0, 2.9, -0.5, -1.0, -1.9})
    EXPECT_TRUE(range.holds(inside)) << inside;
  for (double outside : {3.0, -2.0, 1e300, std::nan("")})
    EXPECT_FALSE(range.holds(outside)) << outside;
  EXPECT_EQ(range.text(), "0 to 2, or -1");
  std::vector<int32_t> ids(10000, 1);
  EXPECT_EQ(firstOutside(ids.data(), DType::I32, 10000, range), std::nullopt);
  ids[9999] = -1;
  EXPECT_EQ(firstOutside(ids.data(), DType::I32, 10000, range), std::nullopt);
  EXPECT_EQ(firstOutside(ids.data(), DType::I32, 10000, {0, 2, std::nullopt}), 9999);
  ids[4096] = 3;
  EXPECT_EQ(firstOutside(ids.data(), DType::I32, 10000, range), 4096);
}

TEST_F(Ranges, OfArrays) {
  std::string labels = writeArray<int64_t>("y.npy", DType::I64, {4}, {0, 2, -1, 3});
  std::string ids = writeArray<float>("x.npy", DType::F32, {4, 2}, {0, 1, 2, 2.5, 1, 7, 0, 0});
  auto data = load("npy:label=" + labels);
  auto label = [&](ValueRange range) { return slot("label", DType::F32, {2}, range); };
  EXPECT_EQ(refusal(*data, {label({0, 2, -1})}),
            "y.npy: error[E0604]: array \"label\" row 3: found 3, want 0 to 2, or -1");
  EXPECT_EQ(refusal(*data, {label({0, 3, std::nullopt})}),
            "y.npy: error[E0604]: array \"label\" row 2: found -1, want 0 to 3");
  EXPECT_EQ(refusal(*data, {label({0, 3, -1})}), "accepted");
  data = load("npy:data=" + ids);
  EXPECT_EQ(refusal(*data, {slot("data", DType::F32, {1, 2}, ValueRange{0, 2, {}})}),
            "x.npy: error[E0604]: array \"data\" row 2, at [2, 1]: found 7, want 0 to 2");
}

TEST_F(Ranges, OfTexts) {
  std::string file = test::writeText(folder_ / "t", "abab\nabcab\n");
  auto data = load("text:" + file);
  InputSlot x = slot("data", DType::I32, {1, 2}, ValueRange{0, 2, {}});
  EXPECT_EQ(refusal(*data, {x}),
            "t:2:3: error[E0604]: vocabulary: found 4 symbols, of which \"c\" is number 3, want 0 "
            "to 2 for input \"data\"");
  x.range->high = 3;
  EXPECT_EQ(refusal(*data, {x}), "accepted");
  // A vocabulary with symbols that do not occur in the text.
  std::string list = test::writeText(folder_ / "v", "a\nb\n\\n\nc\nd\n");
  EXPECT_EQ(refusal(*load("text:" + file + ",vocab=" + list), {x}),
            "v: error[E0604]: vocabulary: found 5 symbols, want 0 to 3 for input \"data\"");
}

TEST_F(Ranges, OfTables) {
  std::string file = test::writeText(folder_ / "t.csv", "a,b\n1,x\n2,y\n3,z\n4,x\n");
  auto data = load("csv:" + file + ",inputs=a,target=b,shuffle=no");
  InputSlot x = slot("data", DType::F32, {1, 1, 1}, {}),
            y = slot("label", DType::F32, {1}, ValueRange{0, 1, {}});
  EXPECT_EQ(refusal(*data, {x, y}),
            "t.csv:4:1: error[E0604]: column \"b\": found \"z\", symbol 2 of "
            "3, want 0 to 1 for input \"label\"");
  y.range->high = 2;
  EXPECT_EQ(refusal(*data, {x, y}), "accepted");
}

TEST_F(Ranges, OfRandomData) {
  InputSlot x = slot("label", DType::I32, {4}, ValueRange{1, 3, {}});
  EXPECT_EQ(refusal(*load("random:1,classes=4"), {x}),
            "error[E0604]: data \"random:1,classes=4\": found 4 classes, want 1 to 3 for input "
            "\"label\"");
  auto data = load("random:1");
  auto feed = data->feed(Part::Train, {x}, 0);
  ASSERT_OK(feed);
  for (int64_t batch = 0; batch < (*feed)->batches(); ++batch) {
    ASSERT_OK((*feed)->fill({0, batch}));
    EXPECT_EQ(firstOutside(x.tensor.data, DType::I32, 4, {1, 2, {}}), std::nullopt);
  }
}

TEST_F(Ranges, WhatFillsNoBatchIsCounted) {
  std::string file = writeArray<float>("x.npy", DType::F32, {14}, std::vector<float>(14));
  auto data = load("npy:data=" + file);
  InputSlot four = slot("data", DType::F32, {4}, {}), many = slot("data", DType::F32, {20}, {});
  auto train = data->feed(Part::Train, {four}, 0), all = data->feed(Part::All, {four}, 0);
  ASSERT_OK(train);
  EXPECT_EQ((*train)->batches(), 3);
  EXPECT_EQ((*train)->leftOut(), "2 of 14 samples fill no batch of 4");
  EXPECT_EQ((*all)->batches(), 4);
  EXPECT_EQ((*all)->rows({0, 3}), 2);
  EXPECT_EQ((*all)->leftOut(), "");
  EXPECT_EQ(refusal(*data, {many}, Part::Train),
            "x.npy: error[E0605]: samples: found 14 in this part, want at least one batch of 20");
  EXPECT_EQ(refusal(*data, {many}, Part::All), "accepted");

  auto text = load("text:" + test::writeText(folder_ / "t", "abcdefghijk"));
  auto feed = text->feed(Part::All, {slot("data", DType::I32, {3, 2}, {})}, 0);
  ASSERT_OK(feed);
  EXPECT_EQ((*feed)->leftOut(), "4 of 10 symbols fill no window of 2 in 3 streams");
}

TEST_F(Ranges, TheUnitOfAVocabularyIsKept) {
  std::string file = test::writeText(folder_ / "t", "to be or not to be\n");
  auto words = load("text:" + file + ",unit=word");
  Learned learned = words->learned();
  EXPECT_EQ(learned.unit, TextUnit::Word);
  EXPECT_EQ(load("text:" + file, &learned)->learned().unit, TextUnit::Word);
  auto other = DataSet::load(*DataSpec::parse("text:" + file + ",unit=char"), &learned);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(withoutFolder(other.error().text()),
            "error[E0610]: data \"text:t,unit=char\": found unit char, want word as the vocabulary "
            "has it");
}

} // namespace
} // namespace lstmc::data

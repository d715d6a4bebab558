#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "executor/data/Array.h"
#include "executor/data/DataSet.h"
#include "executor/data/Npz.h"
#include "executor/data/Shuffle.h"
#include "tests/executor/data/Files.h"

namespace lstmc::data {
namespace {

/// Inputs of an imaginary network.
class Slots {
public:
  InputSlot make(const std::string &name, DType dtype, std::vector<int64_t> shape,
                 int batchAxis = 0) {
    memory_.emplace_back(64 << 10);
    InputSlot slot{name, name.ends_with("label"), denseTensor(memory_.back().data(), dtype, shape),
                   batchAxis};
    return slot;
  }

private:
  std::vector<std::vector<double>> memory_;
};

std::unique_ptr<DataSet> load(const std::string &spec, const Learned *learned = nullptr) {
  auto parsed = DataSpec::parse(spec);
  EXPECT_TRUE(parsed.ok()) << parsed.error().text();
  auto data = DataSet::load(*parsed, learned);
  EXPECT_TRUE(data.ok()) << data.error().text();
  return std::move(*data);
}

TEST(DataSpec, Parse) {
  auto spec =
      DataSpec::parse("csv:a=b.csv,inputs=TEMP|PRES,target=pm2.5,window=24,fill=drop,valid=0.2");
  ASSERT_OK(spec);
  EXPECT_EQ(spec->files[0].second, "a=b.csv");
  EXPECT_EQ(spec->inputs, (std::vector<std::string>{"TEMP", "PRES"}));
  EXPECT_EQ(spec->window, 24);
  EXPECT_EQ(spec->valid, 0.2);
  auto idx = DataSpec::parse("idx:data=i.gz,label=l.gz,classes=10");
  ASSERT_OK(idx);
  EXPECT_EQ(idx->files[1], (std::pair<std::string, std::string>("label", "l.gz")));
  EXPECT_EQ(idx->classes, 10);
  EXPECT_REFUSED(DataSpec::parse("tekst:x"), E0001,
                 "found no kind, want text:FILE, csv:FILE, npz:FILE, npy:NAME=FILE, idx:NAME=FILE "
                 "or random:SEED");
  EXPECT_REFUSED(DataSpec::parse("text:x,units=char"), E0001,
                 "\"units\" is unknown for text; there are unit, vocab, lines, buckets, valid");
  EXPECT_REFUSED(DataSpec::parse("text:x,valid=1"), E0001, "data key valid: found \"1\"");
  EXPECT_REFUSED(DataSpec::parse("text:x,valid=nan"), E0001, "fraction");
  EXPECT_REFUSED(DataSpec::parse("csv:x,window=0"), E0001, "whole number from 1");
  EXPECT_REFUSED(DataSpec::parse("random:x"), E0001, "seed");
}

TEST(TextData, LanesOfASmallText) {
  test::TemporaryFolder folder;
  // 11 tokens, 2 streams: m = (11 - 1) / 2 = 5, windows of 2 at t = 0 and 2; tokens 0-4 and 5-9.
  auto data = load("text:" + test::writeText(folder / "t", "abcdefghijk"));
  Slots slots;
  InputSlot x = slots.make("data", DType::I32, {2, 2});
  InputSlot y = slots.make("label", DType::F32, {2, 2}, 1); // time-major
  auto feed = data->feed(Part::All, {x, y}, 0);
  ASSERT_OK(feed);
  EXPECT_EQ((*feed)->batches(), 2);
  EXPECT_TRUE((*feed)->restarts({3, 0}));
  EXPECT_FALSE((*feed)->restarts({0, 1}));
  ASSERT_OK((*feed)->fill({7, 1}));
  EXPECT_EQ(std::vector<int32_t>(x.tensor.as<int32_t>(), x.tensor.as<int32_t>() + 4),
            (std::vector<int32_t>{2, 3, 7, 8}));
  EXPECT_EQ(std::vector<float>(y.tensor.as<float>(), y.tensor.as<float>() + 4),
            (std::vector<float>{3, 8, 4, 9}));
  Slots large;
  EXPECT_REFUSED(data->feed(Part::All, {large.make("data", DType::I32, {2, 6})}, 0), E0605,
                 "found 11 tokens in this part, want at least 13");
  EXPECT_REFUSED(data->feed(Part::All, {x, large.make("mask", DType::I32, {2, 2})}, 0), E0610,
                 "\"mask\"");
}

TEST(TextData, TinyshakespeareAsTheProbeLaysItOut) {
  LSTMC_DATA_FILE(file, "text/tinyshakespeare/input.txt");
  // The probe: chars = sorted(set(txt)); n = int(len * .9); lanes(x, N) = x[:m*N].view(N, m).
  std::string text = test::readText(file); // ASCII
  std::set<char> distinct(text.begin(), text.end());
  std::vector<char> chars(distinct.begin(), distinct.end());
  auto id = [&](size_t i) {
    return int32_t(std::lower_bound(chars.begin(), chars.end(), text[i]) - chars.begin());
  };
  constexpr int64_t N = 32, T = 64;
  auto n = size_t(double(text.size()) * .9);
  EXPECT_EQ(n, 1003854u);

  auto data = load("text:" + file + ",valid=0.1");
  EXPECT_EQ(data->learned().vocabulary->size(), 65u);
  Slots slots;
  InputSlot x = slots.make("data", DType::I32, {N, T}), y = slots.make("label", DType::I32, {N, T});
  std::tuple<Part, size_t, size_t> parts[] = {{Part::Train, 0, n}, {Part::Valid, n, text.size()}};
  for (auto [part, begin, end] : parts) {
    auto feed = data->feed(part, {x, y}, 0);
    ASSERT_OK(feed);
    auto m = int64_t(end - begin - 1) / N;
    EXPECT_EQ((*feed)->batches(), m / T);
    for (int64_t window : {int64_t(0), int64_t(1), m / T - 1}) {
      ASSERT_OK((*feed)->fill({0, window}));
      for (int64_t lane = 0; lane < N; ++lane)
        for (int64_t t = 0; t < T; ++t) {
          size_t at = begin + size_t(lane * m + window * T + t);
          ASSERT_EQ(x.tensor.as<int32_t>()[lane * T + t], id(at));
          ASSERT_EQ(y.tensor.as<int32_t>()[lane * T + t], id(at + 1));
        }
    }
  }
}

TEST(Shuffle, IsAPermutationOfSeedAndEpoch) {
  std::vector<int64_t> a = shuffledOrder(1000, 7, 3);
  EXPECT_EQ(a, shuffledOrder(1000, 7, 3));
  EXPECT_NE(a, shuffledOrder(1000, 7, 4));
  EXPECT_NE(a, shuffledOrder(1000, 8, 3));
  std::sort(a.begin(), a.end());
  std::vector<int64_t> all(1000);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(a, all);
  // Each of 6 orders of 3 samples in 6,000 epochs: 1,000 are expected, the deviation is below 29;
  // allows 6 deviations.
  std::map<std::vector<int64_t>, int> orders;
  for (int epoch = 0; epoch < 6000; ++epoch)
    ++orders[shuffledOrder(3, 0, epoch)];
  EXPECT_EQ(orders.size(), 6u);
  for (const auto &[order, times] : orders)
    EXPECT_NEAR(times, 1000, 174);
}

TEST(TableData, WindowsTargetsAndHoles) {
  test::TemporaryFolder folder;
  // The training part is 4 of 6 rows; in it, b has mean 2.5 and deviation sqrt(5)/2.
  std::string file = test::writeText(folder / "t.csv", "a,b\nx,1\ny,2\nx,3\ny,4\nx,NA\ny,6\n");
  auto data = load("csv:" + file + ",inputs=a|b,target=b,window=2,fill=drop,valid=0.34,shuffle=no");
  Slots slots;
  InputSlot x = slots.make("data", DType::F32, {1, 2, 3}), y = slots.make("label", DType::F32, {1});
  auto feed = data->feed(Part::Train, {x, y}, 0);
  ASSERT_OK(feed);
  EXPECT_EQ((*feed)->batches(), 1); // rows 0 to 2: splitPoint is floor(6 * 0.66) = 3
  ASSERT_OK((*feed)->fill({0, 0}));
  // Rows 1 and 2 (of 1, 2, 3: mean 2, deviation sqrt(2/3)): one-hot x, then y.
  float unit = float(-1 / std::sqrt(2.0 / 3));
  EXPECT_EQ(std::vector<float>(x.tensor.as<float>(), x.tensor.as<float>() + 6),
            (std::vector<float>{1, 0, unit, 0, 1, 0}));
  EXPECT_EQ(y.tensor.as<float>()[0], -unit);
  // Of all six rows, row 4 has a missing cell: the windows that use it as input or target are left
  // out.
  auto all = data->feed(Part::All, {x, y}, 0);
  ASSERT_OK(all);
  EXPECT_EQ((*all)->batches(), 2); // starts 0 and 1; window 2 has its target in row 4, windows 3
                                   // and 4 read it
  auto previous = load("csv:" + file + ",inputs=b,target=b,fill=previous");
  InputSlot one = slots.make("data", DType::F32, {1, 2, 1});
  EXPECT_EQ((*previous->feed(Part::All, {one, y}, 0))->batches(), 4);
  auto refused = DataSet::load(*DataSpec::parse("csv:" + file + ",inputs=b,target=b"));
  EXPECT_REFUSED(refused, E0607, "t.csv:6:1: error[E0607]: column \"b\"");

  Learned learned = data->learned();
  std::string other = test::writeText(folder / "o.csv", "a,b\nz,1\nz,2\nz,3\n");
  auto stranger = load("csv:" + other + ",inputs=a|b,target=b", &learned);
  EXPECT_REFUSED(stranger->feed(Part::All, {x, y}, 0), E0607,
                 "o.csv:2:1: error[E0607]: column \"a\": found \"z\"");
}

TEST(TableData, Pollution) {
  LSTMC_DATA_FILE(file, "timeseries/pollution.csv");
  auto data = load("csv:" + file +
                   ",inputs=pm2.5|DEWP|TEMP|PRES|cbwd|Iws|Is|Ir,target=pm2.5,fill=drop,valid=0.2");
  Slots slots;
  InputSlot x = slots.make("data", DType::F32, {24, 64, 11}, 1),
            y = slots.make("label", DType::F32, {64, 1});
  auto feed = data->feed(Part::Train, {x, y}, 1);
  ASSERT_OK(feed);
  EXPECT_GT((*feed)->batches(), 300);
  double sum = 0, squares = 0;
  for (int64_t batch = 0; batch < 100; ++batch) {
    ASSERT_OK((*feed)->fill({0, batch}));
    for (int64_t n = 0; n < 64; ++n) {
      sum += y.tensor.as<float>()[n];
      squares += std::pow(y.tensor.as<float>()[n], 2);
    }
  }
  // 6,400 scaled values in random order: mean 0 and variance 1 up to chance (deviation 0.0125).
  EXPECT_NEAR(sum / 6400, 0, 0.06);
  EXPECT_NEAR(squares / 6400, 1, 0.15);
}

TEST(ArrayData, MnistRowsAsSequences) {
  LSTMC_DATA_FILE(images, "mnist/t10k-images-idx3-ubyte.gz");
  LSTMC_DATA_FILE(labels, "mnist/t10k-labels-idx1-ubyte.gz");
  std::string spec = "idx:data=" + images + ",label=" + labels;
  auto data = load(spec + ",shuffle=no,classes=10");
  Slots slots;
  InputSlot x = slots.make("data", DType::F32, {100, 28, 28}),
            y = slots.make("label", DType::I32, {100});
  auto feed = data->feed(Part::Train, {x, y}, 0);
  ASSERT_OK(feed);
  EXPECT_EQ((*feed)->batches(), 100);
  ASSERT_OK((*feed)->fill({0, 0}));
  EXPECT_EQ(y.tensor.as<int32_t>()[0], 7);
  float most = *std::max_element(x.tensor.as<float>(), x.tensor.as<float>() + 100 * 28 * 28);
  EXPECT_EQ(most, 255 / 256.0f);
  EXPECT_REFUSED(load(spec + ",classes=9")->feed(Part::All, {x, y}, 0), E0604,
                 "found label 9, want 0 to 8");
  InputSlot flat = slots.make("data", DType::F32, {10, 784});
  InputSlot ten = slots.make("label", DType::I32, {10});
  ASSERT_OK(data->feed(Part::All, {flat, ten}, 0));
  EXPECT_REFUSED(data->feed(Part::All, {slots.make("data", DType::F32, {10, 783}), ten}, 0), E0605,
                 "found shape [10000, 28, 28]");
  EXPECT_REFUSED(load("idx:data=" + images + ",label=" + images)->feed(Part::All, {x, y}, 0), E0605,
                 "\"label\"");
}

TEST(ArrayData, NpzByNameAndBatchAxis) {
  test::TemporaryFolder folder;
  std::vector<double> values(2 * 5 * 3);
  std::iota(values.begin(), values.end(), 0.0);
  int64_t labels[5] = {0, 1, 2, 3, 300};
  int64_t shape[] = {2, 5, 3}, labelShape[] = {5};
  std::vector<NamedTensor> tensors = {{"label", denseTensor(labels, DType::I64, labelShape)},
                                      {"x", denseTensor(values.data(), DType::F64, shape)}};
  ASSERT_OK(writeNpz(folder / "d.npz", tensors, OutputFile::Existing::Keep));
  auto data = load("npz:" + (folder / "d.npz") + ",shuffle=no");
  Slots slots;
  InputSlot x = slots.make("x", DType::F32, {2, 2, 3}, 1), y = slots.make("label", DType::I32, {2});
  auto feed = data->feed(Part::All, {x, y}, 0);
  ASSERT_OK(feed);
  EXPECT_EQ((*feed)->batches(), 3); // the fifth sample has a batch of its own
  EXPECT_EQ((*feed)->rows({0, 1}), 2);
  EXPECT_EQ((*feed)->rows({0, 2}), 1);
  EXPECT_EQ((*feed)->leftOut(), "");
  ASSERT_OK((*feed)->fill({0, 2}));
  EXPECT_EQ(x.tensor.as<float>()[0], 12); // and is repeated in it
  EXPECT_EQ(x.tensor.as<float>()[3], 12);
  ASSERT_OK((*feed)->fill({0, 1}));
  EXPECT_EQ(x.tensor.as<float>()[0], 6);      // step 0, sample 2
  EXPECT_EQ(x.tensor.as<float>()[6], 15 + 6); // step 1
  EXPECT_EQ(y.tensor.as<int32_t>()[1], 3);
  EXPECT_REFUSED(data->feed(Part::All, {x, slots.make("label", DType::U8, {2})}, 0), E0604,
                 "element 4: found 300");
  EXPECT_REFUSED(data->feed(Part::All, {x, slots.make("mask", DType::U8, {2})}, 0), E0610,
                 "array \"mask\"");
}

} // namespace
} // namespace lstmc::data

// Tables that are larger than what is held in memory, compared with the same in memory.

#include <cmath>
#include <fstream>
#include <random>

#include <sys/resource.h>

#include "executor/data/Csv.h"
#include "executor/data/Scaling.h"
#include "tests/executor/data/LargeData.h"

namespace lstmc::data {
namespace {

/// A table of more than one block: numbers, texts of several bytes a letter and with all that needs
/// quotes, and missing cells. Sequences are 1 to 6 rows long.
std::string longTable(bool missing) {
  std::mt19937 random(3);
  const std::vector<std::string> texts = {"\xc3\xa9\xe2\x82\xac", "plain", "\"a,b\"",
                                          "\"two\nlines\"", "\"say \"\"x\"\"\""};
  std::string table = "\xef\xbb\xbf\"id\",x,y,kind,note\r\n";
  int left = 0, id = 0;
  while (table.size() < (5 << 19)) {
    if (left-- == 0) {
      left = int(random() % 6);
      ++id;
    }
    auto number = [&] {
      return missing && random() % 40 == 0 ? std::string(random() % 2 ? "NA" : "")
                                           : std::to_string(double(random()) / 1e6);
    };
    table += std::to_string(id) + "," + number() + "," + number() + "," +
             (missing && random() % 50 == 0 ? "" : texts[random() % texts.size()]) + "," +
             texts[random() % texts.size()] + (random() % 2 ? "\r\n" : "\n");
  }
  return table;
}

void expectSameBatches(const std::string &spec, std::vector<Input *> inputs) {
  auto held = load(spec, {}), read = load(spec, nothingHeld());
  EXPECT_EQ(held->digest(), read->digest());
  EXPECT_EQ(held->learned().scaling, read->learned().scaling);
  for (Part part : {Part::Train, Part::Valid, Part::All}) {
    auto want = contents(*held, kPositions, inputs, part);
    EXPECT_EQ(contents(*read, kPositions, inputs, part), want) << spec;
  }
}

TEST(LargeTable, HasTheWindowsOfOneInMemory) {
  test::TemporaryFolder folder;
  std::string whole = test::writeText(folder / "whole", longTable(false));
  std::string gaps = test::writeText(folder / "gaps", longTable(true));
  for (std::string table : {whole, gaps + ",fill=drop", gaps + ",fill=previous"}) {
    std::string spec = "csv:" + table + ",inputs=x|kind|y,target=y,valid=0.2,horizon=";
    Input x("data", DType::F64, {4, 3, 7}), one("label", DType::F64, {4}),
        each("label", DType::F32, {3, 4}, 1), kind("label", DType::I32, {4});
    expectSameBatches(spec + "1", {&x, &one});
    expectSameBatches(spec + "5", {&x, &each});
    expectSameBatches("csv:" + table + ",inputs=x|y|kind,target=kind,valid=0.5", {&x, &kind});
    auto held = load(spec + "2", {})->samples({x.slot}, false);
    auto read = load(spec + "2", nothingHeld());
    auto samples = read->samples({x.slot}, false);
    ASSERT_OK(held);
    ASSERT_OK(samples);
    EXPECT_EQ(samples->rows, held->rows);
    ASSERT_GT(samples->count, 0);
  }
}

TEST(LargeTable, HasTheSequencesOfOneInMemory) {
  test::TemporaryFolder folder;
  std::string gaps = test::writeText(folder / "gaps", longTable(true));
  Input x("data", DType::F64, {4, 6, 2}), y("label", DType::I32, {4, 6}),
      length("length", DType::I32, {4});
  y.slot.range.emplace() = {0, 4, -1};
  expectSameBatches("csv:" + gaps +
                        ",inputs=x|y,target=kind,sequence=id,fill=drop,valid=0.3,shuffle=yes",
                    {&x, &y, &length});
}

/// Mean and deviation of a column that was read cell by cell.
TEST(LargeTable, IsScaledByItsTrainingRows) {
  std::string text = "x\n";
  std::mt19937 random(8);
  std::vector<double> values;
  for (int i = 0; i < 300'000; ++i) {
    values.push_back(double(random() % 1'000'000) / 64); // exact in few digits
    text += fmt::format("{}\n", values.back());
  }
  test::TemporaryFolder folder;
  Limits limits = nothingHeld();
  auto table = loadCsv(test::writeText(folder / "t", text), {}, limits);
  ASSERT_OK(table);
  EXPECT_FALSE(table->cells.inMemory());
  auto scaling = learnScaling(*table, 200'000);
  ASSERT_OK(scaling);
  double sum = 0, squares = 0;
  for (int i = 0; i < 200'000; ++i)
    sum += values[size_t(i)];
  double mean = sum / 200'000;
  for (int i = 0; i < 200'000; ++i)
    squares += (values[size_t(i)] - mean) * (values[size_t(i)] - mean);
  EXPECT_EQ((*scaling)[0].mean, mean);
  EXPECT_EQ((*scaling)[0].deviation, std::sqrt(squares / 200'000));
}

TEST(LargeTable, IsRefusedAlike) {
  test::TemporaryFolder folder;
  std::string good = longTable(false);
  auto spec = [&](const std::string &text) {
    return "csv:" + test::writeText(folder / "t", text) + ",inputs=x|kind,target=y";
  };
  for (auto [bad, code, message] :
       {std::tuple("1,2\n", "E0605", "row: found only 2 cells, want 5"),
        std::tuple("1,2,3,4,5,6\n", "E0605", "row: found more than 5 cells"),
        std::tuple("1,nan,3,plain,x\n", "E0607", "column \"x\": found \"nan\""),
        std::tuple("1,,3,plain,x\n", "E0607", "column \"x\": found a missing cell"),
        std::tuple("1,2,3,\"plain\"x,x\n", "E0603", "after the closing quote"),
        std::tuple("1,2,3,pl\"ain,x\n", "E0603", "a quote inside an unquoted cell"),
        std::tuple("1,2,3,\xff,x\n", "E0603", "0xff, which is no UTF-8"),
        std::tuple("1,2,3,\"\xe2\x82", "E0603", "cell: found byte 0xe2"),
        std::tuple("1,2,3,\"\xe2\x82\xac\n", "E0603", "want a closing quote")}) {
    auto parsed = DataSpec::parse(spec(good + bad));
    ASSERT_OK(parsed);
    Status held = DataSet::load(*parsed).status(),
           read = DataSet::load(*parsed, nullptr, nothingHeld()).status();
    ASSERT_FALSE(read.ok()) << bad;
    EXPECT_EQ(errorRecord(read.error().code).name, code);
    EXPECT_NE(read.error().message.find(message), std::string::npos) << read.error().text();
    EXPECT_GT(read.error().place.line, 10'000);
    EXPECT_EQ(read.error().text(), held.error().text());
  }
  std::string unsorted = good + "1,2,3,plain,x\n";
  EXPECT_REFUSED_ALIKE(spec(unsorted) + ",sequence=id", E0607, "a sequence that ended before");
  EXPECT_REFUSED_ALIKE("csv:" + test::writeText(folder / "none", "") + ",target=x", E0602,
                       "empty file");
}

/// The same cells, lines and columns for every place where a block may end.
TEST(LargeTable, CellsMayBeCutAnywhere) {
  const std::string line = "\"\xe2\x82\xac \"\"q\"\"\n,\",\xc3\xa9,3\r\n";
  test::TemporaryFolder folder;
  for (size_t before = (1 << 20) - line.size() - 4; before <= (1 << 20) + 4; ++before) {
    std::string text = std::string(before - 5, ' ') + "a,b,c" + "\n" + line + line + "bad,line\n";
    Limits limits = nothingHeld();
    limits.name = 2 << 20;
    std::string file = test::writeText(folder / "t", text);
    Status held = parseCsv(asBytes(text), file, {}, limits).status();
    Status read = loadCsv(file, {}, limits).status();
    EXPECT_REFUSED(held, E0605, "t:6:5: error[E0605]: row: found only 2 cells, want 3");
    EXPECT_EQ(read.error().text(), held.error().text()) << before;
    auto good = loadCsv(test::writeText(file, text.substr(0, text.size() - 9)), {}, limits);
    ASSERT_OK(good);
    EXPECT_EQ(good->columns[0].symbols, (std::vector<std::string>{"\xe2\x82\xac \"q\"\n,"}));
    EXPECT_EQ(good->columns[1].symbols, (std::vector<std::string>{"\xc3\xa9"}));
    EXPECT_EQ(good->lineOf(1), 4);
  }
}

TEST(LargeTable, ACellHasABound) {
  test::TemporaryFolder folder;
  Limits limits = nothingHeld();
  limits.csvLine = 3 << 20;
  std::string lines(4 << 20, 'x');
  for (size_t i = 100; i < lines.size(); i += 100)
    lines[i] = '\n';
  std::string file = test::writeText(folder / "t", "a\n\"" + lines + "\"\n");
  EXPECT_REFUSED(loadCsv(file, {}, limits).status(), E0606, "t:2:1: error[E0606]: cell: found");
  test::writeText(file, "a\n" + std::string(4 << 20, 'x') + "\n");
  EXPECT_REFUSED(loadCsv(file, {}, limits).status(), E0606, "t:2:1: error[E0606]: line: found");
  limits.csvLine = 5 << 20;
  ASSERT_OK(loadCsv(file, {}, limits));
}

TEST(LargeTable, TakesLittleMemory) {
  test::TemporaryFolder folder;
  std::string file = folder / "t";
  std::ofstream text(file);
  text << "x,y\n";
  for (int i = 0; i < 8 << 20; ++i)
    text << i % 9 << ",1\n";
  text.close();
  struct rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  auto data = load("csv:" + file + ",target=y,shuffle=no", nothingHeld());
  Input x("data", DType::F32, {4, 8, 2}), y("label", DType::F32, {4});
  contents(*data, kPositions, {&x, &y});
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 16 << 10)
      << "KiB, of 32 MiB of text and 128 MiB of cells";
}

} // namespace
} // namespace lstmc::data

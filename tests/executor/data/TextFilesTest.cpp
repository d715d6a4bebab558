#include <cmath>
#include <set>

#include "executor/data/Csv.h"
#include "executor/data/TokenText.h"
#include "tests/executor/data/Files.h"

namespace lstmc::data {
namespace {

Result<CsvTable> csv(std::string_view text, CsvOptions options = {}, Limits limits = {}) {
  return parseCsv(asBytes(text), "t.csv", options, limits);
}

double cell(const CsvTable &table, int64_t row, size_t column) {
  Bytes buffer;
  return (*table.read(row, 1, buffer))[column];
}

TEST(Csv, Cells) {
  auto table = csv("\xef\xbb\xbf\"a,1\",b\r\n 1.5 ,NW\r\n,\"N\"\"W\"\n-2e1,NA");
  ASSERT_OK(table);
  ASSERT_EQ(table->columns.size(), 2u);
  EXPECT_EQ(table->columns[0].name, "a,1");
  EXPECT_EQ(cell(*table, 0, 0), 1.5);
  EXPECT_TRUE(std::isnan(cell(*table, 1, 0)));
  EXPECT_EQ(cell(*table, 2, 0), -20);
  EXPECT_EQ(table->columns[1].symbols, (std::vector<std::string>{"NW", "N\"W"}));
  EXPECT_EQ(table->columns[1].sortedSymbols(), (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(cell(*table, 0, 1), 0);
  EXPECT_EQ(cell(*table, 1, 1), 1);
  EXPECT_TRUE(std::isnan(cell(*table, 2, 1)));
  EXPECT_EQ(table->columns[1].missing, 1);
  EXPECT_EQ(table->columns[1].firstMissing, 2);
}

TEST(Csv, LinesOfRows) {
  auto table = csv("a,b\n1,x\n2,\"y\ny\"\n3,z\n");
  ASSERT_OK(table);
  EXPECT_EQ(table->lineOf(0), 2);
  EXPECT_EQ(table->lineOf(1), 3);
  EXPECT_EQ(table->lineOf(2), 5);
}

TEST(Csv, WithoutNames) {
  auto table = csv("1,2\n3,4\n");
  ASSERT_OK(table);
  EXPECT_EQ(table->rows, 2);
  EXPECT_EQ(table->columns[1].name, "2");
}

TEST(Csv, Malformed) {
  EXPECT_REFUSED(csv("a,b\n1,2,3\n"), E0605,
                 "t.csv:2:5: error[E0605]: row: found more than 2 cells");
  EXPECT_REFUSED(csv("a,b\n1,2\n1\n"), E0605,
                 "t.csv:3:1: error[E0605]: row: found only 1 cells, want 2");
  for (const char *bad : {"nan", "inf", "1e999", "0x1p3", "1;5", "1.5.", "--1"})
    EXPECT_REFUSED(csv(std::string("a,b\n1,2\n") + bad + ",1\n"), E0607,
                   "t.csv:3:1: error[E0607]: column \"a\": found");
  EXPECT_REFUSED(csv("a\nnan\n"), E0607, "found \"nan\"");
  EXPECT_REFUSED(csv("a\n1\n NaN\n"), E0607, "; na=NaN says that the cell is missing");
  EXPECT_REFUSED(csv("a\n1\n1.x\n"), E0607, "want a finite decimal number");
  EXPECT_REFUSED(csv("a,b\n1,\"x\n"), E0603, "t.csv:2:3: error[E0603]: quote");
  EXPECT_REFUSED(csv("a,b\n1,\"x\"y\n"), E0603, "after the closing quote");
  EXPECT_REFUSED(csv(std::string_view("a,b\n1,\0\n", 8)), E0603, "NUL");
  EXPECT_REFUSED(csv("a,b\n1,\xff\n"), E0603, "0xff, which is no UTF-8");
  EXPECT_REFUSED(csv("a,a\n1,2\n"), E0612, "column \"a\"");
  EXPECT_REFUSED(csv(""), E0602, "empty file");
  EXPECT_REFUSED(csv("a,b\n1,2\n", {{"c"}, "NA"}), E0610,
                 "column \"c\": found none, want one of a, b");
  EXPECT_REFUSED(csv("a;b\n1;2\n", {{"b"}, "NA"}), E0610,
                 "want one of a;b; cells are separated by commas");
  EXPECT_REFUSED(csv("a,b\n1,2\n\n"), E0605,
                 "t.csv:3:1: error[E0605]: row: found an empty line, want 2 cells");
  Limits narrow;
  narrow.csvLine = 8;
  EXPECT_REFUSED(csv("a\n123456789012\n", {}, narrow), E0606, "limit csv-line");
  EXPECT_REFUSED(csv("a\n\"123456789012\"\n", {}, narrow), E0606, "limit csv-line");
}

TEST(Csv, Pollution) {
  LSTMC_DATA_FILE(file, "timeseries/pollution.csv");
  auto table = loadCsv(file);
  ASSERT_OK(table);
  EXPECT_EQ(table->rows, 43824);
  EXPECT_EQ(table->columns.size(), 13u);
  std::vector<std::string> winds = table->find("cbwd")->symbols;
  EXPECT_EQ(std::set(winds.begin(), winds.end()), (std::set<std::string>{"NE", "NW", "SE", "cv"}));
  const auto pm = size_t(table->find("pm2.5") - table->columns.data());
  EXPECT_TRUE(std::isnan(cell(*table, 23, pm)));
  EXPECT_EQ(cell(*table, 24, pm), 129); // the first value in pollution.names
}

Result<TokenText> tokens(std::string_view text, TextUnit unit, const Vocabulary &vocabulary) {
  return tokenise(text, unit, vocabulary, "t.txt");
}

TEST(Text, VocabularyOrder) {
  auto chars = makeVocabulary("b\xc3\xa9"
                              "a\nb",
                              TextUnit::Char, "t.txt");
  ASSERT_OK(chars);
  EXPECT_EQ(chars->text(), "\\n\na\nb\n\xc3\xa9\n");
  auto words = makeVocabulary("x y\nz y\n", TextUnit::Word, "t.txt");
  ASSERT_OK(words);
  EXPECT_EQ(words->text(), "y\n<eos>\nx\nz\n"); // two occurrences: y, <eos>; one: x, z
}

TEST(Text, VocabularyFile) {
  std::string text("\\n\n\\x00\n\\\\\n\\xff\na\n");
  auto vocabulary = Vocabulary::parse(text, "v.txt");
  ASSERT_OK(vocabulary);
  EXPECT_EQ(vocabulary->symbol(1), std::string(1, '\0'));
  EXPECT_EQ(vocabulary->text(), text);
  // A byte order mark is a symbol, or begins one, where the file does not begin with it.
  const std::string marked("\\xef\\xbb\\xbf\nb\n\\xef\\xbb\\xbfb\n");
  vocabulary = Vocabulary::parse(marked, "v.txt");
  ASSERT_OK(vocabulary);
  EXPECT_EQ(vocabulary->symbol(0), "\xef\xbb\xbf");
  EXPECT_EQ(vocabulary->text(), marked);
  EXPECT_REFUSED(Vocabulary::parse("a\nb\na\n", "v.txt"), E0612,
                 "v.txt:3:1: error[E0612]: symbol \"a\"");
  EXPECT_REFUSED(Vocabulary::parse("a\n\n", "v.txt"), E0603, "v.txt:2:1");
  EXPECT_REFUSED(Vocabulary::parse("\\q\n", "v.txt"), E0603, "unknown escape");
  EXPECT_REFUSED(Vocabulary::parse("", "v.txt"), E0602, "no symbols");
}

TEST(Text, Malformed) {
  auto vocabulary = Vocabulary::parse("a\nb\n\\n\n", "v.txt");
  ASSERT_OK(vocabulary);
  EXPECT_REFUSED(
      tokens("ab\nac", TextUnit::Char, *vocabulary), E0607,
      "t.txt:2:2: error[E0607]: token: found \"c\", want one of the vocabulary's 3 characters");
  EXPECT_REFUSED(tokens("a\xed\xa0\x80", TextUnit::Char, *vocabulary), E0603, "t.txt:1:2");
  EXPECT_REFUSED(tokens(std::string_view("a\0", 2), TextUnit::Char, *vocabulary), E0603, "NUL");
  Limits narrow;
  narrow.csvLine = 4;
  EXPECT_REFUSED(tokenise("a\nababa\n", TextUnit::Char, *vocabulary, "t.txt", narrow), E0606,
                 "t.txt:2:1");
}

TEST(Text, Sherlock) {
  // Counts and vocabulary of MXNet's word language model: mxnet.md §8.3.
  std::pair<const char *, int64_t> parts[] = {{"train", 87001}, {"valid", 21756}, {"test", 27195}};
  LSTMC_DATA_FILE(train, "text/sherlockholmes/train.txt");
  auto vocabulary = makeVocabulary(test::readText(train), TextUnit::Word, train);
  ASSERT_OK(vocabulary);
  EXPECT_EQ(vocabulary->size(), 2000u);
  EXPECT_TRUE(vocabulary->find("<eos>"));
  for (const auto &[part, count] : parts) {
    std::string file = test::dataFile(std::string("text/sherlockholmes/") + part + ".txt");
    auto ids = tokens(test::readText(file), TextUnit::Word, *vocabulary);
    ASSERT_OK(ids);
    EXPECT_EQ(ids->size(), count);
  }
}

} // namespace
} // namespace lstmc::data

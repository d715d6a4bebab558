// Wrong programs and their complete messages: errors/NAME.lnet, with the flags in NAME.args if it
// exists, must produce NAME.txt.
#include <sstream>

#include "cmake/SourceFolder.h"
#include "tests/frontend/lnet/Programs.h"

namespace lstmc::lnet {
namespace {

namespace fs = std::filesystem;

fs::path folder() { return fs::path(LSTMC_SOURCE_DIR) / "tests/frontend/lnet/errors"; }

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(folder()))
    if (entry.path().extension() == ".txt")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

LoadOptions optionsOf(const std::string &name) {
  LoadOptions options;
  std::istringstream words(readText(folder() / (name + ".args")));
  for (std::string flag, value; words >> flag;) {
    if (flag == "--werror") {
      options.werror = true;
      continue;
    }
    words >> value;
    size_t split = value.find_first_of("=:");
    std::string left = value.substr(0, split),
                right = split == value.npos ? "" : value.substr(split + 1);
    if (flag == "--net")
      options.net = value;
    else if (flag == "--set")
      options.settings.emplace_back(left, right);
    else if (flag == "--limit")
      EXPECT_TRUE(setLimit(options.limits, left, std::stoull(right)).ok());
    else if (flag == "--shape") {
      InputShape shape{left, {}, {}};
      std::istringstream extents(right);
      for (std::string extent; std::getline(extents, extent, 'x');)
        shape.extents.push_back(std::stoll(extent));
      options.shapes.push_back(shape);
    }
  }
  return options;
}

class Messages : public testing::TestWithParam<std::string> {};

TEST_P(Messages, AreTheseWords) {
  // Messages have paths as given, so the test runs in the folder.
  fs::path before = fs::current_path();
  fs::current_path(folder());
  Checked<symbol::Network> net = load(GetParam() + ".lnet", optionsOf(GetParam()));
  fs::current_path(before);
  EXPECT_FALSE(net.ok());
  std::string text = symbol::render(net.diagnostics());
  if (std::getenv("LSTMC_WRITE_EXPECTED"))
    std::ofstream(folder() / (GetParam() + ".txt")) << text;
  EXPECT_EQ(text, readText(folder() / (GetParam() + ".txt")));
}

std::string caseName(const testing::TestParamInfo<std::string> &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Of, Messages, testing::ValuesIn(names()), caseName);

/// Messages for programs of users who are new to the language: user/NAME.txt, or "loads" and the
/// warnings if nothing is wrong.
TEST(Messages, OfNewcomersPrograms) {
  fs::path programs = dataFolder().parent_path() / "cases/user";
  if (dataFolder().empty() || !fs::exists(programs))
    GTEST_SKIP() << "no programs: set LSTMC_DATA";
  fs::path expected = fs::path(LSTMC_SOURCE_DIR) / "tests/frontend/lnet/user",
           before = fs::current_path();
  fs::current_path(programs);
  int count = 0;
  for (const auto &entry : fs::directory_iterator(programs)) {
    if (entry.path().extension() != ".lnet")
      continue;
    ++count;
    std::string name = entry.path().stem().string();
    LoadOptions options;
    if (name == "norm")
      options.net = "nul";
    Checked<symbol::Network> net = load(name + ".lnet", options);
    std::string text = (net.ok() ? "loads\n" : "") + symbol::render(net.diagnostics());
    if (std::getenv("LSTMC_WRITE_EXPECTED"))
      std::ofstream(expected / (name + ".txt")) << text;
    EXPECT_EQ(text, readText(expected / (name + ".txt"))) << name;
  }
  fs::current_path(before);
  EXPECT_GE(count, 50);
}

/// Every code for text, names and evaluation is caused by one of the files.
TEST(Messages, EveryCodeHasOne) {
  std::string all;
  for (const std::string &name : names())
    all += readText(folder() / (name + ".txt"));
  for (std::string_view code :
       {"E0101", "E0102", "E0103", "E0104", "E0105", "E0106", "E0107", "E0108", "E0109",
        "E0201", "E0202", "E0203", "E0204", "E0205", "E0206", "E0207", "E0208", "E0209",
        "E0210", "E0211", "E0212", "E0213", "E0214", "E0215", "E0301", "E0302", "E0303",
        "E0304", "E0305", "E0306", "E0307", "E0308", "E0309", "E0310", "E0311", "E0312",
        "E0313", "E0314", "E0315", "E0316", "E0317", "E0318", "E0319"})
    EXPECT_NE(all.find("error[" + std::string(code) + "]"), std::string::npos) << code;
}

TEST(Messages, AFileThatIsNotThere) {
  Checked<symbol::Network> net = load("/nowhere/x.lnet");
  ASSERT_FALSE(net.ok());
  EXPECT_EQ(errorRecord(net.diagnostics()[0].code).exit, ExitCode::File);
}

/// A caret is under the character that it refers to, whatever characters precede it.
TEST(Messages, ColumnsCountCells) {
  if (dataFolder().empty())
    GTEST_SKIP() << "no test data: set LSTMC_DATA";
  int lines = 0;
  for (const auto &entry : fs::directory_iterator(dataFolder() / "text/udhr")) {
    std::istringstream text(readText(entry.path()));
    for (std::string line; std::getline(text, line) && lines < 2000;) {
      if (line.empty() || line.size() > 100 || line.find_first_of("\"\\\r") != line.npos)
        continue;
      ++lines;
      std::string program = "x = (\"" + line + "\", missing)  # " + line + "\n";
      Checked<symbol::Network> net = loadText("t.lnet", program);
      ASSERT_FALSE(net.ok());
      const Diagnostic &first = net.diagnostics()[0];
      if (first.code == ErrorCode::E0101)
        continue; // the text itself has bidirectional controls
      ASSERT_EQ(first.code, ErrorCode::E0201) << program << first.message;
      int cells = 0;
      for (size_t at = 0; at < line.size();) {
        size_t end = at + 1;
        while (end < line.size() && (line[end] & 0xC0) == 0x80)
          ++end;
        cells += symbol::cellsOf(std::string_view(line).substr(at, end - at), cells + 6);
        at = end;
      }
      EXPECT_EQ(first.place.column, 6 + cells + 3 + 1) << line; // `x = ("`, `", `
      EXPECT_EQ(first.place.byte, int64_t(6 + line.size() + 3));
      EXPECT_EQ(first.place.length, 7);
    }
  }
  EXPECT_GT(lines, 500);
}

TEST(Messages, AtMostTwentyAndACount) {
  std::string text;
  for (int i = 0; i < 25; ++i)
    text += "x" + std::to_string(i) + " = y\n";
  Checked<symbol::Network> net = loadText("t.lnet", text);
  ASSERT_FALSE(net.ok());
  ASSERT_EQ(net.diagnostics().size(), 21u);
  EXPECT_EQ(net.diagnostics().back().severity, Severity::Note);
  EXPECT_EQ(net.diagnostics().back().message, "5 more errors");
}

} // namespace
} // namespace lstmc::lnet

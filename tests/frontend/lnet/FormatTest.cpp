// Examples of the style of fmt; check_text.py compares with CPython.
#include "frontend/lnet/format/Format.h"

#include "tests/frontend/lnet/Programs.h"

namespace lstmc::lnet {
namespace {

std::string formatted(const std::string &text) {
  Checked<std::string> result = format("t.lnet", text);
  EXPECT_TRUE(result.ok()) << symbol::render(result.diagnostics());
  if (!result.ok())
    return "";
  Checked<std::string> again = format("t.lnet", *result);
  EXPECT_TRUE(again.ok());
  EXPECT_EQ(*again, *result);
  return *result;
}

TEST(Format, SpacesQuotesAndBrackets) {
  EXPECT_EQ(formatted("x=((a))+ ( b*c )**-2;y='q'\r\nz  = 'a\"b' ; w = f( a , b = 1,)\n"),
            "x = a + (b * c)**-2\ny = \"q\"\nz = 'a\"b'\nw = f(a, b=1)\n");
  EXPECT_EQ(
      formatted("x = a [ 1 : 2 ,..., : ] . shape\ny = { 'k' :1 }\nz = (1,)\nw = (1, 2)\nfor (a, b) "
                "in (c): pass\n"),
      "x = a[1:2, ..., :].shape\ny = {\"k\": 1}\nz = 1,\nw = 1, 2\nfor a, b in c:\n    pass\n");
  EXPECT_EQ(
      formatted("x = (a and b) and (not (c))\ny = - ( - a )\nz = (lambda: 1)()\nassert (a)\n"),
      "x = (a and b) and not c\ny = --a\nz = (lambda: 1)()\nassert a\n");
  EXPECT_EQ(
      formatted("def f( a , b : float32 [ N , ... ]=3 , c = 1 )->( f32 , i32 ) : return a , b\n"),
      "def f(a, b: float32[N, ...] = 3, c=1) -> (f32, i32):\n    return a, b\n");
  EXPECT_EQ(formatted("if a:\n  b\nelif c: d\nelse:\n      e\n"),
            "if a:\n    b\nelif c:\n    d\nelse:\n    e\n");
  EXPECT_EQ(formatted("x = a + \\\n    b\nfrom a . b import c as d,e\n"),
            "x = a + b\nfrom a.b import c as d, e\n");
}

TEST(Format, BlankLinesGoRoundFunctions) {
  EXPECT_EQ(
      formatted("\n\n# top\nx = 1\n\n\n\ny = 2\n# of f\ndef f():\n    a\n\n\n    b\nz = 3\n\n\n"),
      "# top\nx = 1\n\ny = 2\n\n# of f\ndef f():\n    a\n\n    b\n\nz = 3\n");
}

TEST(Format, CommentsStay) {
  EXPECT_EQ(formatted("x = 1    # kept where it was\nyyyyyyyyyyy = 1# moved\n"),
            "x = 1    # kept where it was\nyyyyyyyyyyy = 1  # moved\n");
  EXPECT_EQ(formatted("if a:\n   # of the block\n   b\n   # its end\n# outside\nc\n"),
            "if a:\n    # of the block\n    b\n    # its end\n# outside\nc\n");
  EXPECT_EQ(formatted("f(a, # one\n  # two\n  b)\n"), "f(a,  # one\n  # two\n  b)\n");
  EXPECT_EQ(formatted("x = (a + # why\n b)\n"), "x = (a +  # why\n     b)\n");
}

TEST(Format, LongCallsAreFilled) {
  std::string arguments;
  for (int i = 0; i < 9; ++i)
    arguments += (i ? ", " : "") + std::string("argument_") + std::to_string(i) + "=value";
  EXPECT_EQ(formatted("layer = SomeLayer(" + arguments + ")\n"),
            "layer = SomeLayer(argument_0=value, argument_1=value, argument_2=value, "
            "argument_3=value, argument_4=value,\n"
            "                  argument_5=value, argument_6=value, argument_7=value, "
            "argument_8=value)\n");
}

TEST(Format, WrongTextIsLeftAlone) { EXPECT_FALSE(format("t.lnet", "x = = 1\n").ok()); }

TEST(Format, SamplesAndLayersAreInTheStyle) {
  std::filesystem::path source = LSTMC_SOURCE_DIR;
  int files = 0;
  for (const char *folder : {"samples", "frontend/lnet"})
    for (const auto &entry : std::filesystem::directory_iterator(source / folder))
      if (entry.path().extension() == ".lnet") {
        EXPECT_EQ(formatted(readText(entry.path())), readText(entry.path())) << entry.path();
        ++files;
      }
  EXPECT_GE(files, 7);
}

TEST(Format, EveryScriptSurvives) {
  if (dataFolder().empty())
    GTEST_SKIP() << "no test data: set LSTMC_DATA";
  for (const auto &entry : std::filesystem::directory_iterator(dataFolder() / "text/udhr")) {
    std::string text = readText(entry.path()), program;
    std::erase(text, '\r');
    for (size_t at = 0, end; at < text.size(); at = end + 1) {
      end = std::min(text.find('\n', at), text.size());
      program += "# " + text.substr(at, end - at) + "\n";
    }
    if (!format("t.lnet", program).ok())
      continue; // bidirectional controls
    std::string once = formatted(program);
    EXPECT_NE(once.find(text.substr(0, text.find('\n'))), std::string::npos);
  }
}

} // namespace
} // namespace lstmc::lnet

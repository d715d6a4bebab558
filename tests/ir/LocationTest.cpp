// Source ranges survive as MLIR locations, at little cost.
#include <gtest/gtest.h>

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "ir/sym/Location.h"
#include "ir/sym/SymDialect.h"

namespace lstmc::sym {
namespace {

SourceRange sample() {
  SourceRange range;
  range.file = "tied.lnet";
  range.line = 10;
  range.column = 19;
  range.byte = 345;
  range.length = 4;
  range.bytes = 6;
  range.text = "        x, h, c = LSTM(x, num_hidden=256)";
  range.loops = {{"i", 1}, {"t", -3}};
  range.calls = {"stack(..) at tied.lnet:14:9", "cell(..) at cell.lnet:16:16"};
  range.what = "LSTM(num_hidden=256)";
  return range;
}

void expectEqual(const SourceRange &a, const SourceRange &b) {
  EXPECT_EQ(a.file, b.file);
  EXPECT_EQ(a.line, b.line);
  EXPECT_EQ(a.column, b.column);
  EXPECT_EQ(a.byte, b.byte);
  EXPECT_EQ(a.length, b.length);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.loops, b.loops);
  EXPECT_EQ(a.calls, b.calls);
  EXPECT_EQ(a.what, b.what);
}

class LocationTest : public ::testing::Test {
protected:
  LocationTest() { context.loadDialect<SymDialect>(); }
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  LocationEncoder encoder{&context};
};

TEST_F(LocationTest, ComesBackWhole) {
  expectEqual(decode(encoder.encode(sample())), sample());
  SourceRange plain = sample();
  plain.loops.clear();
  plain.calls.clear();
  plain.what.clear();
  expectEqual(decode(encoder.encode(plain)), plain);
  EXPECT_EQ(decode(mlir::UnknownLoc::get(&context)).line, 0);
}

TEST_F(LocationTest, KnowsWhereArgumentsStand) {
  SourceRange x = sample(), nowhere;
  x.column = 24;
  x.byte = 350;
  x.length = x.bytes = 1;
  x.what.clear();
  mlir::Location location = encoder.encode(sample(), {x, nowhere});
  ASSERT_TRUE(argumentPlace(location, 0));
  expectEqual(*argumentPlace(location, 0), x);
  EXPECT_FALSE(argumentPlace(location, 1));
  EXPECT_FALSE(argumentPlace(location, 2));
  expectEqual(decode(placed(location, x)), x);
}

TEST_F(LocationTest, SurvivesTheTextForm) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(encoder.encode(sample(), {sample()}));
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, mlir::OpPrintingFlags().enableDebugInfo(true, false));
  auto again = mlir::parseSourceString<mlir::ModuleOp>(stream.str(), &context);
  ASSERT_TRUE(again);
  expectEqual(decode(again->getLoc()), sample());
}

/// An iteration of a loop has the same range as the others, so only its frame is new.
TEST_F(LocationTest, SharesRangesBetweenIterations) {
  SourceRange range = sample();
  auto first = llvm::cast<mlir::FusedLoc>(encoder.encode(range));
  range.loops[0].second = 2;
  auto second = llvm::cast<mlir::FusedLoc>(encoder.encode(range));
  EXPECT_NE(first, second);
  EXPECT_EQ(first.getLocations().front(), second.getLocations().front());
}

TEST_F(LocationTest, ReadsAsMessagesHaveIt) {
  SourceRange range = sample();
  range.loops = {{"i", 1}};
  EXPECT_EQ(atText(encoder.encode(range)), " at tied.lnet:10:19, for i = 1");
  EXPECT_EQ(atText(mlir::UnknownLoc::get(&context)), "");
}

} // namespace
} // namespace lstmc::sym

#include "frontend/importers/mxnet/AttributeText.h"

#include <gtest/gtest.h>

#include "frontend/importers/mxnet/InitialiserText.h"

namespace lstmc::importers::mxnet {
namespace {

using symbol::AttributeValue, symbol::Tuple;
using Kind = symbol::OpAttribute::Kind;

TEST(AttributeText, Numbers) {
  EXPECT_EQ(attributeValue("100", Kind::Integer), AttributeValue(int64_t(100)));
  EXPECT_EQ(attributeValue(" -3 ", Kind::Integer), AttributeValue(int64_t(-3)));
  EXPECT_EQ(attributeValue("+3", Kind::Integer), AttributeValue(int64_t(3)));
  EXPECT_EQ(attributeValue("1e-05", Kind::Float), AttributeValue(1e-05));
  EXPECT_EQ(attributeValue("2", Kind::Float), AttributeValue(int64_t(2)));
  for (const char *text :
       {"", "ten", "1.5", "1e3", "999999999999999999999999999999", "+-3", "0x10", "3 4"})
    EXPECT_FALSE(attributeValue(text, Kind::Integer)) << text;
  for (const char *text : {"", "1e400", "inf", "nan", "1.5x", "(1.5)"})
    EXPECT_FALSE(attributeValue(text, Kind::Float)) << text;
}

TEST(AttributeText, Flags) {
  for (const char *text : {"True", "true", "TRUE", "1"})
    EXPECT_EQ(attributeValue(text, Kind::Boolean), AttributeValue(true)) << text;
  for (const char *text : {"False", "false", "0"})
    EXPECT_EQ(attributeValue(text, Kind::Boolean), AttributeValue(false)) << text;
  for (const char *text : {"yes", "2", "", "Truee"})
    EXPECT_FALSE(attributeValue(text, Kind::Boolean)) << text;
}

TEST(AttributeText, Tuples) {
  EXPECT_EQ(tupleOf("(1, 2)"), (Tuple{1, 2}));
  EXPECT_EQ(tupleOf("[1,2]"), (Tuple{1, 2}));
  EXPECT_EQ(tupleOf("(1,)"), Tuple{1});
  EXPECT_EQ(tupleOf(" ( 1 , ) "), Tuple{1});
  EXPECT_EQ(tupleOf("()"), Tuple());
  EXPECT_EQ(tupleOf("2"), Tuple{2});
  EXPECT_EQ(tupleOf("(1L, 2L)"), (Tuple{1, 2}));
  EXPECT_EQ(tupleOf("(-4, 20, -1, 0)"), (Tuple{-4, 20, -1, 0}));
  EXPECT_EQ(tupleOf("(0, None)"), (Tuple{0, std::nullopt}));
  for (std::string text : {"(1,2", "1,2", "(1,2]", "(1 2)", "(1,,2)", "(1.5,)", "('a',)", "((1,),)",
                           "", "(", "9e9", "None"})
    EXPECT_FALSE(tupleOf(text)) << text;
  EXPECT_FALSE(tupleOf(std::string(90000, '(')));
}

TEST(AttributeText, NoneIsNoValueOfAnyKind) {
  for (Kind kind : {Kind::Integer, Kind::Float, Kind::Boolean, Kind::String, Kind::Choice,
                    Kind::Tuple, Kind::DType})
    EXPECT_EQ(attributeValue("None", kind), AttributeValue());
  EXPECT_EQ(attributeValue("valid", Kind::Choice), AttributeValue(std::string("valid")));
}

TEST(AttributeText, Types) {
  EXPECT_EQ(std::get<DType>(*typeOf("0")), DType::F32);
  EXPECT_EQ(std::get<DType>(*typeOf("6")), DType::I64);
  EXPECT_EQ(std::get<DType>(*typeOf("12")), DType::BF16);
  EXPECT_EQ(std::get<DType>(*typeOf("float64")), DType::F64);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(*typeOf("-1")));
  for (const char *text : {"8", "99", "-2", "float", ""})
    EXPECT_FALSE(typeOf(text)) << text;
}

TEST(InitialiserText, KnownAndUnknown) {
  EXPECT_EQ(initialiserOf("zeros")->name, "zero");
  EXPECT_EQ(initialiserOf("[\"one\", {}]")->name, "one");
  std::optional<symbol::Initialiser> xavier =
      initialiserOf("[\"Xavier\", {\"rnd_type\": \"gaussian\", \"magnitude\": 2.34}]");
  ASSERT_TRUE(xavier);
  EXPECT_EQ(xavier->name, "xavier");
  ASSERT_EQ(xavier->arguments.size(), 2u);
  EXPECT_EQ(xavier->arguments[0].name, "magnitude"); // keys of nlohmann's objects are sorted
  EXPECT_EQ(xavier->arguments[0].value, AttributeValue(2.34));
  for (std::string text :
       {"bilinear", "[\"load\", {}]", "[\"uniform\", {\"scale\": []}]",
        "[\"uniform\", {\"by\": 1}]", "[\"uniform\"]", "[1, 2]", "[\"constant\", {}]", "[", ""})
    EXPECT_FALSE(initialiserOf(text)) << text;
  EXPECT_FALSE(initialiserOf(std::string(90000, '[')));
}

TEST(InitialiserText, FusedRnn) {
  const std::string plain = "[\"fusedrnn\", {\"init\": null, \"num_hidden\": 5}]";
  EXPECT_TRUE(isFusedRnn(plain));
  EXPECT_EQ(initialiserOf(plain)->name, "");
  EXPECT_EQ(initialiserOf(R"(["fusedrnn", {"init": "[\"normal\", {\"sigma\": 0.25}]"}])")->name,
            "normal");
  EXPECT_FALSE(initialiserOf(R"(["fusedrnn", {"init": "[\"fusedrnn\", {}]"}])"));
  EXPECT_FALSE(isFusedRnn("zeros"));
}

} // namespace
} // namespace lstmc::importers::mxnet

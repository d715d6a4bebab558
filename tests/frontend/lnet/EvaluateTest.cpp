// Build-time values: each program asserts what Python would compute, and has to load.
#include "tests/frontend/lnet/Programs.h"

namespace lstmc::lnet {
namespace {

void holds(const std::string &statements) {
  EXPECT_EQ(refusal(withNet(statements)), "") << statements;
}

TEST(Evaluate, ArithmeticIsPythons) {
  holds("assert -7 // 2 == -4 and -7 % 2 == 1 and 7 // -2 == -4 and 7 % -2 == -1\n"
        "assert 7 / 2 == 3.5 and 2 ** 10 == 1024 and 2 ** -1 == 0.5 and -2 ** 2 == -4\n"
        "assert -7.5 // 2 == -4.0 and -7.5 % 2 == 0.5 and 7.5 % -2 == -0.5\n"
        "assert 9007199254740993 / 1 == 9007199254740992.0 and 9223372036854775807 / "
        "9223372036854775807 == 1.0\n"
        "assert 9007199254740993 != 9007199254740992.0 and 9007199254740993 > 9007199254740992.0\n"
        "assert 1 == 1.0 and 0.1 + 0.2 != 0.3 and 1 < 2 < 3 and not 1 < 3 < 2\n"
        "assert True != 1 and (1, 2) < (1, 3) and [1] < [1, 0] and \"a\" < \"b\"\n"
        "assert 0x1f == 31 and 0b101 == 5 and 0o17 == 15 and 1_000 == 1000 and .5 == 5e-1");
}

TEST(Evaluate, OpsOfNumbersAreNumbers) {
  holds(R"(assert sqrt(16.0) == 4.0 and exp(0) == 1.0 and log(1) == 0.0 and maximum(2, 3.5) == 3.5
assert floor(-2.5) == -3 and ceil(2.1) == 3 and trunc(-2.9) == -2 and [0] * floor(2.9) == [0, 0]
assert round(2.5) == 2 and round(3.5) == 4 and round(-0.4) == 0 and round(3.14159, 2) == 3.14 and round(7) == 7
assert 3.141592653589793 == pi and power(2.0, 10) == 1024.0
assert any([0, "", 3]) and not any([]) and all([]) and not all([1, 0]) and all([1, "a"]))");
  EXPECT_NE(refusal(withNet("x = sqrt(-1.0)")).find("sqrt(-1.0) is no real number"),
            std::string::npos);
  EXPECT_NE(refusal(withNet("x = exp(1000)")).find("exp(1000) overflows"), std::string::npos);
}

TEST(Evaluate, TextAndFormats) {
  holds(
      R"(assert "a" "b" == 'ab' and "\u00e9" == "é"
assert len("日本語") == 3 and "日本語"[1] == "本"
assert "日本語"[::-1] == "語本日"
f = "%d %s %5.2f|%-4d|%04d|%x|%+d|%%|%r" % (3, "x", 2.5, 7, 7, 255, 3, "q")
assert f == "3 x  2.50|7   |0007|ff|+3|%|\"q\""
assert "%(a)s-%(b)d" % {"a": "x", "b": 2} == "x-2" and "%e" % 12345.678 == "1.234568e+04"
assert "%g" % 1e-5 == "1e-05"
assert str(1.0) == "1.0" and str(1e16) == "1e+16" and str(0.1) == "0.1" and str(1e-5) == "1e-05"
assert str([1, "a", (2,)]) == "[1, \"a\", (2,)]"
assert """a
b""" == "a\nb" and "a\
b" == "ab" and "ab" * 2 == "abab" and "b" in "abc"
assert int(" 12 ") == 12 and float("1.5") == 1.5 and int(-2.7) == -2)");
}

TEST(Evaluate, ListsTuplesDictsRanges) {
  holds(R"(a = [1, 2, 3]
a.append(4)
a.extend((5, 6))
assert a == [1, 2, 3, 4, 5, 6] and a[-1] == 6 and a[1:-1:2] == [2, 4] and a[::-1][0] == 6
assert a[10:] == []
b, (c, d) = 1, (2, 3)
assert (b, c, d) == (1, 2, 3) and (b,) + (c,) == (1, 2) and [0] * 3 == [0, 0, 0]
e = {"x": 1, 2: "y", (1, 2): 3, "x": 4}
assert e["x"] == 4 and len(e) == 3 and e.keys() == ["x", 2, (1, 2)] and e.get("q") is None
assert e.get("q", 7) == 7 and 2.0 in e
assert [k for k, v in e.items() if v == 4] == ["x"]
assert list(range(5)) == [0, 1, 2, 3, 4] and range(10)[2:8:3] == range(2, 8, 3)
assert len(range(0, -5, -2)) == 3 and 4 in range(0, 10, 2)
assert list(reversed([1, 2])) == [2, 1] and sorted([3, 1, 2], reverse=True) == [3, 2, 1]
assert sorted(["bb", "a"], key=lambda s: len(s)) == ["a", "bb"]
assert list(zip([1, 2, 3], "ab")) == [(1, "a"), (2, "b")]
assert list(enumerate("ab", 1)) == [(1, "a"), (2, "b")]
assert min(3, 1, 2) == 1 and max([1, 5, 2]) == 5 and sum([1, 2, 3]) == 6
assert sum([[1], [2]], []) == [1, 2] and abs(-3) == 3
assert dict(a=1) == {"a": 1} and dict([("a", 1)]) == {"a": 1} and tuple([1, 2]) == (1, 2)
assert bool([]) == False)");
}

TEST(Evaluate, ScopesAndClosures) {
  holds(R"(x = 1
def f():
    return x
x = 2
assert f() == 2
def counter():
    made = []
    for i in range(3):
        made.append(lambda: i)
    return made
assert [g() for g in counter()] == [2, 2, 2]
y = [x * k for k in range(3)]
assert y == [0, 2, 4] and [[i * j for j in range(2)] for i in range(2)] == [[0, 0], [0, 1]]
def outer(a, b=x, c=3):
    def inner(d):
        return a + b + c + d
    return inner
x = 100
assert outer(1)(4) == 10 and outer(1, c=0)(0) == 3 and outer(*[1, 1, 1])(1) == 4
def swap(a, b): return b, a
p, q = swap(1, 2)
assert p == 2 and q == 1 and (lambda a, b: a * b)(3, 4) == 12
z = 5
z += 1
z *= 2
assert z == 12 and (1 if z > 3 else 2) == 1 and (None or 3) == 3 and (0 and missing) == 0
assert None is None and 3 is not None
sum = 4
assert sum == 4)");
}

TEST(Evaluate, ValuesThatHoldOneAnotherEndInALimit) {
  LoadOptions options;
  EXPECT_TRUE(setLimit(options.limits, "steps", 200'000).ok());
  std::string deep =
      "a, b = (), ()\nfor i in range(150):\n    a = (a, a)\n    b = (b, b)\nassert a == b";
  EXPECT_NE(refusal(withNet(deep), options).find("E0312"), std::string::npos);
  EXPECT_NE(
      refusal(withNet("a = []\nfor i in range(10 ** 8):\n    a = [a, a]"), options).find("E0312"),
      std::string::npos);
  EXPECT_NE(
      refusal(withNet("a = [0] * 1000000\nfor i in range(10 ** 7):\n    b = a + a[1:]"), options)
          .find("E0312"),
      std::string::npos);
  EXPECT_EQ(refusal(withNet("a = []\na.append(a)\nassert len(str(a)) > 0\nf = [lambda: f]")), "");
}

TEST(Evaluate, ALimitIsReachedInSeconds) {
  for (const char *body : {"pass", "missing", "len(3)"})
    EXPECT_NE(refusal(std::string("for i in range(10 ** 9): ") + body + "\n")
                  .find("this loop reached 10,000,000 steps, the limit"),
              std::string::npos)
        << body;
}

TEST(Evaluate, LimitsAreNamedAndBounded) {
  Limits limits;
  EXPECT_FALSE(setLimit(limits, "depht", 3).ok());
  EXPECT_FALSE(setLimit(limits, "depth", 0).ok());
  EXPECT_FALSE(setLimit(limits, "depth", 1'000'000).ok());
  for (std::string_view name :
       {"depth", "nodes", "steps", "name", "rank", "list", "source", "errors"}) {
    EXPECT_TRUE(isLimit(name));
    EXPECT_TRUE(setLimit(limits, name, 7).ok()) << name;
  }
  EXPECT_EQ(limits.depth, 7u);
  EXPECT_EQ(limits.errors, 7u);
}

} // namespace
} // namespace lstmc::lnet

// Every op with sizes that no machine can provide. Each is refused with a code or planned, quickly
// and in little memory.

#include <cmath>
#include <ctime>
#include <sys/resource.h>

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gtest/gtest.h>

#include "executor/package/Package.h"
#include "frontend/lnet/Load.h"
#include "frontend/symbol/Module.h"
#include "frontend/symbol/Render.h"
#include "passes/Compile.h"

namespace lstmc::e2e {
namespace {

using symbol::OpAttribute;
using symbol::OpSignature;

constexpr int64_t kExtremes[] = {0,         -1,        INT32_MAX, int64_t(1) << 31,
                                 1ll << 62, INT64_MAX, -INT64_MAX};
/// Extents for all inputs of a call; the first that an op accepts is used.
const std::vector<int64_t> kShapes[] = {{4, 4}, {4, 4, 4}, {4}, {4, 4, 4, 4}, {1, 4}};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

double cpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

int64_t peakMebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

/// The result for a text: no code if it was planned.
struct Outcome {
  std::optional<ErrorCode> code;
  std::string message;
};

Outcome refused(const Diagnostics &diagnostics) {
  for (const Diagnostic &diagnostic : diagnostics)
    if (diagnostic.severity == Severity::Error)
      return {diagnostic.code, symbol::render(diagnostics)};
  return {ErrorCode::E0099, "refused without an error"};
}

/// Compiles a text into a package and runs the checks of packages on it.
Outcome plan(const std::string &text) {
  Checked<symbol::Network> net = lnet::loadText("t.lnet", text);
  if (!net.ok())
    return refused(net.diagnostics());
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*net->graph);
  Checked<passes::Compiled> compiled = passes::compile(*module, {});
  if (!compiled.ok())
    return refused(compiled.diagnostics());
  Result<package::Package::Pointer> opened =
      package::Package::open(package::serialize(compiled->package), "t.lstmc");
  if (!opened.ok())
    return {opened.error().code, opened.error().text()};
  return {};
}

/// The processor time within which each text is planned or refused. It is relative to the machine:
/// 12 times what 4,000 ops take. Nearly all texts take milliseconds; a sort over an axis of 2^31
/// takes 8 times as long as the 4,000 ops.
double mostSeconds() {
  static const double most = [] {
    std::string text = "def net(data: float32[2]):\n    x = data * Variable(\"p\", shape=(2,))\n";
    for (int i = 0; i < 4000; ++i)
      text += "    x = tanh(x)\n";
    text += "    return MakeLoss(mean(x))\n";
    double begin = cpuSeconds();
    EXPECT_FALSE(plan(text).code);
    return 12 * (cpuSeconds() - begin);
  }();
  return most;
}

/// A call of an op and the net around it.
struct Sample {
  const OpSignature *op;
  std::vector<int64_t> shape;
  std::string result; ///< "%s" stands for the call
  std::string others; ///< the inputs after the first
  std::vector<std::pair<std::string, std::string>> attributes;
  bool labels = false; ///< whether labels are given; else they are inputs of the net

  std::string text() const {
    std::vector<std::string> arguments;
    size_t inputs = op->variadic ? 2 : 0;
    for (const symbol::OpInput &input : op->inputs)
      inputs += !input.optional && !input.parameter && (!input.label || labels);
    for (size_t i = 0; i < inputs; ++i)
      arguments.push_back(i == 0 ? "x" : others);
    for (const auto &[name, value] : attributes)
      arguments.push_back(name + "=" + value);
    std::string call = fmt::format("{}({})", op->name, fmt::join(arguments, ", "));
    std::string returned = result;
    returned.replace(returned.find("%s"), 2, call);
    return fmt::format("def net(data: float32[{}]):\n"
                       "    x = data * Variable(\"p\", shape=({},))\n"
                       "    return {}\n",
                       fmt::join(shape, ", "), fmt::join(shape, ", "), returned);
  }

  Sample with(const std::string &name, const std::string &value) const {
    Sample changed = *this;
    std::erase_if(changed.attributes, [&](const auto &given) { return given.first == name; });
    changed.attributes.emplace_back(name, value);
    return changed;
  }
};

/// A value that many ops accept, for attributes without a default.
std::string ordinary(const OpAttribute &attribute, size_t rank) {
  switch (attribute.kind) {
  case OpAttribute::Kind::Integer:
    return attribute.name == "nsize" ? "3" : "2"; // a number of neighbours is odd
  case OpAttribute::Kind::Float:
    return "0.5";
  case OpAttribute::Kind::Boolean:
    return "False";
  case OpAttribute::Kind::String: {
    const std::string letters = std::string("abcdefgh").substr(0, rank);
    return attribute.name == "subscripts" ? fmt::format("\"{0},{0}->{0}\"", letters) : "\"s\"";
  }
  case OpAttribute::Kind::Choice:
    return "\"" + attribute.choices.front() + "\"";
  case OpAttribute::Kind::DType:
    return "\"float32\"";
  case OpAttribute::Kind::Tuple:
    if (attribute.name == "kernel" || attribute.name == "pad_width")
      return fmt::format("({},)", fmt::join(attribute.name == "kernel"
                                                ? std::vector<int>(rank > 2 ? rank - 2 : 1, 1)
                                                : std::vector<int>(2 * rank, 0),
                                            ", "));
    return attribute.name == "axes" || attribute.name == "axis"
               ? "(0,)"
               : fmt::format("({},)",
                             fmt::join(std::vector<int>(rank, attribute.name == "shape" ||
                                                                      attribute.name == "end"
                                                                  ? 4
                                                              : attribute.name == "begin" ? 0
                                                                                          : 1),
                                       ", "));
  }
  return "";
}

/// A call that can be planned; none if no shape and no way to return it works.
std::optional<Sample> planned(const OpSignature &op, bool labels) {
  for (const std::vector<int64_t> &shape : kShapes)
    for (const char *others :
         {"data", "mean(data, axis=-1)", "expand_dims(data, axis=0)", "mean(data, axis=0)"})
      for (const char *result : {"MakeLoss(mean(%s))", "MakeLoss(mean(%s[0]))", "%s"}) {
        Sample sample{&op, shape, result, others, {}, labels};
        for (const OpAttribute &attribute : op.attributes)
          if (attribute.required || attribute.name == "shape" || attribute.name == "kernel" ||
              attribute.name == "sections")
            sample = sample.with(attribute.name, ordinary(attribute, shape.size()));
        if (!plan(sample.text()).code)
          return sample;
      }
  return std::nullopt;
}

class Extremes : public testing::Test {
protected:
  /// It has to be planned, or refused with a code meant for users.
  Outcome expectOrderly(const std::string &text) {
    Outcome outcome;
    const double most = mostSeconds();
    double seconds = most;
    // Beside others even processor time varies, so the least of three counts.
    for (int again = 0; again < 3 && seconds >= most; ++again) {
      double begin = cpuSeconds();
      outcome = plan(text);
      seconds = std::min(again == 0 ? INFINITY : seconds, cpuSeconds() - begin);
    }
    ++texts_;
    refusals_ += outcome.code.has_value();
    slowest_ = std::max(slowest_, seconds);
    if (outcome.code) {
      ExitCode exit = errorRecord(*outcome.code).exit;
      EXPECT_TRUE(exit == ExitCode::Source || exit == ExitCode::Plan) << text << outcome.message;
      EXPECT_NE(outcome.message.find("t.lnet:"), std::string::npos) << text << outcome.message;
    }
    EXPECT_LT(seconds, most) << text << outcome.message;
    return outcome;
  }

  void TearDown() override {
    if (!kSanitized)
      EXPECT_LE(peakMebibytes(), 256);
    fmt::print("{} texts, {} refused; slowest {:.3f} s, peak {} MiB\n", texts_, refusals_, slowest_,
               peakMebibytes());
  }

  int64_t texts_ = 0, refusals_ = 0;
  double slowest_ = 0;
};

TEST_F(Extremes, EveryIntegerAttributeOfEveryOp) {
  std::set<std::string> without;
  for (const OpSignature &op : symbol::allOps()) {
    std::optional<Sample> sample = planned(op, /*labels=*/false);
    if (!sample)
      sample = planned(op, /*labels=*/true);
    if (!sample) {
      without.insert(op.name);
      continue;
    }
    for (const OpAttribute &attribute : op.attributes) {
      if (attribute.kind != OpAttribute::Kind::Integer &&
          attribute.kind != OpAttribute::Kind::Tuple)
        continue;
      for (int64_t value : kExtremes) {
        expectOrderly(sample->with(attribute.name, std::to_string(value)).text());
        if (attribute.kind == OpAttribute::Kind::Tuple)
          for (size_t count : {sample->shape.size(), size_t(2)})
            expectOrderly(
                sample
                    ->with(
                        attribute.name,
                        fmt::format("({},)", fmt::join(std::vector<int64_t>(count, value), ", ")))
                    .text());
      }
    }
  }
  EXPECT_GE(texts_, 462);
  // This op reads only what the layers of an RNN are made of.
  EXPECT_EQ(fmt::format("{}", fmt::join(without, " ")), "_rnn_param_concat");
}

TEST_F(Extremes, HugeTensorsInEveryOp) {
  for (const OpSignature &op : symbol::allOps()) {
    std::optional<Sample> sample = planned(op, /*labels=*/false);
    if (!sample)
      continue;
    for (int64_t extent : {int64_t(1) << 16, int64_t(1) << 31, int64_t(1) << 47, INT64_MAX}) {
      Sample huge = *sample;
      huge.shape.assign(huge.shape.size(), extent);
      expectOrderly(huge.text());
      huge.shape.assign(huge.shape.size(), 1);
      huge.shape.back() = extent;
      expectOrderly(huge.text());
    }
  }
}

TEST_F(Extremes, Variables) {
  for (int64_t a : kExtremes)
    for (int64_t b : {int64_t(1), int64_t(1) << 40, INT64_MAX})
      expectOrderly(fmt::format("def net(data: float32[2]):\n"
                                "    return MakeLoss(mean(Variable(\"w\", shape=({}, {}))))\n",
                                a, b));
  expectOrderly("def net(data: float32[2]):\n"
                "    a = Variable(\"w\", shape=(2**40, _))\n"
                "    b = Variable(\"w\", shape=(_, 2**40))\n"
                "    return MakeLoss(mean(a + b))\n");
}

/// A loop that would make a billion ops, and one that makes none in a billion rounds.
TEST_F(Extremes, LoopsWithoutEnd) {
  for (auto [body, code] :
       {std::pair("x = tanh(x)", ErrorCode::E0311), std::pair("n = n + 1", ErrorCode::E0312)}) {
    const std::string text = fmt::format("def net(data: float32[2]):\n"
                                         "    x, n = data, 0\n"
                                         "    for i in range(10**9):\n"
                                         "        {}\n"
                                         "    return MakeLoss(mean(x))\n",
                                         body);
    Outcome outcome = expectOrderly(text);
    EXPECT_EQ(outcome.code.value_or(ErrorCode::E0099), code) << body;
  }
}

/// 40 tensors, none of them too large, that together fit in no arena.
TEST_F(Extremes, TheSumOfAll) {
  Outcome outcome = plan("def net(data: float32[2]):\n"
                         "    y = 0.0\n"
                         "    for i in range(40):\n"
                         "        y = y + mean(Variable(\"w%d\" % i, shape=(2**45,)))\n"
                         "    return MakeLoss(y)\n");
  ASSERT_TRUE(outcome.code);
  EXPECT_EQ(*outcome.code, ErrorCode::E0401) << outcome.message;
}

} // namespace
} // namespace lstmc::e2e

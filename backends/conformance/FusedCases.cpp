#include "backends/conformance/Cases.h"
#include "executor/base/Numeric.h"

namespace lstmc::conformance {

namespace {

/// Writes a program instruction by instruction.
class Program {
public:
  /// Adds an operand that is read; returns its value's number.
  int input(DType type) { return operand(type); }
  /// Adds an operand that `store` writes.
  int output(DType type) { return operand(type); }
  /// Adds an instruction; to be called after all operands were added.
  int make(ScalarOp op, DType type, std::vector<int> from, double immediate = 0) {
    from.resize(3);
    program_.instructions.push_back(
        {op, type, uint16_t(from[0]), uint16_t(from[1]), uint16_t(from[2]), immediate});
    return int(program_.types.size() + program_.instructions.size()) - 1;
  }
  void store(int operand, int value) { program_.results[operand] = value; }

  TestLaunch launch(std::vector<Array> operands, const std::vector<int64_t> &window = {}) const {
    TestLaunch launch =
        makeLaunch(FusedArguments{.program = 0, .window = window}, std::move(operands));
    launch.program = std::make_shared<FusedProgram>(program_);
    return launch;
  }

private:
  int operand(DType type) {
    program_.types.push_back(type);
    program_.results.push_back(-1);
    return int(program_.types.size()) - 1;
  }
  FusedProgram program_;
};

/// One of four about denormals; of f64 also about those of f32, for conversions.
Values anyFloat(DType type, uint64_t salt) {
  return [=](uint64_t i) {
    const DType near = i % 8 == 3 ? type : DType::F32;
    return (i % 4 == 3 ? nearDenormals(near, salt) : anything(salt))(i);
  };
}

/// A launch of one operation on arrays of `elements`; each operand has another layout.
TestLaunch single(const ScalarRecord &record, DType type, DType result, Shape shape,
                  Layout layout) {
  Program program;
  std::vector<int> from;
  std::vector<Array> operands;
  for (int i = 0; i < record.operands; ++i) {
    DType own = record.op == ScalarOp::Select && i == 0 ? DType::Bool : type;
    from.push_back(program.input(own));
    Values values = own == DType::Bool ? integers(0, 1, i)
                    : isFloat(own)     ? anyFloat(own, i)
                                       : integers(-9, 9, i);
    operands.emplace_back(own, shape, values, layout);
  }
  int y = program.output(result);
  operands.emplace_back(result, shape, layout);
  program.store(y, program.make(record.op, result, from, 2.75));
  return program.launch(operands);
}

void addOperations(std::vector<Case> &cases) {
  constexpr DType kComputed[] = {DType::F32, DType::F64, DType::I32, DType::I64, DType::Bool};
  for (const ScalarRecord &record : kScalarRecords) {
    if (record.op == ScalarOp::Uniform)
      continue;
    const bool logic = record.op >= ScalarOp::And && record.op <= ScalarOp::Not;
    for (DType type : kComputed) {
      if (logic != (type == DType::Bool) && record.result == ScalarResult::Same &&
          record.op != ScalarOp::Select)
        continue;
      for (DType result : kComputed) {
        if (record.result == ScalarResult::Same && result != type)
          continue;
        if (record.result == ScalarResult::Bool && result != DType::Bool)
          continue;
        if (record.op == ScalarOp::Constant && type != DType::F32)
          continue;
        std::string what = fmt::format("{} {}", record.name, dtypeName(type));
        if (record.result == ScalarResult::From)
          what += fmt::format("->{}", dtypeName(result));
        add(cases, KernelId::Fused, what,
            [=] { return single(record, type, result, {2039}, Layout::Dense); });
        if (type == DType::F32)
          for (Layout layout : kAnyLayout)
            add(cases, KernelId::Fused, fmt::format("{}, {}", what, layoutName(layout)),
                [=] { return single(record, type, result, {7, 29}, layout); });
      }
    }
  }
}

/// Adam without bias correction, in place; lr is a broadcast scalar.
TestLaunch adam(Shape shape) {
  Program p;
  const DType f = DType::F32;
  int w = p.input(f), g = p.input(f), m = p.input(f), v = p.input(f), lr = p.input(f);
  int wOut = p.output(f), mOut = p.output(f), vOut = p.output(f);
  auto constant = [&](double value) { return p.make(ScalarOp::Constant, f, {}, value); };
  auto mul = [&](int a, int b) { return p.make(ScalarOp::Mul, f, {a, b}); };
  auto plus = [&](int a, int b) { return p.make(ScalarOp::Add, f, {a, b}); };
  int newM = plus(mul(constant(0.9), m), mul(constant(0.1), g));
  int newV = plus(mul(constant(0.999), v), mul(constant(0.001), mul(g, g)));
  int root = plus(p.make(ScalarOp::Sqrt, f, {newV}), constant(1e-8));
  int newW = p.make(ScalarOp::Sub, f, {w, p.make(ScalarOp::Div, f, {mul(lr, newM), root})});
  p.store(wOut, newW);
  p.store(mOut, newM);
  p.store(vOut, newV);
  Array weights(f, shape, uniform(-1, 1)), mean(f, shape, uniform(-1, 1, 1)),
      variance(f, shape, uniform(0, 1, 2));
  Array rate(f, Shape(shape.size(), 1), conformance::constant(0.01));
  for (size_t i = 0; i < shape.size(); ++i)
    rate = rate.broadcast(int(i), shape[i]);
  return p.launch(
      {weights, Array(f, shape, uniform(-1, 1, 3)), mean, variance, rate, weights, mean, variance});
}

/// y = x(i) + x(i+1) + ...: `live` values are alive at once and are read in reverse order.
TestLaunch manyValues(int live) {
  Program p;
  int x = p.input(DType::F32), y = p.output(DType::F32);
  std::vector<int> values;
  for (int i = 0; i < live; ++i)
    values.push_back(p.make(ScalarOp::Mul, DType::F32, {x, i == 0 ? x : values.back()}));
  int sum = values.back();
  for (int i = live - 2; i >= 0; --i)
    sum = p.make(ScalarOp::Sub, DType::F32, {sum, values[i]});
  p.store(y, sum);
  return p.launch({Array(DType::F32, {1, 777}, uniform(-1, 1)), Array(DType::F32, {1, 777})});
}

TestLaunch uniformNumbers(Shape shape, Layout layout, int64_t seed, int64_t update,
                          const std::vector<int64_t> &window = {}) {
  Program p;
  int key = p.input(DType::I64), count = p.input(DType::I64), y = p.output(DType::F32);
  p.store(y, p.make(ScalarOp::Uniform, DType::F32, {key, count}, 5));
  Array seeds(DType::I64, Shape(shape.size(), 1), constant(double(seed)));
  Array updates(DType::I64, Shape(shape.size(), 1), constant(double(update)));
  for (size_t i = 0; i < shape.size(); ++i) {
    seeds = seeds.broadcast(int(i), shape[i]);
    updates = updates.broadcast(int(i), shape[i]);
  }
  return p.launch({seeds, updates, Array(DType::F32, shape, layout)}, window);
}

void addPrograms(std::vector<Case> &cases) { // NOLINT(readability-function-size): a table
  const KernelId id = KernelId::Fused;
  for (Shape shape : {Shape{1}, Shape{15}, Shape{16}, Shape{17}, Shape{1023}, Shape{1025},
                      Shape{20011}, Shape{3, 5, 7}, Shape{130, 257}, Shape{0, 4}, Shape{}})
    add(cases, id, fmt::format("adam {}", fmt::join(shape, "x")), [=] { return adam(shape); });
  for (int live : {2, 17, 40, 60})
    add(cases, id, fmt::format("{} values", live), [=] { return manyValues(live); });

  for (Layout layout : kAnyLayout)
    add(cases, id, fmt::format("uniform, {}", layoutName(layout)),
        [=] { return uniformNumbers({3, 21, 35}, layout, 0x123456789abcdef, 77); });
  add(cases, id, "uniform, long", [] { return uniformNumbers({50021}, Layout::Dense, -3, 2); });

  const std::vector<int64_t> kWindows[] = {
      {1001, 2205, 1},                     // consecutive elements
      {70, 3, 100 * 35, 21, 35, 35, 1},    // rows of a batch of 100
      {5 * 735, 3, 735, 735, 1},           // steps of a sequence
      {9, 3, 4000, 3, 700, 7, 105, 35, 3}, // every third element
      {12, 1, 9, 3, 0, 1, 7, 735, 1},      // the same numbers several times
      {int64_t(1) << 47, 3, 1 << 20, 735, 5},
  };
  for (Layout layout : kAnyLayout)
    for (const std::vector<int64_t> &window : kWindows)
      add(cases, id,
          fmt::format("uniform, window {}, {}", fmt::join(window, " "), layoutName(layout)),
          [=] { return uniformNumbers({3, 21, 35}, layout, 0x123456789abcdef, 77, window); });
  add(cases, id, "uniform, window of long rows",
      [] { return uniformNumbers({50, 1003}, Layout::Dense, 3, 2, {17, 50, 2006, 1003, 1}); });

  for (DType narrow : {DType::F16, DType::BF16, DType::I8, DType::U8})
    for (Layout layout : kAnyLayout)
      add(cases, id, fmt::format("{} read and written, {}", dtypeName(narrow), layoutName(layout)),
          [=] {
            Program p;
            const DType wide = widenedType(narrow);
            int a = p.input(narrow), b = p.input(narrow), y = p.output(narrow);
            int product = p.make(ScalarOp::Mul, wide, {a, b});
            p.store(y, p.make(ScalarOp::Add, wide, {product, a}));
            Values values = isFloat(narrow) ? uniform(-300, 300) : integers(0, 120);
            return p.launch({Array(narrow, {11, 45}, values, layout),
                             Array(narrow, {11, 45}, values, layout),
                             Array(narrow, {11, 45}, layout)});
          });

  add(cases, id, "broadcast rows and columns", [] {
    Program p;
    int row = p.input(DType::F32), column = p.input(DType::F32), x = p.input(DType::F32),
        y = p.output(DType::F32);
    int product = p.make(ScalarOp::Mul, DType::F32, {row, column});
    p.store(y, p.make(ScalarOp::Add, DType::F32, {product, x}));
    return p.launch({Array(DType::F32, {1, 33}, uniform(-1, 1)).broadcast(0, 19),
                     Array(DType::F32, {19, 1}, uniform(-1, 1, 1)).broadcast(1, 33),
                     Array(DType::F32, {19, 33}, uniform(-1, 1, 2), Layout::Transposed),
                     Array(DType::F32, {19, 33}, Layout::Rows)});
  });
  add(cases, id, "operand copied, and a value stored twice", [] {
    Program p;
    int a = p.input(DType::F32), b = p.input(DType::F32);
    int y = p.output(DType::F32), z = p.output(DType::F32), same = p.output(DType::F32);
    int sum = p.make(ScalarOp::Add, DType::F32, {a, b});
    p.make(ScalarOp::Exp, DType::F32, {sum}); // nobody reads this value
    p.store(y, sum);
    p.store(z, sum);
    p.store(same, a);
    return p.launch({Array(DType::F32, {501}, uniform(-1, 1)),
                     Array(DType::F32, {501}, uniform(-1, 1, 1)), Array(DType::F32, {501}),
                     Array(DType::F32, {501}, Layout::Strided), Array(DType::F32, {501})});
  });
  add(cases, id, "operands swapped in place", [] {
    Program p;
    int a = p.input(DType::F32), b = p.input(DType::F32), y = p.output(DType::F32),
        z = p.output(DType::F32);
    p.store(y, p.make(ScalarOp::Add, DType::F32, {b, b}));
    p.store(z, p.make(ScalarOp::Mul, DType::F32, {a, a}));
    Array first(DType::F32, {2500}, uniform(-1, 1)), second(DType::F32, {2500}, uniform(-1, 1, 1));
    return p.launch({first, second, first, second});
  });
  add(cases, id, "types mixed", [] {
    Program p;
    int i = p.input(DType::I32), x = p.input(DType::F32), mask = p.input(DType::Bool);
    int y = p.output(DType::F32), count = p.output(DType::I64), flag = p.output(DType::Bool),
        d = p.output(DType::F64);
    int asFloat = p.make(ScalarOp::Cast, DType::F32, {i});
    int less = p.make(ScalarOp::Less, DType::Bool, {x, asFloat});
    int both = p.make(ScalarOp::And, DType::Bool, {less, mask});
    int chosen = p.make(ScalarOp::Select, DType::F32, {both, x, asFloat});
    p.store(y, p.make(ScalarOp::Tanh, DType::F32, {chosen}));
    p.store(count, p.make(ScalarOp::Cast, DType::I64, {chosen}));
    p.store(flag, p.make(ScalarOp::Not, DType::Bool, {both}));
    p.store(d, p.make(ScalarOp::Cast, DType::F64, {chosen}));
    return p.launch(
        {Array(DType::I32, {9, 77}, integers(-5, 5)), Array(DType::F32, {9, 77}, anything(1)),
         Array(DType::Bool, {9, 77}, integers(0, 1, 2)), Array(DType::F32, {9, 77}),
         Array(DType::I64, {9, 77}), Array(DType::Bool, {9, 77}), Array(DType::F64, {9, 77})});
  });
}

} // namespace

void addFusedCases(std::vector<Case> &cases) {
  addOperations(cases);
  addPrograms(cases);
}

} // namespace lstmc::conformance

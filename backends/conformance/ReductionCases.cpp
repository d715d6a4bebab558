#include "backends/conformance/Cases.h"

#include "executor/reference/Reference.h"

namespace lstmc::conformance {

namespace {

constexpr std::string_view kReduceNames[] = {"sum", "mean", "max", "min", "prod", "norm", "argmax"};
static_assert(std::size(kReduceNames) == size_t(kLast<ReduceKind>) + 1);

TestLaunch reduce(DType type, ReduceKind kind, Shape shape, int kept, Values values, Layout layout,
                  DType result) {
  Shape left(shape.begin(), shape.begin() + kept);
  return makeLaunch(ReduceArguments{.kind = kind, .kept = kept},
                    {Array(type, shape, values, layout), Array(result, left, layout)});
}

void addReduce(std::vector<Case> &cases) {
  const KernelId id = KernelId::Reduce;
  for (size_t number = 0; number < std::size(kReduceNames); ++number) {
    const auto kind = ReduceKind(number);
    const std::string name(kReduceNames[number]);
    for (int64_t count : {1, 2, 7, 15, 16, 17, 31, 100, 1000})
      add(cases, id, fmt::format("{} of {}", name, count), [=] {
        return reduce(DType::F32, kind, {5, count}, 1, uniform(-1.5, 1.5), Layout::Dense,
                      DType::F32);
      });
    for (Layout layout : kAnyLayout)
      for (int kept : {0, 1, 2, 3})
        add(cases, id, fmt::format("{}, {} axes kept, {}", name, kept, layoutName(layout)), [=] {
          return reduce(DType::F32, kind, {3, 19, 23}, kept, uniform(-1.5, 1.5), layout,
                        DType::F32);
        });
    for (DType type : {DType::F64, DType::I32, DType::I64})
      add(cases, id, fmt::format("{} {}", name, dtypeName(type)),
          [=] { return reduce(type, kind, {4, 37}, 1, integers(-3, 3), Layout::Dense, type); });
    add(cases, id, name + " over the first axis", [=] {
      Array x(DType::F32, {41, 6, 35}, uniform(-1, 1));
      return makeLaunch(ReduceArguments{.kind = kind, .kept = 2},
                        {x.permuted({1, 2, 0}), Array(DType::F32, {6, 35})});
    });
    add(cases, id, name + " of anything", [=] {
      return reduce(DType::F32, kind, {40, 21}, 1, anything(3), Layout::Dense, DType::F32);
    });
    for (DType type : {DType::F32, DType::F64})
      add(cases, id, fmt::format("{} {} about denormals", name, dtypeName(type)), [=] {
        return reduce(type, kind, {900, 3}, 1, nearDenormals(type), Layout::Dense, type);
      });
    add(cases, id, name + " of few", [=] { // equal values, zeros of both signs
      return reduce(
          DType::F32, kind, {40, 21}, 1, [](uint64_t i) { return i % 3 ? -0.0 : 0.0; },
          Layout::Dense, DType::F32);
    });
    if (kind != ReduceKind::ArgMax)
      add(cases, id, name + " of none", [=] {
        return reduce(DType::F32, kind, {4, 0}, 1, uniform(-1, 1), Layout::Dense, DType::F32);
      });
  }
  add(cases, id, "argmax to i64", [] {
    return reduce(DType::F32, ReduceKind::ArgMax, {9, 37}, 1, integers(-3, 3), Layout::Dense,
                  DType::I64);
  });
  add(cases, id, "argmax of i32 to f32", [] {
    return reduce(DType::I32, ReduceKind::ArgMax, {9, 37}, 1, integers(-3, 3), Layout::Dense,
                  DType::F32);
  });
  add(cases, id, "sum, large", [] {
    return reduce(DType::F32, ReduceKind::Sum, {70001}, 0, uniform(-1, 1), Layout::Dense,
                  DType::F32);
  });
}

Array lengths(int64_t rows, int64_t columns, Layout layout) {
  return Array(DType::F32, {rows}, integers(0, columns + 1, 7), layout);
}

void addSoftmax(std::vector<Case> &cases) {
  for (bool log : {false, true}) {
    const std::string name = log ? "log " : "";
    for (int64_t columns : {1, 3, 15, 16, 17, 65, 200, 1000})
      for (double temperature : {1.0, 0.7})
        add(cases, KernelId::Softmax,
            fmt::format("{}{} columns, temperature {}", name, columns, temperature), [=] {
              return makeLaunch(SoftmaxArguments{.log = log, .temperature = temperature},
                                {Array(DType::F32, {9, columns}, uniform(-9, 9)), Array(),
                                 Array(DType::F32, {9, columns})});
            });
    for (Layout layout : kAnyLayout) {
      add(cases, KernelId::Softmax, fmt::format("{}lengths, {}", name, layoutName(layout)), [=] {
        return makeLaunch(SoftmaxArguments{.log = log, .temperature = 1},
                          {Array(DType::F32, {23, 37}, uniform(-9, 9), layout),
                           lengths(23, 37, layout), Array(DType::F32, {23, 37}, layout)});
      });
      for (bool limited : {false, true})
        add(cases, KernelId::SoftmaxGradient,
            fmt::format("{}{}, {}", name, limited ? "lengths" : "whole", layoutName(layout)), [=] {
              TestLaunch forward = makeLaunch(SoftmaxArguments{.log = log, .temperature = 1.3},
                                              {Array(DType::F32, {23, 37}, uniform(-9, 9), layout),
                                               limited ? lengths(23, 37, layout) : Array(),
                                               Array(DType::F32, {23, 37}, layout)});
              forward.run(reference::kernel(KernelId::Softmax));
              return makeLaunch(SoftmaxGradientArguments{.log = log, .temperature = 1.3},
                                {forward["y"],
                                 Array(DType::F32, {23, 37}, uniform(-1, 1, 1), layout),
                                 forward["length"], Array(DType::F32, {23, 37}, layout)});
            });
    }
    add(cases, KernelId::Softmax, name + "in place", [=] {
      Array x(DType::F32, {7, 50}, uniform(-9, 9));
      return makeLaunch(SoftmaxArguments{.log = log, .temperature = 1}, {x, Array(), x});
    });
    add(cases, KernelId::Softmax, name + "of anything", [=] {
      return makeLaunch(
          SoftmaxArguments{.log = log, .temperature = 1},
          {Array(DType::F32, {40, 5}, anything(2)), Array(), Array(DType::F32, {40, 5})});
    });
    add(cases, KernelId::Softmax, name + "f64", [=] {
      return makeLaunch(
          SoftmaxArguments{.log = log, .temperature = 2},
          {Array(DType::F64, {7, 50}, uniform(-9, 9)), Array(), Array(DType::F64, {7, 50})});
    });
    for (DType type : {DType::F32, DType::F64}) {
      const std::string what = fmt::format("{}{} about denormals", name, dtypeName(type));
      auto some = [=](uint64_t salt) { return Array(type, {40, 5}, nearDenormals(type, salt)); };
      add(cases, KernelId::Softmax, what, [=] {
        return makeLaunch(SoftmaxArguments{.log = log, .temperature = 0.5},
                          {some(1), Array(), Array(type, {40, 5})});
      });
      add(cases, KernelId::SoftmaxGradient, what, [=] {
        return makeLaunch(SoftmaxGradientArguments{.log = log, .temperature = 0.5},
                          {some(1), some(2), Array(), Array(type, {40, 5})});
      });
    }
    add(cases, KernelId::SoftmaxGradient, name + "f64", [=] {
      return makeLaunch(SoftmaxGradientArguments{.log = log, .temperature = 2},
                        {Array(DType::F64, {7, 50}, uniform(0, 1)),
                         Array(DType::F64, {7, 50}, uniform(-1, 1, 1)), Array(),
                         Array(DType::F64, {7, 50})});
    });
  }
}

TestLaunch layerNorm(DType type, int64_t rows, int64_t columns, Layout layout) {
  return makeLaunch(LayerNormArguments{.epsilon = 1e-5},
                    {Array(type, {rows, columns}, uniform(-3, 5), layout),
                     Array(type, {columns}, uniform(0.5, 2, 1), layout),
                     Array(type, {columns}, uniform(-1, 1, 2), layout),
                     Array(type, {rows, columns}, layout), Array(type, {rows}, layout),
                     Array(type, {rows}, layout)});
}

TestLaunch layerNormGradient(DType type, int64_t rows, int64_t columns, Layout layout) {
  TestLaunch forward = layerNorm(type, rows, columns, layout);
  forward.run(reference::kernel(KernelId::LayerNorm));
  return makeLaunch(KernelId::LayerNormGradient,
                    {forward["x"], forward["gamma"], forward["mean"], forward["rstd"],
                     Array(type, {rows, columns}, uniform(-1, 1, 3), layout),
                     Array(type, {rows, columns}, layout), Array(type, {rows, columns}, layout)});
}

void addLayerNorm(std::vector<Case> &cases) {
  for (int64_t columns : {1, 2, 15, 16, 17, 33, 100, 513}) {
    add(cases, KernelId::LayerNorm, fmt::format("{} columns", columns),
        [=] { return layerNorm(DType::F32, 7, columns, Layout::Dense); });
    add(cases, KernelId::LayerNormGradient, fmt::format("{} columns", columns),
        [=] { return layerNormGradient(DType::F32, 7, columns, Layout::Dense); });
  }
  for (Layout layout : kAnyLayout)
    for (DType type : {DType::F32, DType::F64}) {
      add(cases, KernelId::LayerNorm, fmt::format("{} {}", dtypeName(type), layoutName(layout)),
          [=] { return layerNorm(type, 9, 45, layout); });
      add(cases, KernelId::LayerNormGradient,
          fmt::format("{} {}", dtypeName(type), layoutName(layout)),
          [=] { return layerNormGradient(type, 9, 45, layout); });
    }
}

/// Rows, weights and gradients of such numbers.
void addDenormalLayerNorm(std::vector<Case> &cases, DType type) {
  const std::string name = fmt::format("{} about denormals", dtypeName(type));
  auto some = [=](Shape shape, uint64_t salt) {
    return Array(type, std::move(shape), nearDenormals(type, salt));
  };
  const Shape whole = {60, 7}, row = {7}, rows = {60};
  add(cases, KernelId::LayerNorm, name, [=] {
    return makeLaunch(LayerNormArguments{.epsilon = 1e-5},
                      {some(whole, 1), some(row, 2), some(row, 3), Array(type, whole),
                       Array(type, rows), Array(type, rows)});
  });
  add(cases, KernelId::LayerNormGradient, name, [=] {
    return makeLaunch(KernelId::LayerNormGradient,
                      {some(whole, 1), some(row, 2), some(rows, 3), some(rows, 4), some(whole, 5),
                       Array(type, whole), Array(type, whole)});
  });
}

void addNormSquared(std::vector<Case> &cases) {
  auto norm = [&](std::string what, std::vector<Array> tensors, Array begin = {}) {
    tensors.insert(tensors.begin(), {Array(DType::F64, {1}), std::move(begin)});
    TestLaunch launch = makeLaunch(KernelId::NormSquared, tensors);
    add(cases, KernelId::NormSquared, what, [=] { return launch.clone(); });
  };
  for (int64_t elements : {0, 1, 15, 16, 17, 4095, 4096, 4097, 20000})
    norm(fmt::format("{} elements", elements), {Array(DType::F32, {elements}, uniform(-1, 1))});
  norm("no tensors", {});
  norm("many tensors",
       {Array(DType::F32, {37, 130}, uniform(-1, 1)), Array(DType::F32, {5}, uniform(-1, 1, 1)),
        Array(DType::F32, {3, 3000}, uniform(-1, 1, 2)),
        Array(DType::F32, {1}, uniform(-1, 1, 3))});
  norm("large squares", {Array(DType::F32, {99}, uniform(-3e38, 3e38))});
  norm("goes on",
       {Array(DType::F32, {3, 3000}, uniform(-1, 1)), Array(DType::F32, {5}, uniform(-1, 1, 1))},
       Array(DType::F64, {1}, uniform(1, 2)));
  norm("f64 with squares that are denormal", {Array(DType::F64, {20}, constant(0x1.8p-512))});
  norm("f64", {Array(DType::F64, {5000}, uniform(-1, 1))});
  for (Layout layout : kAnyLayout)
    norm(std::string(layoutName(layout)), {Array(DType::F32, {67, 65}, uniform(-1, 1), layout)});
}

} // namespace

void addReductionCases(std::vector<Case> &cases) {
  addReduce(cases);
  addSoftmax(cases);
  addLayerNorm(cases);
  for (DType type : {DType::F32, DType::F64})
    addDenormalLayerNorm(cases, type);
  addNormSquared(cases);
}

} // namespace lstmc::conformance

#include "backends/conformance/Cases.h"

namespace lstmc::conformance {

namespace {

void addPack(std::vector<Case> &cases) {
  for (Layout layout : kAnyLayout)
    for (int gates : {0, 1, 3, 4})
      for (int units : {1, 15, 16, 17, 40})
        add(cases, KernelId::Pack,
            fmt::format("{}, {} gates of {}", layoutName(layout), gates, units), [=] {
              const int64_t n = std::max(gates, 1) * units, k = 13;
              return makeLaunch(PackArguments{.gates = gates},
                                {Array(DType::F32, {2, n, k}, uniform(-1, 1), layout),
                                 Array(DType::F32, {2 * packedElements(n, k, gates)})});
            });
  add(cases, KernelId::Pack, "f64", [] {
    return makeLaunch(PackArguments{.gates = 3}, {Array(DType::F64, {1, 24, 7}, uniform(-1, 1)),
                                                  Array(DType::F64, {packedElements(24, 7, 3)})});
  });
  add(cases, KernelId::Pack, "large, transposed", [] {
    return makeLaunch(PackArguments{.gates = 4},
                      {Array(DType::F32, {1, 260, 131}, uniform(-1, 1), Layout::Transposed),
                       Array(DType::F32, {packedElements(260, 131, 4)})});
  });
}

TestLaunch product(DType type, int64_t a, int64_t m, int64_t n, int64_t k, bool bias, Layout layout,
                   Values values = uniform(-1, 1)) {
  Array w(type, {a, n, k}, uniform(-1, 1, 1));
  return makeLaunch(KernelId::Product, {Array(type, {a, m, k}, values, layout), packed(w, 0),
                                        bias ? Array(type, {n}, uniform(-1, 1, 2)) : Array(),
                                        Array(type, {a, m, n}, layout)});
}

void addProduct(std::vector<Case> &cases) {
  // Extents that do not fill the last panel (16 columns) or the last block of rows in a kernel.
  for (int64_t m : {1, 2, 3, 5, 6, 7, 8, 9, 13, 14, 29, 33})
    for (int64_t n : {1, 15, 16, 17, 33, 65, 100})
      for (int64_t k : {1, 7, 64})
        add(cases, KernelId::Product, fmt::format("{}x{}x{}", m, n, k),
            [=] { return product(DType::F32, 1, m, n, k, (m + n + k) % 2, Layout::Dense); });
  for (Layout layout : kRowLayouts)
    for (bool bias : {false, true})
      add(cases, KernelId::Product, fmt::format("{}{}", layoutName(layout), bias ? ", bias" : ""),
          [=] { return product(DType::F32, 3, 10, 37, 21, bias, layout); });
  add(cases, KernelId::Product, "no terms",
      [] { return product(DType::F32, 1, 3, 20, 0, true, Layout::Dense); });
  add(cases, KernelId::Product, "no rows",
      [] { return product(DType::F32, 1, 0, 20, 4, true, Layout::Dense); });
  add(cases, KernelId::Product, "no matrices",
      [] { return product(DType::F32, 0, 2, 20, 4, true, Layout::Dense); });
  add(cases, KernelId::Product, "f64",
      [] { return product(DType::F64, 2, 5, 37, 21, true, Layout::Rows); });
  add(cases, KernelId::Product, "denormals, infinities, NaN",
      [] { return product(DType::F32, 1, 9, 35, 3, true, Layout::Dense, anything()); });
  for (DType type : {DType::F32, DType::F64})
    add(cases, KernelId::Product, fmt::format("{} about denormals", dtypeName(type)), [=] {
      auto some = [=](Shape shape, uint64_t salt) {
        return Array(type, std::move(shape), nearDenormals(type, salt));
      };
      return makeLaunch(KernelId::Product, {some({1, 70, 5}, 1), packed(some({1, 70, 5}, 2), 0),
                                            some({70}, 3), Array(type, {1, 70, 70})});
    });
  add(cases, KernelId::Product, "long",
      [] { return product(DType::F32, 1, 2, 48, 3001, false, Layout::Dense); });
  add(cases, KernelId::Product, "many rows",
      [] { return product(DType::F32, 1, 300, 70, 50, true, Layout::Dense); });
  for (Layout layout : kRowLayouts)
    add(cases, KernelId::Product, fmt::format("several tiles, {}", layoutName(layout)),
        [=] { return product(DType::F32, 2, 131, 137, 70, true, layout); });
  add(cases, KernelId::Product, "sums that are flushed to -0", [] {
    const Array x(DType::F32, {1, 40, 5}, constant(-0x1p-100)),
        w(DType::F32, {1, 20, 5}, constant(0x1p-100));
    return makeLaunch(KernelId::Product,
                      {x, packed(w, 0), Array(), Array(DType::F32, {1, 40, 20})});
  });
  add(cases, KernelId::Product, "bias with a stride", [] {
    TestLaunch launch = product(DType::F32, 1, 4, 20, 5, false, Layout::Dense);
    launch["bias"] = Array(DType::F32, {20}, uniform(-1, 1), Layout::Reversed);
    return launch;
  });
}

struct Use {
  int64_t o, q, k;
  bool embedding = false;
};

/// dw [n, k] from uses with the B rows of a range: dy [o, B, q, n] and x [.., k] of a product, or
/// dy [.., k] and indices of an embedding.
TestLaunch weightGradient(DType type, int64_t n, int64_t k, const ShardRange &range,
                          std::vector<Use> uses, Layout layout, DType indices = DType::I32) {
  const int64_t batch = range.rows();
  bool embedding = false;
  std::vector<Array> operands{Array(type, {n, k}, layout), Array(), Array()};
  for (size_t i = 0; i < uses.size(); ++i) {
    const Use &use = uses[i];
    embedding |= use.embedding;
    operands.emplace_back(type, Shape{use.o, batch, use.q, use.embedding ? k : n},
                          uniform(-1, 1, 2 * i), layout);
    if (use.embedding)
      operands.emplace_back(indices, Shape{use.o, batch, use.q}, integers(-1, n, 2 * i + 1),
                            layout);
    else
      operands.emplace_back(type, Shape{use.o, batch, use.q, k}, uniform(-1, 1, 2 * i + 1), layout);
  }
  const WeightGradientArguments arguments{.range = range};
  if (embedding)
    operands[WeightGradientOperand::scratch] =
        Array(DType::U8, {scratchOf(arguments, n, k, int64_t(dtypeBytes(type))).bytes});
  return makeLaunch(arguments, operands);
}

/// The same over all shards.
TestLaunch weightGradient(DType type, int64_t n, int64_t k, int64_t batch, int64_t shards,
                          std::vector<Use> uses, Layout layout, DType indices = DType::I32) {
  return weightGradient(type, n, k, ShardRange::all(batch, shards), std::move(uses), layout,
                        indices);
}

void addGradients(std::vector<Case> &cases) {
  const KernelId id = KernelId::WeightGradient;
  for (int64_t batch : {1, 2, 3, 5, 7, 8, 9, 16, 20})
    for (int64_t shards : {1, 2, 3, 5, 8, 13})
      add(cases, id, fmt::format("batch {}, {} shards", batch, shards), [=] {
        return weightGradient(DType::F32, 19, 18, batch, shards, {{3, 1, 18}}, Layout::Dense);
      });
  for (int64_t shards : {15, 16, 37}) // what fits into four levels of the tree, and what does not
    add(cases, id, fmt::format("batch 41, {} shards", shards),
        [=] { return weightGradient(DType::F32, 5, 6, 41, shards, {{1, 1, 6}}, Layout::Dense); });
  for (const ShardRange &range : kShardRanges) {
    add(cases, id, rangeName(range), [=] {
      return weightGradient(DType::F32, 19, 18, range, {{3, 1, 18}, {1, 2, 18}}, Layout::Dense);
    });
    add(cases, id, "embedding, " + rangeName(range), [=] {
      return weightGradient(DType::F32, 8, 21, range, {{3, 1, 21, true}}, Layout::Dense);
    });
    add(cases, KernelId::BiasGradient, rangeName(range), [=] {
      return makeLaunch(BiasGradientArguments{.range = range},
                        {Array(DType::F32, {35}), Array(),
                         Array(DType::F32, {3, range.rows(), 2, 35}, uniform(-1, 1))});
    });
  }
  for (int64_t n : {1, 4, 6, 15, 16, 17, 33})
    for (int64_t k : {1, 5, 16, 31, 32, 50})
      add(cases, id, fmt::format("{}x{}", n, k),
          [=] { return weightGradient(DType::F32, n, k, 6, 8, {{4, 1, k}}, Layout::Dense); });
  for (Layout layout : kAnyLayout) {
    add(cases, id, fmt::format("two uses, {}", layoutName(layout)),
        [=] { return weightGradient(DType::F32, 21, 23, 9, 8, {{2, 3, 23}, {1, 4, 23}}, layout); });
    add(cases, id, fmt::format("embedding, {}", layoutName(layout)),
        [=] { return weightGradient(DType::F32, 6, 35, 9, 8, {{5, 2, 35, true}}, layout); });
  }
  for (DType indices : {DType::F32, DType::I64, DType::U8})
    add(cases, id, fmt::format("embedding by {}", dtypeName(indices)), [=] {
      return weightGradient(DType::F32, 30, 17, 11, 8, {{7, 1, 17, true}}, Layout::Dense, indices);
    });
  add(cases, id, "embedding, more shards than rows",
      [] { return weightGradient(DType::F32, 40, 9, 3, 8, {{7, 1, 9, true}}, Layout::Dense); });
  // Most rows of a shard have no index. The small numbers make sums of -0.
  for (double most : {1.0, 2e-38})
    add(cases, id, fmt::format("embedding of many rows, values up to {}", most), [=] {
      TestLaunch launch =
          weightGradient(DType::F32, 150, 37, 13, 8, {{11, 1, 37, true}}, Layout::Dense);
      launch.operands[WeightGradientOperand::kFixed] =
          Array(DType::F32, {11, 13, 1, 37}, uniform(-most, most));
      return launch;
    });
  add(cases, id, "embedding and product of one weight", [] {
    return weightGradient(DType::F32, 12, 20, 7, 8, {{3, 1, 20}, {2, 1, 20, true}, {1, 2, 20}},
                          Layout::Dense);
  });
  add(cases, id, "f64",
      [] { return weightGradient(DType::F64, 5, 6, 5, 8, {{2, 2, 6}}, Layout::Rows); });
  add(cases, id, "f64 embedding",
      [] { return weightGradient(DType::F64, 5, 6, 5, 8, {{2, 2, 6, true}}, Layout::Dense); });
  add(cases, id, "batch major", [] {
    TestLaunch launch = weightGradient(DType::F32, 17, 19, 6, 4, {{5, 1, 19}}, Layout::Dense);
    const size_t use = WeightGradientOperand::kFixed;
    launch.operands[use] = Array(DType::F32, {6, 5, 1, 17}, uniform(-1, 1)).permuted({1, 0, 2, 3});
    launch.operands[use + 1] =
        Array(DType::F32, {6, 5, 1, 19}, uniform(-1, 1, 1)).permuted({1, 0, 2, 3});
    return launch;
  });
  add(cases, id, "no rows",
      [] { return weightGradient(DType::F32, 3, 4, 0, 8, {{2, 1, 4}}, Layout::Dense); });
  add(cases, id, "no uses",
      [] { return weightGradient(DType::F32, 3, 4, 0, 8, {}, Layout::Dense); });
  add(cases, id, "many terms", [] {
    return weightGradient(DType::F32, 65, 68, 50, 2, {{4, 1, 68}, {2, 2, 68}}, Layout::Dense);
  });
  add(cases, id, "large",
      [] { return weightGradient(DType::F32, 130, 70, 8, 8, {{10, 1, 70}}, Layout::Dense); });

  for (Layout layout : kAnyLayout)
    for (int64_t batch : {1, 5, 8, 19})
      add(cases, KernelId::BiasGradient, fmt::format("batch {}, {}", batch, layoutName(layout)),
          [=] {
            return makeLaunch(BiasGradientArguments{.range = ShardRange::all(batch, 8)},
                              {Array(DType::F32, {37}, layout), Array(),
                               Array(DType::F32, {3, batch, 2, 37}, uniform(-1, 1), layout),
                               Array(DType::F32, {1, batch, 1, 37}, uniform(-1, 1, 1), layout)});
          });
  for (int64_t n : {1, 15, 16, 17, 64, 1000})
    add(cases, KernelId::BiasGradient, fmt::format("{} columns", n), [=] {
      return makeLaunch(
          BiasGradientArguments{.range = ShardRange::all(11, 5)},
          {Array(DType::F32, {n}), Array(), Array(DType::F32, {6, 11, 1, n}, uniform(-1, 1))});
    });
  add(cases, KernelId::BiasGradient, "f64", [] {
    return makeLaunch(
        BiasGradientArguments{.range = ShardRange::all(11, 3)},
        {Array(DType::F64, {9}), Array(), Array(DType::F64, {6, 11, 1, 9}, uniform(-1, 1))});
  });
  add(cases, KernelId::BiasGradient, "no uses", [] {
    return makeLaunch(BiasGradientArguments{.range = ShardRange::all(0, 3)},
                      {Array(DType::F32, {9}), Array()});
  });
}

void addDenormalGradients(std::vector<Case> &cases, DType type) {
  const std::string name = fmt::format("{} about denormals", dtypeName(type));
  auto some = [=](Shape shape, uint64_t salt) {
    return Array(type, std::move(shape), nearDenormals(type, salt));
  };
  const size_t first = WeightGradientOperand::kFixed;
  add(cases, KernelId::WeightGradient, name, [=] {
    TestLaunch launch = weightGradient(type, 65, 70, 6, 4, {{2, 1, 70}}, Layout::Dense);
    launch.operands[first] = some({2, 6, 1, 65}, 1);
    launch.operands[first + 1] = some({2, 6, 1, 70}, 2);
    return launch;
  });
  add(cases, KernelId::WeightGradient, name + ", embedding", [=] {
    TestLaunch launch = weightGradient(type, 5, 37, 13, 4, {{5, 1, 37, true}}, Layout::Dense);
    launch.operands[first] = some({5, 13, 1, 37}, 1);
    return launch;
  });
  add(cases, KernelId::BiasGradient, name, [=] {
    return makeLaunch(BiasGradientArguments{.range = ShardRange::all(3, 2)},
                      {Array(type, {900}), Array(), some({1, 3, 1, 900}, 1)});
  });
}

/// One shard whose sum goes on from `begin`, which may be the result itself.
void addSumsThatGoOn(std::vector<Case> &cases) {
  auto goesOn = [](TestLaunch launch, const char *result, bool inPlace, Layout layout) {
    const Array &sum = launch[result];
    const Tensor &view = sum.tensor;
    Array begin(view.dtype, Shape(view.shape.begin(), view.shape.begin() + view.rank),
                uniform(-1, 1, 9), layout);
    launch["begin"] = begin;
    if (inPlace)
      launch[result] = begin;
    return launch;
  };
  const ShardRange one = ShardRange::all(5, 1), third = {20, 8, 3, 1};
  for (bool inPlace : {false, true}) {
    const char *where = inPlace ? "in place" : "from another";
    for (Layout layout : kAnyLayout) {
      const std::string name = fmt::format("goes on, {}, {}", where, layoutName(layout));
      add(cases, KernelId::WeightGradient, name, [=] {
        return goesOn(weightGradient(DType::F32, 21, 23, third, {{2, 3, 23}, {1, 4, 23}}, layout),
                      "dw", inPlace, layout);
      });
      add(cases, KernelId::BiasGradient, name, [=] {
        return goesOn(makeLaunch(BiasGradientArguments{.range = one},
                                 {Array(DType::F32, {150}, layout), Array(),
                                  Array(DType::F32, {3, 5, 2, 150}, uniform(-1, 1), layout)}),
                      "db", inPlace, layout);
      });
    }
    add(cases, KernelId::WeightGradient, fmt::format("goes on, {}, embedding", where), [=] {
      return goesOn(
          weightGradient(DType::F32, 12, 20, one, {{3, 1, 20}, {2, 1, 20, true}}, Layout::Dense),
          "dw", inPlace, Layout::Dense);
    });
    add(cases, KernelId::WeightGradient, fmt::format("goes on, {}, f64", where), [=] {
      return goesOn(weightGradient(DType::F64, 5, 6, one, {{2, 2, 6}}, Layout::Rows), "dw", inPlace,
                    Layout::Rows);
    });
    // More than one region of dw and one pass of rows.
    add(cases, KernelId::WeightGradient, fmt::format("goes on, {}, large", where), [=] {
      return goesOn(weightGradient(DType::F32, 310, 270, one, {{30, 1, 270}}, Layout::Dense), "dw",
                    inPlace, Layout::Dense);
    });
    add(cases, KernelId::BiasGradient, fmt::format("goes on, {}, f64", where), [=] {
      return goesOn(makeLaunch(BiasGradientArguments{.range = third},
                               {Array(DType::F64, {9}), Array(),
                                Array(DType::F64, {6, third.rows(), 1, 9}, uniform(-1, 1))}),
                    "db", inPlace, Layout::Dense);
    });
  }
}

} // namespace

void addProductCases(std::vector<Case> &cases) {
  addPack(cases);
  addProduct(cases);
  addGradients(cases);
  for (DType type : {DType::F32, DType::F64})
    addDenormalGradients(cases, type);
  addSumsThatGoOn(cases);
}

} // namespace lstmc::conformance

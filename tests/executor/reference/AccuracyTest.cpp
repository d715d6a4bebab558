// Kernels that sum: within (K + 8) u of the sum of magnitudes, compared with naive formulas in long
// double.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <gtest/gtest.h>

#include "executor/abi/Kernels.h"
#include "tests/executor/reference/Run.h"

namespace lstmc::reference {
namespace {

using L = long double;

/// Unit roundoff.
L roundoff(DType type) { return type == DType::F32 ? 0x1p-24L : 0x1p-53L; }

class Accuracy : public testing::TestWithParam<DType> {
protected:
  DType type = GetParam();
  L u = roundoff(type);
};

TEST_P(Accuracy, Product) {
  for (int64_t k : {1, 2, 17, 300, 2000}) {
    const int64_t m = 3, n = 19;
    Array x(type, {1, m, k}, uniform(-1, 1)), w(type, {1, n, k}, uniform(-1, 1, 1)),
        b(type, {n}, uniform(-1, 1, 2));
    Array y(type, {1, m, n});
    run(KernelId::Product, {x, packed(w, 0), b, y});
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        L sum = b.at({j}), magnitude = std::fabs(sum);
        for (int64_t e = 0; e < k; ++e) {
          const L term = L(x.at({0, i, e})) * L(w.at({0, j, e}));
          sum += term;
          magnitude += std::fabs(term);
        }
        EXPECT_LE(std::fabs(y.at({0, i, j}) - sum), (k + 8) * u * magnitude) << k;
      }
  }
}

TEST_P(Accuracy, WeightAndBiasGradients) {
  const int64_t O = 3, B = 11, Q = 2, N = 5, K = 7;
  Array dy(type, {O, B, Q, N}, uniform(-1, 1)), x(type, {O, B, Q, K}, uniform(-1, 1, 1));
  Array dw(type, {N, K}), db(type, {N});
  run(WeightGradientArguments{.range = ShardRange::all(B, 8)}, {dw, Array(), Array(), dy, x});
  run(BiasGradientArguments{.range = ShardRange::all(B, 8)}, {db, Array(), dy});
  for (int64_t n = 0; n < N; ++n) {
    L biasSum = 0, biasMagnitude = 0;
    for (int64_t k = 0; k < K; ++k) {
      L sum = 0, magnitude = 0;
      for (int64_t o = 0; o < O; ++o)
        for (int64_t b = 0; b < B; ++b)
          for (int64_t q = 0; q < Q; ++q) {
            const L d = dy.at({o, b, q, n}), term = d * x.at({o, b, q, k});
            sum += term;
            magnitude += std::fabs(term);
            biasSum += k == 0 ? d : 0;
            biasMagnitude += k == 0 ? std::fabs(d) : 0;
          }
      EXPECT_LE(std::fabs(dw.at({n, k}) - sum), (O * B * Q + 8) * u * magnitude);
    }
    EXPECT_LE(std::fabs(db.at({n}) - biasSum), (O * B * Q + 8) * u * biasMagnitude);
  }
}

TEST_P(Accuracy, Reductions) {
  for (int64_t count : {1, 15, 16, 17, 1000}) {
    Array x(type, {2, count}, uniform(-1.2, 1.2));
    for (int64_t r = 0; r < 2; ++r) {
      L sum = 0, magnitude = 0, squares = 0, product = 1, most = -9, least = 9;
      int64_t where = 0;
      for (int64_t e = 0; e < count; ++e) {
        const L v = x.at({r, e});
        sum += v;
        magnitude += std::fabs(v);
        squares += v * v;
        product *= v;
        where = v > most ? e : where;
        most = std::max(most, v);
        least = std::min(least, v);
      }
      auto reduced = [&](ReduceKind kind) {
        Array y(type, {2});
        run(ReduceArguments{.kind = kind, .kept = 1}, {x, y});
        return L(y.at({r}));
      };
      EXPECT_LE(std::fabs(reduced(ReduceKind::Sum) - sum), (count + 8) * u * magnitude);
      EXPECT_LE(std::fabs(reduced(ReduceKind::Mean) - sum / count),
                (count + 9) * u * magnitude / count);
      EXPECT_LE(std::fabs(reduced(ReduceKind::Norm) - std::sqrt(squares)),
                (count + 8) * u * std::sqrt(squares));
      EXPECT_LE(std::fabs(reduced(ReduceKind::Prod) - product),
                (count + 8) * u * std::fabs(product) + 1e-38L);
      EXPECT_EQ(reduced(ReduceKind::Max), most);
      EXPECT_EQ(reduced(ReduceKind::Min), least);
      EXPECT_EQ(reduced(ReduceKind::ArgMax), where);
    }
  }
}

TEST_P(Accuracy, NormSquaredIsSummedInF64) {
  Array a(type, {5000}, uniform(-1, 1)), b(type, {3, 7}, uniform(-1, 1, 1)), y(DType::F64, {1});
  run(KernelId::NormSquared, {y, {}, a, b});
  L sum = 0;
  for (const Array &x : {a, b})
    for (double v : x.values())
      sum += L(v) * v;
  EXPECT_LE(std::fabs(y.at({0}) - sum), (5021 + 8) * 0x1p-53L * sum);
}

// exp is within 4 ULP, the sum within (C + 8) u, and z = x - m is rounded by u |z|, which exp
// multiplies by |z|.
TEST_P(Accuracy, SoftmaxAndItsLogarithm) {
  const int64_t R = 4, C = 37;
  const double temperature = 1.5;
  Array x(type, {R, C}, uniform(-9, 9)), length(DType::I32, {R}, listed({37, 1, 0, 20}));
  Array p(type, {R, C}), logP(type, {R, C});
  run(SoftmaxArguments{.log = false, .temperature = temperature}, {x, length, p});
  run(SoftmaxArguments{.log = true, .temperature = temperature}, {x, length, logP});
  for (int64_t r = 0; r < R; ++r) {
    const int64_t count = int64_t(length.at({r}));
    L most = -99, sum = 0;
    for (int64_t c = 0; c < count; ++c)
      most = std::max(most, L(x.at({r, c})) / temperature);
    for (int64_t c = 0; c < count; ++c)
      sum += std::exp(x.at({r, c}) / temperature - most);
    for (int64_t c = 0; c < C; ++c) {
      const L z = x.at({r, c}) / temperature - most, exact = c < count ? std::exp(z) / sum : 0;
      EXPECT_LE(std::fabs(p.at({r, c}) - exact), (C + 20 + 4 * std::fabs(z)) * u * exact);
      const L exactLog = c < count ? z - std::log(sum) : 0;
      EXPECT_LE(std::fabs(logP.at({r, c}) - exactLog), (C + 20 + 4 * std::fabs(z)) * u);
    }
  }
}

TEST_P(Accuracy, LayerNorm) {
  const int64_t R = 3, C = 50;
  const double epsilon = 1e-5;
  Array x(type, {R, C}, uniform(-1, 3)), gamma(type, {C}, uniform(0.5, 2, 1)),
      beta(type, {C}, uniform(-1, 1, 2));
  Array y(type, {R, C}), mean(type, {R}), rstd(type, {R});
  run(LayerNormArguments{.epsilon = epsilon}, {x, gamma, beta, y, mean, rstd});
  for (int64_t r = 0; r < R; ++r) {
    L sum = 0, squares = 0;
    for (int64_t c = 0; c < C; ++c)
      sum += x.at({r, c});
    const L m = sum / C;
    for (int64_t c = 0; c < C; ++c)
      squares += (x.at({r, c}) - m) * (x.at({r, c}) - m);
    const L s = 1 / std::sqrt(squares / C + epsilon);
    EXPECT_LE(std::fabs(mean.at({r}) - m), (C + 8) * u * 3); // |x| <= 3
    EXPECT_LE(std::fabs(rstd.at({r}) - s), (C + 8) * u * s * 3);
    for (int64_t c = 0; c < C; ++c) {
      const L n = (x.at({r, c}) - m) * s * gamma.at({c});
      EXPECT_LE(std::fabs(y.at({r, c}) - (n + beta.at({c}))), (C + 8) * u * 3 * (6 * s + 1));
    }
  }
}

/// -log softmax(x)[label], and whether the label has the largest entry.
std::pair<L, bool> rowLoss(const std::vector<double> &row, int64_t label) {
  L most = -99, sum = 0;
  size_t first = 0;
  for (size_t c = 0; c < row.size(); ++c) {
    first = row[c] > most ? c : first;
    most = std::max(most, L(row[c]));
  }
  for (double v : row)
    sum += std::exp(v - most);
  return {std::log(sum) - (row[label] - most), int64_t(first) == label};
}

TEST_P(Accuracy, Metrics) {
  const int64_t O = 2, B = 9, Q = 3, C = 11;
  Array x(type, {O, B, Q, C}, uniform(-4, 4)), label(DType::F32, {O, B, Q}, integers(0, C - 1, 1));
  Array y(DType::F64, {kMetricFields});
  run(SoftmaxMetricArguments{.range = ShardRange::all(B, 8),
                             .useIgnore = true,
                             .valid = true,
                             .ignoreLabel = 3,
                             .smoothAlpha = 0,
                             .scale = 0.5},
      {x, label, y});
  L loss = 0, right = 0, counted = 0, ignored = 0;
  std::vector<double> all = x.values(), labels = label.values();
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == 3) {
      ++ignored;
      continue;
    }
    auto [l, hit] = rowLoss({all.begin() + i * C, all.begin() + (i + 1) * C}, int64_t(labels[i]));
    loss += l;
    right += hit;
    ++counted;
  }
  const double near = double((C + 60) * u * counted * 4);
  EXPECT_NEAR(y.at({0}), double(loss) / 2, near / 2);
  EXPECT_EQ(y.values()[1], counted);
  EXPECT_EQ(y.values()[2], counted);
  EXPECT_EQ(y.values()[3], ignored);
  EXPECT_EQ(y.values()[4], right);
  EXPECT_NEAR(y.values()[5], double(loss), near);

  Array a(type, {O, B, Q}, uniform(-4, 4, 2)), t(type, {O, B, Q}, uniform(0, 1, 3));
  for (RegressionLoss kind :
       {RegressionLoss::HalfSquare, RegressionLoss::Absolute, RegressionLoss::Logistic}) {
    const bool logistic = kind == RegressionLoss::Logistic;
    run(RegressionMetricArguments{.range = ShardRange::all(B, 8), .loss = kind, .scale = 0.5},
        {a, t, y});
    L sums[3] = {};
    for (size_t i = 0; i < a.values().size(); ++i) {
      const L v = a.values()[i], truth = t.values()[i];
      const L d = (logistic ? 1 / (1 + std::exp(-v)) : v) - truth;
      sums[0] += logistic                           ? std::log1p(std::exp(v)) - v * truth
                 : kind == RegressionLoss::Absolute ? std::fabs(d)
                                                    : d * d / 2;
      sums[1] += std::fabs(d);
      sums[2] += d * d;
    }
    EXPECT_NEAR(y.values()[0], double(sums[0]) / 2, double(sums[0]) * 1e-14);
    EXPECT_EQ(y.values()[1], O * B * Q);
    EXPECT_EQ(y.values()[2], O * B * Q);
    EXPECT_NEAR(y.values()[3], double(sums[1]), double(sums[1] * (logistic ? 8 * u : 1e-14L)));
    EXPECT_NEAR(y.values()[4], double(sums[2]), double(sums[2] * (logistic ? 16 * u : 1e-14L)));
    EXPECT_EQ(y.values()[5], 0);
  }

  run(
      LossMetricArguments{
          .range = ShardRange::all(B, 8), .valid = true, .validThresh = 0.5, .scale = 2},
      {a, y});
  L sum = 0;
  double above = 0;
  for (double v : a.values()) {
    sum += v;
    above += v > 0.5;
  }
  EXPECT_NEAR(y.values()[0], double(2 * sum), 2e-13);
  EXPECT_EQ(y.values(), (std::vector<double>{y.values()[0], above, double(O * B * Q), 0, 0, 0}));
}

/// Places in the order of likelihood, by sorting: the larger first, of equals the first.
std::vector<size_t> placesOf(const std::vector<double> &row) {
  std::vector<size_t> order(row.size()), places(row.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::sort(order, {}, [&](size_t c) { return std::pair(-row[c], c); });
  for (size_t place = 0; place < order.size(); ++place)
    places[order[place]] = place;
  return places;
}

/// What `evaluate` measures beside, of logits many of which are equal.
TEST_P(Accuracy, RanksOfLabels) {
  const int64_t B = 90;
  for (int64_t C : {2, 5, 30})
    for (bool probabilities : {false, true}) {
      Array x(type, {1, B, 1, C}, integers(-2, 2)), y(DType::F64, {kEvaluationFields});
      Array classes(DType::I32, {1, B, 1}, integers(-1, C, 1)),
          shares(type, {1, B, 1, C}, integers(0, 3, 2));
      run(SoftmaxMetricArguments{.range = ShardRange::all(B, 8),
                                 .useIgnore = true,
                                 .valid = true,
                                 .ignoreLabel = -1,
                                 .smoothAlpha = 0,
                                 .scale = 1},
          {x, probabilities ? shares : classes, y});
      std::vector<double> want(kEvaluationFields), all = x.values(), given = shares.values();
      for (int64_t b = 0; b < B; ++b) {
        auto rowOf = [&](const std::vector<double> &of) {
          return placesOf({of.begin() + b * C, of.begin() + (b + 1) * C});
        };
        auto truth = int64_t(classes.values()[size_t(b)]);
        if (const std::vector<size_t> likely = rowOf(given); probabilities)
          truth = std::ranges::find(likely, size_t(0)) - likely.begin();
        if (!probabilities && truth == -1)
          continue;
        const std::vector<size_t> places = rowOf(all);
        if (C == 2) {
          const bool said = places[1] == 0;
          ++want[truth == 1 ? (said ? 6 : 8) : (said ? 7 : 0)];
        }
        for (size_t top = 2; truth < C && top <= 10; ++top)
          want[7 + top] += places[size_t(truth)] < top;
      }
      std::vector<double> got = y.values();
      for (size_t field = 6; field < want.size(); ++field)
        EXPECT_EQ(got[field], want[field]) << C << " classes, field " << field;
    }
}

/// Moments of outputs and labels, and on which side of one half they are; halves are on the lower.
TEST_P(Accuracy, MomentsOfRegressions) {
  const int64_t B = 50;
  Array a(type, {2, B, 3}, integers(-4, 4)), t(type, {2, B, 3}, integers(0, 4, 1));
  Array y(DType::F64, {kEvaluationFields});
  for (RegressionLoss kind : {RegressionLoss::HalfSquare, RegressionLoss::Logistic}) {
    run(RegressionMetricArguments{.range = ShardRange::all(B, 8), .loss = kind, .scale = 1},
        {a, t, y});
    const bool logistic = kind == RegressionLoss::Logistic;
    L want[6] = {};
    for (size_t i = 0; i < a.values().size(); ++i) {
      const L v = a.values()[i], p = logistic ? 1 / (1 + std::exp(-v)) : v, truth = t.values()[i];
      const L terms[] = {L((p > 0.5) == (truth > 0.5)), p, truth, p * p, truth * truth, p * truth};
      for (size_t k = 0; k < 6; ++k)
        want[k] += terms[k];
    }
    for (size_t k = 0; k < 6; ++k) // integers are exact, a sigmoid within 8 u, its square within 16
      EXPECT_NEAR(y.values()[6 + k], double(want[k]), logistic ? double(16 * u * want[k]) : 0.0)
          << k;
    for (size_t field = 12; field < size_t(kEvaluationFields); ++field)
      EXPECT_EQ(y.values()[field], 0);
  }
}

/// log(sum(exp(x))) - sum(q * x), which a label smoothed by alpha or a label of probabilities has.
TEST_P(Accuracy, CrossEntropyOfDistributions) {
  const int64_t B = 9, C = 11;
  Array x(type, {1, B, 1, C}, uniform(-4, 4)), label(DType::F32, {1, B, 1}, integers(0, C - 1, 1));
  Array probabilities(type, {1, B, 1, C}, uniform(0, 1, 1)), y(DType::F64, {kMetricFields});
  std::vector<double> all = x.values();
  for (double alpha : {0.0, 0.1}) { // 0: probabilities
    const bool given = alpha == 0;
    run(SoftmaxMetricArguments{.range = ShardRange::all(B, 8),
                               .useIgnore = false,
                               .valid = false,
                               .ignoreLabel = -1,
                               .smoothAlpha = alpha,
                               .scale = 1},
        {x, given ? probabilities : label, y});
    L want = 0;
    for (int64_t b = 0; b < B; ++b) {
      L exps = 0, cross = 0;
      for (int64_t c = 0; c < C; ++c) {
        const size_t at = size_t(b * C + c);
        const L smoothed = double(c) == label.values()[size_t(b)] ? 1 - alpha : alpha / (C - 1);
        exps += std::exp(L(all[at]));
        cross += (given ? L(probabilities.values()[at]) : smoothed) * all[at];
      }
      want += std::log(exps) - cross;
    }
    // The logarithm of a sum of C terms within (C + 60) u, times at most the sum of q (C / 2 + 1).
    EXPECT_NEAR(y.values()[0], double(want), double((C + 60) * u * B * C));
    EXPECT_EQ(y.values()[1], B);
  }
}

TEST_P(Accuracy, SoftmaxCrossEntropy) {
  Array x(type, {20, 7}, uniform(-4, 4)), label(DType::I32, {20}, integers(0, 6, 1)), y(type, {1});
  run(KernelId::SoftmaxCrossEntropy, {x, label, y});
  L loss = 0;
  std::vector<double> all = x.values();
  for (int64_t n = 0; n < 20; ++n)
    loss += rowLoss({all.begin() + n * 7, all.begin() + (n + 1) * 7}, int64_t(label.at({n}))).first;
  EXPECT_NEAR(y.at({0}), double(loss), double(60 * u * loss));
}

INSTANTIATE_TEST_SUITE_P(Types, Accuracy, testing::Values(DType::F32, DType::F64),
                         [](const auto &info) { return std::string(dtypeName(info.param)); });

} // namespace
} // namespace lstmc::reference

// Every row of executor/abi/Optimizers.def: compares its updates with MXNet's formulas, written
// here in f64, on the same gradients; checks for the same bits on several devices, and after stop
// and resume.
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "executor/abi/Optimizers.h"
#include "executor/training/SessionTrainable.h"
#include "executor/training/Trainer.h"
#include "frontend/symbol/Module.h"
#include "frontend/symbol/Render.h"
#include "tests/e2e/Net.h"
#include "tests/executor/data/Files.h"

namespace lstmc::e2e {
namespace {

// 5,000 weights, so that they can be divided into slices; a bias, which does not decay.
constexpr const char *kNet = R"(N = dim("batch", 8)
def net(data: float32[N, 50], label: float32[N, 100]):
    y = FullyConnected(data, num_hidden=100, name="fc")
    return LinearRegressionOutput(y, label)
)";

passes::Compiled compileText(const passes::CompileOptions &options) {
  Checked<symbol::Network> net = lnet::loadText("net.lnet", kNet);
  if (!net.ok())
    throw std::runtime_error(symbol::render(net.diagnostics()));
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*net->graph);
  Checked<passes::Compiled> compiled = passes::compile(*module, options);
  if (!compiled.ok())
    throw std::runtime_error(symbol::render(compiled.diagnostics()));
  return std::move(*compiled);
}

using Numbers = std::vector<double>;

/// A parameter in the test's own arithmetic: its elements, and the optimizer's values by slot.
struct Parameter {
  Numbers w;
  std::map<std::string, Numbers> state;

  double &of(const std::string &slot, size_t i) {
    Numbers &numbers = state[slot];
    numbers.resize(w.size());
    return numbers[i];
  }
};

/// The inputs of an update, with MXNet's names.
struct Given {
  double lr, wd, clip;
  int t;
  double clipped(double x) const { return std::min(std::max(x, -clip), clip); }
};

using Update = std::function<void(Parameter &, const Numbers &, const Given &)>;

/// For formulas that work element by element.
template <typename Element> Update elementwise(Element element) {
  return [element](Parameter &p, const Numbers &gradient, const Given &given) {
    for (size_t i = 0; i < p.w.size(); ++i)
      element(p, i, gradient[i], given);
  };
}

struct Case {
  std::string name, optimizer;
  std::map<std::string, double> keys;
  Update update;
};

void PrintTo(const Case &each, std::ostream *stream) { *stream << each.name; }

double sign(double x) { return double(x > 0) - double(x < 0); }

// Source: MXNet 1.9.1 python/mxnet/optimizer/optimizer.py and src/operator/optimizer_op-inl.h;
// adamw: 2.0, python/mxnet/optimizer/adamW.py.
void addDescents(std::vector<Case> &cases) {
  Update plain = elementwise([](Parameter &p, size_t i, double g, const Given &given) {
    p.w[i] = (1 - given.lr * given.wd) * p.w[i] - given.lr * given.clipped(g);
  });
  cases.push_back({"sgd", "sgd", {}, plain});
  cases.push_back({"nag_without_momentum", "nag", {}, plain});
  cases.push_back({"sgd_with_momentum",
                   "sgd",
                   {{"momentum", 0.75}},
                   elementwise([](Parameter &p, size_t i, double g, const Given &given) {
                     double &m = p.of("momentum", i);
                     m = 0.75 * m - given.lr * given.wd * p.w[i] - given.lr * given.clipped(g);
                     p.w[i] += m;
                   })});
  cases.push_back({"nag",
                   "nag",
                   {{"momentum", 0.75}},
                   elementwise([](Parameter &p, size_t i, double g, const Given &given) {
                     double &m = p.of("momentum", i);
                     double grad = given.clipped(g) + given.wd * p.w[i];
                     m *= 0.75;
                     p.w[i] += -m + (0.75 + 1) * (m - given.lr * grad);
                     m -= given.lr * grad;
                   })});
  cases.push_back({"signum",
                   "signum",
                   {{"wd_lh", 0.5}},
                   elementwise([](Parameter &p, size_t i, double g, const Given &given) {
                     double &m = p.of("momentum", i);
                     m = 0.9 * m - (1 - 0.9) * given.wd * p.w[i] - (1 - 0.9) * given.clipped(g);
                     p.w[i] = (1 - given.lr * 0.5) * p.w[i] + given.lr * sign(m);
                   })});
  cases.push_back({"signum_without_momentum",
                   "signum",
                   {{"momentum", 0}},
                   elementwise([](Parameter &p, size_t i, double g, const Given &given) {
                     p.w[i] = (1 - given.lr * given.wd) * p.w[i] - given.lr * sign(g);
                   })});
}

void addAdaptive(std::vector<Case> &cases) {
  cases.push_back({"adagrad",
                   "adagrad",
                   {},
                   elementwise([](Parameter &p, size_t i, double g, const Given &given) {
                     double &h = p.of("history", i);
                     g = given.clipped(g);
                     h += g * g;
                     p.w[i] -= given.lr * (g / std::sqrt(h + 1e-7) + given.wd * p.w[i]);
                   })});
  cases.push_back({"rmsprop",
                   "rmsprop",
                   {{"clip_weights", 0.06}},
                   elementwise([](Parameter &p, size_t i, double g, const Given &given) {
                     double &n = p.of("mean_square", i);
                     g = given.clipped(g + given.wd * p.w[i]);
                     n = (1 - 0.9) * g * g + 0.9 * n;
                     double w = p.w[i] - given.lr * g / std::sqrt(n + 1e-8);
                     p.w[i] = std::min(std::max(w, -0.06), 0.06);
                   })});
  cases.push_back({"rmsprop_centered",
                   "rmsprop",
                   {{"centered", 1}, {"gamma2", 0.5}},
                   elementwise([](Parameter &p, size_t i, double g, const Given &given) {
                     double &n = p.of("mean_square", i), &m = p.of("mean", i);
                     double &d = p.of("move", i);
                     g = given.clipped(g + given.wd * p.w[i]);
                     n = (1 - 0.9) * g * g + 0.9 * n;
                     m = (1 - 0.9) * g + 0.9 * m;
                     d = 0.5 * d - given.lr * g / std::sqrt(n - m * m + 1e-8);
                     p.w[i] += d;
                   })});
  cases.push_back({"adadelta",
                   "adadelta",
                   {},
                   elementwise([](Parameter &p, size_t i, double g, const Given &given) {
                     double &n = p.of("mean_square", i), &d = p.of("mean_square_move", i);
                     g = given.clipped(g);
                     n = 0.9 * n + (1 - 0.9) * g * g;
                     double move = std::sqrt(d + 1e-5) / std::sqrt(n + 1e-5) * g;
                     d = 0.9 * d + (1 - 0.9) * move * move;
                     p.w[i] -= move + given.wd * p.w[i];
                   })});
  cases.push_back({"ftrl",
                   "ftrl",
                   {{"lamda1", 0.25}},
                   elementwise([](Parameter &p, size_t i, double g, const Given &given) {
                     double &z = p.of("z", i), &n = p.of("square_sum", i);
                     g = given.clipped(g);
                     z += g - (std::sqrt(n + g * g) - std::sqrt(n)) * p.w[i] / given.lr;
                     n += g * g;
                     p.w[i] = std::fabs(z) > 0.25 ? (sign(z) * 0.25 - z) /
                                                        ((1 + std::sqrt(n)) / given.lr + given.wd)
                                                  : 0;
                   })});
}

/// Updates mean and variance with a gradient that includes decay and clipping.
void take(Parameter &p, size_t i, double g) {
  double &m = p.of("mean", i), &v = p.of("variance", i);
  m = 0.9 * m + (1 - 0.9) * g;
  v = 0.999 * v + (1 - 0.999) * g * g;
}

/// Uses an f64 net, so that nothing rounds it to f32.
double adamRate(const Given &given) {
  return given.lr * std::sqrt(1 - std::pow(0.999, given.t)) / (1 - std::pow(0.9, given.t));
}

void addMeans(std::vector<Case> &cases) {
  cases.push_back(
      {"adam", "adam", {}, elementwise([](Parameter &p, size_t i, double g, const Given &given) {
         take(p, i, given.clipped(g + given.wd * p.w[i]));
         p.w[i] -= adamRate(given) * p.of("mean", i) / (std::sqrt(p.of("variance", i)) + 1e-8);
       })});
  cases.push_back(
      {"adamw", "adamw", {}, elementwise([](Parameter &p, size_t i, double g, const Given &given) {
         take(p, i, given.clipped(g));
         double d = p.of("mean", i) / (std::sqrt(p.of("variance", i)) + 1e-6);
         p.w[i] -= adamRate(given) * (d + given.wd * p.w[i]);
       })});
  cases.push_back({"adamw_biased",
                   "adamw",
                   {{"correct_bias", 0}},
                   elementwise([](Parameter &p, size_t i, double g, const Given &given) {
                     take(p, i, given.clipped(g));
                     double d = p.of("mean", i) / (std::sqrt(p.of("variance", i)) + 1e-6);
                     p.w[i] -= given.lr * (d + given.wd * p.w[i]);
                   })});
  cases.push_back({"adamax",
                   "adamax",
                   {},
                   elementwise([](Parameter &p, size_t i, double g, const Given &given) {
                     double &m = p.of("mean", i), &u = p.of("infinity_norm", i);
                     g = given.clipped(g + given.wd * p.w[i]);
                     m = 0.9 * m + (1 - 0.9) * g;
                     u = std::max(0.999 * u, std::fabs(g));
                     double rate = given.lr / (1 - std::pow(0.9, given.t));
                     p.w[i] -= u > 0 ? rate * m / u : 0;
                   })});
  cases.push_back(
      {"ftml", "ftml", {}, elementwise([](Parameter &p, size_t i, double g, const Given &given) {
         double &d = p.of("d", i), &v = p.of("variance", i), &z = p.of("z", i);
         g = given.clipped(g + given.wd * p.w[i]);
         v = 0.999 * v + (1 - 0.999) * g * g;
         double now = (1 - std::pow(0.6, given.t)) / given.lr *
                      (std::sqrt(v / (1 - std::pow(0.999, given.t))) + 1e-8);
         z = 0.6 * z + (1 - 0.6) * g - (now - 0.6 * d) * p.w[i];
         d = now;
         p.w[i] = -z / d;
       })});
  cases.push_back(
      {"nadam", "nadam", {}, elementwise([](Parameter &p, size_t i, double g, const Given &given) {
         auto momentum = [](int t) { return 0.9 * (1 - 0.5 * std::pow(0.96, t * 0.004)); };
         double schedule = 1;
         for (int t = 1; t <= given.t; ++t)
           schedule *= momentum(t);
         g = given.clipped(g + given.wd * p.w[i]);
         take(p, i, g);
         double next = momentum(given.t + 1);
         double prime = g / (1 - schedule);
         double mean = p.of("mean", i) / (1 - schedule * next);
         double variance = p.of("variance", i) / (1 - std::pow(0.999, given.t));
         double bar = (1 - momentum(given.t)) * prime + next * mean;
         p.w[i] -= given.lr * bar / (std::sqrt(variance) + 1e-8);
       })});
  cases.push_back({"lamb",
                   "lamb",
                   {{"upper_bound", 1.5}},
                   [](Parameter &p, const Numbers &gradient, const Given &given) {
                     Numbers move(p.w.size());
                     double r1 = 0, r2 = 0;
                     for (size_t i = 0; i < p.w.size(); ++i) {
                       take(p, i, given.clipped(gradient[i]));
                       double mean = p.of("mean", i) / (1 - std::pow(0.9, given.t));
                       double variance = p.of("variance", i) / (1 - std::pow(0.999, given.t));
                       move[i] = mean / (std::sqrt(variance) + 1e-6) + given.wd * p.w[i];
                       r1 += p.w[i] * p.w[i];
                       r2 += move[i] * move[i];
                     }
                     r1 = std::min(std::sqrt(r1), 1.5);
                     r2 = std::sqrt(r2);
                     double ratio = r1 == 0 || r2 == 0 ? 1 : r1 / r2;
                     for (size_t i = 0; i < p.w.size(); ++i)
                       p.w[i] -= given.lr * ratio * move[i];
                   }});
}

std::vector<Case> cases() {
  std::vector<Case> cases;
  addDescents(cases);
  addAdaptive(cases);
  addMeans(cases);
  return cases;
}

/// Compares with the test's arithmetic: f64, all keys used, rates that are exact in f32.
constexpr double kRate = 0.0625, kDecay = 0.125, kClip = 0.75, kRescale = 32;

passes::CompileOptions optionsOf(const Case &each) {
  passes::CompileOptions options;
  options.entries = {"step"};
  options.optimizer = {.name = each.optimizer,
                       .keys = each.keys,
                       .wd = kDecay,
                       .rescaleGrad = kRescale,
                       .clipGradient = kClip};
  return options;
}

void step(Session &session, int64_t update) {
  session.setScalar("learning_rate", kRate);
  session.setScalar("update", update);
  session.setScalar("seed", int64_t(3));
  feed(session, "step", update, 2, 1);
  Status status = session.run("step");
  ASSERT_TRUE(status.ok()) << status.error().text();
}

Numbers numbersOf(const Tensor &tensor) {
  return Numbers(tensor.as<double>(), tensor.as<double>() + tensor.elements());
}

class Optimizers : public testing::TestWithParam<Case> {};

/// Both sides are f64, with at most 40 roundings from a gradient to a weight. No differences of
/// nearly equal numbers occur, except n - m * m (rmsprop_centered), which is at least a tenth of n
/// after the first update. Norms add 5,000 terms in another order: 5,000 * 2^-53 < 1e-12.
constexpr double kTolerance = 1e-11;

TEST_P(Optimizers, UpdateIsMxnets) {
  passes::CompileOptions options = optionsOf(GetParam());
  options.dtype = DType::F64;
  auto session = openSession(compileText(options).package);
  options.optimizer = {.name = "none"};
  auto gradients = openSession(compileText(options).package);

  std::map<std::string, Parameter> expected;
  for (const char *name : {"fc_weight", "fc_bias"})
    expected[name].w = numbersOf(*session->parameter(name));
  int clipped = 0, free = 0;
  for (int t = 1; t <= 5; ++t) {
    for (auto &[name, parameter] : expected)
      std::ranges::copy(parameter.w, gradients->parameter(name)->as<double>());
    gradients->parametersChanged();
    feed(*gradients, "step", t, 2, 1);
    ASSERT_TRUE(gradients->run("step").ok());
    step(*session, t);
    for (auto &[name, parameter] : expected) {
      Numbers gradient = numbersOf(*gradients->output("step", "gradient:" + name));
      for (double &g : gradient) {
        g *= kRescale;
        ++(std::fabs(g) > kClip ? clipped : free);
      }
      double wd = name == "fc_weight" ? kDecay : 0;
      GetParam().update(parameter, gradient, {kRate, wd, kClip, t});
      Numbers found = numbersOf(*session->parameter(name));
      for (size_t i = 0; i < found.size(); ++i)
        ASSERT_NEAR(found[i], parameter.w[i], kTolerance)
            << name << " " << i << " after update " << t;
      for (auto &[slot, numbers] : parameter.state) {
        Numbers kept = numbersOf(*session->slot(name, slot));
        for (size_t i = 0; i < kept.size(); ++i)
          ASSERT_NEAR(kept[i], numbers[i], kTolerance * (1 + std::fabs(numbers[i])))
              << name << "." << slot << " " << i << " after update " << t;
      }
    }
  }
  EXPECT_GT(clipped, 100);
  EXPECT_GT(free, 100);
}

// A large array is updated in slices, one per device; a norm is over all of them.
TEST_P(Optimizers, SameBitsOnSeveralDevices) {
  std::vector<uint64_t> hashes;
  for (int64_t devices : {1, 2, 8})
    for (passes::KvStore store : {passes::KvStore::Local, passes::KvStore::Device}) {
      passes::CompileOptions options = optionsOf(GetParam());
      options.devices.clear();
      for (int64_t device = 0; device < devices; ++device)
        options.devices.push_back("cpu:" + std::to_string(device));
      options.kvStore = store;
      options.bigArrayBound = 4096;
      auto session = openSession(compileText(options).package, 1);
      for (int64_t update = 1; update <= 3; ++update)
        step(*session, update);
      hashes.push_back(session->weightsHash());
    }
  for (uint64_t hash : hashes)
    EXPECT_EQ(hash, hashes[0]);
}

TEST_P(Optimizers, StoppedAndResumedEndsWithTheSameBits) {
  test::TemporaryFolder folder;
  auto data = data::DataSet::load(*data::DataSpec::parse("random:3,batches=7"));
  ASSERT_OK(data);
  passes::Compiled compiled = compileText(optionsOf(GetParam()));
  training::TrainObserver nobody;
  auto run = [&](int64_t updates, const std::string &into, bool resume) {
    auto session = openSession(compiled.package);
    auto model = std::move(*training::SessionTrainable::create(*session));
    training::TrainOptions options;
    options.fit.optimizer = GetParam().optimizer;
    options.after = {double(updates), training::Amount::Unit::Updates};
    options.folder = folder / into;
    options.resume = resume;
    auto end = training::train(*model, **data, nullptr, options, nobody);
    EXPECT_TRUE(end.ok()) << (end.ok() ? "" : end.error().text());
    return session->weightsHash();
  };
  uint64_t whole = run(12, "whole", false);
  EXPECT_NE(run(5, "parts", false), whole);
  EXPECT_EQ(run(12, "parts", true), whole);
}

// Every row needs a case.
TEST(OptimizerCases, EveryFormHasOne) {
  for (const Optimizer &row : kOptimizers)
    for (const OptimizerForm &form : row.forms) {
      if (form.formula.empty())
        continue;
      bool tested = std::ranges::any_of(cases(), [&](const Case &each) {
        if (each.optimizer != row.name || form.when.empty())
          return each.optimizer == row.name;
        auto given = each.keys.find(std::string(form.when));
        return (given == each.keys.end() ? row.key(form.when)->fallback : given->second) != 0;
      });
      EXPECT_TRUE(tested) << row.name << " " << form.when;
    }
}

INSTANTIATE_TEST_SUITE_P(Rows, Optimizers, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace lstmc::e2e

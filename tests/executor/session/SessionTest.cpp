// A package made by hand, run: weights in and out, the step, values that are not finite, no
// allocation.
#include "executor/session/Session.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "backends/registry/Devices.h"
#include "executor/base/Hash.h"
#include "executor/device/HostDevice.h"
#include "executor/reference/Reference.h"
#include "tests/executor/package/SamplePackage.h"
#include "tests/executor/session/Allocations.h"

namespace lstmc {
namespace {

using package::Package;
using package::PackageData;

std::vector<std::unique_ptr<Device>> devices(int threads) {
  auto made = makeDevices("cpu", {threads, Engine::Naive});
  EXPECT_TRUE(made.ok());
  return std::move(*made);
}

std::unique_ptr<Session> makeSession(const PackageData &data = package::samplePackage(),
                                     SessionOptions options = {}, int threads = 1) {
  auto package = Package::open(package::serialize(data));
  EXPECT_TRUE(package.ok()) << package.error().text();
  auto session = Session::create(*package, devices(threads), options);
  EXPECT_TRUE(session.ok()) << session.error().text();
  return std::move(*session);
}

std::vector<float> values(const Tensor &tensor) {
  return {tensor.as<float>(), tensor.as<float>() + tensor.elements()};
}

/// w = 1 to 12, x = 1 to 8.
void fill(Session &session) {
  Tensor w = *session.parameter("w"), x = *session.input("step", "x");
  for (int i = 0; i < 12; ++i)
    w.as<float>()[i] = float(i + 1);
  for (int i = 0; i < 8; ++i)
    x.as<float>()[i] = float(i + 1);
  session.parametersChanged();
}

// y[0] = [1*1 + 2*2 + 3*3 + 4*4, 1*5 + 2*6 + 3*7 + 4*8, ...]
const std::vector<float> kY{30, 70, 110, 70, 174, 278};

TEST(Session, ForwardComputesAndKeepsTheState) {
  auto session = makeSession();
  fill(*session);
  ASSERT_TRUE(session->run("forward").ok());
  EXPECT_EQ(values(*session->output("forward", "y")), kY);
  EXPECT_EQ(values(*session->state("h")), kY);
  session->resetStates();
  EXPECT_EQ(values(*session->state("h")), std::vector<float>(6, 0));
}

TEST(Session, WeightsArePackedAgainWhenTheyChanged) {
  auto session = makeSession();
  fill(*session);
  ASSERT_TRUE(session->run("forward").ok());
  std::vector<float> ones(12, 1);
  Tensor value = *session->parameter("w");
  value.data = ones.data();
  ASSERT_TRUE(session->setParameter("w", value).ok());
  ASSERT_TRUE(session->run("forward").ok());
  EXPECT_EQ(values(*session->output("forward", "y")), (std::vector<float>{10, 10, 10, 26, 26, 26}));
}

TEST(Session, StepChangesWeightsByRateTimesGradient) {
  auto session = makeSession();
  fill(*session);
  EXPECT_TRUE(session->setScalar("learning_rate", 0.5));
  EXPECT_TRUE(session->setScalar("update", int64_t(1)));
  EXPECT_FALSE(session->setScalar("momentum", 0.5));
  ASSERT_TRUE(session->run("step").ok());
  EXPECT_EQ(session->output("step", "loss")->as<double>()[0], 30 + 70 + 110 + 70 + 174 + 278);
  // gradient[0] = y[0, 0] * x[0] + y[1, 0] * x[1] = 30 * [1, 2, 3, 4] + 70 * [5, 6, 7, 8]
  std::vector<float> gradient = values(*session->gradient("w"));
  EXPECT_EQ(std::vector(gradient.begin(), gradient.begin() + 4),
            (std::vector<float>{380, 480, 580, 680}));
  std::vector<float> w = values(*session->parameter("w"));
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(w[size_t(i)], float(i + 1) - 0.5f * gradient[size_t(i)]);
  // The weights of forward are packed again.
  ASSERT_TRUE(session->run("forward").ok());
  EXPECT_EQ(values(*session->output("forward", "y"))[0], 1 * w[0] + 2 * w[1] + 3 * w[2] + 4 * w[3]);
}

TEST(Session, InitialValuesDependOnTheSeedAlone) {
  auto session = makeSession();
  ASSERT_TRUE(session->initialise(1).ok());
  uint64_t first = session->weightsHash();
  for (float w : values(*session->parameter("w")))
    EXPECT_TRUE(w >= -0.5 && w < 0.5) << w;
  ASSERT_TRUE(session->initialise(2).ok());
  EXPECT_NE(session->weightsHash(), first);
  ASSERT_TRUE(session->initialise(1).ok());
  EXPECT_EQ(session->weightsHash(), first);
  Tensor w = *session->parameter("w");
  EXPECT_EQ(session->weightHashes(), std::vector<uint64_t>{hashBytes(w.data, 48)});
}

TEST(Session, ThreadsAndEnginesGiveTheSameHash) {
  uint64_t hash = 0;
  for (Engine engine : {Engine::Naive, Engine::Fast})
    for (int threads : {1, 2, 3, 5}) {
      auto package = Package::open(package::serialize(package::samplePackage()));
      auto made = makeDevices("cpu", {threads, engine});
      auto session = std::move(*Session::create(*package, std::move(*made)));
      ASSERT_TRUE(session->initialise(3).ok());
      Tensor x = *session->input("step", "x");
      session->setScalar("learning_rate", 0.01);
      for (int update = 1; update <= 5; ++update) {
        for (int i = 0; i < 8; ++i)
          x.as<float>()[i] = std::sin(float(update * 8 + i));
        ASSERT_TRUE(session->run("step").ok());
      }
      hash = hash ? hash : session->weightsHash();
      EXPECT_EQ(session->weightsHash(), hash) << threads;
    }
}

TEST(Session, NothingIsAllocatedInARun) {
  for (int threads : {1, 2}) {
    auto session = makeSession(package::samplePackage(), {}, threads);
    fill(*session);
    session->setScalar("learning_rate", 1e-3);
    for (std::string_view entry : {"step", "forward"}) {
      session->parametersChanged();
      size_t before = test::allocations();
      for (int i = 0; i < 10; ++i) {
        session->setScalar("update", int64_t(i));
        ASSERT_TRUE(session->run(entry).ok());
      }
      EXPECT_EQ(test::allocations(), before) << entry << ", " << threads << " threads";
    }
  }
}

TEST(Session, MeasuredPeakIsThePlannedOne) {
  auto session = makeSession();
  fill(*session);
  session->setScalar("learning_rate", 0.5);
  ASSERT_TRUE(session->run("step").ok());
  std::vector<DevicePeak> peaks = session->peaks();
  ASSERT_EQ(peaks.size(), 1u);
  EXPECT_EQ(peaks[0].device, "cpu:0");
  EXPECT_EQ(peaks[0].plannedBytes, session->package().data().devices[0].arenaBytes);
  EXPECT_EQ(peaks[0].touchedBytes, peaks[0].plannedBytes);
}

/// Forward's output lies last.
TEST(Session, HasMemoryForTheEntriesThatAreAskedFor) {
  PackageData data = package::samplePackage();
  const uint64_t rest = data.devices[0].arenaBytes;
  package::Buffer &y = data.buffers[package::sample::kForwardY];
  y.offset = uint64_t(roundUp(int64_t(rest), kAlignment));
  data.devices[0].arenaBytes = y.offset + y.bytes;
  SessionOptions options;
  options.entries = {"step"};
  auto session = makeSession(data, options), whole = makeSession(data);
  for (Session *each : {session.get(), whole.get()}) {
    fill(*each);
    each->setScalar("learning_rate", 0.5);
    ASSERT_TRUE(each->run("step").ok());
  }
  EXPECT_EQ(session->weightsHash(), whole->weightsHash());
  EXPECT_EQ(session->peaks()[0].plannedBytes, rest);
  EXPECT_EQ(whole->peaks()[0].plannedBytes, data.devices[0].arenaBytes);
  EXPECT_FALSE(session->hasEntry("forward"));
  const std::string none =
      "error[E0001]: entry \"forward\": the package has none of that name; there is step";
  EXPECT_EQ(session->run("forward").error().text(), none);
  EXPECT_EQ(session->input("forward", "x").error().text(), none);
  EXPECT_EQ(session->output("forward", "y").error().text(), none);
}

// ---- what is not finite ----

TEST(Session, NonFiniteStepChangesNothingAndNamesTheLaunch) {
  PackageData data = package::samplePackage();
  auto session = makeSession(data);
  fill(*session);
  // 1e38 * 1 + 1e38 * 2 + 1e38 * 3 overflows in y[0, 0] first.
  for (int i = 0; i < 4; ++i)
    session->parameter("w")->as<float>()[i] = 1e38f;
  uint64_t before = session->weightsHash();
  session->setScalar("learning_rate", 0.5);
  session->setScalar("update", int64_t(1041));
  Status status = session->run("step");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().text(), "net.lnet:3:9: error[E0701]: first infinity at update 1,041: "
                                   "fc (FullyConnected), output[0, 0, 0]");
  EXPECT_EQ(errorRecord(status.error().code).exit, ExitCode::Numbers);
  EXPECT_EQ(session->weightsHash(), before);
  const Diagnostic *fault = session->fault();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->place.text, "    y = FullyConnected(x)");
  EXPECT_EQ(fault->place.length, 14);
  ASSERT_EQ(fault->reasons.size(), 1u);
  EXPECT_EQ(fault->reasons[0].text, "cpu:0, for i = 1; x in [1, 8], p in [0, 1e+38]");
}

/// For a part of the batch, the row is numbered as the user counts.
TEST(Session, NonFiniteElementIsNamedAsOneOfTheWhole) {
  PackageData data = package::samplePackage();
  data.entries[package::sample::kStep].programs[0].launches[1].pieces = {package::lastRows()};
  auto session = makeSession(data);
  fill(*session);
  session->setScalar("learning_rate", 0.5);
  session->setScalar("update", int64_t(3));
  for (int i = 0; i < package::sample::kInputs; ++i) {
    session->parameter("w")->as<float>()[2 * package::sample::kInputs + i] = 1e38f;
    session->input("step", "x")->as<float>()[i] = 0;
    session->input("step", "x")->as<float>()[package::sample::kInputs + i] = 10;
  }
  EXPECT_EQ(session->run("step").error().text(),
            "net.lnet:3:9: error[E0701]: first infinity at update 3: "
            "fc (FullyConnected), output[0, 4, 2]");
}

TEST(Session, NonFiniteInputAndParameterAreNamedAsGiven) {
  auto session = makeSession();
  fill(*session);
  session->setScalar("learning_rate", 0.5);
  session->setScalar("update", int64_t(7));
  session->input("step", "x")->as<float>()[6] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(session->run("step").error().text(),
            "error[E0701]: first NaN at update 7: input \"x\", element [1, 2]");
  fill(*session);
  session->parameter("w")->as<float>()[5] = -INFINITY;
  EXPECT_EQ(session->run("step").error().text(),
            "net.lnet:3:9: error[E0701]: first infinity at update 7: parameter \"w\", "
            "element [1, 1]");
}

TEST(Session, ForwardPassesNonFiniteValuesUnlessAsked) {
  auto session = makeSession();
  fill(*session);
  for (int i = 0; i < 4; ++i)
    session->parameter("w")->as<float>()[i] = 1e38f;
  EXPECT_TRUE(session->run("forward").ok());
  EXPECT_TRUE(std::isinf(values(*session->output("forward", "y"))[0]));

  auto careful = makeSession(package::samplePackage(), {0, true});
  fill(*careful);
  EXPECT_TRUE(careful->run("forward").ok());
  for (int i = 0; i < 4; ++i)
    careful->parameter("w")->as<float>()[i] = 1e38f;
  careful->parametersChanged();
  EXPECT_EQ(careful->run("forward").error().text(),
            "net.lnet:3:9: error[E0701]: first infinity in forward: fc (FullyConnected), "
            "output[0, 0, 0]");
  // It is found in the entry that packs weights, which users do not know.
  careful->parameter("w")->as<float>()[5] = -INFINITY;
  careful->parametersChanged();
  EXPECT_EQ(careful->run("forward").error().text(),
            "net.lnet:3:9: error[E0701]: first infinity in forward: parameter \"w\", "
            "element [1, 1]");
}

TEST(Session, SaysWhetherTheValueWasFoundAfterCommit) {
  auto session = makeSession(package::samplePackage(), {0, true});
  fill(*session);
  session->setScalar("update", int64_t(1));
  session->setScalar("learning_rate", double(std::numeric_limits<float>::max()));
  uint64_t before = session->weightsHash();
  EXPECT_FALSE(session->run("step").ok());
  EXPECT_TRUE(session->faultAfterCommit());
  EXPECT_NE(session->weightsHash(), before);
  EXPECT_FALSE(session->run("step").ok());
  EXPECT_FALSE(session->faultAfterCommit());
}

// ---- observers, refusals ----

class Log : public SessionObserver {
public:
  void before(const LaunchView &view) override { text += "<" + name(view); }
  void after(const LaunchView &view) override { text += name(view) + "> "; }
  std::string name(const LaunchView &view) const {
    return std::string(kernelRecord(view.launch.kernel).name);
  }
  std::string text;
};

TEST(Session, ObserverSeesEveryLaunch) {
  auto session = makeSession();
  fill(*session);
  Log log;
  session->setObserver(&log);
  ASSERT_TRUE(session->run("forward").ok());
  EXPECT_EQ(log.text, "<packpack> <productproduct> <copycopy> ");
  EXPECT_EQ(values(*session->output("forward", "y")), kY);
}

TEST(Session, UnknownNamesAreErrors) {
  auto session = makeSession();
  EXPECT_EQ(
      session->run("walk").error().text(),
      "error[E0001]: entry \"walk\": the package has none of that name; there are step, forward");
  EXPECT_EQ(session->input("step", "z").error().text(),
            "error[E0001]: input \"z\": step has none of that name; there are x, update, "
            "learning_rate");
  EXPECT_EQ(session->input("step", "learning_rat").error().text(),
            "error[E0001]: input \"learning_rat\": step has none of that name, did you mean "
            "\"learning_rate\"?; there are learning_rate, update, x");
  EXPECT_EQ(session->parameter("v").error().text(),
            "error[E0001]: parameter \"v\": the package has none of that name; there is w");
  EXPECT_EQ(session->slot("w", "mean").error().text(),
            "error[E0001]: optimizer state \"mean\": w has none of that name; there is momentum");
  EXPECT_TRUE(session->slot("w", "momentum").ok());
  EXPECT_EQ(session->state("c").error().text(),
            "error[E0001]: state \"c\": the package has none of that name; there is h");
}

// ---- scalars ----

TEST(Session, AnUpdateNeedsItsRate) {
  auto session = makeSession();
  fill(*session);
  const uint64_t before = session->weightsHash();
  EXPECT_EQ(session->run("step").error().text(),
            "error[E0001]: step needs learning_rate (the rate of this update), which was not "
            "given");
  session->setScalar("learning_rate", -1.0);
  EXPECT_EQ(session->run("step").error().text(),
            "error[E0001]: learning_rate of step: found -1, want a finite rate from 0");
  session->setScalar("learning_rate", 0.5);
  session->setScalar("update", int64_t(-2));
  EXPECT_EQ(session->run("step").error().text(),
            "error[E0001]: update of step: found -2, want the number of an update, from 1");
  EXPECT_EQ(session->weightsHash(), before);
}

/// The sample's step, with a correction of the rate that reads the number of the update.
TEST(Session, AnUpdateReadsWhatItsOptimizerMakesOfRateAndNumber) {
  PackageData data = package::samplePackage();
  data.fit = {{"optimizer", "adamax"}, {"beta1", "0.75"}};
  auto plain = makeSession(), adamax = makeSession(data);
  for (Session *each : {plain.get(), adamax.get()}) {
    ASSERT_TRUE(each->initialise(2).ok());
    fill(*each);
    each->setScalar("learning_rate", 0.5);
  }
  EXPECT_EQ(adamax->run("step").error().text(),
            "error[E0001]: step needs update (its number, from 1), which was not given");
  adamax->setScalar("update", int64_t(2));
  plain->setScalar("learning_rate", 0.5 / (1 - 0.75 * 0.75));
  ASSERT_TRUE(adamax->run("step").ok() && plain->run("step").ok());
  EXPECT_EQ(adamax->weightsHash(), plain->weightsHash());
  data.fit = {{"optimizer", "adamax"}, {"beta1", "75"}};
  auto wrong = makeSession(data);
  fill(*wrong);
  wrong->setScalar("learning_rate", 0.5);
  EXPECT_EQ(wrong->run("step").error().text(),
            "error[E0001]: fit key beta1: found \"75\", want a number from 0 to below 1");
  EXPECT_TRUE(wrong->run("forward").ok());
}

/// A view has its own digits; a rate that was set keeps all of its own until somebody writes there.
TEST(Session, TheLaterOfSettingAndWritingAScalarCounts) {
  auto session = makeSession();
  fill(*session);
  Tensor rate = *session->input("step", "learning_rate"),
         number = *session->input("step", "update");
  EXPECT_TRUE(std::isnan(*rate.as<float>()));
  EXPECT_EQ(*number.as<int64_t>(), 0);
  session->setScalar("learning_rate", 0.25);
  EXPECT_EQ(*rate.as<float>(), 0.25f);
  auto after = [&](auto set) {
    EXPECT_TRUE(session->initialise(2).ok());
    fill(*session);
    set();
    EXPECT_TRUE(session->run("step").ok());
    return session->weightsHash();
  };
  const uint64_t half = after([&] { session->setScalar("learning_rate", 0.5); });
  EXPECT_NE(after([&] { *rate.as<float>() = 0.25f; }), half);
  EXPECT_EQ(after([&] { *rate.as<float>() = 0.5f; }), half);
  EXPECT_EQ(after([] {}), half);
}

TEST(Session, ParameterOfAnotherShapeIsRefused) {
  auto session = makeSession();
  std::vector<float> data(20);
  Tensor value{data.data(), DType::F32, 2, {4, 5}, {5, 1}};
  EXPECT_EQ(session->setParameter("w", value).error().text(),
            "error[E0610]: parameter \"w\": found f32[4, 5], want f32[3, 4]");
}

TEST(Session, StridedParameterIsCopied) {
  auto session = makeSession();
  std::vector<float> columns{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}; // w^T
  Tensor value{columns.data(), DType::F32, 2, {3, 4}, {1, 3}};
  ASSERT_TRUE(session->setParameter("w", value).ok());
  EXPECT_EQ(values(*session->parameter("w")),
            (std::vector<float>{1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12}));
}

TEST(Session, PlanThatDoesNotFitIsSaidBeforeItRuns) {
  PackageData data = package::samplePackage();
  data.buffers[package::sample::kNorm].bytes = uint64_t(1) << 46;
  data.devices[0].arenaBytes = data.buffers[package::sample::kNorm].offset + (uint64_t(1) << 46);
  auto package = Package::open(package::serialize(data));
  ASSERT_TRUE(package.ok()) << package.error().text();
  auto session = Session::create(*package, devices(1));
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(errorRecord(session.error().code).name, "E0401");
  EXPECT_EQ(session.error().message.substr(0, 47),
            "the plan needs 70368744178560 bytes on cpu:0, w");
}

/// What is missing depends on the machine.
TEST(Session, DevicesThatAreNotHereAreNamed) {
  for (auto [devices, instead] : {std::pair("gpu:63", "-d cpu"), {"gpu:62,63", "-d 2xcpu"}}) {
    const std::string text = makeDevices(devices).error().text();
    EXPECT_TRUE(text.starts_with("error[E0501]: gpu:6")) << text;
    EXPECT_TRUE(text.ends_with(std::string("; ") + instead + " would do")) << text;
  }
}

} // namespace
} // namespace lstmc

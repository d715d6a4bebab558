// The C++ interface of the runtime, as a program of its users has it: lstmc.hpp and liblstmc.so.
#include <lstmc/lstmc.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/executor/c/SampleBytes.h"

namespace {

using lstmc::Error, lstmc::Package, lstmc::Session, lstmc::State, lstmc::Tensor, lstmc::Weights;

Package sample() { return Package::read(lstmc::test::sampleBytes()); }

std::vector<float> from(float first) {
  std::vector<float> x(8);
  std::iota(x.begin(), x.end(), first);
  return x;
}

/// What `work` throws.
template <typename Work> Error thrown(Work work) {
  try {
    work();
  } catch (const Error &error) {
    return error;
  }
  ADD_FAILURE() << "nothing is thrown";
  return {};
}

std::vector<float> forward(Session &session, float first) {
  session.run({{"x", from(first)}});
  const Tensor<const float> y = session.output<float>("y");
  return {y.begin(), y.end()};
}

TEST(Cpp, APackageIsKnownBeforeASession) {
  const Package package = sample();
  EXPECT_EQ(package.entries(), (std::vector<std::string>{"forward", "step"}));
  const std::vector<lstmc::TensorInfo> inputs = package.inputs();
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_EQ(inputs[0].role, "data");
  EXPECT_EQ(inputs[0].dtype, lstmc::DType::F32);
  EXPECT_EQ(inputs[0].shape, (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(inputs[0].dims, (std::vector<std::string>{"batch", ""}));
  EXPECT_EQ(inputs[0].range, (lstmc::Range{-100, 100, 7777}));
  ASSERT_EQ(package.inputs("step").size(), 3u);
  EXPECT_EQ(package.inputs("step")[1].role, "scalar");
  ASSERT_EQ(package.outputs().size(), 1u);
  EXPECT_EQ(package.outputs()[0].range, std::nullopt);
  EXPECT_EQ(package.states().at(0).name, "h");
  EXPECT_EQ(package.parameters().at(0).shape, (std::vector<std::int64_t>{3, 4}));
  EXPECT_GT(package.planned_bytes(), 0u);
  EXPECT_NE(std::string(thrown([&] { (void)package.inputs("forwrd"); }).what()).find("forward"),
            std::string::npos);
}

TEST(Cpp, ValuesAreGivenOrWrittenInPlace) {
  Session session = sample().session({.threads = 1});
  const std::vector<float> y = forward(session, 1);
  EXPECT_NE(y, std::vector<float>(6)); // weights have initial values
  Tensor<float> x = session.input<float>("x");
  ASSERT_EQ(x.size(), 8u);
  EXPECT_EQ(x.at(1, 0), 5);
  EXPECT_EQ(x[1].at(2), 7);
  EXPECT_EQ(x.row(0).size(), 4u);
  x.assign(from(2));
  session.run();
  EXPECT_EQ(x.at(0, 0), 2);
  const std::vector<float> two(session.output<float>("y").begin(),
                               session.output<float>("y").end());
  EXPECT_NE(two, y);
  EXPECT_EQ(forward(session, 2), two);
  const float array[8] = {2, 3, 4, 5, 6, 7, 8, 9};
  session.run({{"x", array}});
  session.run("forward", std::vector<lstmc::Input>{{"x", std::span(array)}});
  EXPECT_EQ(session.output<float>("y").at(1, 2), two[5]);
  Session moved = std::move(session);
  EXPECT_EQ(moved.output<float>("y").shape()[0], 2);
  x.at(0, 0) = 2; // views outlive a move
  moved.run();
}

TEST(Cpp, ErrorsSayWhatIsWanted) {
  const Package package = sample();
  Session session = package.session({.threads = 1});
  session.run(); // on zeros, as nobody has given anything
  const float zeros = session.output<float>("y").at(1, 2);
  session.run({{"x", std::vector<float>(8)}});
  EXPECT_EQ(session.output<float>("y").at(1, 2), zeros);
  session.forget_inputs();
  Error error = thrown([&] { session.run(); });
  Session other = package.session({.threads = 1});
  lstmc_tensor given; // by the C interface: not overwritten by zeros
  ASSERT_EQ(lstmc_session_input(other.handle(), "forward", "x", &given), LSTMC_OK);
  std::fill_n(static_cast<float *>(given.data), 8, 2.0f);
  other.run();
  EXPECT_EQ(other.input<float>("x").at(1, 3), 2);
  EXPECT_EQ(error.status(), lstmc::Status::usage);
  EXPECT_STREQ(error.what(), "error[E0001]: forward needs x, which was not given");
  EXPECT_EQ(error.message(), "forward needs x, which was not given");
  EXPECT_EQ(error.place(), "");
  error = thrown([&] { session.run({{"xx", from(1)}}); });
  EXPECT_STREQ(error.what(),
               "error[E0001]: input \"xx\": forward has none of that name; there is x");
  error = thrown([&] { session.run({{"x", std::vector<double>(8)}}); });
  EXPECT_STREQ(error.what(), "error[E0001]: input \"x\": found 8 values of f64, want 8: f32[2, 4]");
  error = thrown([&] { session.run({{"x", 1.0f}}); });
  EXPECT_STREQ(error.what(), "error[E0001]: input \"x\": found 1 values of f32, want 8: f32[2, 4]");
  error = thrown([&] { (void)session.input<std::int32_t>("x"); });
  EXPECT_STREQ(error.what(), "error[E0001]: input \"x\": found i32, want f32[2, 4]");
  error = thrown([&] { session.input<float>("x").assign(std::vector<float>(3)); });
  EXPECT_STREQ(error.what(), "error[E0001]: found 3 values, want 8");
  error = thrown([&] { session.run({{"x", from(94)}}); });
  EXPECT_EQ(error.code(), "E0604");
  EXPECT_EQ(error.status(), lstmc::Status::bad_file);
  EXPECT_EQ(error.message(), "input \"x\" row 1, at [1, 3]: found 101, want -100 to 100, or 7777");
  error = thrown([] { (void)Package::open("no/such.lstmc"); });
  EXPECT_EQ(error.place(), "no/such.lstmc");
  EXPECT_EQ(error.code(), "E0601");
  EXPECT_EQ(thrown([&] { (void)package.session({.devices = "gpu:0"}); }).status(),
            lstmc::Status::no_device);
  EXPECT_EQ(thrown([&] { (void)package.session({.dims = {{"batch", 3}}}); }).message(),
            "dims: found batch=3, want those of a plan that the package has: batch=2; compile its "
            "source for others");
  EXPECT_EQ(thrown([&] { (void)package.session({.entries = {"stp"}}); }).status(),
            lstmc::Status::usage);
}

TEST(Cpp, ResultsInPlaceOfExceptions) {
  lstmc::Result<Package> none = Package::try_open("no/such.lstmc");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().status(), lstmc::Status::bad_file);
  lstmc::Result<Package> package = Package::try_read(lstmc::test::sampleBytes());
  ASSERT_TRUE(package) << package.error().what();
  lstmc::Result<Session> session = package->try_session({.entries = {"forward"}});
  ASSERT_TRUE(session) << session.error().what();
  EXPECT_TRUE(session->try_forget_inputs());
  EXPECT_FALSE(session->try_run());
  EXPECT_TRUE(session->try_run({{"x", from(1)}}));
  EXPECT_FALSE(session->try_output<double>("y"));
  EXPECT_EQ(session->try_output<float>("y")->size(), 6u);
  std::stop_source stop;
  EXPECT_TRUE(session->try_run(stop.get_token()));
  stop.request_stop();
  lstmc::Result<void> stopped = session->try_run(stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().status(), lstmc::Status::stopped);
  EXPECT_STREQ(stopped.error().what(), "error: a stop was requested before the run");
}

TEST(Cpp, AMovedSessionIsRefused) {
  Session session = sample().session();
  const Session taken = std::move(session);
  EXPECT_EQ(thrown([&] { session.run(); }).status(), lstmc::Status::usage); // NOLINT
  EXPECT_EQ(thrown([&] { (void)session.weights(); }).status(), lstmc::Status::usage);
  EXPECT_EQ(session.handle(), nullptr);
  EXPECT_TRUE(session.states().empty());
}

TEST(Cpp, AStateIsAValue) {
  Session session = sample().session();
  const State start = session.state();
  EXPECT_EQ(start.get<float>("h").at(1, 2), 0);
  const std::vector<float> y = forward(session, 1); // h is y
  const State after = session.state();
  EXPECT_NE(after, start);
  EXPECT_EQ(after.get<float>("h").at(0, 1), y[1]);
  const std::vector<std::byte> bytes = after.bytes();
  EXPECT_EQ(State::from(bytes), after);
  session.reset_states();
  EXPECT_EQ(session.state(), start);
  Session other = sample().session();
  other.restore(State::from(bytes));
  EXPECT_EQ(other.state(), after);

  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(State::try_from(std::span(bytes).first(length))) << length;
  std::vector<std::byte> longer = bytes;
  longer.push_back({});
  EXPECT_FALSE(State::try_from(longer));
  for (std::size_t at = 0; at < bytes.size(); ++at) // damage is refused, or is another state
    for (const int flip : {1, 0x80, 0xff}) {
      std::vector<std::byte> damaged = bytes;
      damaged[at] ^= static_cast<std::byte>(flip);
      (void)State::try_from(damaged);
    }
  EXPECT_EQ(thrown([&] { (void)after.get<double>("h"); }).message(),
            "state \"h\": found f64, want f32");
  EXPECT_EQ(thrown([&] { (void)after.get<float>("c"); }).message(),
            "state \"c\": there is none of that name; there is h");
  EXPECT_EQ(thrown([&] { session.restore({}); }).message(), "states: found none, want h f32[2, 3]");
}

TEST(Cpp, SessionsShareWeights) {
  const Package package = sample();
  Session first = package.session({.threads = 1});
  first.initialise(7);
  const std::vector<float> want = forward(first, 2);
  const Weights weights = first.weights();
  EXPECT_EQ(weights.hash(), first.weights_hash());
  EXPECT_EQ(weights.list().at(0).name, "w");
  EXPECT_EQ(weights.get<float>("w").at(2, 3), first.parameter<float>("w").at(2, 3));
  EXPECT_EQ(thrown([&] { first.initialise(1); }).status(), lstmc::Status::usage);
  std::vector<std::thread> threads;
  std::vector<int> right(6);
  for (std::size_t i = 0; i < right.size(); ++i)
    threads.emplace_back([&, i] {
      // Sessions of other entries, and of a package that was opened again, have the same network.
      Session own = (i % 3 == 2 ? sample() : package)
                        .session({.threads = 1,
                                  .weights = weights,
                                  .entries = i % 3 == 1 ? std::vector<std::string>{"forward"}
                                                        : std::vector<std::string>{}});
      right[i] = forward(own, 2) == want && own.weights_hash() == weights.hash();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, std::vector<int>(6, 1));
  // The weights stay without the sessions.
  {
    const Session gone = std::move(first);
  }
  Session late = package.session({.weights = weights});
  EXPECT_EQ(forward(late, 2), want);
  EXPECT_EQ(late.weights().hash(), weights.hash());
  EXPECT_EQ(thrown([&] { (void)package.session({.weights = Weights()}); }).status(),
            lstmc::Status::usage);
}

TEST(Cpp, WeightsAreStoredAndSet) {
  const Package package = sample();
  Session session = package.session();
  session.set_parameter({"w", std::vector<float>(12, 0.5f)});
  EXPECT_EQ(forward(session, 0)[0], 3); // 0.5 * (0 + 1 + 2 + 3)
  EXPECT_EQ(thrown([&] { session.set_parameter({"w", std::vector<float>(11)}); }).message(),
            "parameter \"w\": found 11 values of f32, want 12: f32[3, 4]");
  const std::string file = testing::TempDir() + "lstmc_cpp.safetensors";
  session.save(file);
  EXPECT_EQ(package.weights(file).hash(), session.weights_hash());
  Session other = package.session();
  EXPECT_NE(other.weights_hash(), session.weights_hash());
  other.load(file);
  EXPECT_EQ(other.weights_hash(), session.weights_hash());
  session.weights().save(file);
  EXPECT_EQ(forward(other, 0)[0], 3);
  std::filesystem::remove(file);
  EXPECT_EQ(thrown([&] { (void)package.weights(file); }).place(), file);
}

TEST(Cpp, AnUpdateIsARun) {
  Session session = sample().session();
  const std::uint64_t before = session.weights_hash();
  session.set_update(0.5, 1);
  session.run("step", std::vector<lstmc::Input>{{"x", from(0.25f)}});
  EXPECT_NE(session.weights_hash(), before);
  EXPECT_NE(session.gradient<float>("w").at(0, 0), 0);
  EXPECT_EQ(session.outputs("step").at(0).role, "metric");
}

TEST(Cpp, ALogGetsTheMessagesOfItsSession) {
  // A session of this network has nothing to say: the callable is kept, and goes with the session.
  auto counted = std::make_shared<int>(0);
  {
    const Session session = sample().session({.log = [counted](std::string_view) { ++*counted; }});
    EXPECT_EQ(counted.use_count(), 2);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(Cpp, Vocabularies) {
  const std::string path = testing::TempDir() + "lstmc_cpp_vocab.txt";
  std::ofstream(path) << "a\n\\n\nbc\n";
  const lstmc::Vocabulary vocabulary = lstmc::Vocabulary::open(path);
  EXPECT_EQ(vocabulary.size(), 3);
  EXPECT_EQ(vocabulary.find("bc"), 2);
  EXPECT_EQ(vocabulary.find("x"), std::nullopt);
  EXPECT_EQ(vocabulary.symbol(1), "\n");
  EXPECT_EQ(vocabulary.symbol(3), "");
  std::filesystem::remove(path);
  EXPECT_EQ(thrown([&] { (void)lstmc::Vocabulary::open(path); }).status(), lstmc::Status::bad_file);
}

} // namespace

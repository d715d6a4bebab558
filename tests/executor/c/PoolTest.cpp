// Sessions that answer the requests of many threads.
#include <lstmc/pool.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/executor/c/SampleBytes.h"

namespace {

using lstmc::Package, lstmc::Pool, lstmc::Session;

Package sample() { return Package::read(lstmc::test::sampleBytes()); }

std::vector<float> answer(Session &session, const std::vector<float> &x) {
  session.run({{"x", x}});
  const auto y = session.output<float>("y");
  return {y.begin(), y.end()};
}

TEST(CppPool, AnswersManyThreads) {
  constexpr int kThreads = 4, kRequests = 50;
  const Package package = sample();
  Session alone = package.session();
  Pool pool(package, {.sessions = 3, .queue = 2});
  EXPECT_EQ(pool.sessions(), 3);
  EXPECT_EQ(pool.weights().hash(), alone.weights_hash());
  std::vector<std::vector<float>> want;
  for (int i = 0; i < kThreads; ++i)
    want.push_back(answer(alone, std::vector<float>(8, float(i))));
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < kRequests; ++k) // the values go with the statement that posts them
        right +=
            pool.post({{"x", std::vector<float>(8, float(i))}}, "y").get() == want[std::size_t(i)];
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, kThreads * kRequests);
}

TEST(CppPool, EachRequestBeginsWithoutStates) {
  Pool pool(sample(), {.sessions = 1});
  for (int i = 0; i < 2; ++i) {
    const float h = pool.submit([](Session &session) {
                          const float before = session.state().get<float>("h").at(0, 0);
                          session.run({{"x", std::vector<float>(8, 1)}});
                          EXPECT_NE(session.state().get<float>("h").at(0, 0), 0);
                          return before;
                        })
                        .get();
    EXPECT_EQ(h, 0);
  }
}

TEST(CppPool, ErrorsAreInTheFuture) {
  Pool pool(sample(), {.sessions = 2});
  auto wrong = pool.post({{"x", std::vector<float>(8, 500)}}, "y");
  EXPECT_THROW(
      {
        try {
          wrong.get();
        } catch (const lstmc::Error &error) {
          EXPECT_EQ(error.code(), "E0604");
          throw;
        }
      },
      lstmc::Error);
  auto none = pool.try_post({{"x", std::vector<float>(8, 1)}}, "z").get();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().status(), lstmc::Status::usage);
  for (int i = 0; i < 4; ++i) { // an input of an earlier request is no input of this one
    auto without = pool.try_post({}, "y").get();
    ASSERT_FALSE(without);
    EXPECT_EQ(without.error().message(), "forward needs x, which was not given");
  }
  auto other = pool.submit([](Session &) -> int { throw std::runtime_error("the program's own"); });
  EXPECT_THROW(other.get(), std::runtime_error);
  EXPECT_EQ(pool.post({{"x", std::vector<float>(8, 1)}}, "y").get().size(), 6u);
}

TEST(CppPool, TheQueueIsBounded) {
  std::promise<void> open;
  std::shared_future<void> gate = open.get_future().share();
  Pool pool(sample(), {.sessions = 1, .queue = 2});
  std::promise<void> begun;
  auto held = pool.submit([&](Session &) {
    begun.set_value();
    gate.wait();
  });
  begun.get_future().wait(); // it is under way, so the queue is empty
  std::vector<std::future<void>> waiting;
  for (int i = 0; i < 2; ++i) {
    auto offered = pool.offer([](Session &) {});
    ASSERT_TRUE(offered);
    waiting.push_back(*std::move(offered));
  }
  EXPECT_FALSE(pool.offer([](Session &) {}));
  EXPECT_FALSE(pool.try_offer({{"x", std::vector<float>(8, 1)}}, "y"));
  std::atomic<bool> posted = false;
  std::thread poster([&] {
    pool.submit([](Session &) {}).get();
    posted = true;
  });
  EXPECT_FALSE(posted);
  open.set_value();
  poster.join();
  EXPECT_TRUE(posted);
}

TEST(CppPool, ItsEndStopsWhatWaits) {
  std::promise<void> begun, open;
  std::shared_future<void> gate = open.get_future().share();
  std::future<int> held;
  std::future<std::vector<float>> waits;
  std::future<lstmc::Result<std::vector<float>>> tried;
  std::thread opener;
  {
    Pool pool(sample(), {.sessions = 1});
    held = pool.submit([&](Session &) {
      begun.set_value();
      gate.wait();
      return 5;
    });
    begun.get_future().wait();
    waits = pool.post({{"x", std::vector<float>(8, 1)}}, "y");
    tried = pool.try_post({{"x", std::vector<float>(8, 1)}}, "y");
    opener = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      open.set_value();
    });
  }
  opener.join();
  EXPECT_EQ(held.get(), 5);
  EXPECT_THROW((void)waits.get(), lstmc::Error);
  EXPECT_EQ(tried.get().error().status(), lstmc::Status::stopped);
}

TEST(CppPool, IsRefusedAsASessionIs) {
  EXPECT_THROW(Pool(sample(), {.sessions = -1}), lstmc::Error);
  EXPECT_THROW(Pool(sample(), {.sessions = 1, .session = {.devices = "gpu:0"}}), lstmc::Error);
  auto refused = Pool::try_make(sample(), {.session = {.entries = {"stp"}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status(), lstmc::Status::usage);
  auto made = Pool::try_make(sample());
  ASSERT_TRUE(made) << made.error().what();
  EXPECT_GE((*made)->sessions(), 1);
}

} // namespace

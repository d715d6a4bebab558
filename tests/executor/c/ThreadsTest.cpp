// What threads may do with handles: a package and a vocabulary are anybody's, a session is one
// thread's at a time. `./dev bench tsan` runs these under ThreadSanitizer.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

#include "tests/executor/c/Interface.h"

namespace {

using namespace lstmc::test;

constexpr int kThreads = 4, kRounds = 100;

/// Runs `work(thread)` in threads that begin together.
template <typename Work> void together(Work work) {
  std::atomic<int> waiting = kThreads;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (--waiting; waiting > 0;)
        std::this_thread::yield();
      work(i);
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// Returns the answers of one new session for each `first`.
std::vector<std::vector<float>> answers(const lstmc_package *package) {
  std::vector<std::vector<float>> all;
  for (int i = 0; i < kThreads; ++i)
    all.push_back(forward(createSession(package).get(), float(i)));
  return all;
}

TEST(CThreads, MakeSessionsOfOnePackage) {
  Package package = openSample();
  const std::vector<std::vector<float>> want = answers(package.get());
  std::vector<int> right(kThreads);
  together([&](int i) {
    for (int round = 0; round < kRounds / 10; ++round) {
      EXPECT_NE(lstmc_package_entry(package.get(), 0), nullptr);
      Session own = createSession(package.get());
      right[size_t(i)] += forward(own.get(), float(i)) == want[size_t(i)];
    }
  });
  EXPECT_EQ(right, std::vector<int>(kThreads, kRounds / 10));
}

TEST(CThreads, HaveEachTheirOwnMessage) {
  Package package = openSample();
  Session session = createSession(package.get());
  together([&](int i) {
    const std::string name = "none" + std::to_string(i);
    for (int round = 0; round < kRounds; ++round) {
      lstmc_package *missing = nullptr;
      EXPECT_EQ(lstmc_package_open(name.c_str(), &missing), LSTMC_BAD_FILE);
      EXPECT_NE(std::string(lstmc_message()).find(name), std::string::npos);
    }
  });
}

TEST(CThreads, ShareASessionUnderALockOfTheirOwn) {
  Package package = openSample();
  Session session = createSession(package.get());
  const std::vector<std::vector<float>> want = answers(package.get());
  std::mutex turn;
  std::vector<int> right(kThreads);
  together([&](int i) {
    for (int round = 0; round < kRounds; ++round) {
      std::lock_guard lock(turn);
      lstmc_session_reset_states(session.get());
      right[size_t(i)] += forward(session.get(), float(i)) == want[size_t(i)];
    }
  });
  EXPECT_EQ(right, std::vector<int>(kThreads, kRounds));
}

TEST(CThreads, AreRefusedWhereTheyRunOneSessionAtOnce) {
  Package package = openSample();
  Session session = createSession(package.get());
  (void)forward(session.get(), 0); // which gives its inputs
  std::atomic<int> ran = 0;
  together([&](int) {
    for (int round = 0; round < kRounds; ++round) {
      const lstmc_status status = lstmc_session_run(session.get(), "forward");
      ran += status == LSTMC_OK;
      if (status == LSTMC_OK)
        continue;
      EXPECT_EQ(status, LSTMC_USAGE);
      EXPECT_NE(std::string(lstmc_message()).find("one thread at a time"), std::string::npos);
    }
  });
  EXPECT_GT(ran, 0);
}

TEST(CThreads, ReadOneVocabulary) {
  const std::string path = testing::TempDir() + "lstmc_threads_vocab.txt";
  std::FILE *file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("a\nb\nc\n", file);
  std::fclose(file);
  lstmc_vocabulary *vocabulary = nullptr;
  ASSERT_EQ(lstmc_vocabulary_open(path.c_str(), &vocabulary), LSTMC_OK) << lstmc_message();
  together([&](int) {
    for (int round = 0; round < kRounds; ++round)
      EXPECT_EQ(lstmc_vocabulary_find(vocabulary, "c", 1), 2);
  });
  lstmc_vocabulary_close(vocabulary);
  std::remove(path.c_str());
}

} // namespace

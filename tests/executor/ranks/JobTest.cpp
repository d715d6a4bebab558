// What ranks do together, over mailboxes.
#include <atomic>
#include <chrono>
#include <latch>
#include <mutex>
#include <numeric>
#include <thread>

#include "executor/ranks/ErrorText.h"
#include "tests/executor/ranks/LocalRanks.h"

namespace lstmc::test {
namespace {

using ranks::Job;
using JobPointer = std::shared_ptr<Job>;

TEST(Job, DevicesAreSharedOutInOrder) {
  inRanks(3, [](JobPointer job) {
    std::vector<int> owners;
    for (size_t device = 0; device < 8; ++device)
      owners.push_back(job->rankOf(device, 8));
    // floor(r 8 / 3) = 0, 2, 5
    EXPECT_EQ(owners, (std::vector<int>{0, 0, 1, 1, 1, 2, 2, 2}));
  });
}

TEST(Job, AllKnowWhatAllHaveSaid) {
  for (int ranks : {1, 2, 5})
    inRanks(ranks, [&](JobPointer job) {
      // Longer than fits into the first message of a text, and empty.
      for (size_t length : {0, 1, 1000, 300000}) {
        auto said = job->gather(std::string(length * size_t(job->rank()), char('a' + job->rank())));
        ASSERT_TRUE(said.ok());
        ASSERT_EQ(said->size(), size_t(ranks));
        for (size_t rank = 0; rank < said->size(); ++rank)
          EXPECT_EQ((*said)[rank], std::string(length * rank, char('a' + rank)));
      }
    });
}

TEST(Job, OneNoIsANo) {
  for (int odd = -1; odd < 4; ++odd)
    inRanks(4, [&](JobPointer job) { EXPECT_EQ(job->vote(job->rank() != odd), odd == -1); });
}

TEST(Job, ASignalOfOneIsOneOfAllAfterTheVote) {
  auto mail = std::make_shared<Mailboxes>(3);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      auto job = joinLocally(mail, rank, [rank] { return rank == 1 ? 15 : 0; });
      EXPECT_EQ(job->signal(), 0);
      EXPECT_TRUE(job->vote(true));
      EXPECT_EQ(job->signal(), 15);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Job, BytesGoFromTheOneThatHasThem) {
  for (Receivers to : {Receivers::All, Receivers::First})
    inRanks(3, [&](JobPointer job) {
      // Device d of 6 has its number in each byte; 3 MiB are more than one piece.
      std::vector<std::vector<std::byte>> memory;
      std::vector<SharedRange> ranges;
      for (size_t device = 0; device < 6; ++device) {
        const bool mine = job->rankOf(device, 6) == job->rank();
        memory.emplace_back(size_t(3) << 20, std::byte(mine ? device + 1 : 0));
      }
      for (size_t device = 0; device < 6; ++device)
        ranges.push_back({device, MemoryRange(std::span(memory[device]))});
      ASSERT_TRUE(job->share(ranges, 6, to).ok());
      for (size_t device = 0; device < 6; ++device) {
        const bool has =
            to == Receivers::All || job->rank() == 0 || job->rankOf(device, 6) == job->rank();
        EXPECT_EQ(memory[device].front(), std::byte(has ? device + 1 : 0));
        EXPECT_EQ(memory[device].back(), std::byte(has ? device + 1 : 0));
      }
    });
}

TEST(Job, TheOddRankIsNamed) {
  inRanks(4, [](JobPointer job) {
    EXPECT_TRUE(agree(*job, "version", "1").ok());
    Status status = agree(*job, "version", job->rank() == 2 ? "2" : "1");
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().text(), "error[E0804]: version: rank 2 has \"2\", rank 0 has \"1\"");
  });
}

TEST(Job, ARankThatDoesNotSendIsNamedOnceNobodyGetsOn) {
  using namespace std::chrono_literals;
  std::latch given{2}; // those that have given up
  inRanks(3, [&](JobPointer job) {
    if (job->rank() == 1) { // gets on for a while, as `launch` tells the others, and then stands
      given.wait();
      return;
    }
    std::atomic<bool> done{false};
    std::thread launch([&] {
      for (uint64_t progress = 1; progress < 10 && !done; ++progress) {
        job->otherRanksAreAt(progress);
        std::this_thread::sleep_for(250ms);
      }
    });
    job->bePatient(1500ms);
    const auto begin = std::chrono::steady_clock::now();
    auto said = job->gather("");
    const auto waited = std::chrono::steady_clock::now() - begin;
    done = true;
    launch.join();
    given.count_down();
    ASSERT_FALSE(said.ok());
    EXPECT_EQ(said.error().code, ErrorCode::E0802);
    EXPECT_NE(said.error().text().find(" waited 1.5 s for rank "), std::string::npos)
        << said.error().text();
    EXPECT_GE(waited, 2500ms); // 2.25 s of progress, then patience
    EXPECT_EQ(job->standing().at, Standing::At::Host);
  });
}

TEST(Job, WhoWaitsForAnotherRankSaysSo) {
  using namespace std::chrono_literals;
  std::atomic<bool> seen{false};
  inRanks(2, [&](JobPointer job) {
    if (job->rank() == 1) {
      seen.wait(false);
      ASSERT_TRUE(job->gather("").ok());
      return;
    }
    std::thread other([&] {
      const auto until = std::chrono::steady_clock::now() + 60s;
      while (job->standing().at != Standing::At::Wait && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(1ms);
      EXPECT_EQ(job->standing().at, Standing::At::Wait);
      EXPECT_EQ(job->standing().place, "it waits for rank 1");
      seen = true;
      seen.notify_all();
    });
    ASSERT_TRUE(job->gather("").ok());
    other.join();
    EXPECT_EQ(job->standing().at, Standing::At::Host);
  });
}

TEST(Job, WhoWaitsPollsForItselfWhereTheWireTakesAnyThread) {
  for (bool anyThread : {true, false}) {
    auto mail = std::make_shared<Mailboxes>(2);
    mail->anyThread = anyThread;
    mail->delay = [](const Mailboxes::Key &) { return std::chrono::milliseconds(5); };
    std::mutex mutex;
    std::vector<std::thread::id> callers;
    inRanks(
        2,
        [&](JobPointer job) {
          EXPECT_TRUE(job->vote(true));
          std::lock_guard lock(mutex);
          callers.push_back(std::this_thread::get_id());
        },
        mail);
    for (std::thread::id caller : callers)
      EXPECT_EQ(mail->pollers.contains(caller), anyThread);
  }
}

TEST(Job, AnAbortEndsAllAndSaysWhy) {
  inRanks(3, [](JobPointer job) {
    if (job->rank() == 1) {
      job->abort(failAt({"net.lnet", 3, 5}, ErrorCode::E0803, "cpu:1 failed"));
      return;
    }
    auto said = job->gather("never answered");
    ASSERT_FALSE(said.ok());
    EXPECT_EQ(said.error().text(), "net.lnet:3:5: error[E0803]: cpu:1 failed");
    EXPECT_FALSE(job->vote(true));
  });
}

TEST(Job, ErrorsStayWhatTheyAre) {
  const Error errors[] = {fail(ErrorCode::E0601, "no"),
                          failAt({"a b.lnet", 12, 7}, ErrorCode::E0701, "two\nlines")};
  for (const Error &error : errors)
    EXPECT_EQ(ranks::unpackError(ranks::packError(error)).text(), error.text());
  EXPECT_EQ(ranks::unpackError("x").code, ErrorCode::E0801);
}

} // namespace
} // namespace lstmc::test

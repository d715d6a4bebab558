// A job whose ranks are threads of the test.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "executor/ranks/Job.h"
#include "tests/executor/ranks/LocalWire.h"

namespace lstmc::test {

inline std::shared_ptr<ranks::Job> joinLocally(std::shared_ptr<Mailboxes> mail, int rank,
                                               std::function<int()> signal = {}) {
  auto link = ranks::Link::open([mail = std::move(mail), rank](std::string &) {
    return std::make_unique<LocalWire>(mail, rank);
  });
  EXPECT_TRUE(link.ok()) << link.error().text();
  return std::make_shared<ranks::Job>(std::move(*link), std::move(signal));
}

/// Calls it in every rank, each on a thread of its own, and returns when all are done.
inline void inRanks(int ranks, const std::function<void(std::shared_ptr<ranks::Job>)> &work,
                    std::shared_ptr<Mailboxes> mail = nullptr) {
  if (!mail)
    mail = std::make_shared<Mailboxes>(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] { work(joinLocally(mail, rank)); });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace lstmc::test

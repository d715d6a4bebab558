// Sessions that read the weights of another one. shared.py has weights of many pages.
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/executor/c/Interface.h"

namespace {

using namespace lstmc::test;

TEST(CSharedWeights, AreThoseOfTheFirstSession) {
  Package package = openSample();
  Session first = createSession(package.get());
  ASSERT_EQ(lstmc_session_initialise(first.get(), 7), LSTMC_OK);
  const std::vector<float> want = forward(first.get(), 2);
  std::vector<Session> sessions;
  std::vector<int> right(6);
  for (size_t i = 0; i < right.size(); ++i) {
    sessions.push_back(createSession(package.get()));
    // A session that shares already is as good to share with.
    lstmc_session *from = i < 3 ? first.get() : sessions[i - 1].get();
    ASSERT_EQ(lstmc_session_share_weights(sessions[i].get(), from), LSTMC_OK) << lstmc_message();
    EXPECT_EQ(lstmc_session_weights_hash(sessions[i].get()),
              lstmc_session_weights_hash(first.get()));
  }
  first.reset();
  std::vector<std::thread> threads;
  for (size_t i = 0; i < right.size(); ++i)
    threads.emplace_back([&, i] { right[i] = forward(sessions[i].get(), 2) == want; });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, std::vector<int>(6, 1));
}

TEST(CSharedWeights, StatesStayASessionsOwn) {
  Package package = openSample();
  Session first = createSession(package.get()), second = createSession(package.get());
  ASSERT_EQ(lstmc_session_initialise(first.get(), 7), LSTMC_OK);
  ASSERT_EQ(lstmc_session_share_weights(second.get(), first.get()), LSTMC_OK) << lstmc_message();
  const std::vector<float> one = forward(first.get(), 1), two = forward(second.get(), 2);
  std::vector<float> state(one.size());
  const size_t bytes = state.size() * sizeof(float);
  ASSERT_EQ(lstmc_session_get_state(first.get(), "h", state.data(), bytes), LSTMC_OK);
  EXPECT_EQ(state, one);
  ASSERT_EQ(lstmc_session_get_state(second.get(), "h", state.data(), bytes), LSTMC_OK);
  EXPECT_EQ(state, two);
  EXPECT_NE(one, two);
}

TEST(CSharedWeights, WhatWouldChangeThemIsRefused) {
  Package package = openSample();
  Session first = createSession(package.get()), second = createSession(package.get()),
          other = createSession(package.get());
  ASSERT_EQ(lstmc_session_initialise(first.get(), 7), LSTMC_OK);
  const uint64_t hash = lstmc_session_weights_hash(first.get());
  ASSERT_EQ(lstmc_session_share_weights(second.get(), first.get()), LSTMC_OK) << lstmc_message();
  for (lstmc_session *session : {first.get(), second.get()}) {
    EXPECT_EQ(lstmc_session_run(session, "step"), LSTMC_USAGE);
    EXPECT_STREQ(lstmc_message(),
                 "error[E0001]: \"step\" would change weights that are shared with other sessions");
    EXPECT_EQ(lstmc_session_run(session, "prepare:forward"), LSTMC_USAGE);
    EXPECT_EQ(lstmc_session_initialise(session, 1), LSTMC_USAGE);
    EXPECT_EQ(lstmc_session_copy_weights(session, other.get()), LSTMC_USAGE);
    EXPECT_EQ(lstmc_session_share_weights(session, other.get()), LSTMC_USAGE);
    EXPECT_EQ(lstmc_session_weights_hash(session), hash);
  }
}

/// shapes.py has packages of other extents, with weights of many pages.
TEST(CSharedWeights, OfAPackageThatWasOpenedAgainAndOfFewerEntries) {
  Package package = openSample(), again = openSample();
  Session first = createSession(package.get());
  ASSERT_EQ(lstmc_session_initialise(first.get(), 7), LSTMC_OK);
  const std::vector<float> want = forward(first.get(), 2);
  lstmc_session_options options = {.size = sizeof options, .threads = 1, .entries = "forward"};
  std::vector<Session> sessions;
  for (int i = 0; i < 4; ++i) {
    lstmc_session *made = nullptr;
    options.entries = i % 2 == 0 ? "forward" : nullptr;
    ASSERT_EQ(lstmc_session_create(again.get(), &options, &made), LSTMC_OK) << lstmc_message();
    sessions.emplace_back(made);
    ASSERT_EQ(lstmc_session_share_weights(made, i < 3 ? first.get() : sessions[0].get()), LSTMC_OK)
        << lstmc_message();
    EXPECT_EQ(lstmc_session_weights_hash(made), lstmc_session_weights_hash(first.get()));
    EXPECT_EQ(forward(made, 2), want);
    EXPECT_EQ(lstmc_session_initialise(made, 1), LSTMC_USAGE);
  }
  first.reset();
  sessions.erase(sessions.begin());
  for (Session &session : sessions) {
    lstmc_session_reset_states(session.get());
    EXPECT_EQ(forward(session.get(), 2), want);
  }
}

TEST(CSharedWeights, AreRefusedWhereTheyCannotBe) {
  Package package = openSample();
  Session first = createSession(package.get()), trap = createSession(package.get(), "trap:0");
  EXPECT_EQ(lstmc_session_share_weights(first.get(), first.get()), LSTMC_USAGE);
  EXPECT_EQ(lstmc_session_share_weights(trap.get(), first.get()), LSTMC_USAGE);
  EXPECT_NE(std::string(lstmc_message()).find("trap:0"), std::string::npos);
  lstmc_session_options options = {
      .size = sizeof options,
      .allocate = [](void *, size_t size,
                     size_t alignment) { return std::aligned_alloc(alignment, size); },
      .release = [](void *, void *memory, size_t) { std::free(memory); }};
  lstmc_session *made = nullptr;
  ASSERT_EQ(lstmc_session_create(package.get(), &options, &made), LSTMC_OK) << lstmc_message();
  Session owned(made);
  EXPECT_EQ(lstmc_session_share_weights(first.get(), owned.get()), LSTMC_USAGE);
  // Nothing of it has frozen the weights.
  EXPECT_EQ(lstmc_session_initialise(first.get(), 1), LSTMC_OK) << lstmc_message();
}

} // namespace

// Calls of the C interface in random orders, with wrong arguments among them: each ends with a
// status.
#include <algorithm>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/executor/c/Interface.h"
#include "tests/executor/c/SampleBytes.h"

namespace {

using namespace lstmc::test;

/// Makes calls on handles of its own and, of others, on packages alone, which any thread may use.
class Caller {
public:
  Caller(unsigned seed, std::vector<lstmc_package *> packages)
      : random_(seed), packages_(std::move(packages)) {}

  void call() {
    switch (below(16)) {
    case 0:
      return create();
    case 1:
      if (sessions_.size() > 6)
        sessions_.erase(sessions_.begin() + long(below(sessions_.size())));
      return;
    case 2:
      return check(lstmc_session_initialise(session(), below(3)));
    case 3:
      return check(lstmc_session_share_weights(session(), session()));
    case 4:
      return check(lstmc_session_copy_weights(session(), session()));
    case 5:
    case 6:
      return fill();
    case 7:
    case 8:
    case 9:
      return check(lstmc_session_run(session(), entry()));
    case 10:
      return read(lstmc_session_output(session(), entry(), name(), &tensor_));
    case 11:
      return states();
    case 12:
      return read(lstmc_session_parameter(session(), name(), &tensor_));
    case 13:
      return check(lstmc_session_set_parameter(session(), name(), bytes_, below(2) ? 48 : 24));
    case 14:
      return check(lstmc_session_set_update(session(), 0.1, int64_t(below(3)), below(9)));
    default:
      return describe();
    }
  }

  size_t passed() const { return passed_; }

private:
  size_t below(size_t end) { return random_() % end; }
  template <typename T> T pick(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }
  const char *entry() {
    return pick<const char *>({"forward", "forward", "step", "none", nullptr});
  }
  const char *name() {
    return pick<const char *>(
        {"x", "x", "y", "h", "w", "w/momentum", "loss", "update", "", nullptr});
  }
  lstmc_package *package() { return packages_[below(packages_.size())]; }
  lstmc_session *session() {
    return sessions_.empty() || below(40) == 0 ? nullptr : sessions_[below(sessions_.size())].get();
  }

  void check(lstmc_status status) {
    passed_ += status == LSTMC_OK;
    EXPECT_TRUE(status == LSTMC_OK || status == LSTMC_USAGE || status == LSTMC_BAD_FILE)
        << status << " " << lstmc_message();
  }
  /// Reads all of what a call has described.
  void read(lstmc_status status) {
    check(status);
    if (status == LSTMC_OK)
      for (size_t i = 0; i < lstmc_tensor_bytes(&tensor_); ++i)
        sum_ += static_cast<const unsigned char *>(tensor_.data)[i];
  }
  void create() {
    const lstmc_session_options options = {
        .size =
            pick<size_t>({sizeof options, sizeof options, offsetof(lstmc_session_options, log), 3}),
        .devices = pick<const char *>({nullptr, "cpu:0", "trap:0"}),
        .threads = 1,
        .entries = pick<const char *>({nullptr, nullptr, "forward", "forward,none"}),
        .dims = pick<const char *>({nullptr, nullptr, "batch=2", "batch=4", "x"})};
    lstmc_session *made = nullptr;
    check(lstmc_session_create(below(20) ? package() : nullptr, below(4) ? &options : nullptr,
                               &made));
    if (made)
      sessions_.emplace_back(made);
  }
  void fill() {
    if (below(20) == 0)
      check(lstmc_session_forget_input(session(), entry(), name()));
    const lstmc_status status = lstmc_session_input(session(), entry(), name(), &tensor_);
    check(status);
    if (status != LSTMC_OK || tensor_.dtype != LSTMC_F32)
      return;
    for (int64_t i = 0; i < lstmc_tensor_elements(&tensor_); ++i)
      static_cast<float *>(tensor_.data)[i] = float(below(101)) / (below(30) ? 100.0f : 0.1f);
  }
  void states() {
    const size_t size = pick<size_t>({24, 24, 48, 1});
    const char *of = name();
    check(lstmc_session_get_state(session(), of, bytes_, size));
    check(lstmc_session_set_state(session(), of, bytes_, size));
    if (below(3) == 0)
      lstmc_session_reset_states(session());
    read(lstmc_session_state(session(), of, &tensor_));
    sum_ += lstmc_session_weights_hash(session());
  }
  void describe() {
    lstmc_tensor_info info = {.size = pick<size_t>({sizeof info, 0})};
    check(lstmc_package_tensor(package(), lstmc_kind(below(7)), entry(), name(), &info));
    const lstmc_package *own = lstmc_session_package(session());
    sum_ += lstmc_package_input(own, entry(), below(3)) != nullptr;
  }

  std::mt19937 random_;
  std::vector<lstmc_package *> packages_;
  std::vector<Session> sessions_;
  lstmc_tensor tensor_ = {};
  float bytes_[12] = {0.5f, 0.25f};
  size_t sum_ = 0, passed_ = 0;
};

TEST(CCalls, InRandomOrdersEndWithAStatus) {
  const std::vector<std::byte> bytes = sampleBytes();
  std::vector<Package> packages;
  std::vector<lstmc_package *> handles;
  for (int i = 0; i < 3; ++i) {
    lstmc_package *package = nullptr;
    ASSERT_EQ(lstmc_package_open_memory(bytes.data(), bytes.size(), &package), LSTMC_OK);
    packages.emplace_back(package);
    handles.push_back(package);
  }
  std::vector<std::unique_ptr<Caller>> callers;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    callers.push_back(std::make_unique<Caller>(seed, handles));
    threads.emplace_back([caller = callers.back().get()] {
      for (int i = 0; i < 2500; ++i)
        caller->call();
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  packages.clear(); // sessions go after their packages
  for (const auto &caller : callers)
    EXPECT_GT(caller->passed(), 500u);
}

} // namespace

// The C interface of the runtime, called as from a C program: only through liblstmc.so.
#include <lstmc/lstmc.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/executor/c/Interface.h"
#include "tests/executor/data/Files.h"
#include "tests/executor/loaders/Allocations.h"
#include "tests/executor/package/SamplePackage.h"

namespace {

using lstmc::package::Bytes;
using namespace lstmc::test;

TEST(CInterface, NamesAndShapes) {
  Package package = openSample();
  std::vector<std::string> entries;
  for (size_t i = 0; const char *name = lstmc_package_entry(package.get(), i); ++i)
    entries.push_back(name);
  EXPECT_NE(std::find(entries.begin(), entries.end(), "forward"), entries.end());
  EXPECT_STREQ(lstmc_package_input(package.get(), "forward", 0), "x");
  EXPECT_STREQ(lstmc_package_output(package.get(), "forward", 0), "y");
  EXPECT_STREQ(lstmc_package_state(package.get(), 0), "h");
  EXPECT_STREQ(lstmc_package_parameter(package.get(), 0), "w");
  EXPECT_EQ(lstmc_package_input(package.get(), "backward", 0), nullptr);
  EXPECT_GT(lstmc_package_planned_bytes(package.get()), 0u);

  Session session = createSession(package.get());
  lstmc_tensor x;
  ASSERT_EQ(lstmc_session_input(session.get(), "forward", "x", &x), LSTMC_OK);
  EXPECT_EQ(x.dtype, LSTMC_F32);
  ASSERT_EQ(x.rank, 2);
  EXPECT_EQ(x.shape[0] * x.shape[1], lstmc_tensor_elements(&x));
  EXPECT_EQ(lstmc_tensor_bytes(&x), 4 * size_t(lstmc_tensor_elements(&x)));
}

class CInterfaceOn : public testing::TestWithParam<const char *> {};
/// With a trap, the host cannot see the memory (backends/trap).
INSTANTIATE_TEST_SUITE_P(Devices, CInterfaceOn, testing::Values("cpu:0", "trap:0"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return std::string(info.param, std::strlen(info.param) - 2);
                         });

TEST_P(CInterfaceOn, StatesAreKeptTakenAndSet) {
  Package package = openSample();
  Session session = createSession(package.get(), GetParam());
  ASSERT_EQ(lstmc_session_initialise(session.get(), 3), LSTMC_OK);
  std::vector<float> y = forward(session.get(), 1), kept(y.size()), zero(y.size());
  size_t bytes = y.size() * sizeof(float);
  // In this sample the state is the last output.
  ASSERT_EQ(lstmc_session_get_state(session.get(), "h", kept.data(), bytes), LSTMC_OK);
  EXPECT_EQ(kept, y);
  EXPECT_NE(kept, zero);
  lstmc_session_reset_states(session.get());
  ASSERT_EQ(lstmc_session_get_state(session.get(), "h", kept.data(), bytes), LSTMC_OK);
  EXPECT_EQ(kept, zero);
  ASSERT_EQ(lstmc_session_set_state(session.get(), "h", y.data(), bytes), LSTMC_OK);
  lstmc_tensor h;
  ASSERT_EQ(lstmc_session_state(session.get(), "h", &h), LSTMC_OK);
  ASSERT_EQ(lstmc_tensor_bytes(&h), bytes);
  EXPECT_EQ(std::memcmp(h.data, y.data(), bytes), 0);

  EXPECT_EQ(lstmc_session_get_state(session.get(), "h", kept.data(), 1), LSTMC_USAGE);
  EXPECT_STREQ(lstmc_message(), "error[E0001]: state \"h\": found 1 bytes, want 24");
  EXPECT_EQ(lstmc_session_set_state(session.get(), "g", y.data(), bytes), LSTMC_USAGE);
  EXPECT_STREQ(lstmc_message(),
               "error[E0001]: state \"g\": the package has none of that name; there is h");
}

/// Names that there are not, and inputs that an update needs, are told before anything runs.
TEST(CInterface, AnUpdateNeedsItsInputs) {
  Package package = openSample();
  Session session = createSession(package.get());
  ASSERT_EQ(lstmc_session_initialise(session.get(), 3), LSTMC_OK);
  const uint64_t before = lstmc_session_weights_hash(session.get());
  EXPECT_EQ(lstmc_session_run(session.get(), "step"), LSTMC_USAGE);
  EXPECT_STREQ(lstmc_message(),
               "error[E0001]: step needs x, learning_rate, update, which were not given");
  lstmc_tensor x, rate;
  EXPECT_EQ(lstmc_session_input(session.get(), "step", "learning_rat", &rate), LSTMC_USAGE);
  ASSERT_EQ(lstmc_session_input(session.get(), "step", "x", &x), LSTMC_OK);
  for (int64_t i = 0; i < lstmc_tensor_elements(&x); ++i)
    static_cast<float *>(x.data)[i] = 0.25f * float(i);
  ASSERT_EQ(lstmc_session_input(session.get(), "step", "learning_rate", &rate), LSTMC_OK);
  EXPECT_EQ(lstmc_session_run(session.get(), "step"), LSTMC_USAGE); // asked for, and not written
  EXPECT_STREQ(lstmc_message(), "error[E0001]: step needs learning_rate (the rate of this update), "
                                "which was not given");
  EXPECT_EQ(lstmc_session_weights_hash(session.get()), before);
  static_cast<float *>(rate.data)[0] = 0.5f;
  ASSERT_EQ(lstmc_session_run(session.get(), "step"), LSTMC_OK) << lstmc_message();
  const uint64_t written = lstmc_session_weights_hash(session.get());
  EXPECT_NE(written, before);
  ASSERT_EQ(lstmc_session_initialise(session.get(), 3), LSTMC_OK);
  ASSERT_EQ(lstmc_session_set_update(session.get(), 0.5, 1, 0), LSTMC_OK);
  ASSERT_EQ(lstmc_session_run(session.get(), "step"), LSTMC_OK) << lstmc_message();
  EXPECT_EQ(lstmc_session_weights_hash(session.get()), written);
  EXPECT_EQ(lstmc_session_set_update(nullptr, 0.5, 1, 0), LSTMC_USAGE);
}

TEST(CInterface, SessionsInManyThreads) {
  Package package = openSample();
  Session first = createSession(package.get());
  ASSERT_EQ(lstmc_session_initialise(first.get(), 7), LSTMC_OK);
  std::vector<float> want = forward(first.get(), 2);
  std::vector<std::thread> threads;
  std::vector<int> right(8);
  std::vector<Session> sessions;
  for (size_t i = 0; i < right.size(); ++i) {
    sessions.push_back(createSession(package.get()));
    ASSERT_EQ(lstmc_session_copy_weights(sessions[i].get(), first.get()), LSTMC_OK);
    EXPECT_EQ(lstmc_session_weights_hash(sessions[i].get()),
              lstmc_session_weights_hash(first.get()));
  }
  package.reset(); // sessions work without the handle of the package
  for (size_t i = 0; i < right.size(); ++i)
    threads.emplace_back([&, i] { right[i] = forward(sessions[i].get(), 2) == want; });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, std::vector<int>(8, 1));
}

TEST_P(CInterfaceOn, WeightsAndOutputsAreThoseOfACpu) {
  Package package = openSample();
  Session cpu = createSession(package.get()), session = createSession(package.get(), GetParam());
  ASSERT_EQ(lstmc_session_initialise(session.get(), 7), LSTMC_OK);
  ASSERT_EQ(lstmc_session_copy_weights(cpu.get(), session.get()), LSTMC_OK);
  EXPECT_NE(lstmc_session_weights_hash(session.get()), 0u);
  EXPECT_EQ(lstmc_session_weights_hash(cpu.get()), lstmc_session_weights_hash(session.get()));
  for (float first : {2.0f, -3.0f})
    EXPECT_EQ(forward(session.get(), first), forward(cpu.get(), first));
}

TEST_P(CInterfaceOn, SavedWeightsLoad) {
  Package package = openSample();
  Session session = createSession(package.get(), GetParam()), read = createSession(package.get());
  lstmc::test::TemporaryFolder folder;
  const std::string file = folder / "w.safetensors";
  for (uint64_t seed : {7, 8}) { // the second replaces the first
    ASSERT_EQ(lstmc_session_initialise(session.get(), seed), LSTMC_OK);
    ASSERT_EQ(lstmc_session_save_weights(session.get(), file.c_str()), LSTMC_OK) << lstmc_message();
    ASSERT_EQ(lstmc_session_load_weights(read.get(), file.c_str()), LSTMC_OK) << lstmc_message();
    EXPECT_EQ(lstmc_session_weights_hash(read.get()), lstmc_session_weights_hash(session.get()));
  }
  EXPECT_EQ(lstmc_session_save_weights(session.get(), (folder / "no/w").c_str()), LSTMC_BAD_FILE);
  EXPECT_EQ(lstmc_session_save_weights(session.get(), nullptr), LSTMC_USAGE);
}

TEST_P(CInterfaceOn, ARunAllocatesNothing) {
  Package package = openSample();
  Session session = createSession(package.get(), GetParam());
  ASSERT_EQ(lstmc_session_initialise(session.get(), 3), LSTMC_OK);
  forward(session.get(), 1); // the first call asks for the views
  ASSERT_EQ(lstmc_session_run(session.get(), "forward"), LSTMC_OK);
  lstmc::test::resetPeak();
  int64_t before = lstmc::test::allocated().peak;
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(lstmc_session_run(session.get(), "forward"), LSTMC_OK);
  EXPECT_EQ(lstmc::test::allocated().peak, before);
}

TEST(CInterface, FailuresSayTheWholeMessage) {
  lstmc_package *package = nullptr;
  EXPECT_EQ(lstmc_package_open("no/such.lstmc", &package), LSTMC_BAD_FILE);
  EXPECT_EQ(package, nullptr);
  EXPECT_NE(std::string(lstmc_message()).find("error[E0601]"), std::string::npos);
  EXPECT_EQ(lstmc_package_open_memory("junk", 4, &package), LSTMC_BAD_FILE);
  EXPECT_EQ(lstmc_package_open(nullptr, &package), LSTMC_USAGE);

  Package sample = openSample();
  Session session = createSession(sample.get());
  EXPECT_EQ(lstmc_session_run(session.get(), "sideways"), LSTMC_USAGE);
  EXPECT_NE(std::string(lstmc_message()).find("sideways"), std::string::npos);
  lstmc_session_options options = {.size = sizeof options, .devices = "gpu:0"};
  lstmc_session *none = nullptr;
  EXPECT_EQ(lstmc_session_create(sample.get(), &options, &none), LSTMC_NO_DEVICE);
  EXPECT_EQ(none, nullptr);

  // A message belongs to the thread that failed.
  std::thread([] { EXPECT_STREQ(lstmc_message(), ""); }).join();
}

TEST(CInterface, AFailedAllocationIsAStatus) {
  Bytes bytes = lstmc::package::serialize(lstmc::package::samplePackage());
  for (int64_t k = 0;; ++k) {
    lstmc::test::failAllocation(k, lstmc::test::Failing::EverAfter);
    lstmc_package *package = nullptr;
    lstmc_session *session = nullptr;
    lstmc_status status = lstmc_package_open_memory(bytes.data(), bytes.size(), &package);
    if (status == LSTMC_OK)
      status = lstmc_session_create(package, nullptr, &session);
    if (status == LSTMC_OK)
      status = lstmc_session_initialise(session, 1);
    bool failed = lstmc::test::endFailing();
    lstmc_session_close(session);
    lstmc_package_close(package);
    if (!failed) {
      EXPECT_EQ(status, LSTMC_OK) << lstmc_message();
      EXPECT_GT(k, 10);
      break;
    }
    // A loader that runs out of memory refuses the file (E0601).
    EXPECT_TRUE(status == LSTMC_OUT_OF_MEMORY || status == LSTMC_BAD_FILE) << "at " << k;
    EXPECT_NE(std::string(lstmc_message()).find("out of memory"), std::string::npos);
    EXPECT_NE(std::string(lstmc_message()).find("error[E"), std::string::npos);
  }
}

/// An allocator that counts.
struct Counting {
  size_t given = 0, taken = 0;
  bool empty = false;

  static void *allocate(void *user, size_t size, size_t alignment) {
    auto &self = *static_cast<Counting *>(user);
    if (self.empty)
      return nullptr;
    self.given += size;
    void *memory = std::aligned_alloc(alignment, size);
    std::memset(memory, 0xAB, size); // a session clears what it gets
    return memory;
  }
  static void release(void *user, void *memory, size_t size) {
    static_cast<Counting *>(user)->taken += size;
    std::free(memory);
  }
};

TEST(CInterface, TheProgramsOwnAllocator) {
  Package package = openSample();
  Counting memory;
  lstmc_session_options options = {.size = sizeof options,
                                   .devices = "cpu:0",
                                   .allocate = Counting::allocate,
                                   .release = Counting::release,
                                   .user = &memory};
  lstmc_session *made = nullptr;
  ASSERT_EQ(lstmc_session_create(package.get(), &options, &made), LSTMC_OK) << lstmc_message();
  Session session(made), other = createSession(package.get(), "cpu:0");
  ASSERT_EQ(lstmc_session_initialise(session.get(), 3), LSTMC_OK);
  ASSERT_EQ(lstmc_session_initialise(other.get(), 3), LSTMC_OK);
  EXPECT_GE(memory.given, lstmc_package_planned_bytes(package.get()));
  EXPECT_EQ(forward(session.get(), 1), forward(other.get(), 1));
  const size_t given = memory.given;
  session.reset();
  EXPECT_EQ(memory.taken, given);

  memory.empty = true;
  EXPECT_EQ(lstmc_session_create(package.get(), &options, &made), LSTMC_OUT_OF_MEMORY);
  EXPECT_NE(std::string(lstmc_message()).find("the program's allocator gave no memory"),
            std::string::npos);
  options.release = nullptr;
  EXPECT_EQ(lstmc_session_create(package.get(), &options, &made), LSTMC_USAGE);
}

/// A program that was compiled with an earlier lstmc.h gives a shorter struct.
TEST(CInterface, OptionsOfAnEarlierHeader) {
  Package package = openSample();
  lstmc_session_options options = {.size = offsetof(lstmc_session_options, allocate),
                                   .devices = "cpu:0",
                                   .allocate = nullptr,
                                   .release = Counting::release};
  lstmc_session *made = nullptr;
  ASSERT_EQ(lstmc_session_create(package.get(), &options, &made), LSTMC_OK) << lstmc_message();
  lstmc_session_close(made);
}

TEST(CInterface, Vocabularies) {
  std::string path = testing::TempDir() + "lstmc_vocab.txt";
  std::ofstream(path) << "a\n\\n\nbc\n";
  lstmc_vocabulary *vocabulary = nullptr;
  ASSERT_EQ(lstmc_vocabulary_open(path.c_str(), &vocabulary), LSTMC_OK) << lstmc_message();
  EXPECT_EQ(lstmc_vocabulary_size(vocabulary), 3u);
  EXPECT_EQ(lstmc_vocabulary_find(vocabulary, "\n", 1), 1);
  EXPECT_EQ(lstmc_vocabulary_find(vocabulary, "bcd", 2), 2);
  EXPECT_EQ(lstmc_vocabulary_find(vocabulary, "x", 1), -1);
  size_t size = 0;
  const char *symbol = lstmc_vocabulary_symbol(vocabulary, 2, &size);
  EXPECT_EQ(std::string(symbol, size), "bc");
  EXPECT_EQ(lstmc_vocabulary_symbol(vocabulary, 3, &size), nullptr);
  lstmc_vocabulary_close(vocabulary);
}

} // namespace

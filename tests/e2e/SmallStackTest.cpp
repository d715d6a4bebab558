// Updates on a thread whose stack is small: what does not fit there overwrites nothing, since it
// is not there.
#include <algorithm>
#include <span>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

#include "tests/e2e/Net.h"

namespace lstmc::e2e {
namespace {

/// A stack with a guard page below it, as pthread_create makes one, and below that other memory of
/// the process.
class SmallStack {
public:
  static constexpr size_t kStack = 256 << 10, kGuard = 4096, kBelow = 2 << 20;

  SmallStack()
      : memory_(static_cast<std::byte *>(::mmap(nullptr, kBelow + kGuard + kStack,
                                                PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                                -1, 0))) {
    ::mprotect(memory_ + kBelow, kGuard, PROT_NONE);
    std::ranges::fill(below(), kUntouched);
  }
  ~SmallStack() { ::munmap(memory_, kBelow + kGuard + kStack); }
  SmallStack(const SmallStack &) = delete;
  SmallStack &operator=(const SmallStack &) = delete;

  template <typename Work> void run(Work work) {
    pthread_attr_t attributes;
    pthread_t thread{};
    ASSERT_EQ(::pthread_attr_init(&attributes), 0);
    ASSERT_EQ(::pthread_attr_setstack(&attributes, memory_ + kBelow + kGuard, kStack), 0);
    auto body = [](void *work) -> void * {
      (*static_cast<Work *>(work))();
      return nullptr;
    };
    ASSERT_EQ(::pthread_create(&thread, &attributes, body, &work), 0);
    ::pthread_join(thread, nullptr);
    ::pthread_attr_destroy(&attributes);
  }
  bool nothingIsOverwritten() const {
    return std::ranges::all_of(below(), [](std::byte byte) { return byte == kUntouched; });
  }

private:
  static constexpr std::byte kUntouched{0xaa};
  std::span<std::byte> below() const { return {memory_, kBelow}; }

  std::byte *memory_;
};

TEST(SmallStack, HoldsUpdatesOfAllModels) {
  for (const Model &model : models()) {
    SCOPED_TRACE(model.name);
    const package::PackageData data = compileNet(model.recipe).package;
    const uint64_t want = train(*openSession(data, 1), model, 1, 2);
    for (int threads : {1, 2}) {
      SmallStack stack;
      auto session = openSession(data, threads);
      uint64_t hash = 0;
      stack.run([&] { hash = train(*session, model, 1, 2); });
      EXPECT_EQ(hash, want);
      EXPECT_TRUE(stack.nothingIsOverwritten());
    }
  }
}

} // namespace
} // namespace lstmc::e2e

#include "tests/executor/failures/ThreadStarts.h"

#include <atomic>
#include <cerrno>

#include <dlfcn.h>
#include <pthread.h>

namespace {

std::atomic<int64_t> left{INT64_MAX};
std::atomic<bool> failed{false};

} // namespace

// This is called instead of the function of the C library.
extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                              void *(*start)(void *), void *argument) noexcept {
  if (left.fetch_sub(1) == 0) {
    failed = true;
    return EAGAIN;
  }
  static const auto next =
      reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  return next(thread, attributes, start, argument);
}

namespace lstmc::test {

void failThreadStart(int64_t index) {
  failed = false;
  left = index;
}

bool endFailingThreads() {
  left = INT64_MAX;
  return failed.exchange(false);
}

} // namespace lstmc::test

#include "frontend/lnet/text/Stack.h"

#include <cstddef>
#include <cstdint>
#include <exception>

#include <pthread.h>

namespace lstmc::lnet {

namespace {

constexpr size_t kStackBytes = size_t(256) << 20;
constexpr size_t kReserve = size_t(1) << 20;

thread_local uintptr_t lowest = 0;

struct Errand {
  const std::function<void()> &work;
  std::exception_ptr thrown;
};

uintptr_t here() { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); }

void *enter(void *argument) {
  lowest = here() - kStackBytes + kReserve;
  Errand &errand = *static_cast<Errand *>(argument);
  try {
    errand.work();
  } catch (...) {
    errand.thrown = std::current_exception();
  }
  return nullptr;
}

/// Used if the thread cannot be created: runs on the caller's stack, without a guaranteed size.
void runInPlace(const std::function<void()> &work) {
  pthread_attr_t attributes;
  void *begin = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &begin, &bytes);
    pthread_attr_destroy(&attributes);
  }
  struct Limit {
    explicit Limit(uintptr_t to) { lowest = to; }
    ~Limit() { lowest = 0; }
  } limit(reinterpret_cast<uintptr_t>(begin) + kReserve);
  work();
}

} // namespace

bool stackIsShort() { return here() < lowest; }

void runOnDeepStack(const std::function<void()> &work) {
  pthread_attr_t attributes;
  pthread_t thread;
  Errand errand{work, nullptr};
  if (lowest != 0 || pthread_attr_init(&attributes) != 0)
    return work();
  bool started = pthread_attr_setstacksize(&attributes, kStackBytes) == 0 &&
                 pthread_create(&thread, &attributes, enter, &errand) == 0;
  pthread_attr_destroy(&attributes);
  if (!started)
    return runInPlace(work);
  pthread_join(thread, nullptr);
  if (errand.thrown)
    std::rethrow_exception(errand.thrown);
}

} // namespace lstmc::lnet

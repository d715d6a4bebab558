#include "frontend/lnet/Stack.h"

#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace lstmc::lnet {

namespace {

constexpr size_t kStackBytes = size_t(256) << 20;
constexpr size_t kReserve = size_t(1) << 20;

thread_local uintptr_t lowest = 0;

uintptr_t here() { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); }

void *enter(void *work) {
  lowest = here() - kStackBytes + kReserve;
  (*static_cast<const std::function<void()> *>(work))();
  return nullptr;
}

} // namespace

bool stackIsShort() { return here() < lowest; }

void runOnDeepStack(const std::function<void()> &work) {
  pthread_attr_t attributes;
  pthread_t thread;
  if (lowest != 0 || pthread_attr_init(&attributes) != 0)
    return work();
  bool started = pthread_attr_setstacksize(&attributes, kStackBytes) == 0 &&
                 pthread_create(&thread, &attributes, enter,
                                const_cast<void *>(static_cast<const void *>(&work))) == 0;
  pthread_attr_destroy(&attributes);
  if (started)
    pthread_join(thread, nullptr);
  else
    work();
}

} // namespace lstmc::lnet

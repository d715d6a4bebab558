// Wakes a thread that rests.
#pragma once

#include <cerrno>
#include <chrono>

#include <semaphore.h>
#include <time.h>

namespace lstmc::ranks {

/// For one thread that rests often and shortly. After each wait for a condition variable its mutex
/// counts as contended, and to unlock it is another call of the system.
class Bell {
public:
  Bell() { ::sem_init(&rings_, 0, 0); }
  ~Bell() { ::sem_destroy(&rings_); }
  Bell(const Bell &) = delete;
  Bell &operator=(const Bell &) = delete;

  /// From any thread: ends the rest that is under way, or else the next one.
  void ring() { ::sem_post(&rings_); }
  void rest(std::chrono::nanoseconds most) {
    timespec until;
    ::clock_gettime(CLOCK_MONOTONIC, &until);
    const auto end = std::chrono::nanoseconds(until.tv_nsec) + most;
    until.tv_sec += end / std::chrono::seconds(1);
    until.tv_nsec = (end % std::chrono::seconds(1)).count();
    while (::sem_clockwait(&rings_, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR)
      ;
    while (::sem_trywait(&rings_) == 0) // several rings are one
      ;
  }

private:
  sem_t rings_;
};

} // namespace lstmc::ranks

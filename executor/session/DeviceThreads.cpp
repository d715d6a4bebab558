#include "executor/session/DeviceThreads.h"

namespace lstmc::session {

DeviceThreads::DeviceThreads(std::vector<size_t> here, size_t devices, Parker::Crowd crowd)
    : here_(std::move(here)) {
  for (size_t device = 0; device < devices; ++device)
    parkers_.emplace_back(crowd);
  try {
    for (size_t i = 1; i < here_.size(); ++i)
      threads_.emplace_back([this, device = here_[i]] { serve(device); });
  } catch (...) {
    leave();
    throw;
  }
}

void DeviceThreads::leave() {
  work_ = nullptr;
  round_.fetch_add(1);
  for (Parker &parker : parkers_)
    parker.announce();
  for (std::thread &thread : threads_)
    thread.join();
}

void DeviceThreads::serve(size_t device) {
  for (uint64_t round = 0;;) {
    parkers_[device].await([&] { return round_.load() != round; });
    round = round_.load();
    if (!work_)
      return;
    (*work_)(device);
    working_.fetch_sub(1);
    wake(here_[0]);
  }
}

void DeviceThreads::each(const std::function<void(size_t)> &work) {
  work_ = &work;
  working_.store(threads_.size());
  round_.fetch_add(1);
  for (size_t i = 1; i < here_.size(); ++i)
    wake(here_[i]);
  work(here_[0]);
  // Also if the run was ended: the threads use data of the caller.
  parkers_[here_[0]].await([this] { return working_.load() == 0; });
}

} // namespace lstmc::session

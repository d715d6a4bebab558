#include "frontend/driver/CompilerMemory.h"

#include <atomic>

#include "executor/base/Termination.h"

namespace lstmc::driver {

static std::atomic<int> living = 0;

bool CompilerMemory::lives() { return living.load(std::memory_order_relaxed) != 0; }

CompilerMemory::CompilerMemory() : before_(std::set_new_handler(exitOutOfMemory)) { ++living; }
CompilerMemory::~CompilerMemory() {
  --living;
  std::set_new_handler(before_);
}

} // namespace lstmc::driver

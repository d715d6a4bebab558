// The stacks of emulated threads.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

#include <boost/context/stack_context.hpp>

namespace lstmc::gpu {

/// Stacks with a guard page below them. They are kept for the launches that follow, because making
/// one takes two system calls.
class Stacks {
public:
  ~Stacks() {
    for (void *stack : free_)
      ::munmap(stack, kBytes);
  }
  void *take() {
    if (!free_.empty()) {
      void *stack = free_.back();
      free_.pop_back();
      return stack;
    }
    void *stack =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
      throw std::bad_alloc();
    ::mprotect(stack, kPage, PROT_NONE);
    return stack;
  }
  void give(void *stack) { free_.push_back(stack); }

  static Stacks &ofThread() {
    static thread_local Stacks stacks;
    return stacks;
  }

  static constexpr size_t kPage = 4096, kBytes = 128 * 1024 + kPage;

private:
  std::vector<void *> free_;
};

struct StackOf {
  Stacks *stacks;
  boost::context::stack_context allocate() {
    boost::context::stack_context made;
    made.size = Stacks::kBytes;
    made.sp = static_cast<char *>(stacks->take()) + Stacks::kBytes;
    return made;
  }
  void deallocate(boost::context::stack_context &made) {
    stacks->give(static_cast<char *>(made.sp) - Stacks::kBytes);
  }
};

} // namespace lstmc::gpu

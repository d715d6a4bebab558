// MLIR makes its operations by `malloc` and does not look at the answer. These functions stand in
// front of the C library's for the whole process.

#include <cstdlib>

#include "executor/base/Termination.h"
#include "frontend/driver/CompilerMemory.h"

extern "C" {
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
}

static void *checked(void *memory, bool wanted) {
  if (!memory && wanted && lstmc::driver::CompilerMemory::lives())
    lstmc::exitOutOfMemory();
  return memory;
}

extern "C" {
void *malloc(size_t bytes) noexcept { return checked(__libc_malloc(bytes), bytes != 0); }
void *calloc(size_t count, size_t bytes) noexcept {
  return checked(__libc_calloc(count, bytes), count != 0 && bytes != 0);
}
void *realloc(void *old, size_t bytes) noexcept {
  return checked(__libc_realloc(old, bytes), bytes != 0);
}
}

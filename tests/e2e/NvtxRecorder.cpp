// A library in place of a profiler: it takes the functions of ranges and writes down what they are
// given. The interface is written out again, so that a mistake in ours is not made here too.
#include <cstdint>
#include <string>

namespace {

std::string text;
int depth = 0;

int push(const char *message) {
  text += std::string(size_t(depth), ' ') + message + '\n';
  return depth++;
}
int pop() { return --depth; }

struct Tables {
  size_t bytes;
  int (*table)(int module, void (***table[])(), unsigned *count);
};

} // namespace

extern "C" int InitializeInjectionNvtx2(const void *(*getExportTable)(uint32_t)) {
  const auto *tables = static_cast<const Tables *>(getExportTable(1));
  void (***functions)() = nullptr;
  unsigned count = 0;
  if (!tables || tables->bytes < sizeof(Tables) || !tables->table(1, &functions, &count) ||
      count < 12)
    return 0;
  *functions[9] = reinterpret_cast<void (*)()>(push);
  *functions[11] = reinterpret_cast<void (*)()>(pop);
  return 1;
}

/// All ranges so far, a line each, one space for each that it is in.
extern "C" const char *recordedRanges() { return text.c_str(); }
extern "C" int openRanges() { return depth; }

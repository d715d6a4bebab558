// Feeds bytes to the reader of idx files, gzip too: it refuses or reads, and does nothing else.
#include "executor/data/Idx.h"

using namespace lstmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  (void)data::parseIdx({bytes, size}, "f").ok();
  return 0;
}

// Feeds bytes to the reader of npy files, which has to refuse or read them and do nothing else.
#include "executor/data/Npy.h"

using namespace lstmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  (void)data::parseNpy({bytes, size}, "f").ok();
  return 0;
}

// Feeds bytes to the reader of npz files (zip, deflate and npy), which has to refuse or read them
// and do nothing else.
#include "executor/data/Npz.h"

using namespace lstmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  (void)data::parseNpz({bytes, size}, "f").ok();
  return 0;
}

// Feeds bytes to the reader of idx files, also gzip. It has to refuse or read them and do nothing
// else.
#include "executor/data/Idx.h"

using namespace lstmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  (void)data::parseIdx({bytes, size}, "f").ok();
  return 0;
}

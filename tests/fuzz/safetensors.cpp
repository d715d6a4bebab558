// Feeds bytes to the reader of safetensors files, which has to refuse or read them and do nothing
// else.
#include "executor/data/SafeTensors.h"

using namespace lstmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  (void)data::SafeTensors::parse(Bytes(bytes, bytes + size), "f").ok();
  return 0;
}

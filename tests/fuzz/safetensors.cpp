// Feeds bytes to the reader of safetensors files: it refuses or reads, and does nothing else.
#include "executor/data/SafeTensors.h"

using namespace lstmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  (void)data::SafeTensors::parse(Bytes(bytes, bytes + size), "f").ok();
  return 0;
}

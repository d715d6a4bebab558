// Feeds bytes to the reader of tables, which has to refuse or read them and do nothing else.
#include "executor/data/Csv.h"

using namespace lstmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  (void)data::parseCsv({bytes, size}, "f").ok();
  return 0;
}

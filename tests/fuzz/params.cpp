// Feeds bytes to the reader of MXNet's .params, which has to refuse or read them, all arrays too,
// and do nothing else.
#include "executor/data/MxnetParams.h"

using namespace lstmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  Result<data::MxnetParams> params = data::MxnetParams::parse(Bytes(bytes, bytes + size), "f");
  for (size_t i = 0; params.ok() && i < params->size(); ++i)
    if (std::optional<size_t> found = params->find(params->name(i)); found && *found != i)
      __builtin_trap();
    else
      (void)params->array(i);
  return 0;
}

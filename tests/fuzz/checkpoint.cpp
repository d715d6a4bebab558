// Feeds bytes to the reader of manifests, with a right digest, so that the fields after the digest
// are reached too.
#include "executor/base/InputFile.h"
#include "executor/base/Sha256.h"
#include "executor/training/CheckpointState.h"

using namespace lstmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  std::string_view text = asText({bytes, size});
  (void)training::CheckpointState::parse(text, "state.json").ok();
  std::string body(text);
  std::string sealed =
      body + ",\n \"manifest_sha256\": \"" + sha256(asBytes(body + "\n}")) + "\"\n}\n";
  (void)training::CheckpointState::parse(sealed, "state.json").ok();
  return 0;
}

// Package::open on any bytes, and on the sample package with any of its bytes changed: the first
// byte of the input says which, and changes are triples of place (two bytes) and value. Whatever
// passes every check but the digest is written again, opened and planned.
#include "executor/package/Package.h"
#include "executor/package/Plan.h"
#include "tests/executor/package/SamplePackage.h"

using namespace lstmc::package;

static Bytes changedSample(const uint8_t *data, size_t size) {
  static const Bytes kSample = serialize(samplePackage());
  Bytes bytes = kSample;
  for (size_t i = 0; i + 3 <= size; i += 3)
    bytes[(data[i] | size_t(data[i + 1]) << 8) % bytes.size()] = data[i + 2];
  return bytes;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  Bytes bytes = data[0] % 2 ? changedSample(data + 1, size - 1) : Bytes(data + 1, data + size);
  if (auto parsed = parse(bytes); parsed.ok()) {
    Bytes again = serialize(*parsed);
    if (auto package = Package::open(again); package.ok()) {
      (void)planOf((*package)->data());
      if (serialize((*package)->data()) != again)
        __builtin_trap();
    }
  }
  (void)Package::open(bytes).ok();
  return 0;
}

// Package::open on any bytes, and on two small packages with any of their bytes changed, one of
// them for two devices: the first byte of the input says which, and changes are triples of place
// (two bytes) and value. Whatever passes every check but the digest is written again, opened and
// planned.
#include "executor/package/Package.h"
#include "executor/package/Plan.h"
#include "tests/executor/package/SamplePackage.h"
#include "tests/executor/package/TransferPackage.h"

using namespace lstmc::package;

/// The package's bytes, which are a valid package's.
static Bytes valid(const PackageData &data) {
  Bytes bytes = serialize(data);
  if (!Package::open(bytes).ok())
    __builtin_trap();
  return bytes;
}

static Bytes changed(Bytes bytes, const uint8_t *data, size_t size) {
  for (size_t i = 0; i + 3 <= size; i += 3)
    bytes[(data[i] | size_t(data[i + 1]) << 8) % bytes.size()] = data[i + 2];
  return bytes;
}

/// With a window on its random numbers, had it some.
static PackageData twoDevices() {
  PackageData data = transferPackage(2);
  for (Launch &launch : data.entries[0].programs[0].launches)
    if (launch.kernel == lstmc::KernelId::Fused)
      launch.ints.insert(launch.ints.end(), {4, transfers::kRows, 9, transfers::kColumns, 2});
  return data;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  static const Bytes kSample = valid(samplePackage()), kTwoDevices = valid(twoDevices());
  Bytes bytes = data[0] % 3 == 0   ? Bytes(data + 1, data + size)
                : data[0] % 3 == 1 ? changed(kSample, data + 1, size - 1)
                                   : changed(kTwoDevices, data + 1, size - 1);
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

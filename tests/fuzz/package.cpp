// Tests Package::open with any bytes, with small packages in which bytes are changed, and with
// small packages in which fields are changed and the digest is right. The first byte of the input
// chooses. What passes every check but the digest is written again, opened, planned and run, with a
// fence around the operands of every launch (executor/device/Fence.h).
//
// LSTMC_FUZZ_COUNT names a file to which a line "inputs PACKAGES_RUN" is added at the end.
#include <cstdio>
#include <cstdlib>

#include "backends/conformance/Conformance.h"
#include "executor/package/Plan.h"
#include "tests/executor/package/LaunchPackage.h"
#include "tests/executor/package/SamplePackage.h"
#include "tests/executor/package/TransferPackage.h"
#include "tests/fuzz/RunPackage.h"

using namespace lstmc;
using namespace lstmc::package;

namespace {

struct Count {
  long inputs = 0, run = 0;
  ~Count() {
    const char *file = std::getenv("LSTMC_FUZZ_COUNT");
    if (FILE *out = file ? std::fopen(file, "a") : nullptr) {
      std::fprintf(out, "%ld %ld\n", inputs, run);
      std::fclose(out);
    }
  }
} count;

/// With a window for its random numbers, if it draws some.
PackageData twoDevices() {
  PackageData data = transferPackage(2);
  for (Launch &launch : data.entries[0].programs[0].launches)
    if (launch.kernel == KernelId::Fused)
      launch.ints.insert(launch.ints.end(), {4, transfers::kRows, 9, transfers::kColumns, 2});
  return data;
}

/// The packages that are changed: some made by hand, and every launch of the conformance tests that
/// is small and has no extent of 0.
const std::vector<PackageData> &bases() {
  static const std::vector<PackageData> kBases = [] {
    std::vector<PackageData> all = {samplePackage(), twoDevices()};
    for (const PackageData &data : all)
      if (!Package::open(serialize(data)).ok())
        __builtin_trap();
    for (KernelId id : conformance::allKernels())
      for (const conformance::Case &c : conformance::casesOf(id)) {
        const conformance::TestLaunch launch = c.make();
        int64_t bytes = 0;
        for (const conformance::Array &array : launch.operands)
          if (array.storage)
            bytes += array.storage->elements() * int64_t(dtypeBytes(array.storage->dtype()));
        if (bytes > 64 << 10)
          continue;
        if (PackageData data = launchPackage(launch); Package::open(serialize(data)).ok())
          all.push_back(std::move(data));
      }
    return all;
  }();
  return kBases;
}

Bytes changed(Bytes bytes, std::span<const uint8_t> changes) {
  for (size_t i = 0; i + 3 <= changes.size(); i += 3)
    bytes[(changes[i] | size_t(changes[i + 1]) << 8) % bytes.size()] = changes[i + 2];
  return bytes;
}

void openAndRun(const Bytes &bytes, fuzz::Choices choices) {
  Result<Package::Pointer> package = Package::open(bytes);
  if (!package.ok())
    return;
  (void)planOf((*package)->data());
  if (serialize((*package)->data()) != bytes)
    __builtin_trap();
  count.run += fuzz::runPackage(*package, choices);
}

} // namespace

/// Done before the first input, because inputs are timed.
extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  (void)bases();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  ++count.inputs;
  fuzz::Choices choices({bytes, size});
  const uint8_t how = choices.byte();
  if (how % 8 == 0 || how % 8 == 1) {
    static const Bytes kSample = serialize(bases()[0]), kTwoDevices = serialize(bases()[1]);
    std::span<const uint8_t> rest(bytes + (size > 0), size - (size > 0));
    Bytes file = how % 8 == 0 ? Bytes(rest.begin(), rest.end())
                              : changed(how / 8 % 2 ? kSample : kTwoDevices, rest);
    if (Result<PackageData> parsed = parse(file); parsed.ok())
      openAndRun(serialize(*parsed), choices);
    (void)Package::open(file).ok();
    return 0;
  }
  PackageData data = bases()[choices.index(bases().size())];
  const fuzz::Choices running = choices;
  choices.byte();
  choices.byte();
  for (int changes = 0; changes < 8 && !choices.empty(); ++changes)
    fuzz::mutate(data, choices);
  openAndRun(serialize(data), running);
  return 0;
}

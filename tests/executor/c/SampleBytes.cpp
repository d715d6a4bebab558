#include "tests/executor/c/SampleBytes.h"

#include <cstring>

#include "tests/executor/package/SamplePackage.h"

std::vector<std::byte> lstmc::test::sampleBytes() {
  package::PackageData data = package::samplePackage();
  data.entries[package::sample::kForward].inputs[0].range = {-100, 100, 7777};
  const package::Bytes bytes = package::serialize(data);
  std::vector<std::byte> copy(bytes.size());
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  return copy;
}

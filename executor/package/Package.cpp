#include "executor/package/Package.h"

#include "executor/abi/Package_generated.h"
#include "executor/base/InputFile.h"
#include "executor/base/NoMemory.h"
#include "executor/base/Sha256.h"
#include "executor/package/Check.h"
#include "executor/package/Locate.h"

namespace lstmc::package {

namespace {

/// All checks, each after those it relies on.
Status check(const PackageData &data) {
  LSTMC_TRY(checkDevicesAndLocations(data));
  LSTMC_TRY(checkBuffers(data));
  LSTMC_TRY(checkPrograms(data));
  LSTMC_TRY(checkEntries(data));
  LSTMC_TRY(checkTransfers(data));
  LSTMC_TRY(checkStreams(data));
  LSTMC_TRY(checkLives(data));
  LSTMC_TRY(checkNames(data));
  return checkInit(data);
}

template <typename List> std::optional<size_t> findByName(const List &list, std::string_view name) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name)
      return i;
  return std::nullopt;
}

} // namespace

Result<Package::Pointer> Package::open(const std::string &file) try {
  LSTMC_ASSIGN(Bytes bytes, readFile(file));
  return open(bytes, file);
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

Result<Package::Pointer> Package::open(std::span<const uint8_t> bytes, std::string file) try {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) != 0)
    return open(Bytes(bytes.begin(), bytes.end()), std::move(file));
  auto named = [&](Error error) {
    error.place.file = file;
    return error;
  };
  Result<PackageData> data = parse(bytes);
  if (!data.ok())
    return named(data.error());
  if (Status status = check(*data); !status.ok()) {
    Error error = named(status.error());
    // Every refusal begins with the field that it is about.
    error.place.byte = locate(bytes, error.message.substr(0, error.message.find(": ")));
    return error;
  }
  // Last, so that what is wrong is said of the field, and that the checks stand without it.
  const abi::fb::Package &root = *abi::fb::GetPackage(bytes.data());
  if (uint64_t want = contentDigest(bytes); root.digest() != want)
    return failAt({file, 0, 0, locate(bytes, "digest")}, ErrorCode::E0609,
                  "digest: found {:016x}, want {:016x}: the bytes are not those that were written",
                  root.digest(), want);
  std::shared_ptr<Package> package(new Package);
  package->data_ = std::move(*data);
  package->digest_ = sha256(bytes);
  package->file_ = std::move(file);
  package->bytes_ = bytes.size();
  return Pointer(std::move(package));
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

std::optional<size_t> Package::findEntry(std::string_view name) const {
  return findByName(data_.entries, name);
}
std::optional<size_t> Package::findParameter(std::string_view name) const {
  return findByName(data_.parameters, name);
}
std::optional<size_t> Package::findState(std::string_view name) const {
  return findByName(data_.states, name);
}

SourceRange rangeOf(const Location &location) {
  SourceRange range;
  range.file = location.file;
  range.line = int(location.line);
  range.column = int(location.column);
  range.length = int(location.length);
  range.text = location.text;
  return range;
}

} // namespace lstmc::package

// Bytes that are not a valid package: cut anywhere, changed anywhere, or unfolding to more than the
// file.
#include <gtest/gtest.h>

#include "executor/abi/Package_generated.h"
#include "executor/abi/Version.h"
#include "executor/package/Package.h"
#include "tests/executor/package/SamplePackage.h"

namespace lstmc::package {
namespace {

std::string refusal(std::span<const uint8_t> bytes) {
  auto package = Package::open(bytes, "a.lstmc");
  return package.ok() ? "" : package.error().text();
}

TEST(PackageBytes, EveryTruncationIsRefused) {
  Bytes bytes = serialize(samplePackage());
  for (size_t length = 0; length < bytes.size(); ++length) {
    Bytes cut(bytes.begin(), bytes.begin() + int64_t(length));
    auto package = Package::open(cut, "a.lstmc");
    ASSERT_FALSE(package.ok()) << length;
    EXPECT_EQ(errorRecord(package.error().code).exit, ExitCode::File);
    EXPECT_GE(package.error().place.byte, 0) << length;
  }
}

TEST(PackageBytes, EveryChangedByteIsRefused) {
  Bytes bytes = serialize(samplePackage());
  size_t byDigest = 0;
  for (size_t at = 0; at < bytes.size(); ++at)
    for (uint8_t change : {0x01, 0x80, 0xff}) {
      Bytes changed = bytes;
      changed[at] ^= change;
      auto package = Package::open(changed, "a.lstmc");
      ASSERT_FALSE(package.ok()) << at;
      EXPECT_EQ(errorRecord(package.error().code).exit, ExitCode::File);
      byDigest += package.error().code == ErrorCode::E0609;
    }
  // A check of its own finds most changes; changes to letters of names and to numbers that may vary
  // are not found.
  EXPECT_LT(byDigest, bytes.size() * 2);
}

TEST(PackageBytes, TrailingBytesAreRefused) {
  Bytes bytes = serialize(samplePackage());
  bytes.insert(bytes.end(), 8, 0);
  Error error = Package::open(bytes).error();
  EXPECT_EQ(error.message, fmt::format("bytes: found {}, want {}, the size of the file",
                                       bytes.size() - 8, bytes.size()));
}

TEST(PackageBytes, TooShortIsCutShort) {
  EXPECT_EQ(refusal({}), "a.lstmc: byte 0: error[E0602]: package: found 0 bytes, want at least 8");
}

TEST(PackageBytes, OtherFileIsNoPackage) {
  Bytes text{'#', '!', '/', 'b', 'i', 'n', '/', 's', 'h', '\n'};
  EXPECT_EQ(refusal(text),
            "a.lstmc: byte 4: error[E0603]: identifier: found \"in/s\", want \"LSTM\"");
}

TEST(PackageBytes, NewerAbiIsRefused) {
  PackageData data = samplePackage();
  data.abi = 99;
  Error error = Package::open(serialize(data)).error();
  EXPECT_EQ(error.message,
            fmt::format("abi: package needs abi 99, this runtime has {}; compile its source again: "
                        "lstmc compile NET.lnet -o NEW.lstmc; weights stay good, those of a "
                        "checkpoint too: --params CHECKPOINT",
                        kPackageAbi));
  EXPECT_EQ(errorRecord(error.code).name, "E0603");
}

TEST(PackageBytes, OffsetOutsideNamesFieldAndByte) {
  Bytes bytes = serialize(samplePackage());
  const abi::fb::Package *package = abi::fb::GetPackage(bytes.data());
  // The length of the list of launches of step becomes enormous.
  const auto *launches = package->entries()->Get(2)->programs()->Get(0)->launches();
  size_t at = size_t(reinterpret_cast<const uint8_t *>(launches) - bytes.data());
  size_t count = 0x10000000ull + launches->size();
  bytes[at + 3] = 0x10;
  EXPECT_EQ(refusal(bytes), fmt::format("a.lstmc: byte {}: error[E0602]: "
                                        "entries[2].programs[0].launches: found {} bytes at offset "
                                        "{}, want them within {}",
                                        at, count * 4, at + 4, bytes.size()));
}

TEST(PackageBytes, ByteOfARefusedFieldIsWhereItStands) {
  PackageData data = samplePackage();
  data.buffers[sample::kX].offset = 0x12345;
  Bytes bytes = serialize(data);
  Error error = Package::open(bytes).error();
  uint64_t found = 0;
  ASSERT_GE(error.place.byte, 0);
  std::memcpy(&found, bytes.data() + error.place.byte, 8);
  EXPECT_EQ(found, 0x12345u);
}

/// Writes the size of the file into its field.
void sizeOf(flatbuffers::FlatBufferBuilder &b) {
  auto *package = flatbuffers::GetMutableRoot<abi::fb::Package>(b.GetBufferPointer());
  reinterpret_cast<flatbuffers::Table *>(package)->SetField<uint64_t>(abi::fb::Package::VT_BYTES,
                                                                      b.GetSize(), 0);
}

// Tables may share parts in the file; unfolded, they would take more memory than the file's size
// justifies.
TEST(PackageBytes, SharedTablesDoNotUnfold) {
  flatbuffers::FlatBufferBuilder b;
  auto text = b.CreateString(std::string(1 << 20, 'x'));
  std::vector<flatbuffers::Offset<abi::fb::Setting>> settings;
  for (int i = 0; i < 1000; ++i)
    settings.push_back(abi::fb::CreateSetting(b, text, text));
  auto list = b.CreateVector(settings);
  abi::fb::PackageBuilder package(b);
  package.add_abi(kPackageAbi);
  package.add_settings(list);
  package.add_bytes(1);
  b.Finish(package.Finish(), abi::fb::PackageIdentifier());
  sizeOf(b);
  std::span bytes(b.GetBufferPointer(), b.GetSize());
  EXPECT_EQ(refusal(bytes),
            fmt::format("a.lstmc: error[E0606]: package: its tables share bytes and unfold to more "
                        "than 64 MiB and 3 times its {} bytes",
                        bytes.size()));
}

// One table of launches that is listed a hundred thousand times is visited too often.
TEST(PackageBytes, SharedTablesAreNotVisitedWithoutEnd) {
  flatbuffers::FlatBufferBuilder b;
  std::vector<flatbuffers::Offset<abi::fb::Operand>> operands(1000, abi::fb::CreateOperand(b));
  auto operandList = b.CreateVector(operands);
  auto launch = abi::fb::CreateLaunch(b, 0, operandList);
  auto launchList = b.CreateVector(std::vector(1000, launch));
  auto program = abi::fb::CreateDeviceProgram(b, 0, launchList);
  auto programList = b.CreateVector(std::vector(1000, program));
  auto entry = abi::fb::CreateEntry(b, 0, 0, 0, programList);
  auto entryList = b.CreateVector(std::vector(1000, entry));
  abi::fb::PackageBuilder package(b);
  package.add_abi(kPackageAbi);
  package.add_entries(entryList);
  b.Finish(package.Finish(), abi::fb::PackageIdentifier());
  Error error = Package::open(std::span(b.GetBufferPointer(), b.GetSize())).error();
  EXPECT_EQ(error.message.substr(error.message.find(": ")),
            ": found tables that contain one another, want a tree");
}

} // namespace
} // namespace lstmc::package

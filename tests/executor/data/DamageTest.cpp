// Every truncation and every changed byte of small valid files is refused with file, place and
// code, or read without harm. The preset asan runs this under ASan and UBSan.
#include <functional>

#include "executor/data/Idx.h"
#include "executor/data/MxnetParams.h"
#include "executor/data/Npy.h"
#include "executor/data/Npz.h"
#include "executor/data/SafeTensors.h"
#include "tests/executor/data/Files.h"
#include "tests/executor/data/MxnetFile.h"

namespace lstmc::data {
namespace {

using Loader = std::function<Status(const Bytes &)>;

/// `tight`: no proper prefix of the file is a valid file.
void damage(const Bytes &good, const Loader &load, bool tight) {
  ASSERT_OK(load(good));
  for (size_t length = 0; length < good.size(); ++length) {
    Status status = load(Bytes(good.begin(), good.begin() + int64_t(length)));
    EXPECT_FALSE(status.ok() && tight) << "truncated to " << length;
    if (!status.ok()) {
      EXPECT_EQ(errorRecord(status.error().code).exit, ExitCode::File) << status.error().text();
    }
  }
  for (size_t at = 0; at < good.size(); ++at) {
    for (int change : {0x01, 0x80, 0xff, 0x20}) {
      Bytes bad = good;
      bad[at] = uint8_t(bad[at] ^ change);
      Status status = load(bad);
      if (status.ok())
        continue;
      const Error &error = status.error();
      EXPECT_EQ(errorRecord(error.code).exit, ExitCode::File) << error.text();
      EXPECT_EQ(error.place.file, "f") << error.text();
      EXPECT_GE(error.place.byte, 0) << error.text();
      EXPECT_LE(error.place.byte, int64_t(bad.size())) << error.text();
    }
  }
}

struct Sample {
  float w[2] = {1, 2};
  bool flags[2] = {false, true};
  int64_t shape[1] = {2};
  std::vector<NamedTensor> tensors = {{"w", denseTensor(w, DType::F32, shape)},
                                      {"flags", denseTensor(flags, DType::Bool, shape)}};
  test::TemporaryFolder folder;
  Bytes bytesOf(const std::string &name) { return *readFile(folder / name); }
};

TEST(Damage, SafeTensors) {
  Sample sample;
  ASSERT_OK(writeSafeTensors(sample.folder / "x", sample.tensors, OutputFile::Existing::Keep,
                             {{"k", "v"}}));
  damage(
      sample.bytesOf("x"),
      [](const Bytes &bytes) { return SafeTensors::parse(bytes, "f").status(); }, true);
}

TEST(Damage, Npy) {
  Sample sample;
  ASSERT_OK(writeNpy(sample.folder / "x", sample.tensors[0].tensor, OutputFile::Existing::Keep));
  damage(
      sample.bytesOf("x"), [](const Bytes &bytes) { return parseNpy(bytes, "f").status(); }, true);
}

TEST(Damage, Npz) {
  Sample sample;
  ASSERT_OK(writeNpz(sample.folder / "x", sample.tensors, OutputFile::Existing::Keep));
  damage(
      sample.bytesOf("x"), [](const Bytes &bytes) { return parseNpz(bytes, "f").status(); }, true);
}

TEST(Damage, MxnetParams) {
  for (test::MxnetVersion version : test::kMxnetVersions) {
    test::MxnetFile file;
    file.array(version, {2}, std::vector<float>{1, 2})
        .array(version, {1, 2}, std::vector<bool>{0, 1});
    damage(
        file.named({"arg:w", "aux:flags"}),
        [](const Bytes &bytes) { return MxnetParams::parse(bytes, "f").status(); }, true);
  }
}

TEST(Damage, Idx) {
  damage(
      {0, 0, 0x0d, 2, 0, 0, 0, 1, 0, 0, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8},
      [](const Bytes &bytes) { return parseIdx(bytes, "f").status(); }, true);
}

} // namespace
} // namespace lstmc::data

#include <filesystem>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

#include "executor/abi/Packing.h"
#include "executor/base/CacheFolder.h"
#include "executor/base/InputFile.h"
#include "executor/base/Limits.h"
#include "executor/base/OutputFile.h"
#include "executor/base/Quote.h"
#include "executor/base/SafeSize.h"
#include "executor/base/Sha256.h"
#include "executor/base/Utf8.h"
#include "tests/executor/data/Files.h"

namespace lstmc {
namespace {

using Existing = OutputFile::Existing;

size_t entries(const test::TemporaryFolder &folder) {
  return size_t(std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

TEST(SafeSize, RemembersOverflow) {
  EXPECT_EQ((SafeSize(3) * 4 + 5).value(), 17u);
  EXPECT_EQ(roundUp(SafeSize(65), 64).value(), 128u);
  EXPECT_FALSE((SafeSize(uint64_t(1) << 62) * 4).value()); // wraps to 0
  EXPECT_FALSE((SafeSize(UINT64_MAX) + 1).value());        // wraps to 0
  EXPECT_FALSE((SafeSize(UINT64_MAX) + 1 + 7).value());    // stays without a value
  EXPECT_FALSE(SafeSize(uint64_t(INT64_MAX) + 1).value()); // 63 bits
  EXPECT_FALSE((SafeSize::fromSigned(-2) * SafeSize::fromSigned(-2)).value());
  EXPECT_FALSE(roundUp(SafeSize(UINT64_MAX - 3), 64).value());
}

TEST(OutputFile, ExistsCompleteOrNotAtAll) {
  test::TemporaryFolder folder;
  std::string path = folder / "out";
  {
    auto file = OutputFile::create(path, Existing::Keep);
    ASSERT_OK(file);
    ASSERT_OK(file->write("half"));
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(entries(folder), 1u);
  }
  EXPECT_EQ(entries(folder), 0u); // not committed: removed
  mode_t mask = ::umask(027);
  ASSERT_OK(writeFile(path, "whole", Existing::Keep));
  ::umask(mask);
  struct stat there{};
  ASSERT_EQ(::stat(path.c_str(), &there), 0);
  EXPECT_EQ(there.st_mode & 0777, 0640u);
  EXPECT_REFUSED(writeFile(path, "other", Existing::Keep), E0608, "out: error[E0608]");
  ASSERT_OK(writeFile(path, "other", Existing::Replace));
  EXPECT_EQ(test::readText(path), "other");
  EXPECT_REFUSED(writeFile(folder.path().string(), "x", Existing::Replace), E0601,
                 "found a folder");
}

TEST(OutputFile, WritesDevicesAndPipesDirectly) {
  struct stat before{}, after{};
  ASSERT_EQ(::stat("/dev/null", &before), 0);
  for (Existing existing : {Existing::Keep, Existing::Replace})
    ASSERT_OK(writeFile("/dev/null", "gone", existing));
  ASSERT_EQ(::lstat("/dev/null", &after), 0);
  EXPECT_TRUE(S_ISCHR(after.st_mode) && after.st_ino == before.st_ino);

  test::TemporaryFolder folder;
  std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = test::readText(pipe); });
  ASSERT_OK(writeFile(pipe, "through", Existing::Keep));
  reader.join();
  EXPECT_EQ(read, "through");
  EXPECT_EQ(entries(folder), 1u);
}

TEST(OutputFile, KeepsSymbolicLinks) {
  test::TemporaryFolder folder;
  test::writeText(folder / "a", "old");
  std::filesystem::create_symlink("a", folder / "link");
  EXPECT_REFUSED(writeFile(folder / "link", "new", Existing::Keep), E0608, "--force");
  ASSERT_OK(writeFile(folder / "link", "new", Existing::Replace));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(test::readText(folder / "a"), "new");
}

TEST(CacheFolder, ReplacesWhateverHasTheName) {
  test::TemporaryFolder folder;
  test::writeText(folder / "a", "old");
  std::filesystem::create_symlink("a", folder / "link");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::filesystem::create_hard_link(folder / "a", folder / "second");
  for (const char *name : {"link", "pipe", "second", "new"}) {
    const std::string_view texts[] = {"new ", name};
    ASSERT_OK(keepInCache(folder.path().string(), name, texts));
    EXPECT_FALSE(std::filesystem::is_symlink(folder / name));
    EXPECT_EQ(asText(*readFileBeneath(folder.path().string(), name)), std::string("new ") + name);
  }
  EXPECT_EQ(test::readText(folder / "a"), "old");
  EXPECT_EQ(entries(folder), 5u);
}

TEST(OutputFile, KeepsWhatCameMeanwhile) {
  test::TemporaryFolder folder;
  auto file = OutputFile::create(folder / "out", Existing::Keep);
  ASSERT_OK(file);
  test::writeText(folder / "out", "somebody else's");
  EXPECT_REFUSED(file->commit(), E0608, "--force");
  EXPECT_EQ(test::readText(folder / "out"), "somebody else's");
}

TEST(OutputFile, RemovedBySignalHandlers) {
  test::TemporaryFolder folder;
  auto file = OutputFile::create(folder / "out", Existing::Keep);
  ASSERT_OK(file);
  removeTemporaryFiles();
  EXPECT_EQ(entries(folder), 0u);
}

TEST(InputFile, RegularFilesOnly) {
  test::TemporaryFolder folder;
  test::writeText(folder / "a", "abc");
  EXPECT_EQ(asText(*readFile(folder / "a")), "abc");
  EXPECT_REFUSED(readFile(folder / "b"), E0601, "b: error[E0601]: cannot read: No such file");
  EXPECT_REFUSED(readFile(folder.path().string()), E0601, "found a folder");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_REFUSED(readFile(folder / "pipe"), E0601, "want a regular file");
  EXPECT_REFUSED(readFile("/dev/zero"), E0601, "want a regular file");
}

TEST(InputFile, Beneath) {
  test::TemporaryFolder folder;
  std::string base = folder.path().string();
  test::writeText(folder / "a", "abc");
  EXPECT_EQ(asText(*readFileBeneath(base, "a")), "abc");
  for (std::string name : {"", ".", "..", "../a", "/etc/passwd", "a/b"})
    EXPECT_REFUSED(readFileBeneath(base, name), E0604, "want a name without folders");
  EXPECT_REFUSED(readFileBeneath(base, std::string("a\0b", 3)), E0604, "\\u0000");
  EXPECT_REFUSED(readFileBeneath("", "a"), E0604, "want a name");
  std::filesystem::create_symlink("a", folder / "link");
  EXPECT_REFUSED(readFileBeneath(base, "link"), E0601, "link");
  std::filesystem::create_hard_link(folder / "a", folder / "twin");
  EXPECT_REFUSED(readFileBeneath(base, "a"), E0601, "found a file with 2 names");
}

TEST(Quote, HidesNothing) {
  EXPECT_EQ(inQuotes("a\"\n\x1b\xff\xe2\x80\xae"), "\"a\\\"\\n\\u001b\\xff\\u202e\"");
  EXPECT_EQ(inQuotes("\xc3\xa9"), "\"\xc3\xa9\"");
  EXPECT_EQ(inQuotes(std::string(100, 'x')).size(), 80u + 5u);
}

TEST(Utf8, Strict) {
  char32_t c = 0;
  EXPECT_EQ(decodeUtf8("\xf4\x8f\xbf\xbf", c), 4);
  EXPECT_EQ(c, char32_t(0x10ffff));
  for (const char *bad : {"", "\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xe2\x82", "\xff"})
    EXPECT_EQ(decodeUtf8(bad, c), 0) << bad;
}

TEST(Sha256, KnownDigest) { // FIPS 180-2, appendix B.1
  EXPECT_EQ(sha256(asBytes("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Limits, ByName) {
  Limits limits;
  ASSERT_OK(setLimit(limits, "csv-line", 5));
  EXPECT_EQ(limits.csvLine, 5u);
  EXPECT_REFUSED(setLimit(limits, "rank", 17), E0001, "want at most 16");
  EXPECT_REFUSED(setLimit(limits, "colour", 1), E0001, "\"colour\" is unknown");
}

} // namespace
} // namespace lstmc

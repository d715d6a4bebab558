// Files that another file names have to be in its folder, or in a folder that a user allowed.
#include <filesystem>

#include <unistd.h>

#include "executor/base/NestedFile.h"
#include "executor/data/DataSet.h"
#include "tests/executor/data/Files.h"

namespace lstmc::data {
namespace {

namespace fs = std::filesystem;

class AllowedFiles : public testing::Test {
protected:
  AllowedFiles() {
    fs::create_directories(folder_.path() / "model/data");
    fs::create_directories(folder_.path() / "other");
    model_ = folder_ / "model";
    other_ = folder_ / "other";
    test::writeText(model_ + "/a", "in model");
    test::writeText(model_ + "/data/b", "in data");
    test::writeText(other_ + "/c", "in other");
    fs::create_symlink(other_ + "/c", model_ + "/link");
    fs::create_symlink(other_, model_ + "/folder");
    fs::create_hard_link(other_ + "/c", model_ + "/second");
  }
  std::string read(const std::vector<std::string> &folders, const std::string &path) {
    Result<Bytes> bytes = readNestedFile(folders, path);
    return bytes.ok() ? std::string(asText(*bytes))
                      : std::string(errorRecord(bytes.error().code).name);
  }

  test::TemporaryFolder folder_;
  std::string model_, other_;
};

TEST_F(AllowedFiles, LieBeneath) {
  EXPECT_EQ(read({model_}, "a"), "in model");
  EXPECT_EQ(read({model_}, "data/b"), "in data");
  EXPECT_EQ(read({model_}, "./data/../a"), "in model");
  EXPECT_EQ(read({model_}, model_ + "/a"), "in model");
  EXPECT_EQ(read({model_}, "data/none"), "E0601");
  EXPECT_EQ(read({model_}, "data"), "E0601");
}

TEST_F(AllowedFiles, AreNotLedOut) {
  for (std::string out : {"../other/c", "data/../../other/c", "/etc/passwd", "..", "."})
    EXPECT_EQ(read({model_}, out), "E0604") << out;
  for (std::string link : {"link", "folder/c", "second"})
    EXPECT_EQ(read({model_}, link), "E0601") << link;
  Result<Bytes> refused = readNestedFile({model_}, "../other/c");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text(),
            "../other/c: error[E0604]: data: found a path that leads out of \"" + model_ +
                "\", where the file that names it is; --allow-data DIR allows another folder");
}

TEST_F(AllowedFiles, OrWhereAUserSays) {
  fs::remove(model_ + "/second"); // c now has one name again
  EXPECT_EQ(read({model_, other_}, "../other/c"), "in other");
  EXPECT_EQ(read({model_, other_}, other_ + "/c"), "in other");
  EXPECT_EQ(read({model_, other_}, "c"), "in other");
  EXPECT_EQ(read({model_, other_}, "link"), "E0601"); // a link is still refused
  EXPECT_EQ(read({model_, other_}, "/etc/passwd"), "E0604");
}

TEST_F(AllowedFiles, AllThatASpecNames) {
  auto spec = *DataSpec::parse("text:a,vocab=../other/c");
  spec.folders = {model_};
  EXPECT_REFUSED(DataSet::load(spec), E0604, "../other/c: error[E0604]");
  auto npy = *DataSpec::parse("npy:data=../other/c");
  npy.folders = {model_};
  EXPECT_REFUSED(DataSet::load(npy), E0604, "../other/c: error[E0604]");
  auto csv = *DataSpec::parse("csv:../other/c,target=x");
  csv.folders = {model_};
  EXPECT_REFUSED(DataSet::load(csv), E0604, "../other/c: error[E0604]");
  spec = *DataSpec::parse("text:a");
  spec.folders = {model_};
  ASSERT_OK(DataSet::load(spec));
  EXPECT_EQ(*filesDigest(spec), (*DataSet::load(spec))->digest());
}

} // namespace
} // namespace lstmc::data

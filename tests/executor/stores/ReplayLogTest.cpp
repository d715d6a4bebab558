#include "executor/stores/ReplayLog.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "executor/base/Hash.h"

namespace lstmc::test {
namespace {

using namespace stores;

const ReplayHead kHead{2, 2, 3, 8, 1000, 7, "p", "w", "d"};

class ReplayLogTest : public testing::Test {
protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() /
        (std::string("lstmc-") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    path_ = folder_ / "replay.log";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string &text) { std::ofstream(path_) << text; }
  std::string text() {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string errorOf(const std::string &text) {
    write(text);
    auto log = ReplayLog::read(path_);
    return log.ok() ? "" : log.error().text();
  }

  std::filesystem::path folder_;
  std::string path_;
};

/// Digests: XXH3 of a section, with the digest before as its seed.
const std::string kText = "lstmc replay 2\nworkers 2\nservers 2\nstaleness 3\nbatch 8\n"
                          "bigarray-bound 1000\nseed 7\nprogram p\nweights w\ndata d\n"
                          "digest @\nevents 4\nu0 a0\nu1\nend 4 @\nevents 8\nu1 m\n\nend 8 @\n";

/// Puts the digests where `text` has an @.
std::string withDigests(std::string text) {
  uint64_t digest = 0;
  for (size_t begin = 0, at; (at = text.find('@', begin)) != std::string::npos; begin = at + 17) {
    digest = hashBytes(text.data() + begin, at - begin, digest);
    text.replace(at, 1, fmt::format("{:016x}", digest));
  }
  return text;
}

TEST_F(ReplayLogTest, IsReadAsItWasWritten) {
  auto writer = ReplayWriter::open(path_, kHead, 0);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->append({4, {"u0 a0", "u1"}}).ok());
  ASSERT_TRUE(writer->append({8, {"u1 m", ""}}).ok());
  EXPECT_EQ(text(), withDigests(kText));
  auto log = ReplayLog::read(path_);
  ASSERT_TRUE(log.ok()) << log.error().text();
  EXPECT_EQ(log->updates(), 8);
  auto events = log->eventsOf(0, path_);
  ASSERT_TRUE(events.ok());
  std::string all;
  for (const Event &event : *events)
    all += stores::text(event) + ",";
  EXPECT_EQ(all, "u0,a0,u1,m,");
  EXPECT_FALSE(log->finish);
  ASSERT_TRUE(writer->finish({8, "abc"}).ok());
  EXPECT_EQ(text(), withDigests(kText + "finished 8 abc @\n"));
  log = ReplayLog::read(path_);
  ASSERT_TRUE(log.ok()) << log.error().text();
  EXPECT_EQ(log->finish->update, 8);
  EXPECT_EQ(log->finish->weights, "abc");
}

TEST_F(ReplayLogTest, IsRefusedWithAnyBitFlipped) {
  const std::string good = withDigests(kText + "finished 8 abc @\n");
  ASSERT_EQ(errorOf(good), "");
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = char(bad[bit / 8] ^ 1 << bit % 8);
    EXPECT_NE(errorOf(bad), "") << "bit " << bit % 8 << " of byte " << bit / 8;
  }
  EXPECT_NE(errorOf(good + "\n"), "");
}

TEST_F(ReplayLogTest, KnowsTheWeightsAtTheEnd) {
  write(withDigests(kText + "finished 8 abc @\n"));
  EXPECT_TRUE(checkFinish(path_, 8, "abc").ok());
  EXPECT_TRUE(checkFinish(path_, 7, "abd").ok()); // a replay of a part
  const Status other = checkFinish(path_, 8, "abd");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::E0609);
  EXPECT_NE(other.error().text().find("found abd in the replay, want abc"), std::string::npos);
  write(withDigests(kText)); // of a run that was killed
  EXPECT_TRUE(checkFinish(path_, 8, "abd").ok());
}

TEST_F(ReplayLogTest, GoesOnFromACheckpoint) {
  // Killed while it wrote.
  write(withDigests(kText + "events 12\nu0\nu0\nend 12 @\nevents 16\nu0\n"));
  auto writer = ReplayWriter::open(path_, kHead, 8);
  ASSERT_TRUE(writer.ok()) << writer.error().text();
  EXPECT_EQ(text(), withDigests(kText));
  EXPECT_EQ(ReplayWriter::open(path_, kHead, 6).error().code, ErrorCode::E0605);
  ReplayHead other = kHead;
  other.staleness = 4;
  EXPECT_NE(ReplayWriter::open(path_, other, 8).error().text().find("staleness: found 3, want 4"),
            std::string::npos);
}

TEST_F(ReplayLogTest, IsRefusedWithFileAndLine) {
  auto changed = [](std::string from, std::string to) {
    return withDigests(std::string(kText).replace(kText.find(from), from.size(), to));
  };
  for (const auto &[text, message] : std::vector<std::pair<std::string, std::string>>{
           {"", ":1:1: error[E0603]"},
           {changed("replay 2", "replay 1"), ":1:1: error[E0603]"},
           {changed("workers 2", "workers 0"), ":2:1: error[E0604]"},
           {changed("workers 2", "workers 99999999999999999999"), ":2:1: error[E0604]"},
           {changed("servers 2", "slaves 2"), ":3:1: error[E0603]"},
           {changed("u0 a0", "u0 a2"), "found event \"a2\""},
           {changed("u0 a0", "u0  a0"), "found event \"\""},
           {changed("u0 a0", "u0 am"), "found event \"am\""},
           {changed("end 4", "end 5"), ":15:1: error[E0609]"},
           {withDigests(kText).replace(withDigests(kText).find("u0 a0"), 5, "u1 a0"),
            ":15:1: error[E0609]"},
           {changed("events 8", "events 4"), ":16:1: error[E0604]"}})
    EXPECT_NE(errorOf(text).find(message), std::string::npos) << message << "\n" << errorOf(text);
}

} // namespace
} // namespace lstmc::test

#include "executor/base/Processors.h"

#include <cstdlib>
#include <map>

#include <gtest/gtest.h>
#include <sched.h>

#include "tests/executor/base/GroupFiles.h"

namespace lstmc {
namespace {

std::map<std::string, int> quotas(test::GroupFiles &files) {
  std::map<std::string, int> all;
  const std::string prefix = "control group " + files.at("");
  for (const ProcessorLimit &limit : quotaLimits(files.at("self"))) {
    EXPECT_TRUE(limit.by.starts_with(prefix)) << limit.by;
    EXPECT_EQ(limit.kind, ProcessorLimit::Kind::Quota);
    all[limit.by.substr(prefix.size())] = limit.count;
  }
  return all;
}

TEST(Processors, AreLimitedByTheQuotasOfTheGroupAndAllThatItIsIn) {
  test::GroupFiles files;
  files.write("self/cgroup", "0::/user/job/step\n");
  files.write("self/mountinfo",
              "41 31 0:38 / " + files.at("v2") + " rw shared:9 - cgroup2 cgroup2 rw\n");
  files.write("v2/user/job/step/cpu.max", "max 100000\n");
  files.write("v2/user/job/cpu.max", "250000 100000\n"); // 2.5
  files.write("v2/user/cpu.max", "50000 100000\n");      // 0.5
  files.write("v2/other/cpu.max", "100000 100000\n");
  const std::map<std::string, int> expected = {{"v2/user/job", 2}, {"v2/user", 1}};
  EXPECT_EQ(quotas(files), expected);
}

TEST(Processors, KnowQuotasOfBothVersions) {
  test::GroupFiles files;
  files.write("self/cgroup", "4:cpu,cpuacct:/docker/a\n3:cpuset:/set\n0::/\n");
  files.write("self/mountinfo", "30 1 0:1 / " + files.at("cpu") +
                                    " rw - cgroup cgroup rw,cpu,cpuacct\n31 1 0:2 / " +
                                    files.at("set") + " rw - cgroup cgroup rw,cpuset\n");
  files.write("cpu/docker/a/cpu.cfs_quota_us", "300000\n");
  files.write("cpu/docker/a/cpu.cfs_period_us", "50000\n");
  files.write("cpu/docker/cpu.cfs_quota_us", "-1\n");
  files.write("cpu/docker/cpu.cfs_period_us", "100000\n");
  files.write("set/set/cpu.cfs_quota_us", "1\n");
  files.write("set/set/cpu.cfs_period_us", "100000\n");
  const std::map<std::string, int> expected = {{"cpu/docker/a", 6}};
  EXPECT_EQ(quotas(files), expected);
}

TEST(Processors, IgnoreFilesThatAreNoQuotas) {
  for (const char *text : {"", "many 100000\n", "100000\n", "-5 100000\n", "100000 0\n"}) {
    test::GroupFiles files;
    files.write("self/cgroup", "0::/\n");
    files.write("self/mountinfo", "41 31 0:38 / " + files.at("v2") + " rw - cgroup2 cgroup2 rw\n");
    files.write("v2/cpu.max", text);
    EXPECT_TRUE(quotas(files).empty()) << text;
  }
}

TEST(Processors, OfOneCoreCountOnce) {
  test::GroupFiles files;
  auto siblings = [&](int processor, const std::string &list) {
    files.write("cpu" + std::to_string(processor) + "/topology/thread_siblings_list", list + "\n");
  };
  siblings(0, "0,4");
  siblings(4, "0,4");
  siblings(1, "1,5");
  siblings(5, "1,5");
  EXPECT_EQ(physicalCores({0, 1, 4, 5}, files.at("")), 2);
  EXPECT_EQ(physicalCores({0, 4}, files.at("")), 1);
  EXPECT_EQ(physicalCores({0, 7, 8}, files.at("")), 3); // nothing is known of 7 and 8
}

TEST(Processors, AreThoseThatTheSchedulerMayChoose) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  int first = 0;
  while (!CPU_ISSET(first, &before))
    ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(availableProcessors(), 1);
  EXPECT_EQ(defaultThreads(), 1);
  EXPECT_EQ(defaultThreadsText(), "1 thread by default (affinity)");
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_LE(availableProcessors(), CPU_COUNT(&before));
}

TEST(Processors, OfTheEnvironmentReplaceTheDefault) {
  auto with = [](const char *text, size_t devices) {
    ::setenv("LSTMC_THREADS", text, 1);
    Result<int> threads = defaultThreadsOf(devices);
    ::unsetenv("LSTMC_THREADS");
    return threads;
  };
  EXPECT_EQ(*with("7", 1), 7);
  EXPECT_EQ(*with("7", 4), 7); // for each device
  EXPECT_EQ(*with("0", 1), defaultThreads());
  EXPECT_EQ(*with("", 1000), 1);
  for (const char *text : {"all", "-1", "1025", "2 ", "99999999999"}) {
    Result<int> threads = with(text, 1);
    ASSERT_FALSE(threads.ok()) << text;
    EXPECT_EQ(threads.error().code, ErrorCode::E0001);
  }
}

} // namespace
} // namespace lstmc

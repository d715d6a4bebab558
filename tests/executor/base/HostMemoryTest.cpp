#include "executor/base/HostMemory.h"

#include <map>

#include <gtest/gtest.h>

#include "tests/executor/base/GroupFiles.h"

namespace lstmc {
namespace {

class Groups : public test::GroupFiles {
public:
  /// By who set them: the folder of the group.
  std::map<std::string, MemoryLimit> limits() {
    std::map<std::string, MemoryLimit> all;
    const std::string prefix = "control group " + at("");
    for (const MemoryLimit &limit : controlGroupLimits(at("self"))) {
      EXPECT_TRUE(limit.by.starts_with(prefix)) << limit.by;
      all[limit.by.substr(prefix.size())] = limit;
    }
    return all;
  }
};

TEST(HostMemory, IsLimitedByTheGroupAndAllThatItIsIn) {
  Groups groups;
  groups.write("self/cgroup", "0::/user/job\n");
  groups.write("self/mountinfo", "41 31 0:38 / " + groups.at("v2") +
                                     " rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  groups.write("v2/user/job/memory.max", "max\n");
  groups.write("v2/user/memory.max", "1048576\n");
  groups.write("v2/user/memory.current", "700000\n");
  groups.write("v2/user/memory.stat", "anon 1000\nfile 5\ninactive_file 200000\n");
  groups.write("v2/other/memory.max", "7\n");
  const auto limits = groups.limits();
  ASSERT_EQ(limits.size(), 1u);
  EXPECT_EQ(limits.at("v2/user").bytes, 1048576u);
  EXPECT_EQ(limits.at("v2/user").used, 500000u); // without what the system can drop
}

TEST(HostMemory, KnowsBothVersionsAndMountsWithinAContainer) {
  Groups groups;
  groups.write("self/cgroup", "4:cpu,memory:/docker/abc/inner\n1:name=systemd:/x\n0::/\n");
  groups.write("self/mountinfo", "30 1 0:1 / " + groups.at("cpu") + " rw - cgroup cgroup rw,cpu\n" +
                                     "35 31 0:32 /docker/abc " + groups.at("a\\040folder") +
                                     " ro - cgroup cgroup rw,memory\n41 31 0:38 / " +
                                     groups.at("v2") + " rw - cgroup2 cgroup2 rw\n");
  groups.write("cpu/memory.limit_in_bytes", "1\n");
  groups.write("a folder/memory.limit_in_bytes", "5000\n");
  groups.write("a folder/inner/memory.limit_in_bytes", "9223372036854771712\n");
  groups.write("v2/memory.max", "6000\n");
  const auto limits = groups.limits();
  ASSERT_EQ(limits.size(), 3u);
  EXPECT_EQ(limits.at("a folder").bytes, 5000u);
  EXPECT_EQ(limits.at("a folder/inner").bytes, 9223372036854771712u); // none
  EXPECT_EQ(limits.at("v2").bytes, 6000u);
}

TEST(HostMemory, IsThatOfSlurmsAllocationOnThisNode) {
  std::map<std::string, std::string> variables;
  auto bytes = [&]() -> uint64_t {
    const std::vector<MemoryLimit> limits = slurmLimits([&](const char *name) {
      auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    });
    return limits.empty() ? 0 : limits.front().bytes;
  };
  EXPECT_EQ(bytes(), 0u);
  variables = {{"SLURM_MEM_PER_NODE", "4096"}};
  EXPECT_EQ(bytes(), uint64_t(4096) << 20);
  variables = {{"SLURM_MEM_PER_NODE", "0"}}; // all that the node has
  EXPECT_EQ(bytes(), 0u);
  variables = {{"SLURM_MEM_PER_CPU", "100"}, {"SLURM_CPUS_ON_NODE", "3"}};
  EXPECT_EQ(bytes(), uint64_t(300) << 20);
  variables = {{"SLURM_MEM_PER_CPU", "many"}, {"SLURM_CPUS_ON_NODE", "3"}};
  EXPECT_EQ(bytes(), 0u);
}

} // namespace
} // namespace lstmc

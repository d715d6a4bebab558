// Which GPUs ranks have: whatever they say, each has its own or a message says why not.
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "executor/ranks/GpuShares.h"

namespace lstmc::test {
namespace {

using ranks::Gpu;
using ranks::GpusOfRank;

/// A rank of host `host` with so many GPUs, that wants one of them.
GpusOfRank wantsOne(const std::string &host, int gpus) {
  GpusOfRank rank{host, "boot " + host,          "gpu",   true,
                  {},   "the driver has no GPU", "580.1", "2.28.9"};
  for (int i = 0; i < gpus; ++i)
    rank.gpus.push_back({i, host + "/" + std::to_string(i)});
  return rank;
}

GpusOfRank wants(const std::string &host, const std::vector<int> &numbers) {
  GpusOfRank rank = wantsOne(host, 0);
  rank.one = false;
  for (int i : numbers)
    rank.gpus.push_back({i, host + "/" + std::to_string(i)});
  return rank;
}

std::string refusal(const std::vector<GpusOfRank> &ranks) {
  auto shares = ranks::shareOutGpus(ranks);
  return shares.ok() ? "" : shares.error().text();
}

TEST(GpuShares, EachRankHasItsOwnOrThereAreTooFew) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 2000; ++trial) {
    const int hosts = 1 + int(random() % 3);
    std::vector<int> gpus;
    for (int host = 0; host < hosts; ++host)
      gpus.push_back(int(random() % 4));
    std::vector<GpusOfRank> ranks;
    std::map<std::string, int> ranksOf;
    for (int rank = 0, n = 1 + int(random() % 6); rank < n; ++rank) {
      const int host = int(random() % unsigned(hosts));
      ranks.push_back(wantsOne("h" + std::to_string(host), gpus[size_t(host)]));
      ++ranksOf[ranks.back().host];
    }
    const bool fits = std::ranges::all_of(ranksOf, [&](const auto &host) {
      return host.second <= gpus[size_t(host.first[1] - '0')];
    });
    auto shares = ranks::shareOutGpus(ranks);
    ASSERT_EQ(shares.ok(), fits);
    if (!fits)
      continue;
    std::map<std::string, int> next; // of each host, in the order of ranks
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      EXPECT_EQ((*shares)[rank],
                std::vector<Gpu>{ranks[rank].gpus[size_t(next[ranks[rank].host]++)]});
  }
}

TEST(GpuShares, BothNumbersAreNamed) {
  EXPECT_EQ(refusal({wantsOne("a", 2), wantsOne("b", 2), wantsOne("a", 2), wantsOne("a", 2)}),
            "error[E0501]: gpu:local: host a has 3 ranks and 2 GPUs, want a GPU for each rank");
  EXPECT_EQ(refusal({wantsOne("a", 1), wantsOne("b", 0)}),
            "error[E0501]: gpu:local: host b has 1 rank and 0 GPUs: the driver has no GPU");
}

TEST(GpuShares, OneThatTwoRanksHaveIsNamed) {
  EXPECT_EQ(refusal({wants("a", {0}), wants("b", {0}), wants("a", {1, 0})}),
            "error[E0501]: gpu:0 of host a is bound by rank 0 and by rank 2; -d gpu:local gives "
            "each rank a GPU of its own");
  EXPECT_EQ(refusal({wants("a", {0, 0}), wants("b", {0})}), ""); // a rank may have one twice
  // Two containers of one machine, which number its GPUs each in its own way.
  GpusOfRank here = wants("a", {0}), there = wants("b", {1});
  there.gpus[0].identity = here.gpus[0].identity;
  EXPECT_NE(refusal({here, there}).find("gpu:1 of host b is bound by rank 0 and by rank 1"),
            std::string::npos);
}

TEST(GpuShares, HostsOfOneNameAreTwoMachines) {
  GpusOfRank other = wantsOne("a", 1);
  other.machine = "another boot";
  other.gpus[0].identity = "another boot/0";
  EXPECT_EQ(refusal({wantsOne("a", 1), other}), "");
}

TEST(GpuShares, AnotherDriverOrNcclIsNamed) {
  GpusOfRank odd = wants("b", {0}), none; // a rank of cpus has neither
  odd.nccl = "2.27.3";
  EXPECT_EQ(refusal({wants("a", {0}), none, odd}),
            "error[E0804]: NCCL: rank 2 on b has 2.27.3, rank 0 on a has 2.28.9");
  odd.nccl = "";
  EXPECT_EQ(refusal({wants("a", {0}), none, odd}),
            "error[E0804]: NCCL: rank 2 on b has none, rank 0 on a has 2.28.9");
  odd = wants("b", {0});
  odd.driver = "570.2";
  EXPECT_EQ(refusal({wants("a", {0}), none, odd}),
            "error[E0804]: GPU driver: rank 2 on b has 570.2, rank 0 on a has 580.1");
}

TEST(GpuShares, TextsComeBack) {
  for (const GpusOfRank &rank : {GpusOfRank(), wantsOne("a", 3), wants("a host", {2, 0})}) {
    auto back = ranks::unpackGpus(ranks::packGpus(rank));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(back->host, rank.host);
    EXPECT_EQ(back->machine, rank.machine);
    EXPECT_EQ(back->kind, rank.kind);
    EXPECT_EQ(back->one, rank.one);
    EXPECT_EQ(back->gpus, rank.gpus);
    EXPECT_EQ(back->missing, rank.missing);
    EXPECT_EQ(back->driver, rank.driver);
    EXPECT_EQ(back->nccl, rank.nccl);
  }
  EXPECT_FALSE(ranks::unpackGpus("a\nb\n").ok());
  EXPECT_FALSE(ranks::unpackGpus(ranks::packGpus(wantsOne("a", 0)) + "x 1\n").ok());
}

} // namespace
} // namespace lstmc::test

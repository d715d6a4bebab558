#include "executor/ranks/GpuShares.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include "executor/ranks/Control.h"

namespace lstmc::ranks {

namespace {

constexpr size_t kLinesBeforeGpus = 7;

bool sameHost(const GpusOfRank &a, const GpusOfRank &b) {
  return a.host == b.host && a.machine == b.machine;
}

std::string counted(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// The GPU of a rank that wants one.
Result<Gpu> shareOf(size_t rank, const std::vector<GpusOfRank> &ranks) {
  const GpusOfRank &mine = ranks[rank];
  auto besides = [&](const GpusOfRank &other) { return other.one && sameHost(other, mine); };
  const auto before = size_t(std::count_if(ranks.begin(), ranks.begin() + long(rank), besides));
  const auto all = size_t(std::ranges::count_if(ranks, besides));
  if (mine.gpus.empty())
    return fail(ErrorCode::E0501, "{}:local: host {} has {} and 0 GPUs: {}", mine.kind, mine.host,
                counted(all, "rank"), mine.missing);
  if (all > mine.gpus.size())
    return fail(ErrorCode::E0501, "{}:local: host {} has {} and {}, want a GPU for each rank",
                mine.kind, mine.host, counted(all, "rank"), counted(mine.gpus.size(), "GPU"));
  return mine.gpus[before];
}

Status refuseDifferent(const std::vector<GpusOfRank> &ranks, std::string_view what,
                       std::string GpusOfRank::*version) {
  const GpusOfRank *first = nullptr;
  for (const GpusOfRank &rank : ranks) {
    if (rank.kind.empty())
      continue;
    if (!first)
      first = &rank;
    auto said = [&](const GpusOfRank &r) { return (r.*version).empty() ? "none" : r.*version; };
    if (said(rank) != said(*first))
      return fail(ErrorCode::E0804, "{}: rank {} on {} has {}, rank {} on {} has {}", what,
                  &rank - ranks.data(), rank.host, said(rank), first - ranks.data(), first->host,
                  said(*first));
  }
  return {};
}

} // namespace

std::string packGpus(const GpusOfRank &rank) {
  std::string text = fmt::format(
      "{}\n{}\n{}\n{}\n{}\n{}\n{}\n", onOneLine(rank.host), onOneLine(rank.machine), rank.kind,
      int(rank.one), onOneLine(rank.missing), onOneLine(rank.driver), onOneLine(rank.nccl));
  for (const Gpu &gpu : rank.gpus)
    text += fmt::format("{} {}\n", gpu.number, onOneLine(gpu.identity));
  return text;
}

Result<GpusOfRank> unpackGpus(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  const Error unreadable =
      fail(ErrorCode::E0804, "a rank said something of its GPUs that cannot be read");
  if (lines.size() < kLinesBeforeGpus)
    return unreadable;
  GpusOfRank rank{lines[0], lines[1], lines[2], lines[3] == "1", {}, lines[4], lines[5], lines[6]};
  for (auto line = lines.begin() + kLinesBeforeGpus; line != lines.end(); ++line) {
    Gpu &gpu = rank.gpus.emplace_back();
    const auto [end, error] =
        std::from_chars(line->data(), line->data() + line->size(), gpu.number);
    if (error != std::errc() || end == line->data() + line->size() || *end != ' ')
      return unreadable;
    gpu.identity = line->substr(size_t(end - line->data()) + 1);
  }
  return rank;
}

Result<std::vector<std::vector<Gpu>>> shareOutGpus(const std::vector<GpusOfRank> &ranks) {
  std::vector<std::vector<Gpu>> shares;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    shares.push_back(ranks[rank].gpus);
    if (!ranks[rank].one)
      continue;
    LSTMC_ASSIGN(Gpu share, shareOf(rank, ranks));
    shares.back() = {share};
  }
  LSTMC_TRY(refuseDifferent(ranks, "GPU driver", &GpusOfRank::driver));
  LSTMC_TRY(refuseDifferent(ranks, "NCCL", &GpusOfRank::nccl));
  std::map<std::string, size_t> owners; // by identity
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    for (const Gpu &gpu : shares[rank])
      if (const size_t owner = owners.emplace(gpu.identity, rank).first->second; owner != rank)
        return fail(ErrorCode::E0501,
                    "{0}:{1} of host {2} is bound by rank {3} and by rank {4}; -d {0}:local gives "
                    "each rank a GPU of its own",
                    ranks[rank].kind, gpu.number, ranks[rank].host, owner, rank);
  return shares;
}

} // namespace lstmc::ranks

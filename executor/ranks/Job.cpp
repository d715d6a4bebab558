#include "executor/ranks/Job.h"

#include <algorithm>
#include <charconv>

#include "executor/abi/Devices.h"
#include "executor/base/ParseNumber.h"
#include "executor/ranks/RankTransport.h"

namespace lstmc::ranks {

namespace {

/// Bytes that are shared at a time.
constexpr uint64_t kChunk = 1 << 20;

/// Texts one after another, each after its length and a colon.
std::string join(const std::vector<std::string> &texts) {
  std::string all;
  for (const std::string &text : texts)
    all += fmt::format("{}:{}", text.size(), text);
  return all;
}

Result<std::vector<std::string>> split(std::string_view all, size_t count) {
  std::vector<std::string> texts;
  while (!all.empty()) {
    size_t size = 0;
    auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), size);
    const auto digits = size_t(end - all.data());
    if (error != std::errc() || digits == all.size() || *end != ':' ||
        size > all.size() - digits - 1)
      return fail(ErrorCode::E0804, "rank 0 sent what cannot be read");
    texts.emplace_back(all.substr(digits + 1, size));
    all.remove_prefix(digits + 1 + size);
  }
  if (texts.size() != count)
    return fail(ErrorCode::E0804, "rank 0 knows of {} ranks, want {}", texts.size(), count);
  return texts;
}

} // namespace

Job::Job(std::unique_ptr<Link> link, std::function<int()> signal)
    : link_(std::move(link)), pendingSignal_(std::move(signal)) {}

int Job::rankOf(size_t device, size_t devices) const {
  return rankOfDevice(device, devices, ranks());
}

std::unique_ptr<session::Transport> Job::transport(const package::Package &package,
                                                   const session::Devices &devices,
                                                   std::function<void(size_t device)> wake) {
  return std::make_unique<RankTransport>(package, devices, *this, *link_, std::move(wake));
}

/// By way of rank 0.
Result<std::vector<std::string>> Job::gather(std::string_view mine) {
  if (rank() != 0) {
    LSTMC_TRY(link_->sendText(0, mine));
    LSTMC_ASSIGN(std::string all, link_->receiveText(0));
    return split(all, size_t(ranks()));
  }
  std::vector<std::string> texts{std::string(mine)};
  for (int peer = 1; peer < ranks(); ++peer) {
    LSTMC_ASSIGN(std::string text, link_->receiveText(peer));
    texts.push_back(std::move(text));
  }
  const std::string all = join(texts);
  for (int peer = 1; peer < ranks(); ++peer)
    LSTMC_TRY(link_->sendText(peer, all));
  return texts;
}

bool Job::vote(bool yes) {
  const int asked = pendingSignal_ ? pendingSignal_() : 0;
  Result<std::vector<std::string>> said = gather(fmt::format("{}{}", yes ? 'y' : 'n', asked));
  if (!said.ok()) {
    link_->abort(said.error()); // where it is not broken already
    return false;
  }
  for (const std::string &text : *said) {
    yes = yes && text.starts_with('y');
    if (!text.empty())
      signal_ = std::max(signal_, parseNumber<int>(std::string_view(text).substr(1)).value_or(0));
  }
  return yes;
}

Status Job::share(std::span<const SharedRange> ranges, size_t devices, Receivers to) {
  std::vector<std::byte> chunk;
  for (const SharedRange &shared : ranges) {
    const int owner = rankOf(shared.device, devices);
    const bool takes = rank() != owner && (to == Receivers::All || rank() == 0);
    if (rank() != owner && !takes)
      continue;
    for (uint64_t begin = 0; begin < shared.range.size(); begin += kChunk) {
      chunk.resize(size_t(std::min(kChunk, shared.range.size() - begin)));
      if (takes) {
        LSTMC_TRY(link_->receiveBytes(owner, kTagShare, chunk));
        shared.range.write(begin, chunk);
        continue;
      }
      shared.range.read(begin, chunk);
      for (int peer = 0; peer < (to == Receivers::All ? ranks() : 1); ++peer)
        if (peer != owner)
          LSTMC_TRY(link_->sendBytes(peer, kTagShare, chunk));
    }
  }
  return {};
}

void Job::watch(std::function<Standing()> standing) {
  std::lock_guard lock(mutex_);
  standing_ = std::move(standing);
}

Standing Job::standing() const {
  Standing standing;
  {
    std::lock_guard lock(mutex_);
    if (standing_)
      standing = standing_();
  }
  standing.progress += link_->transfers();
  if (const std::optional<int> peer = link_->blockedBy();
      peer && standing.at != Standing::At::Run) {
    standing.at = Standing::At::Wait;
    if (standing.place.empty())
      standing.place = fmt::format("it waits for rank {}", *peer);
  }
  return standing;
}

} // namespace lstmc::ranks

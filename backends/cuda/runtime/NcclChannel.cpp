#include "backends/cuda/runtime/NcclChannel.h"

#include <cstring>

namespace lstmc::cuda {

namespace {

constexpr int kSender = 0, kReceiver = 1; ///< ranks

class NcclChannel final : public Channel {
public:
  NcclChannel(std::string name, const Driver &driver, const Nccl &nccl, DriverContext context,
              bool sends)
      : name_(std::move(name)), driver_(driver), nccl_(nccl), context_(context), sends_(sends) {}
  ~NcclChannel() override;

  Status open(const ChannelId &id);
  Result<bool> done() override;
  Status begin(std::byte *at, uint64_t bytes) override;

private:
  Status checked(std::string_view what, NcclResult result) const;
  Status checkedDriver(std::string_view what, DriverResult result) const;

  const std::string name_;
  const Driver &driver_;
  const Nccl &nccl_;
  DriverContext context_;
  const bool sends_;
  DriverStream stream_ = nullptr;
  NcclCommunicator communicator_ = nullptr;
};

NcclChannel::~NcclChannel() {
  if (driver_.setContext(context_))
    return;
  if (communicator_)
    nccl_.abort(communicator_);
  if (stream_)
    driver_.destroyStream(stream_);
}

Status NcclChannel::checked(std::string_view what, NcclResult result) const {
  if (result == 0 || result == kNcclInProgress)
    return {};
  return fail(ErrorCode::E0803, "{}: NCCL {}: {}", name_, what, nccl_.errorText(result));
}

Status NcclChannel::checkedDriver(std::string_view what, DriverResult result) const {
  if (result == 0)
    return {};
  return fail(ErrorCode::E0803, "{}: NCCL {}: {}", name_, what, driver_.textOf(result));
}

Status NcclChannel::open(const ChannelId &id) {
  LSTMC_TRY(checkedDriver("has no context", driver_.setContext(context_)));
  LSTMC_TRY(checkedDriver("has no stream", driver_.createStream(&stream_, kStreamNonBlocking)));
  NcclId bytes;
  std::memcpy(&bytes, id.data(), sizeof(bytes));
  NcclConfig config;
  config.blocking = 0;
  return checked("opens no communicator",
                 nccl_.open(&communicator_, 2, bytes, sends_ ? kSender : kReceiver, &config));
}

Result<bool> NcclChannel::done() {
  LSTMC_TRY(checkedDriver("has no context", driver_.setContext(context_)));
  NcclResult state = 0;
  LSTMC_TRY(checked("does not say its state", nccl_.state(communicator_, &state)));
  LSTMC_TRY(checked("has failed", state));
  if (state == kNcclInProgress)
    return false;
  const DriverResult result = driver_.query(stream_);
  if (result == kNotReady)
    return false;
  LSTMC_TRY(checkedDriver("has failed", result));
  return true;
}

Status NcclChannel::begin(std::byte *at, uint64_t bytes) {
  LSTMC_TRY(checkedDriver("has no context", driver_.setContext(context_)));
  return sends_ ? checked("does not send", nccl_.send(at, size_t(bytes), kNcclByte, kReceiver,
                                                      communicator_, stream_))
                : checked("does not receive", nccl_.receive(at, size_t(bytes), kNcclByte, kSender,
                                                            communicator_, stream_));
}

} // namespace

Result<ChannelId> newNcclChannel(const Nccl &nccl) {
  NcclId bytes;
  if (const NcclResult result = nccl.newId(&bytes))
    return fail(ErrorCode::E0803, "NCCL makes no communicator: {}", nccl.errorText(result));
  ChannelId id;
  static_assert(sizeof(id) == sizeof(bytes));
  std::memcpy(id.data(), &bytes, sizeof(bytes));
  return id;
}

Result<std::unique_ptr<Channel>> openNcclChannel(std::string name, const Driver &driver,
                                                 const Nccl &nccl, DriverContext context,
                                                 const ChannelId &id, bool sends) {
  auto channel = std::make_unique<NcclChannel>(std::move(name), driver, nccl, context, sends);
  LSTMC_TRY(channel->open(id));
  return std::unique_ptr<Channel>(std::move(channel));
}

} // namespace lstmc::cuda

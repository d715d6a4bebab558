// What the devices of a package send one another: every message has a send and a receive that fit,
// in orders in which none can wait for ever (the proof is in docs/package.md).
#include "executor/package/Check.h"

#include <algorithm>
#include <limits>
#include <map>

#include "executor/package/Plan.h"
#include "executor/package/SentValues.h"

namespace lstmc::package {

namespace {

struct End {
  size_t program, launch;
};

struct Message {
  std::optional<End> send, receive;
};

/// The messages of one entry.
class TransferCheck {
public:
  TransferCheck(const PackageData &data, size_t entry)
      : data(data), programs(data.entries[entry].programs), entryPath("entries", int64_t(entry)) {}

  Status run() {
    for (size_t p = 0; p < programs.size(); ++p)
      LSTMC_TRY(collect(p));
    for (const auto &[number, message] : messages)
      LSTMC_TRY(checkMessage(number, message));
    for (size_t p = 0; p < programs.size(); ++p)
      LSTMC_TRY(checkOverwriting(p));
    return {};
  }

private:
  const PackageData &data;
  const std::vector<DeviceProgram> &programs;
  const Path entryPath;
  std::map<int64_t, Message> messages;

  static int64_t peer(const Launch &launch) { return argumentsOf<TransferArguments>(launch).peer; }
  static int64_t number(const Launch &launch) {
    return argumentsOf<TransferArguments>(launch).message;
  }
  const Launch &launchAt(End end) const { return programs[end.program].launches[end.launch]; }
  uint32_t deviceOf(End end) const { return programs[end.program].device; }
  bool committed(End end) const { return end.launch >= programs[end.program].commit; }

  template <typename... Args>
  Error refuseAt(End end, std::string_view field, int64_t index, ErrorCode code,
                 fmt::format_string<Args...> format, Args &&...args) const {
    Path program(entryPath, "programs", int64_t(end.program));
    Path launch(program, "launches", int64_t(end.launch));
    return refuse(Path(launch, field, index), code, format, std::forward<Args>(args)...);
  }

  Status collect(size_t program) {
    int64_t lastSent = -1, lastReceived = -1;
    for (size_t i = 0; i < programs[program].launches.size(); ++i) {
      const Launch &launch = programs[program].launches[i];
      if (!isTransfer(launch.kernel))
        continue;
      End end{program, i};
      if (peer(launch) == int64_t(deviceOf(end)))
        return refuseAt(end, "ints", TransferInt::peer, ErrorCode::E0611,
                        "found device {}, want another than the program's own", peer(launch));
      const bool sends = launch.kernel == KernelId::Send;
      const int64_t now = number(launch);
      // A send may come before receives of smaller numbers, but a receive not before such sends.
      const int64_t before = sends ? std::max(lastSent, lastReceived) : lastReceived;
      if (now <= before)
        return refuseAt(end, "ints", TransferInt::message, ErrorCode::E0611,
                        "found a {} of message {} after message {}, want a smaller one before it",
                        kernelRecord(launch.kernel).name, now, before);
      (sends ? lastSent : lastReceived) = now;
      Message &message = messages[now];
      std::optional<End> &slot = sends ? message.send : message.receive;
      if (slot)
        return refuseAt(end, "ints", TransferInt::message, ErrorCode::E0612,
                        "found a second {} of message {}, want one",
                        kernelRecord(launch.kernel).name, now);
      slot = end;
    }
    return {};
  }

  /// What is sent is not written over while the program has a message of a smaller number to
  /// receive, on which the one that takes it may depend.
  Status checkOverwriting(size_t program) const {
    const std::multimap<size_t, int64_t> overwritten = overwrittenMessages(data, programs[program]);
    int64_t nextReceived = std::numeric_limits<int64_t>::max();
    for (size_t i = programs[program].launches.size(); i-- > 0;) {
      const Launch &launch = programs[program].launches[i];
      if (launch.kernel == KernelId::Receive)
        nextReceived = number(launch);
      for (auto [at, end] = overwritten.equal_range(i); at != end; ++at)
        if (at->second > nextReceived)
          return refuse(
              Path(Path(entryPath, "programs", int64_t(program)), "launches", int64_t(i)),
              ErrorCode::E0611,
              "found a write over message {}, which is sent, want it after the receive of "
              "message {}",
              at->second, nextReceived);
    }
    return {};
  }

  Status checkMessage(int64_t message, const Message &ends) const {
    if (!ends.send || !ends.receive) {
      End end = ends.send ? *ends.send : *ends.receive;
      return refuseAt(end, "ints", TransferInt::message, ErrorCode::E0611,
                      "found message {} without a {}, want one in the program of device {}",
                      message, ends.send ? "receive" : "send", peer(launchAt(end)));
    }
    for (auto [end, other] : {std::pair(*ends.send, *ends.receive), {*ends.receive, *ends.send}})
      if (peer(launchAt(end)) != int64_t(deviceOf(other)))
        return refuseAt(end, "ints", TransferInt::peer, ErrorCode::E0605,
                        "found device {}, want {}, whose program has the other end of message {}",
                        peer(launchAt(end)), deviceOf(other), message);
    const Operand &x = launchAt(*ends.send).operands[SendOperand::x],
                  &y = launchAt(*ends.receive).operands[ReceiveOperand::y];
    DType sent = data.buffers[x.buffer].dtype, received = data.buffers[y.buffer].dtype;
    if (sent != received || x.shape != y.shape)
      return refuseAt(*ends.receive, "operands", ReceiveOperand::y, ErrorCode::E0605,
                      "found {}, want {}, as message {} is sent", typeText(received, y.shape),
                      typeText(sent, x.shape), message);
    if (committed(*ends.send) != committed(*ends.receive))
      return refuseAt(*ends.receive, "ints", TransferInt::message, ErrorCode::E0611,
                      "found message {} on the other side of `commit` than its send, want the same",
                      message);
    return {};
  }
};

} // namespace

Status checkTransfers(const PackageData &data) {
  for (size_t e = 0; e < data.entries.size(); ++e)
    LSTMC_TRY(TransferCheck(data, e).run());
  return {};
}

} // namespace lstmc::package

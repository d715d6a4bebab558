#include "passes/planning/forecast/Nics.h"

#include <algorithm>

namespace lstmc::planning {

Nics::Nics(const target::Machines &machines) {
  for (const target::Machine &machine : machines)
    if (machine.host >= 0) {
      nics_.resize(std::max(nics_.size(), size_t(machine.host) + 1));
      nics_[size_t(machine.host)] = machine.nic;
    }
  out_.resize(nics_.size());
  in_.resize(nics_.size());
  times_.resize(nics_.size());
}

void Nics::post(double time, int64_t message, int from, int to, double outBytes, double inBytes) {
  const uint64_t index = messages_.size();
  messages_.push_back({message, from, to, outBytes, inBytes, time});
  gone_.push_back(false);
  Direction &out = out_[size_t(from)], &in = in_[size_t(to)];
  out.waiting.push_back(index);
  in.waiting.push_back(index);
  moments_.push(std::max({time, out.free, in.free}));
}

bool Nics::goes(uint64_t index, double now, const std::function<void(int64_t, double)> &comes) {
  const Message &message = messages_[index];
  const auto from = size_t(message.from), to = size_t(message.to);
  if (message.time > now || out_[from].free > now || in_[to].free > now)
    return false;
  const double leaving = message.outBytes / nics_[from].outBytesPerSecond,
               coming = message.inBytes / nics_[to].inBytesPerSecond;
  out_[from].free = now + leaving;
  in_[to].free = now + coming;
  times_[from].sending += leaving;
  times_[to].receiving += coming;
  times_[from].sentBytes += int64_t(message.outBytes);
  times_[to].receivedBytes += int64_t(message.inBytes);
  gone_[index] = true;
  moments_.push(out_[from].free);
  moments_.push(in_[to].free);
  comes(message.number,
        now + std::max(leaving, coming) + nics_[from].outSeconds + nics_[to].inSeconds);
  return true;
}

void Nics::go(const std::function<void(int64_t, double)> &comes) {
  const double now = next();
  while (!moments_.empty() && moments_.top() <= now)
    moments_.pop();
  auto first = [&](Direction &direction) {
    for (auto next = direction.waiting.begin(); next != direction.waiting.end();)
      if (gone_[*next]) // by the way of the other direction
        next = direction.waiting.erase(next);
      else if (goes(*next, now, comes))
        return;
      else
        ++next;
  };
  // A direction that has become free may start messages from and to all other free directions.
  for (size_t host = 0; host < nics_.size(); ++host)
    for (Direction *direction : {&out_[host], &in_[host]})
      if (direction->free <= now && !direction->waiting.empty())
        first(*direction);
}

} // namespace lstmc::planning

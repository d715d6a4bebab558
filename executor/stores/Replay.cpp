#include "executor/stores/Replay.h"

#include <algorithm>

#include "executor/stores/NetworkDigest.h"
#include "executor/stores/Spread.h"

namespace lstmc::stores {

using Kind = Event::Kind;

Result<std::unique_ptr<Replay>> Replay::create(Session &session, Session &store,
                                               const data::DataSet &data,
                                               const training::FitSettings &fit, ReplayLog log,
                                               std::string path, uint64_t seed) {
  std::unique_ptr<Replay> replay(new Replay(session, store, std::move(log), std::move(path), seed));
  LSTMC_TRY(replay->checkHead(data)); // before there is memory for all workers
  LSTMC_TRY(replay->prepare(replay->log_.head.compression));
  LSTMC_TRY(replay->makeServers(fit));
  LSTMC_TRY(replay->makeWorkers(data));
  return replay;
}

Status Replay::checkHead(const data::DataSet &data) {
  auto same = [&](std::string_view name, const auto &found, const auto &want) -> Status {
    return found == want ? Status()
                         : failAt({path_}, ErrorCode::E0610, "{}: found {}, want {} as in this run",
                                  name, found, want);
  };
  if (const std::string own = networkDigest(session_.package()); log_.head.program != own)
    return failAt({path_}, ErrorCode::E0610,
                  "program: found {}, want {} as in this run; the network, its settings and "
                  "fit(..), --dtype, --shards and the version of lstmc are to be those of the run, "
                  "under --fast the devices too",
                  log_.head.program, own);
  LSTMC_TRY(same("seed", log_.head.seed, seed_));
  LSTMC_TRY(same("data", log_.head.data, data.digest()));
  return same("weights", log_.head.weights, fmt::format("{:016x}", session_.weightsHash()));
}

Status Replay::makeServers(const training::FitSettings &fit) {
  LSTMC_ASSIGN(storeStep_, session::SplitStep::create(storeSession_));
  const std::vector<KeyOnServer> keys =
      spreadKeys(*storeStep_, log_.head.servers, log_.head.bigArrayBound);
  for (int server = 0; server < log_.head.servers; ++server) {
    Server made;
    LSTMC_ASSIGN(made.store, KeyStore::create(storeSession_, *storeStep_,
                                              KeyParts(*storeStep_, keysOf(keys, server)), fit));
    LSTMC_ASSIGN(made.events, log_.eventsOf(server, path_));
    servers_.push_back(std::move(made));
  }
  return {};
}

Status Replay::makeWorkers(const data::DataSet &data) {
  for (int worker = 0; worker < workers_; ++worker) {
    Worker &made = all_.emplace_back();
    made.applied.assign(servers_.size(), 0);
    for (Server &server : servers_) {
      made.weights.emplace_back(size_t(server.store->parts().weightsBytes()));
      made.values.emplace_back(size_t(server.store->parts().valuesBytes()));
    }
    if (worker == 0)
      continue;
    LSTMC_ASSIGN(std::vector<data::InputSlot> inputs, inner_->inputs(Entry::Step));
    made.rows.emplace(std::move(inputs), workers_, worker);
    LSTMC_ASSIGN(made.feed, data.feed(data::Part::Train, made.rows->all(), seed_));
    made.states.resize(statesOf(worker).size());
  }
  for (size_t server = 0; server < servers_.size(); ++server)
    for (int worker = 0; worker < workers_; ++worker)
      giveWeights(server, worker);
  return {};
}

Error Replay::refuse(std::string_view what) const {
  return failAt({path_}, ErrorCode::E0610, "after update {} of the first worker: {}",
                all_[0].computed, what);
}

void Replay::giveWeights(size_t server, int worker) {
  servers_[server].store->parts().readWeights(*storeStep_, all_[size_t(worker)].weights[server]);
}

/// Whether no server has an answer, or a meeting, for the worker before its next update.
bool Replay::mayCompute(int worker) const {
  const Worker &from = all_[size_t(worker)];
  return std::ranges::all_of(from.applied, [&](int64_t n) { return n == from.computed; }) &&
         std::ranges::all_of(servers_, [&](const Server &server) {
           for (size_t i = server.next; i < server.events.size(); ++i) {
             const Event &event = server.events[i];
             if (event.kind == Kind::Meeting || event.worker == worker)
               return event.kind == Kind::Update;
           }
           return false;
         });
}

Status Replay::compute(int worker) {
  Worker &from = all_[size_t(worker)];
  std::vector<std::byte> firstStates(from.states.size());
  if (worker != 0) {
    const data::Position position{from.computed / from.feed->batches(),
                                  from.computed % from.feed->batches()};
    if (from.feed->restarts(position))
      std::ranges::fill(from.states, std::byte(0));
    LSTMC_TRY(from.feed->fill(position));
    readStates(firstStates);
    writeStates(from.states);
  }
  for (size_t server = 0; server < servers_.size(); ++server)
    servers_[server].store->parts().writeWeights(*step_, from.weights[server]);
  step_->weightsWritten();
  LSTMC_TRY(computeGradients(worker, ++from.computed, seed_, worker == 0 ? *rows_ : *from.rows));
  for (size_t server = 0; server < servers_.size(); ++server)
    servers_[server].store->parts().readValues(*step_, from.values[server]);
  LSTMC_TRY(step_->rest());
  if (worker != 0) {
    readStates(from.states);
    writeStates(firstStates);
  }
  return {};
}

bool Replay::carryOut(size_t server, const Event &event) {
  Worker &worker = all_[size_t(event.worker)];
  if (event.kind == Kind::Meeting)
    return false;
  if (event.kind == Kind::Answer) {
    giveWeights(server, event.worker);
    return true;
  }
  if (worker.applied[server] == worker.computed)
    return false;
  servers_[server].store->update(worker.values[server]);
  ++worker.applied[server];
  return true;
}

/// All that can be done with the gradients that there are; false where that is nothing.
bool Replay::carryOutEvents() {
  bool any = false;
  for (size_t i = 0; i < servers_.size(); ++i) {
    Server &server = servers_[i];
    while (server.next < server.events.size() && carryOut(i, server.events[server.next])) {
      ++server.next;
      any = true;
    }
  }
  return any;
}

/// As far as it goes without another update of the first worker, and without a meeting.
Status Replay::goOn() {
  for (bool any = true; any;) {
    any = carryOutEvents();
    for (int worker = 1; worker < workers_; ++worker)
      if (mayCompute(worker)) {
        LSTMC_TRY(compute(worker));
        any = true;
      }
  }
  return {};
}

bool Replay::atMeeting() const {
  return std::ranges::all_of(servers_, [](const Server &server) {
    return server.next < server.events.size() && server.events[server.next].kind == Kind::Meeting;
  });
}

Status Replay::meet() {
  if (met_)
    return {};
  if (!atMeeting())
    return refuse("the log has no meeting of all workers: it is of a run that validated and saved "
                  "after other updates");
  for (size_t server = 0; server < servers_.size(); ++server) {
    ++servers_[server].next;
    for (int worker = 0; worker < workers_; ++worker)
      giveWeights(server, worker);
    servers_[server].store->parts().writeWeights(*step_, all_[0].weights[server]);
  }
  step_->weightsWritten();
  met_ = true;
  return {};
}

Status Replay::step(const StepScalars &scalars) {
  if (scalars.update != all_[0].computed + 1)
    return refuse("a replay begins with the first update");
  met_ = false;
  while (atMeeting()) { // that this loop had no need of; a run that went on began with one
    LSTMC_TRY(meet());
    met_ = false;
  }
  if (!mayCompute(0))
    return refuse("the log goes on with another event than its update");
  LSTMC_TRY(compute(0));
  metrics_.clear();
  for (size_t head = 0; head < heads().size(); ++head)
    metrics_.push_back(inner_->metric(Entry::Step, head));
  norm_ = inner_->gradientNorm();
  norms_ = inner_->gradientNorms();
  return goOn();
}

Status Replay::evaluate() {
  LSTMC_TRY(meet());
  return inner_->evaluate();
}

Status Replay::collect() {
  LSTMC_TRY(meet());
  for (int worker = 1; worker < workers_; ++worker)
    statesOf(worker) = all_[size_t(worker)].states;
  std::vector<std::byte> bytes;
  for (Server &server : servers_) {
    bytes.resize(size_t(server.store->parts().slotsBytes()));
    server.store->parts().readSlots(*storeStep_, bytes);
    server.store->parts().writeSlots(*step_, bytes);
  }
  return {};
}

uint64_t Replay::weightsHash() {
  if (!failed_)
    (void)meet(); // one that fails has been told by what was due before
  return inner_->weightsHash();
}

} // namespace lstmc::stores

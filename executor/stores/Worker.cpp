#include "executor/stores/Worker.h"

#include "executor/stores/NetworkDigest.h"
#include "executor/stores/PackedValues.h"
#include "executor/stores/Spread.h"

namespace lstmc::stores {

Worker::Worker(Session &session, ranks::Link &link, WorkerOptions options)
    : SplitTrainable(session, options.cluster.workers, link.rank()), link_(link),
      options_(std::move(options)) {}

Result<std::unique_ptr<Worker>> Worker::create(Session &session, ranks::Link &link,
                                               WorkerOptions options) {
  std::unique_ptr<Worker> worker(new Worker(session, link, std::move(options)));
  LSTMC_TRY(worker->prepare(worker->options_.threshold));
  const Cluster &cluster = worker->options_.cluster;
  const std::vector<KeyOnServer> keys =
      spreadKeys(*worker->step_, cluster.servers, worker->options_.bigArrayBound);
  for (int server = 0; server < cluster.servers; ++server) {
    worker->servers_.emplace_back(link, cluster.rankOfServer(server), session.package().digest());
    worker->parts_.emplace_back(*worker->step_, keysOf(keys, server));
  }
  return worker;
}

Status Worker::ask(const Question &question) {
  for (Channel &server : servers_)
    LSTMC_TRY(server.ask(question));
  return {};
}

Status Worker::takeWeights() {
  for (size_t server = 0; server < servers_.size(); ++server) {
    bytes_.resize(size_t(parts_[server].weightsBytes()));
    LSTMC_ASSIGN(int64_t signal, servers_[server].receiveWeights(bytes_));
    parts_[server].writeWeights(*step_, bytes_);
    if (signal != 0)
      signal_ = int(signal);
  }
  step_->weightsWritten();
  return {};
}

/// After `clock` updates: the first worker's weights are those that count.
Status Worker::begin(int64_t clock) {
  begun_ = true;
  clock_ = logged_ = clock;
  if (worker_ == 0) {
    LSTMC_TRY(ask({Ask::Init, clock}));
    for (size_t server = 0; server < servers_.size(); ++server) {
      bytes_.resize(size_t(parts_[server].weightsBytes()));
      parts_[server].readWeights(*step_, bytes_);
      LSTMC_TRY(servers_[server].send(bytes_));
      bytes_.resize(size_t(parts_[server].slotsBytes()));
      parts_[server].readSlots(*step_, bytes_);
      LSTMC_TRY(servers_[server].send(bytes_));
    }
    if (!options_.log.empty()) {
      const ReplayHead head{options_.cluster.workers,
                            options_.cluster.servers,
                            options_.staleness,
                            options_.batch,
                            options_.bigArrayBound,
                            options_.seed,
                            networkDigest(session_.package()),
                            fmt::format("{:016x}", inner_->weightsHash()),
                            dataDigest_,
                            options_.threshold};
      LSTMC_ASSIGN(log_, ReplayWriter::open(options_.log, head, clock));
    }
  }
  return meet();
}

/// All workers get the weights that all their updates have made. Before the first they are what
/// every worker was given.
Status Worker::meet() {
  if (!begun_ || met_ == clock_)
    return {};
  LSTMC_TRY(ask({Ask::Meet, clock_}));
  met_ = clock_;
  return takeWeights();
}

Status Worker::step(const StepScalars &scalars) {
  if (!begun_)
    LSTMC_TRY(begin(scalars.update - 1));
  if (Status status = computeGradients(worker_, scalars.update, scalars.seed, *rows_);
      !status.ok()) {
    broken_ = true;
    return status;
  }
  clock_ = scalars.update;
  for (size_t server = 0; server < servers_.size(); ++server) {
    bytes_.resize(size_t(parts_[server].valuesBytes()));
    parts_[server].readValues(*step_, bytes_);
    std::vector<std::byte> packed;
    if (residuals_)
      packed = packValues(bytes_, parts_[server].valueSizes());
    LSTMC_TRY(servers_[server].ask(
        {Ask::Push, clock_, 0, options_.signal ? options_.signal() : 0, int64_t(packed.size())}));
    LSTMC_TRY(servers_[server].send(packed.empty() ? bytes_ : packed));
  }
  if (Status status = step_->rest(); !status.ok()) {
    broken_ = true;
    return status;
  }
  LSTMC_TRY(ask({Ask::Pull, clock_, options_.staleness}));
  LSTMC_TRY(takeWeights());
  progress_.store(uint64_t(clock_));
  return {};
}

Status Worker::evaluate() {
  LSTMC_TRY(meet());
  return inner_->evaluate();
}

uint64_t Worker::weightsHash() {
  // Of this process, if the job has failed.
  if (!broken_ && !meet().ok())
    broken_ = true;
  return inner_->weightsHash();
}

/// To the first worker: the states of the others, what they have kept back of gradients, and what
/// servers keep. The others wait until it
/// has all of that, since their next update would change it.
Status Worker::collect() {
  if (!begun_)
    return {};
  LSTMC_TRY(meet());
  LSTMC_TRY(collectStates());
  if (worker_ != 0) {
    LSTMC_ASSIGN(std::string done, link_.receiveText(0));
    (void)done;
    return {};
  }
  LSTMC_TRY(collectSlots());
  for (int worker = 1; worker < workers_; ++worker)
    LSTMC_TRY(link_.sendText(worker, ""));
  return {};
}

Status Worker::collectStates() {
  auto kept = [&](int worker) {
    return residuals_ ? std::as_writable_bytes(residuals_->of(worker)) : std::span<std::byte>();
  };
  if (worker_ != 0) {
    std::vector<std::byte> &own = statesOf(worker_);
    readStates(own);
    LSTMC_TRY(link_.sendBytes(0, ranks::kTagShare, own));
    return link_.sendBytes(0, ranks::kTagShare, kept(worker_));
  }
  for (int worker = 1; worker < workers_; ++worker) {
    LSTMC_TRY(link_.receiveBytes(worker, ranks::kTagShare, statesOf(worker)));
    LSTMC_TRY(link_.receiveBytes(worker, ranks::kTagShare, kept(worker)));
  }
  return {};
}

Status Worker::collectSlots() {
  LSTMC_TRY(ask({Ask::Slots, clock_}));
  ReplayLog::Span span{clock_, {}};
  for (size_t server = 0; server < servers_.size(); ++server) {
    LSTMC_ASSIGN(std::string events, link_.receiveText(servers_[server].peer()));
    span.events.push_back(std::move(events));
    bytes_.resize(size_t(parts_[server].slotsBytes()));
    LSTMC_TRY(servers_[server].receive(bytes_));
    parts_[server].writeSlots(*step_, bytes_);
  }
  if (log_ && clock_ > logged_)
    LSTMC_TRY(log_->append(span));
  logged_ = clock_;
  return {};
}

Status Worker::agree(std::string_view what, std::string_view value) {
  if (what == "sha256 of the training data")
    dataDigest_ = value;
  if (worker_ != 0) {
    LSTMC_TRY(link_.sendText(0, value));
    LSTMC_ASSIGN(std::string verdict, link_.receiveText(0));
    return verdict.empty() ? Status() : Status(fail(ErrorCode::E0804, "{}", verdict));
  }
  std::string verdict;
  for (int worker = 1; worker < workers_; ++worker) {
    LSTMC_ASSIGN(std::string other, link_.receiveText(worker));
    if (other != value && verdict.empty())
      verdict =
          fmt::format("{}: rank {} has \"{}\", rank 0 has \"{}\"", what, worker, other, value);
  }
  for (int worker = 1; worker < workers_; ++worker)
    LSTMC_TRY(link_.sendText(worker, verdict));
  return verdict.empty() ? Status() : Status(fail(ErrorCode::E0804, "{}", verdict));
}

Status Worker::leave() {
  if (broken_)
    return {};
  if (log_ && logged_ == clock_)
    LSTMC_TRY(log_->finish({clock_, fmt::format("{:016x}", inner_->weightsHash())}));
  return ask({Ask::End, clock_});
}

} // namespace lstmc::stores

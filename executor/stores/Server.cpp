#include "executor/stores/Server.h"

#include <algorithm>

#include "executor/stores/PackedValues.h"

namespace lstmc::stores {

/// Of one worker; begun again when its question has been answered or put off.
class Server::QuestionRequest final : public ranks::Request {
public:
  QuestionRequest(Server &server, int worker) : server_(server), worker_(worker) {
    peer = worker;
    tag = ranks::kTagQuestion;
    bytes = own;
  }
  void completed() override {
    std::lock_guard lock(server_.mutex_);
    server_.arrived_.push_back(worker_);
    server_.came_.notify_one();
  }
  std::array<std::byte, Channel::kQuestionBytes> own{};

private:
  Server &server_;
  const int worker_;
};

Server::Server(ranks::Link &link, int workers, const std::string &digest, KeyStore &store,
               bool endsJobs)
    : link_(link), store_(store), endsJobs_(endsJobs) {
  link_.onBreak([this](const Error &) {
    std::lock_guard lock(mutex_);
    came_.notify_one();
  });
  for (int worker = 0; worker < workers; ++worker) {
    workers_.emplace_back(Channel(link, worker, digest));
    requests_.push_back(std::make_unique<QuestionRequest>(*this, worker));
    link_.submit(*requests_.back());
  }
}

Server::~Server() {
  link_.onBreak(nullptr);
  std::vector<std::unique_ptr<ranks::Request>> requests;
  std::ranges::move(requests_, std::back_inserter(requests));
  link_.detach(std::move(requests));
}

Result<int> Server::nextQuestion() {
  std::unique_lock lock(mutex_);
  waits_.store(true);
  came_.wait(lock, [&] { return !arrived_.empty() || link_.broken(); });
  waits_.store(false);
  if (arrived_.empty())
    return link_.status().error();
  const int worker = arrived_.front();
  arrived_.pop_front();
  return worker;
}

Status Server::serve() {
  while (!std::ranges::all_of(workers_, &Worker::ended)) {
    LSTMC_ASSIGN(int worker, nextQuestion());
    QuestionRequest &request = *requests_[size_t(worker)];
    LSTMC_ASSIGN(Question question,
                 workers_[size_t(worker)].channel.read(
                     std::span<const std::byte>(request.own).first(request.received)));
    LSTMC_TRY(answer(worker, question));
    LSTMC_TRY(answerWaiting());
    if (!workers_[size_t(worker)].ended)
      link_.submit(request);
    progress_.fetch_add(1);
  }
  return {};
}

Status Server::refuse(int worker, std::string_view what) const {
  return fail(ErrorCode::E0804, "rank {} asked for {}", worker, what);
}

Status Server::answer(int worker, const Question &question) {
  Worker &from = workers_[size_t(worker)];
  switch (question.ask) {
  case Ask::Init:
    return begin(worker, question);
  case Ask::Push:
    return push(worker, question);
  case Ask::Pull:
  case Ask::Meet:
    from.waits = question;
    return {};
  case Ask::Slots:
    return giveSlots(from);
  case Ask::End:
    from.ended = true;
    return {};
  }
  return refuse(worker, "nothing");
}

Status Server::begin(int worker, const Question &question) {
  if (worker != 0 || begun_)
    return refuse(worker, "a beginning, which is the first worker's, once");
  const KeyParts &parts = store_.parts();
  bytes_.resize(size_t(parts.weightsBytes()));
  LSTMC_TRY(workers_[0].channel.receive(bytes_));
  parts.writeWeights(store_.step(), bytes_);
  bytes_.resize(size_t(parts.slotsBytes()));
  LSTMC_TRY(workers_[0].channel.receive(bytes_));
  parts.writeSlots(store_.step(), bytes_);
  store_.setUpdates(question.clock * int64_t(workers_.size()));
  for (Worker &each : workers_)
    each.pushed = question.clock;
  given_ = question.clock;
  begun_ = true;
  return {};
}

Status Server::push(int worker, const Question &question) {
  Worker &from = workers_[size_t(worker)];
  if (!begun_ || question.clock != from.pushed + 1)
    return refuse(worker,
                  fmt::format("update {} after its update {}", question.clock, from.pushed));
  bytes_.resize(size_t(store_.parts().valuesBytes()));
  if (question.packed == 0) {
    LSTMC_TRY(from.channel.receive(bytes_));
  } else {
    const std::vector<uint64_t> &sizes = store_.parts().valueSizes();
    if (question.packed < 0 || uint64_t(question.packed) > bytes_.size() + sizes.size())
      return refuse(worker, fmt::format("{} packed bytes", question.packed));
    packed_.resize(size_t(question.packed));
    LSTMC_TRY(from.channel.receive(packed_));
    if (!unpackValues(packed_, sizes, bytes_))
      return refuse(worker, "an update whose values cannot be unpacked");
  }
  store_.update(bytes_);
  from.pushed = question.clock;
  note(Event::Kind::Update, worker);
  if (question.signal != 0 && signal_ == 0 && endsJobs_) {
    signal_ = question.signal;
    last_ = given_ + 1;
  }
  return {};
}

Status Server::giveSlots(Worker &worker) {
  if (!events_.empty())
    events_.pop_back(); // the space
  LSTMC_TRY(link_.sendText(worker.channel.peer(), events_));
  events_.clear();
  bytes_.resize(size_t(store_.parts().slotsBytes()));
  store_.parts().readSlots(store_.step(), bytes_);
  return worker.channel.send(bytes_);
}

int64_t Server::slowest() const {
  return std::ranges::min_element(workers_, {}, &Worker::pushed)->pushed;
}

bool Server::mayGo(const Question &question) const {
  return begun_ && question.ask == Ask::Pull && slowest() >= question.clock - question.staleness;
}

/// Weights to those that need wait no longer; at a meeting to all.
Status Server::answerWaiting() {
  const bool meeting = begun_ && std::ranges::all_of(workers_, [](const Worker &worker) {
                         return worker.waits && worker.waits->ask == Ask::Meet;
                       });
  if (meeting)
    note(Event::Kind::Meeting, 0);
  for (size_t i = 0; i < workers_.size(); ++i) {
    Worker &worker = workers_[i];
    if (!worker.waits || (!meeting && !mayGo(*worker.waits)))
      continue;
    if (!meeting)
      note(Event::Kind::Answer, int(i));
    LSTMC_TRY(giveWeights(worker));
  }
  return {};
}

Status Server::giveWeights(Worker &worker) {
  const int64_t clock = worker.waits->clock;
  worker.waits.reset();
  given_ = std::max(given_, clock);
  bytes_.resize(size_t(store_.parts().weightsBytes()));
  store_.parts().readWeights(store_.step(), bytes_);
  return worker.channel.sendWeights(signal_ != 0 && clock >= last_ ? signal_ : 0, bytes_);
}

} // namespace lstmc::stores

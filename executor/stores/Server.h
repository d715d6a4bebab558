// A server: keeps keys, and does what workers ask, in the order in which it comes.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "executor/stores/KeyStore.h"
#include "executor/stores/Protocol.h"
#include "executor/stores/ReplayLog.h"

namespace lstmc::stores {

class Server {
public:
  /// `endsJobs`: whether it decides after which update a signal ends all workers. The store and the
  /// link outlive it.
  Server(ranks::Link &link, int workers, const std::string &digest, KeyStore &store, bool endsJobs);
  ~Server();

  /// Until all workers have asked for nothing more. E0801, E0804.
  Status serve();
  /// Its progress grows with each question; from any thread.
  Standing standing() const {
    return {progress_.load(), "", waits_.load() ? Standing::At::Wait : Standing::At::Host};
  }

private:
  class QuestionRequest;
  struct Worker {
    explicit Worker(Channel channel) : channel(std::move(channel)) {}
    Channel channel;
    int64_t pushed = 0; ///< its last update
    std::optional<Question> waits;
    bool ended = false;
  };

  Result<int> nextQuestion();
  Status answer(int worker, const Question &question);
  Status begin(int worker, const Question &question);
  Status push(int worker, const Question &question);
  Status giveSlots(Worker &worker);
  Status answerWaiting();
  Status giveWeights(Worker &worker);
  Status refuse(int worker, std::string_view what) const;
  bool mayGo(const Question &question) const;
  int64_t slowest() const;
  void note(Event::Kind kind, int worker) { events_ += text({kind, worker}) + " "; }

  ranks::Link &link_;
  KeyStore &store_;
  const bool endsJobs_;
  std::vector<Worker> workers_;
  std::vector<std::unique_ptr<QuestionRequest>> requests_; ///< of each worker
  bool begun_ = false;
  int64_t given_ = 0;             ///< the highest update after which weights were given
  int64_t signal_ = 0, last_ = 0; ///< by which, and after which update, all end
  std::string events_;            ///< that the log has not yet
  std::vector<std::byte> bytes_, packed_;

  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<int> arrived_; ///< workers
  std::atomic<uint64_t> progress_{0};
  std::atomic<bool> waits_{false}; ///< for a question
};

} // namespace lstmc::stores

// Sessions of one package that answer requests of many threads.
//
//   lstmc::Pool pool(package, {.sessions = 4});
//   std::future<std::vector<float>> answer = pool.post({{"data", row}}, "softmax0_output");
//   ... answer.get() ...
#ifndef LSTMC_POOL_HPP
#define LSTMC_POOL_HPP

#include <lstmc/lstmc.hpp>

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

namespace lstmc {
inline namespace LSTMC_ABI {

struct PoolOptions {
  int sessions = 0;      ///< 0: as many as the machine has processors
  std::size_t queue = 0; ///< requests that may wait, beside those under way; 0: two per session
  /// For each session; `threads` 0 is one thread here. They share the weights: those given, or
  /// those of the first session.
  SessionOptions session{};
};

/// Sessions of one package that share their weights, each with a thread of its own, and a bounded
/// queue of requests. Any number of threads may post. Requests begin in the order in which they
/// were posted, each with all states 0: what has to carry states is a request as a whole.
///
/// The destructor ends requests that are under way, and those that wait fail with Status::stopped.
/// It must not be called while another thread posts, nor by a request.
class Pool {
public:
  /// Status as of Package::try_session().
  static Result<std::unique_ptr<Pool>> try_make(const Package &package,
                                                PoolOptions options = {}) noexcept {
    return detail::attempt([&]() -> Result<std::unique_ptr<Pool>> {
      std::unique_ptr<Pool> pool(new Pool);
      if (Result<void> begun = pool->begin(package, std::move(options)); !begun)
        return begun.error();
      return pool;
    });
  }

  ~Pool() {
    std::deque<std::unique_ptr<Task>> left;
    {
      std::lock_guard lock(mutex_);
      ended_ = true;
      left.swap(waiting_);
    }
    work_.notify_all();
    room_.notify_all();
    for (const std::unique_ptr<Task> &task : left)
      task->fail(Error::make(Status::stopped, "", {"the pool has ended"}));
    for (std::thread &thread : threads_)
      thread.join();
  }
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;

  /// Runs "forward" on copies of the inputs and gives the elements of an output. Waits while the
  /// queue is full. The future has the error of a request that fails.
  template <Element T = float>
  std::future<Result<std::vector<T>>> try_post(std::initializer_list<Input> inputs,
                                               std::string output) {
    return submit(request<T>(inputs, std::move(output)));
  }
  /// The same where the queue has room, else nothing.
  template <Element T = float>
  std::optional<std::future<Result<std::vector<T>>>> try_offer(std::initializer_list<Input> inputs,
                                                               std::string output) {
    return offer(request<T>(inputs, std::move(output)));
  }

  /// Calls `work(session)` on the thread of a session that is free, and gives what it returns.
  /// Waits while the queue is full. What it throws is in the future; without exceptions it returns
  /// a Result. `work` must not keep views of the session, nor wait for another request of this
  /// pool.
  template <typename Work> std::future<std::invoke_result_t<Work &, Session &>> submit(Work work) {
    auto job = std::make_unique<Job<Work>>(std::move(work));
    auto answer = job->promise.get_future();
    {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [this] { return ended_ || waiting_.size() < queue_; });
      waiting_.push_back(std::move(job));
    }
    work_.notify_one();
    return answer;
  }
  /// The same where the queue has room, else nothing.
  template <typename Work>
  std::optional<std::future<std::invoke_result_t<Work &, Session &>>> offer(Work work) {
    auto job = std::make_unique<Job<Work>>(std::move(work));
    auto answer = job->promise.get_future();
    {
      std::lock_guard lock(mutex_);
      if (waiting_.size() >= queue_)
        return std::nullopt;
      waiting_.push_back(std::move(job));
    }
    work_.notify_one();
    return answer;
  }

#if LSTMC_EXCEPTIONS
  explicit Pool(const Package &package, PoolOptions options = {}) : Pool() {
    begin(package, std::move(options)).value();
  }
  /// As try_post(), with values; get() throws the Error of a request that fails.
  template <Element T = float>
  std::future<std::vector<T>> post(std::initializer_list<Input> inputs, std::string output) {
    return submit([work = request<T>(inputs, std::move(output))](Session &session) {
      return work(session).value();
    });
  }
#endif

  int sessions() const noexcept { return static_cast<int>(threads_.size()); }
  /// The weights that the sessions share.
  const Weights &weights() const noexcept { return weights_; }

private:
  struct Task {
    virtual ~Task() = default;
    virtual void run(Session &session) noexcept = 0;
    virtual void fail(const Error &error) noexcept = 0;
  };

  template <typename Work> struct Job final : Task {
    using Answer = std::invoke_result_t<Work &, Session &>;
    static_assert(LSTMC_EXCEPTIONS || std::is_constructible_v<Answer, Error>,
                  "without exceptions, a request returns a Result");

    explicit Job(Work given) : work(std::move(given)) {}
    void run(Session &session) noexcept override {
#if LSTMC_EXCEPTIONS
      try {
        answer(session);
      } catch (...) {
        promise.set_exception(std::current_exception());
      }
#else
      answer(session);
#endif
    }
    void fail(const Error &error) noexcept override {
      if constexpr (std::is_constructible_v<Answer, Error>)
        promise.set_value(Answer(error));
#if LSTMC_EXCEPTIONS
      else
        promise.set_exception(std::make_exception_ptr(error));
#endif
    }
    void answer(Session &session) {
      if constexpr (std::is_void_v<Answer>) {
        work(session);
        promise.set_value();
      } else {
        promise.set_value(work(session));
      }
    }

    Work work;
    std::promise<Answer> promise;
  };

  /// An input with elements of its own.
  struct Kept {
    std::string name;
    DType dtype;
    std::vector<std::byte> values;

    explicit Kept(const Input &input)
        : name(input.name()), dtype(input.dtype()),
          values(static_cast<const std::byte *>(input.data()),
                 static_cast<const std::byte *>(input.data()) + input.bytes()) {}
    Input borrowed() const { return Input(name, dtype, values); }
  };

  template <Element T>
  static auto request(std::initializer_list<Input> inputs, std::string output) {
    return [kept = std::vector<Kept>(inputs.begin(), inputs.end()),
            output = std::move(output)](Session &session) -> Result<std::vector<T>> {
      std::vector<Input> given;
      for (const Kept &input : kept)
        given.push_back(input.borrowed());
      if (Result<void> fresh = session.try_forget_inputs(); !fresh)
        return fresh.error();
      if (Result<void> ran = session.try_run("forward", given); !ran)
        return ran.error();
      Result<Tensor<const T>> found = session.try_output<T>(output);
      if (!found)
        return found.error();
      return std::vector<T>(found->begin(), found->end());
    };
  }

  Pool() = default;

  Result<void> begin(const Package &package, PoolOptions options) {
    SessionOptions each = std::move(options.session);
    const int processors = static_cast<int>(std::thread::hardware_concurrency());
    const int count = options.sessions > 0 ? options.sessions : processors > 0 ? processors : 1;
    if (options.sessions < 0)
      return Error::usage(
          {"sessions: found ", std::to_string(options.sessions), ", want a number from 0 on"});
    each.threads = each.threads == 0 ? 1 : each.threads;
    queue_ = options.queue > 0 ? options.queue : 2 * static_cast<std::size_t>(count);
    std::vector<Session> sessions;
    for (int i = 0; i < count; ++i) {
      Result<Session> made = package.try_session(each);
      if (!made)
        return made.error();
      if (!each.weights) {
        Result<Weights> found = made->try_weights();
        if (!found)
          return found.error();
        each.weights = *found;
      }
      sessions.push_back(*std::move(made));
    }
    weights_ = *each.weights;
    threads_.reserve(sessions.size());
    for (Session &session : sessions)
      threads_.emplace_back([this, own = std::move(session)]() mutable { serve(own); });
    return {};
  }

  void serve(Session &session) {
    for (;;) {
      std::unique_ptr<Task> task;
      {
        std::unique_lock lock(mutex_);
        work_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
        if (waiting_.empty())
          return;
        task = std::move(waiting_.front());
        waiting_.pop_front();
      }
      room_.notify_one();
      session.reset_states();
      task->run(session);
    }
  }

  std::mutex mutex_;
  std::condition_variable work_, room_; ///< a request waits; the queue has room
  std::deque<std::unique_ptr<Task>> waiting_;
  std::size_t queue_ = 1;
  bool ended_ = false;
  Weights weights_;
  std::vector<std::thread> threads_;
};

} // namespace LSTMC_ABI
} // namespace lstmc

#endif

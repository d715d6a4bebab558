// Trains compiled networks from C++20, in the loop of `lstmc train`. Header only, over
// lstmc_train.h and liblstmc.so: no compiler is needed.
//
//   lstmc::Trainer trainer(lstmc::Package::open("net.lstmc"));
//   lstmc::End end = trainer.fit(lstmc::text("input.txt", {.valid = 0.1}),
//                                {.after = lstmc::epochs(10), .output = "ck"}, lstmc::Progress{});
//
// The same data, seed and options end with the weights of the command and of Python, to the bit,
// and each goes on from the checkpoints of the others.
#ifndef LSTMC_TRAIN_HPP
#define LSTMC_TRAIN_HPP

#include <lstmc/lstmc.hpp>
#include <lstmc/lstmc_train.h>
#include <lstmc/number_text.hpp>
#include <lstmc/schedules.hpp>

#include <cmath>
#include <cstdio>
#include <map>
#include <stop_token>

#if !LSTMC_EXCEPTIONS
#error "lstmc/train.hpp needs exceptions: lstmc_train.h is the interface without them"
#endif

namespace lstmc {
inline namespace LSTMC_ABI {

namespace detail {

inline void check(lstmc_status status) { checked(status).value(); }

struct CloseTraining {
  void operator()(lstmc_data *data) const noexcept { lstmc_data_close(data); }
  void operator()(lstmc_trainer *trainer) const noexcept { lstmc_trainer_close(trainer); }
  void operator()(lstmc_predictions *predictions) const noexcept {
    lstmc_predictions_close(predictions);
  }
};

/// What a callback of the program threw, until the library has returned.
struct Thrown {
  std::exception_ptr exception{};

  template <typename Work> int run(int failed, Work work) noexcept {
    try {
      return work();
    } catch (...) {
      exception = std::current_exception();
      return failed;
    }
  }
  void rethrow() {
    if (exception)
      std::rethrow_exception(std::exchange(exception, nullptr));
  }
};

} // namespace detail

/// How much of a training: updates(300), epochs(1.5).
class Amount {
public:
  std::string text() const { return text_; }
  friend Amount updates(std::int64_t count);
  friend Amount epochs(double count);

private:
  explicit Amount(std::string text) : text_(std::move(text)) {}
  std::string text_;
};
inline Amount updates(std::int64_t count) { return Amount(std::to_string(count) + "u"); }
inline Amount epochs(double count) { return Amount(detail::number_text(count) + "e"); }

/// The rate of each update: a constant, or a schedule of schedules.hpp. By default what the network
/// says.
class Schedule {
public:
  Schedule() = default;
  Schedule(double rate) : rate_(rate), text_("constant") {}
  template <typename Row>
    requires requires(const Row &row) { Row::name, row.rate; }
  Schedule(const Row &row) : rate_(row.rate), text_(Row::name) {
    text_ += '(';
    row.each([&](std::string_view name, const auto &value) { add(name, value); });
    text_ += ')';
  }

  double base() const { return rate_; }             ///< 0: the network's
  const std::string &text() const { return text_; } ///< as lr_scheduler of fit(..); "": the same

private:
  template <typename T> void add(std::string_view name, const T &value) {
    if (text_.back() != '(')
      text_ += ", ";
    text_.append(name).append("=");
    if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
      text_ += '[';
      for (std::size_t i = 0; i < value.size(); ++i)
        text_.append(i ? ", " : "").append(std::to_string(value[i]));
      text_ += ']';
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      text_ += value;
    } else if constexpr (std::is_same_v<T, double>) {
      text_ += detail::number_text(value);
    } else {
      text_ += std::to_string(value);
    }
  }

  double rate_ = 0;
  std::string text_;
};

/// The place of a sample that a source fills. Valid during the call.
class Row {
public:
  explicit Row(lstmc_place *place) noexcept : place_(place) {}
  /// The memory of an input, all of which is to be written; without the batch axis in a Row.
  /// Status::usage for an unknown name or another type.
  template <Element T> Tensor<T> input(std::string_view name) const {
    lstmc_tensor found;
    detail::check(lstmc_place_input(place_, detail::CString(name), &found));
    return detail::typed<T>(found, "input", name).value();
  }

protected:
  lstmc_place *place_;
};
/// The place of a batch.
class Batch : public Row {
public:
  using Row::Row;
  /// Samples that there is room for.
  std::int64_t rows() const noexcept { return lstmc_place_rows(place_); }
  /// For `return batch.end(3);`: the last batch of the epoch, with samples in its first rows only.
  /// Training leaves it out; what measures and predicts counts these. Status::usage for no such
  /// number.
  bool end(std::int64_t rows) {
    detail::check(lstmc_place_end(place_, rows));
    return true;
  }
};

/// Samples in any order: the same values for an index each time.
template <typename S>
concept RowSource = requires(const S &source, std::int64_t index, Row row) {
  { source.size() } -> std::convertible_to<std::int64_t>;
  source.fill(index, row);
};
/// Batches one after the other; false ends the epoch, after which the next call begins another of
/// as many. With `std::string mark()` and `seek(std::string_view)` a training is resumed to the
/// bit; without, fit warns once that it cannot be. Optional: `std::int64_t batches()` of an epoch
/// (otherwise one epoch is read to count them) with `std::int64_t last_rows()` of its last one
/// where that is not whole, and `bool continues()`: row i goes on where row i of the batch before
/// ended.
template <typename S>
concept BatchSource = requires(S &source, Batch &batch) {
  { source.next(batch) } -> std::convertible_to<bool>;
};

struct RowOptions {
  double valid = 0;    ///< share at the end that is kept to validate on
  bool shuffle = true; ///< a new order in each epoch of training
};

/// Data to train on. Copies are references.
class Data {
public:
  /// As --data of the command: "text:input.txt", "csv:pollution.csv,target=pm2.5,window=24".
  /// `learned_from`: a checkpoint whose vocabulary and scaling they take.
  static Data open(const std::string &spec, const std::string &learned_from = {}) {
    lstmc_data *opened = nullptr;
    detail::check(lstmc_data_open(spec.c_str(),
                                  learned_from.empty() ? nullptr : learned_from.c_str(), &opened));
    return Data(opened, nullptr);
  }
  /// With the vocabulary and scaling of other data: what a training is validated or measured on
  /// beside its own.
  static Data open(const std::string &spec, const Data &like) {
    lstmc_data *opened = nullptr;
    detail::check(lstmc_data_open_like(spec.c_str(), like.handle(), &opened));
    return Data(opened, nullptr);
  }
  /// Samples that the program makes. What `fill` throws, fit throws on.
  template <RowSource S> static Data rows(S source, const RowOptions &options = {}) {
    struct Held {
      S source;
      std::shared_ptr<detail::Thrown> thrown;
    };
    auto thrown = std::make_shared<detail::Thrown>();
    auto held = std::make_unique<Held>(Held{std::move(source), thrown});
    lstmc_rows given = {};
    given.size = sizeof given;
    given.count = held->source.size();
    given.valid = options.valid;
    given.shuffle = options.shuffle;
    given.user = held.release(); // whatever happens, `release` is called
    given.release = [](void *user) { delete static_cast<Held *>(user); };
    given.fill = [](void *user, std::int64_t index, lstmc_place *place) {
      auto &to = *static_cast<Held *>(user);
      return to.thrown->run(1, [&] {
        std::as_const(to.source).fill(index, Row(place));
        return 0;
      });
    };
    lstmc_data *made = nullptr;
    detail::check(lstmc_data_rows(&given, &made));
    return Data(made, std::move(thrown));
  }
  template <BatchSource S> static Data batches(S source) {
    struct Held {
      S source;
      std::shared_ptr<detail::Thrown> thrown;
      std::string mark{};
    };
    auto thrown = std::make_shared<detail::Thrown>();
    auto held = std::make_unique<Held>(Held{std::move(source), thrown});
    lstmc_batches given = {};
    given.size = sizeof given;
    if constexpr (requires { held->source.batches(); })
      given.batches = held->source.batches();
    if constexpr (requires { held->source.continues(); })
      given.continues = held->source.continues();
    if constexpr (requires { held->source.last_rows(); })
      given.last_rows = held->source.last_rows();
    given.user = held.release();
    given.release = [](void *user) { delete static_cast<Held *>(user); };
    given.next = [](void *user, lstmc_place *place) {
      auto &to = *static_cast<Held *>(user);
      return to.thrown->run(-1, [&] {
        Batch batch(place);
        return to.source.next(batch) ? 1 : 0;
      });
    };
    if constexpr (requires(S &from) { from.seek(from.mark()); }) {
      given.mark = [](void *user, std::size_t *length) -> const char * {
        auto &to = *static_cast<Held *>(user);
        if (to.thrown->run(1, [&] {
              to.mark = to.source.mark();
              return 0;
            }))
          return nullptr;
        *length = to.mark.size();
        return to.mark.data();
      };
      given.seek = [](void *user, const char *mark, std::size_t length) {
        auto &to = *static_cast<Held *>(user);
        return to.thrown->run(1, [&] {
          to.source.seek(std::string_view(mark, length));
          return 0;
        });
      };
    }
    lstmc_data *made = nullptr;
    detail::check(lstmc_data_batches(&given, &made));
    return Data(made, std::move(thrown));
  }

  /// The symbols of a text. Status::usage for data without.
  Vocabulary vocabulary() const {
    const lstmc_vocabulary *found = lstmc_data_vocabulary(handle());
    if (!found)
      throw Error::usage({"found data without a vocabulary, want a text"});
    return Vocabulary::of(std::shared_ptr<const lstmc_vocabulary>(handle_, found));
  }

  const lstmc_data *handle() const noexcept { return handle_.get(); }

private:
  friend class Trainer;

  Data(lstmc_data *made, std::shared_ptr<detail::Thrown> thrown)
      : handle_(made, detail::CloseTraining()), thrown_(std::move(thrown)) {}
  void rethrow() const {
    if (thrown_)
      thrown_->rethrow();
  }

  std::shared_ptr<const lstmc_data> handle_;
  std::shared_ptr<detail::Thrown> thrown_;
};

struct TextOptions {
  enum class Unit { character, word, byte } unit = Unit::character;
  double valid = 0; ///< share at the end that is kept to validate on
};
/// A text, whose symbols are numbered.
inline Data text(const std::string &path, const TextOptions &options = {}) {
  if (path.find(',') != path.npos)
    throw Error::usage({"text: found a comma in ", path, ", which ends a name in a spec"});
  constexpr const char *units[] = {"char", "word", "byte"};
  std::string spec = "text:" + path + ",unit=" + units[static_cast<int>(options.unit)];
  if (options.valid > 0)
    spec += ",valid=" + detail::number_text(options.valid);
  return Data::open(spec);
}

struct Update {
  std::int64_t update = 0; ///< from 1
  double epoch = 0;        ///< epochs done, parts included
  double loss = 0;         ///< of this update's batch, before it
  double rate = 0;
  double per_second = 0; ///< labels
  double gradient_norm = 0;
};
struct Validation {
  std::int64_t update = 0;
  double loss = 0;
  bool best = false;
  std::map<std::string, double, std::less<>> metrics{};
  /// Status::usage for one that was not asked for.
  double operator[](std::string_view metric) const {
    const auto found = metrics.find(metric);
    if (found == metrics.end())
      throw Error::usage({"metric \"", metric, "\" was not asked for in FitOptions::metrics"});
    return found->second;
  }
};
struct EpochEnd {
  std::int64_t number = 0, update = 0;
  double loss = 0; ///< of its updates in this run
};
struct Saved {
  std::int64_t update = 0;
  std::string folder{};
};
/// Means since the line before, every FitOptions::disp_every.
struct Line {
  std::int64_t update = 0;
  double epoch = 0, loss = 0, rate = 0, per_second = 0, seconds_left = 0;
};
/// A save that failed, a checkpoint that was passed over: training goes on.
struct Warning {
  std::string message{};
};
/// What an observer may return. After `stop` the training ends with a checkpoint.
enum class Next { go_on, stop };

// An observer is a callable of one of these events that returns nothing or Next, a Metric, or one
// of the structs below. What it throws ends the training after the update, with a checkpoint, and
// is thrown on. It may read parameters and gradients of the trainer's session.

/// A batch of a validation, and what the network makes of it. Valid during the call.
class Measured {
public:
  explicit Measured(const lstmc_measured *batch) noexcept : batch_(batch) {}
  /// Samples that count, from the first row of the batch axis.
  std::int64_t rows() const noexcept { return lstmc_measured_rows(batch_); }
  /// An input, labels too, and an output of "forward". Status::usage for an unknown name or another
  /// type.
  template <Element T> Tensor<const T> input(std::string_view name) const {
    return get<T>(LSTMC_INPUT, "input", name);
  }
  template <Element T> Tensor<const T> output(std::string_view name) const {
    return get<T>(LSTMC_OUTPUT, "output", name);
  }

private:
  template <Element T>
  Tensor<const T> get(lstmc_kind kind, std::string_view what, std::string_view name) const {
    lstmc_tensor found;
    detail::check(lstmc_measured_tensor(batch_, kind, detail::CString(name), &found));
    return detail::typed<const T>(found, what, name).value();
  }

  const lstmc_measured *batch_;
};

/// A metric of one's own, given to fit() and score(): `begin()` a validation, `add(batch)` each of
/// its batches in their order, `value()` of them. Its value is among those of the validation by its
/// `name`, which no other metric has. "forward" runs on each batch too.
template <typename M>
concept Metric = requires(M &metric, const Measured &batch) {
  { metric.name } -> std::convertible_to<std::string_view>;
  metric.begin();
  metric.add(batch);
  { metric.value() } -> std::convertible_to<double>;
};

/// Ends after so many validations that are no better than the best before.
struct EarlyStop {
  /// What makes a validation the best one: the loss, a metric, or one of one's own. Checkpoints are
  /// "best" by it too.
  std::string metric = "loss";
  int patience = 3;
  double min_delta = 0;          ///< by how much it has to be better
  bool restore_best = false;     ///< the session gets the weights of the best validation at the end
  bool larger_is_better = false; ///< of a metric of one's own; of others it is known
};
/// Prints a line per FitOptions::disp_every, validation and checkpoint.
struct Progress {
  std::FILE *file = stderr;
};
struct TensorBoard {
  std::string folder{};
};

struct FitOptions {
  Schedule learning_rate{};
  std::optional<Amount> after{};       ///< of the whole training; else the network's, or an epoch
  std::optional<Amount> valid_every{}; ///< else an epoch
  std::optional<Amount> save_every{};  ///< else an epoch
  std::optional<Amount> disp_every{};  ///< else 50 updates
  std::optional<std::uint64_t> seed{}; ///< of weights, dropout, order; else the network's, or 0
  std::string output{};                ///< folder of checkpoints; "": none
  enum class Resume { no, yes, automatic } resume = Resume::no;
  bool overwrite = false; ///< checkpoints that are there
  int keep = 3;           ///< newest checkpoints kept beside the best
  std::vector<std::string> metrics{};
  std::stop_token stop{}; ///< asked before each update
  bool signals = false;   ///< SIGINT and SIGTERM end it as they end the command
};

enum class Reason { finished, early_stop, stopped, signalled };
struct End {
  Reason reason = Reason::finished;
  std::int64_t update = 0;
  double loss = 0;                ///< of the last validation; of the last epoch without one
  Validation best{};              ///< its update and loss; NaN where there was none
  std::uint64_t weights_hash = 0; ///< after the last update, as the command prints it
};

namespace detail {

/// Metrics of the program for the C interface. What they throw ends the training as what observers
/// throw does.
class OwnMetrics {
public:
  template <typename... Each> explicit OwnMetrics(Thrown &thrown, Each &...each) {
    (add(thrown, each), ...);
  }
  const lstmc_own_metric *data() const noexcept { return list_.data(); }
  std::size_t size() const noexcept { return list_.size(); }

private:
  template <typename M> struct Held {
    M &metric;
    Thrown &thrown;
    std::string name;
  };

  template <typename M> void add(Thrown &thrown, M &metric) {
    if constexpr (Metric<M>) {
      using Kept = Held<M>;
      auto held = std::make_shared<Kept>(Kept{metric, thrown, std::string(metric.name)});
      lstmc_own_metric own = {};
      own.name = held->name.c_str();
      own.user = held.get();
      own.begin = [](void *user) {
        auto &to = *static_cast<Kept *>(user);
        to.thrown.run(0, [&] { return to.metric.begin(), 0; });
      };
      own.add = [](void *user, const lstmc_measured *batch) {
        auto &to = *static_cast<Kept *>(user);
        return to.thrown.run(0, [&] { return to.metric.add(Measured(batch)), 0; });
      };
      own.value = [](void *user) {
        auto &to = *static_cast<Kept *>(user);
        double value = std::numeric_limits<double>::quiet_NaN();
        to.thrown.run(0, [&] {
          value = to.metric.value();
          return 0;
        });
        return value;
      };
      list_.push_back(own);
      held_.push_back(std::move(held));
    }
  }

  std::vector<lstmc_own_metric> list_;
  std::vector<std::shared_ptr<void>> held_;
};

/// One event to all observers that take it.
template <typename... Observers> class Hooks {
public:
  explicit Hooks(const FitOptions &options, Observers &...observers)
      : stop_(options.stop), observers_(&observers...) {}

  lstmc_fit_hooks hooks() {
    lstmc_fit_hooks hooks = {};
    hooks.size = sizeof hooks;
    hooks.user = this;
    hooks.update = [](void *user, const lstmc_update_event *e) {
      return self(user).tell(Update{e->update, e->epoch, e->loss, e->learning_rate,
                                    e->labels_per_second, e->gradient_norm});
    };
    hooks.line = [](void *user, const lstmc_line_event *e) {
      return self(user).tell(Line{e->update, e->epoch, e->loss, e->learning_rate,
                                  e->labels_per_second, e->seconds_left});
    };
    hooks.validation = [](void *user, const lstmc_validation_event *e) {
      return self(user).thrown.run(1, [&] {
        Validation event{e->update, e->loss, e->best != 0};
        for (std::size_t i = 0; i < e->metric_count; ++i)
          event.metrics.emplace(e->metrics[i].name, e->metrics[i].value);
        return self(user).tell(event);
      });
    };
    hooks.epoch = [](void *user, const lstmc_epoch_event *e) {
      return self(user).tell(EpochEnd{e->number, e->update, e->loss});
    };
    hooks.save = [](void *user, const lstmc_save_event *e) {
      return self(user).thrown.run(1, [&] { return self(user).tell(Saved{e->update, e->folder}); });
    };
    hooks.warning = [](void *user, const char *message) {
      self(user).thrown.run(1, [&] { return self(user).tell(Warning{message}); });
    };
    hooks.stop = [](void *user) {
      return self(user).thrown.exception || self(user).stop_.stop_requested() ? 1 : 0;
    };
    return hooks;
  }

  Thrown thrown{};

private:
  static Hooks &self(void *user) { return *static_cast<Hooks *>(user); }

  template <typename Event> int tell(const Event &event) {
    return thrown.run(1, [&] {
      return std::apply([&](auto *...each) { return (0 | ... | one(*each, event)); }, observers_);
    });
  }
  template <typename Observer, typename Event> static int one(Observer &to, const Event &event) {
    if constexpr (std::is_same_v<std::remove_const_t<Observer>, Progress>) {
      print(to.file, event);
    } else if constexpr (std::is_invocable_v<Observer &, const Event &>) {
      if constexpr (std::is_same_v<std::invoke_result_t<Observer &, const Event &>, Next>)
        return to(event) == Next::stop ? 1 : 0;
      else
        to(event);
    }
    return 0;
  }

  static void print(std::FILE *to, const Line &line) {
    std::fprintf(to, "update=%lld epoch=%.2f loss=%.4f lr=%g labels/s=%.0f left=%.0fs\n",
                 static_cast<long long>(line.update), line.epoch, line.loss, line.rate,
                 line.per_second, line.seconds_left);
  }
  static void print(std::FILE *to, const Validation &valid) {
    std::fprintf(to, "valid     update %lld  loss %.4f%s\n", static_cast<long long>(valid.update),
                 valid.loss, valid.best ? "  best" : "");
  }
  static void print(std::FILE *to, const Saved &saved) {
    std::fprintf(to, "save      update %lld  saved %s\n", static_cast<long long>(saved.update),
                 saved.folder.c_str());
  }
  static void print(std::FILE *to, const Warning &warning) {
    std::fprintf(to, "%s\n", warning.message.c_str());
  }
  static void print(std::FILE *, const Update &) {}
  static void print(std::FILE *, const EpochEnd &) {}

  std::stop_token stop_;
  std::tuple<Observers *...> observers_;
};

template <typename T>
concept Observer =
    std::is_same_v<T, EarlyStop> || std::is_same_v<T, Progress> || std::is_same_v<T, TensorBoard> ||
    Metric<T> || std::is_invocable_v<T &, const Update &> ||
    std::is_invocable_v<T &, const Line &> || std::is_invocable_v<T &, const Validation &> ||
    std::is_invocable_v<T &, const EpochEnd &> || std::is_invocable_v<T &, const Saved &> ||
    std::is_invocable_v<T &, const Warning &>;

inline void configure(lstmc_fit_options &to, const EarlyStop &stop) {
  to.early_stop = stop.patience;
  to.restore_best = stop.restore_best;
  to.judge = stop.metric.c_str();
  to.min_delta = stop.min_delta;
  to.larger_is_better = stop.larger_is_better;
}
inline void configure(lstmc_fit_options &to, const TensorBoard &board) {
  to.tensorboard = board.folder.c_str();
}
template <typename Other> void configure(lstmc_fit_options &, const Other &) {}

} // namespace detail

/// Trains a network that was compiled with an optimizer. Moved, not copied; used by one thread at a
/// time.
class Trainer {
public:
  /// With the weights of `options`, which are copied; else those of the checkpoint that the package
  /// is from; else initial ones, for which fit takes those of its seed.
  explicit Trainer(const Package &package, const SessionOptions &options = {})
      : session_(make(package, options)) {
    lstmc_trainer_options given = {};
    given.size = sizeof given;
    given.initial = !options.weights && !package.is_checkpoint();
    lstmc_trainer *made = nullptr;
    detail::check(lstmc_trainer_create(session_.handle(), &given, &made));
    handle_.reset(made);
  }

  /// Trains on `data`, validating on the part that they keep back.
  template <typename... Observers>
    requires(detail::Observer<std::remove_cvref_t<Observers>> && ...)
  End fit(const Data &data, const FitOptions &options = {}, Observers &&...observers) {
    return run(data, nullptr, options, observers...);
  }
  /// The same, validating on other data.
  template <typename... Observers>
    requires(detail::Observer<std::remove_cvref_t<Observers>> && ...)
  End fit(const Data &data, const Data &valid, const FitOptions &options = {},
          Observers &&...observers) {
    return run(data, &valid, options, observers...);
  }

  /// The metrics of some data by name, as `lstmc eval`; those that are shown unasked if none is
  /// named; and those of one's own.
  template <Metric... Own>
  std::map<std::string, double, std::less<>>
  score(const Data &data, const std::vector<std::string> &metrics = {}, Own &&...own) {
    std::map<std::string, double, std::less<>> found;
    const std::string list = joined(metrics);
    detail::Thrown thrown;
    const detail::OwnMetrics mine(thrown, own...);
    const auto status = lstmc_trainer_score_own(
        handle(), data.handle(), list.empty() ? nullptr : list.c_str(), mine.data(), mine.size(),
        [](void *user, const lstmc_metric *metric) {
          static_cast<decltype(found) *>(user)->emplace(metric->name, metric->value);
        },
        &found);
    data.rethrow();
    thrown.rethrow();
    detail::check(status);
    return found;
  }

  /// An output of `forward` (the first, unless it is named) for every sample, in their order.
  template <Element T> std::vector<T> predict(const Data &data, std::string_view output = "") {
    lstmc_predictions *made = nullptr;
    const auto status = lstmc_trainer_predict(handle(), data.handle(), &made);
    const std::unique_ptr<lstmc_predictions, detail::CloseTraining> predictions(made);
    data.rethrow();
    detail::check(status);
    lstmc_tensor found;
    const detail::CString name(output);
    detail::check(lstmc_predictions_output(
        predictions.get(), output.empty() ? nullptr : static_cast<const char *>(name), &found));
    const Tensor<T> values = detail::typed<T>(found, "output", output).value();
    return {values.begin(), values.end()};
  }
  /// The same for samples in memory: any whole number of them for each input.
  template <Element T>
  std::vector<T> predict(std::initializer_list<Input> inputs, std::string_view output = "") {
    std::vector<lstmc_array> arrays;
    std::vector<std::string> names;
    names.reserve(inputs.size());
    for (const Input &input : inputs) {
      names.emplace_back(input.name());
      arrays.push_back({names.back().c_str(), shaped(input)});
    }
    lstmc_data *made = nullptr;
    detail::check(lstmc_data_arrays(arrays.data(), arrays.size(), 0, 0, &made));
    return predict<T>(Data(made, nullptr), output);
  }

  /// One update of a loop of one's own, of which the loss before it is returned. Inputs that are
  /// not given keep their values; those that were never given are Status::usage, with their names.
  /// `rate` of 0: that of the network for this update.
  double update(std::initializer_list<Input> batch, double rate = 0) {
    return update(std::span(batch.begin(), batch.size()), rate);
  }
  double update(std::span<const Input> batch, double rate = 0) {
    lstmc_trainer *trainer = handle();
    for (const Input &input : batch)
      session_.try_fill("step", input).value();
    double loss = 0;
    detail::check(lstmc_trainer_update(trainer, rate, &loss));
    return loss;
  }
  /// Number of updates that have made the weights.
  std::int64_t updates() const noexcept { return lstmc_trainer_updates(handle_.get()); }

  /// Sets it, for a program that has put back parameters, slots and states of session() by itself.
  void set_updates(std::int64_t count) {
    detail::check(lstmc_trainer_set_updates(handle(), count));
  }

  /// For inputs, parameters, gradients and states; not to be moved from.
  Session &session() noexcept { return session_; }
  /// A copy of the weights as they are.
  Weights weights() const { return session_.copied_weights().value(); }

  /// A checkpoint: weights, the optimizer's values, states, the count of updates, after fit the
  /// order of data. What was saved in the folder before is replaced.
  void save(const std::string &folder) {
    detail::check(lstmc_trainer_save(handle(), folder.c_str()));
  }
  void load(const std::string &folder) {
    detail::check(lstmc_trainer_load(handle(), folder.c_str()));
  }

private:
  static Session make(const Package &package, SessionOptions options) {
    const std::optional<Weights> weights = std::exchange(options.weights, std::nullopt);
    Session session = package.session(options);
    if (weights)
      session.try_copy_weights(*weights).value();
    return session;
  }

  lstmc_trainer *handle() const {
    if (!handle_ || !session_.handle())
      throw Error::usage({"found a trainer, or its session, that was moved from"});
    return handle_.get();
  }

  static std::string joined(const std::vector<std::string> &names) {
    std::string list;
    for (const std::string &name : names)
      list.append(list.empty() ? "" : ",").append(name);
    return list;
  }

  /// The values with as many samples on the batch axis as there are.
  lstmc_tensor shaped(const Input &input) const {
    for (const TensorInfo &info : session_.inputs()) {
      if (info.name != input.name())
        continue;
      std::size_t axis = 0, one = 1;
      for (std::size_t i = 0; i < info.dims.size(); ++i)
        axis = info.dims[i] == "batch" ? i : axis;
      lstmc_tensor tensor = {};
      tensor.data = const_cast<void *>(input.data()); // it is only read
      tensor.dtype = static_cast<lstmc_dtype>(input.dtype());
      tensor.rank = static_cast<std::int32_t>(info.shape.size());
      for (std::size_t i = 0; i < info.shape.size(); ++i) {
        tensor.shape[i] = info.shape[i];
        one *= i == axis ? 1 : static_cast<std::size_t>(info.shape[i]);
      }
      if (input.size() == 0 || input.size() % one != 0)
        throw Error::usage({"input \"", info.name, "\": found ", std::to_string(input.size()),
                            " values, want a multiple of ", std::to_string(one)});
      tensor.shape[axis] = static_cast<std::int64_t>(input.size() / one);
      return tensor;
    }
    lstmc_tensor unknown; // whose error names those that there are
    detail::check(
        lstmc_session_input(session_.handle(), "forward", detail::CString(input.name()), &unknown));
    return unknown;
  }

  template <typename... Observers>
  End run(const Data &data, const Data *valid, const FitOptions &options, Observers &...observers) {
    auto text = [](const std::optional<Amount> &amount) { return amount ? amount->text() : ""; };
    const std::string after = text(options.after), valid_every = text(options.valid_every),
                      save_every = text(options.save_every), disp_every = text(options.disp_every),
                      metrics = joined(options.metrics);
    auto given = [](const std::string &from) { return from.empty() ? nullptr : from.c_str(); };
    lstmc_fit_options to = {};
    to.size = sizeof to;
    to.learning_rate = options.learning_rate.base();
    to.schedule = given(options.learning_rate.text());
    to.after = given(after);
    to.valid_every = given(valid_every);
    to.save_every = given(save_every);
    to.disp_every = given(disp_every);
    to.has_seed = options.seed.has_value();
    to.seed = options.seed.value_or(0);
    to.output = given(options.output);
    to.resume = static_cast<lstmc_resume>(options.resume);
    to.overwrite = options.overwrite;
    to.keep = options.keep;
    to.metrics = given(metrics);
    to.signals = options.signals;
    (detail::configure(to, observers), ...);
    detail::Hooks<std::remove_reference_t<Observers>...> hooks(options, observers...);
    const detail::OwnMetrics own(hooks.thrown, observers...);
    to.own_metrics = own.data();
    to.own_metric_count = own.size();
    const lstmc_fit_hooks called = hooks.hooks();
    lstmc_end end = {};
    end.size = sizeof end;
    const auto status = lstmc_trainer_fit(handle(), data.handle(),
                                          valid ? valid->handle() : nullptr, &to, &called, &end);
    data.rethrow();
    if (valid)
      valid->rethrow();
    hooks.thrown.rethrow();
    detail::check(status);
    return {static_cast<Reason>(end.reason), end.update, end.loss,
            Validation{end.best_update, end.best_loss, true}, end.weights_hash};
  }

  Session session_;
  std::unique_ptr<lstmc_trainer, detail::CloseTraining> handle_; ///< closed before the session
};

struct SampleOptions {
  std::string prime{}; ///< text to begin with
  std::int64_t length = 200;
  double temperature = 1; ///< 0: always the likeliest symbol
  double top_p = 0;       ///< of the fewest symbols that have this probability together; 0: of all
  int top_k = 0;          ///< of the likeliest symbols only; 0: of all
  std::uint64_t seed = 0;
};
/// What a language model writes, the prime first, as `lstmc sample`; its states are left as they
/// were. A session of windows computes a window for each symbol.
inline std::string sample(Session &session, const Vocabulary &vocabulary,
                          const SampleOptions &options) {
  lstmc_sample_options given = {};
  given.size = sizeof given;
  given.prime = options.prime.c_str();
  given.length = options.length;
  given.temperature = options.temperature;
  given.top_k = options.top_k;
  given.top_p = options.top_p;
  given.seed = options.seed;
  std::string written;
  detail::check(lstmc_sample(
      session.handle(), vocabulary.handle(), &given,
      [](void *user, const char *piece, std::size_t size) {
        static_cast<std::string *>(user)->append(piece, size);
        return 0;
      },
      &written));
  return written;
}

} // namespace LSTMC_ABI
} // namespace lstmc

#endif

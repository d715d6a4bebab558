// Calls of lstmc_train.h in random orders, with wrong arguments among them: each ends with a
// status.
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "executor/c/include/lstmc/lstmc_train.h"
#include "tests/executor/c/Interface.h"
#include "tests/executor/c/SampleBytes.h"

namespace {

using namespace lstmc::test;

struct CloseTraining {
  void operator()(lstmc_data *data) const { lstmc_data_close(data); }
  void operator()(lstmc_trainer *trainer) const { lstmc_trainer_close(trainer); }
  void operator()(lstmc_predictions *predictions) const { lstmc_predictions_close(predictions); }
};

/// Makes calls on handles of its own, in one thread.
class Caller {
public:
  Caller(unsigned seed, lstmc_package *package, std::string folder)
      : random_(seed), package_(package), folder_(std::move(folder)) {}

  void call() {
    switch (below(18)) {
    case 0:
      return createSession();
    case 1:
    case 2:
      return createTrainer();
    case 3:
      return closeOne();
    case 4:
      return arrays();
    case 5:
      return rows();
    case 6:
      return batches();
    case 7:
      return open();
    case 8:
      return fit();
    case 9:
    case 10:
      return update();
    case 11:
      return score();
    case 12:
      return predict();
    case 13:
      return check(lstmc_trainer_set_updates(trainer(), int64_t(below(5)) - 1));
    case 14:
      return check(below(2) ? lstmc_trainer_save(trainer(), folder())
                            : lstmc_trainer_load(trainer(), folder()));
    case 15:
      return sample();
    case 16:
      return check(lstmc_session_initialise(session(), below(3)));
    default:
      return rate();
    }
  }

  size_t passed() const { return passed_; }
  size_t trained() const { return trained_; }

private:
  size_t below(size_t end) { return random_() % end; }
  template <typename T> T pick(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }
  template <typename List> auto any(List &list) -> decltype(list[0].get()) {
    return list.empty() || below(30) == 0 ? nullptr : list[below(list.size())].get();
  }
  /// The first value as a rule, else any of them.
  template <typename T> T mostly(std::initializer_list<T> list) {
    return below(6) ? *list.begin() : pick(list);
  }
  lstmc_session *session() { return any(sessions_); }
  lstmc_trainer *trainer() { return any(trainers_); }
  lstmc_data *data() { return any(data_); }
  const char *folder() {
    return below(12) == 0 ? pick<const char *>({nullptr, "", "/proc/none"}) : folder_.c_str();
  }
  /// Numbers that are often wrong.
  double number() {
    return pick<double>({0, 0.01, 0.5, 0.1, 1, -1, std::nan(""), HUGE_VAL, 1e300});
  }
  template <typename Struct> void setSize(Struct &to) {
    to.size = below(40) ? sizeof to : pick<size_t>({0, 8, sizeof to + 8});
    to.size = std::min(to.size, sizeof to); // what is beyond is not ours
  }

  void check(lstmc_status status) {
    passed_ += status == LSTMC_OK;
    EXPECT_TRUE(status == LSTMC_OK || status == LSTMC_USAGE || status == LSTMC_BAD_FILE ||
                status == LSTMC_BAD_NUMBERS)
        << status << " " << lstmc_message();
  }
  template <typename List, typename Handle>
  void keep(lstmc_status status, List &list, Handle *made) {
    check(status);
    EXPECT_EQ(status == LSTMC_OK, made != nullptr);
    if (made)
      list.emplace_back(made);
  }

  void createSession() {
    const lstmc_session_options options = {.size = sizeof options,
                                           .threads = 1,
                                           .entries =
                                               mostly<const char *>({nullptr, "forward", "step"})};
    lstmc_session *made = nullptr;
    if (sessions_.size() < 8) // each has a thread
      keep(lstmc_session_create(package_, &options, &made), sessions_, made);
  }
  void createTrainer() {
    lstmc_trainer_options options = {sizeof options, uint32_t(below(2))};
    setSize(options);
    lstmc_trainer *made = nullptr;
    keep(lstmc_trainer_create(session(), below(2) ? &options : nullptr, &made), trainers_, made);
  }
  /// A trainer goes before its session, which is kept.
  void closeOne() {
    if (trainers_.size() > 5)
      trainers_.erase(trainers_.begin() + long(below(trainers_.size())));
    if (data_.size() > 8)
      data_.erase(data_.begin() + long(below(data_.size())));
  }

  void arrays() {
    float values[24] = {0.5f, 1, -2, 3};
    values[5] = mostly<float>({0, 5, 1000}); // the last is out of range
    lstmc_array array = {mostly<const char *>({"x", "y", "", nullptr}), {}};
    array.tensor.data = below(20) ? values : nullptr;
    array.tensor.dtype = mostly<lstmc_dtype>({LSTMC_F32, LSTMC_I8, lstmc_dtype(77)});
    array.tensor.rank = mostly<int32_t>({2, 1, 0, -1, 17});
    array.tensor.shape[0] = mostly<int64_t>({4, 6, 2, 1, 0, -1});
    array.tensor.shape[1] = mostly<int64_t>({4, 3});
    lstmc_data *made = nullptr;
    keep(lstmc_data_arrays(below(20) ? &array : nullptr, mostly<size_t>({1, 0}),
                           mostly<double>({0, 0.5, 1, -1}), uint32_t(below(2)), &made),
         data_, made);
  }
  static int fillPlace(lstmc_place *place, double value, const char *name) {
    lstmc_tensor x;
    if (lstmc_place_input(place, name, &x) != LSTMC_OK)
      return 1;
    for (int64_t i = 0; i < lstmc_tensor_elements(&x); ++i)
      static_cast<float *>(x.data)[i] = float(value);
    return 0;
  }
  void rows() {
    lstmc_rows rows = {};
    setSize(rows);
    rows.count = mostly<int64_t>({8, 5, 2, 0, -1});
    rows.valid = mostly<double>({0, 0.5, 2});
    rows.shuffle = mostly<uint32_t>({0, 1});
    rows.user = this;
    rows.fill = [](void *user, int64_t index, lstmc_place *place) {
      auto &self = *static_cast<Caller *>(user);
      self.inside();
      return self.below(40) ? fillPlace(place, 0.1 * double(index), "x") : int(self.below(2)) * 3;
    };
    if (below(20) == 0)
      rows.fill = nullptr;
    lstmc_data *made = nullptr;
    keep(lstmc_data_rows(&rows, &made), data_, made);
  }
  void batches() {
    lstmc_batches batches = {};
    setSize(batches);
    batches.batches = mostly<int64_t>({3, 0, 2, -4});
    batches.continues = mostly<uint32_t>({1, 0});
    batches.user = this;
    batches.next = [](void *user, lstmc_place *place) {
      auto &self = *static_cast<Caller *>(user);
      self.inside();
      if (++self.read_ % 4 == 0)
        return 0;
      const bool filled = fillPlace(place, 0.25, "x") == 0;
      if (self.below(20) == 0)
        self.check(lstmc_place_end(place, int64_t(self.below(4)) - 1));
      return self.below(40) && filled ? 1 : -1;
    };
    if (below(2)) {
      batches.mark = [](void *user, size_t *length) {
        *length = 1;
        return static_cast<Caller *>(user)->below(40) ? "m" : nullptr;
      };
      batches.seek = [](void *user, const char *, size_t) {
        static_cast<Caller *>(user)->read_ = 0;
        return 0;
      };
    }
    if (below(20) == 0)
      batches.seek = nullptr;
    lstmc_data *made = nullptr;
    keep(lstmc_data_batches(&batches, &made), data_, made);
  }
  void open() {
    lstmc_data *made = nullptr;
    keep(
        lstmc_data_open(pick<const char *>({"text:none.txt", "csv:", "", "npz:x,valid=2", nullptr}),
                        pick<const char *>({nullptr, "none"}), &made),
        data_, made);
  }

  void fit() {
    lstmc_fit_options options = {};
    setSize(options);
    options.learning_rate = below(6) ? 1e-4 : number() * 1e-3;
    options.schedule =
        mostly<const char *>({nullptr, "constant", "factor(step=2, factor=0.5)", "factor(", ""});
    options.after = mostly<const char *>({"3u", "1e", "0u", "x"});
    options.valid_every = mostly<const char *>({nullptr, "1u", "1e", "-1u"});
    options.has_seed = uint32_t(below(2));
    options.output = below(4) ? nullptr : folder();
    options.resume =
        mostly({LSTMC_RESUME_NO, LSTMC_RESUME_AUTOMATIC, LSTMC_RESUME_YES, lstmc_resume(below(9))});
    options.overwrite = uint32_t(below(2));
    options.keep = int32_t(below(3)) - (below(20) == 0);
    options.early_stop = int32_t(below(3));
    options.restore_best = uint32_t(below(2));
    options.metrics = mostly<const char *>({nullptr, "loss", "accuracy", ",", "x"});
    options.judge = mostly<const char *>({nullptr, "loss", "accuracy", "own", ""});
    options.min_delta = below(8) ? 0 : number();
    const lstmc_own_metric own = ownMetric();
    options.own_metrics = below(8) ? &own : nullptr;
    options.own_metric_count = below(9) == 0;
    lstmc_fit_hooks hooks = {};
    setSize(hooks);
    hooks.user = this;
    hooks.update = [](void *user, const lstmc_update_event *) {
      static_cast<Caller *>(user)->inside();
      return int(static_cast<Caller *>(user)->below(9) == 0);
    };
    hooks.stop = [](void *user) { return int(static_cast<Caller *>(user)->below(30) == 0); };
    lstmc_end end = {};
    end.size = pick<size_t>({sizeof end, sizeof end, 0, 16});
    training_ = trainer();
    const lstmc_status status = lstmc_trainer_fit(
        training_, data(), below(9) ? nullptr : data(), below(10) ? &options : nullptr,
        below(3) ? &hooks : nullptr, below(4) ? &end : nullptr);
    training_ = nullptr;
    trained_ += status == LSTMC_OK;
    check(status);
  }
  /// Calls within a hook or a source: they are refused, or read.
  void inside() {
    if (!training_ || below(6))
      return;
    check(lstmc_trainer_update(training_, 0.1, nullptr));
    check(lstmc_trainer_save(training_, folder()));
    check(lstmc_trainer_set_updates(training_, 3));
    sum_ += double(lstmc_trainer_updates(training_));
  }
  lstmc_own_metric ownMetric() {
    lstmc_own_metric own = {};
    own.name = pick<const char *>({"own", "own", "own", "loss", "", nullptr});
    own.user = this;
    own.add = [](void *user, const lstmc_measured *batch) {
      auto &self = *static_cast<Caller *>(user);
      lstmc_tensor y;
      self.check(lstmc_measured_tensor(batch, lstmc_kind(self.below(3)),
                                       self.pick<const char *>({"x", "y", "z", nullptr}), &y));
      self.sum_ += double(lstmc_measured_rows(batch));
      return int(self.below(20) == 0);
    };
    if (below(9))
      own.value = [](void *user) { return static_cast<Caller *>(user)->sum_; };
    return own;
  }

  void update() {
    lstmc_session *any = session();
    lstmc_tensor x;
    const lstmc_status status = lstmc_session_input(any, "step", "x", &x);
    check(status);
    if (status == LSTMC_OK)
      for (int64_t i = 0; i < lstmc_tensor_elements(&x); ++i)
        static_cast<float *>(x.data)[i] = float(below(101)) / (below(30) ? 100.0f : 0.1f);
    double loss = 0;
    check(lstmc_trainer_update(trainer(), below(3) ? 0.001 : number(), &loss));
    sum_ += double(lstmc_trainer_updates(trainer()));
  }
  void score() {
    const auto take = [](void *user, const lstmc_metric *metric) {
      static_cast<Caller *>(user)->sum_ += metric->value;
    };
    const char *metrics = pick<const char *>({nullptr, "loss", "accuracy"});
    const lstmc_own_metric own = ownMetric();
    check(below(2) ? lstmc_trainer_score(trainer(), data(), metrics, take, this)
                   : lstmc_trainer_score_own(trainer(), data(), metrics, below(9) ? &own : nullptr,
                                             below(2), take, this));
  }
  void predict() {
    lstmc_predictions *made = nullptr;
    const lstmc_status status = lstmc_trainer_predict(trainer(), data(), &made);
    check(status);
    const std::unique_ptr<lstmc_predictions, CloseTraining> predictions(made);
    lstmc_tensor y;
    const lstmc_status found =
        lstmc_predictions_output(made, pick<const char *>({nullptr, "y", "x", ""}), &y);
    check(found);
    if (found == LSTMC_OK)
      for (int64_t i = 0; i < lstmc_tensor_elements(&y); ++i)
        sum_ += static_cast<const float *>(y.data)[i];
  }
  void sample() {
    lstmc_sample_options options = {};
    setSize(options);
    options.prime = pick<const char *>({nullptr, "a"});
    options.length = int64_t(below(4)) - 1;
    options.temperature = number();
    check(lstmc_sample(
        session(), lstmc_data_vocabulary(data()), below(4) ? &options : nullptr,
        [](void *, const char *, size_t) { return 0; }, this));
  }
  void rate() {
    double found = 0;
    check(lstmc_schedule_rate(
        pick<const char *>({"factor(step=2, factor=0.5)", "cosine", "constant", "", nullptr}),
        number(), int64_t(below(4)) - 1, &found));
  }

  std::mt19937 random_;
  lstmc_package *package_;
  std::string folder_;
  std::vector<Session> sessions_; // go after what trains them and after data
  std::vector<std::unique_ptr<lstmc_data, CloseTraining>> data_;
  std::vector<std::unique_ptr<lstmc_trainer, CloseTraining>> trainers_;
  lstmc_trainer *training_ = nullptr;
  double sum_ = 0;
  size_t read_ = 0, passed_ = 0, trained_ = 0;
};

TEST(CTrainingCalls, InRandomOrdersEndWithAStatus) {
  const std::vector<std::byte> bytes = sampleBytes();
  lstmc_package *opened = nullptr;
  ASSERT_EQ(lstmc_package_open_memory(bytes.data(), bytes.size(), &opened), LSTMC_OK);
  const Package package(opened);
  const std::string folder = testing::TempDir() + "/random_training";
  std::filesystem::remove_all(folder);
  std::vector<std::unique_ptr<Caller>> callers;
  std::vector<std::thread> threads;
  // --gtest_shuffle --gtest_random_seed=N draws others.
  const auto drawn = unsigned(testing::UnitTest::GetInstance()->random_seed());
  for (unsigned seed = 4 * drawn; seed < 4 * drawn + 4; ++seed) {
    callers.push_back(std::make_unique<Caller>(seed, opened, folder + std::to_string(seed)));
    threads.emplace_back([caller = callers.back().get()] {
      for (int i = 0; i < 2500; ++i)
        caller->call();
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  for (const auto &caller : callers) {
    EXPECT_GT(caller->passed(), 300u);
    EXPECT_GT(caller->trained(), 5u);
  }
}

} // namespace

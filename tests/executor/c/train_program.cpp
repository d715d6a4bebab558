// What train.py asks of train.hpp, as a program of its users would have it.
//
//   train_program lm PACKAGE TEXT FOLDER UPDATES    trains as `lstmc train` does
//   train_program loop PACKAGE FOLDER               20 updates are 10, a checkpoint and 10
//   train_program rows PACKAGE FOLDER               own samples, hooks, stops, exceptions
//   train_program batches PACKAGE FOLDER            own batches, resumed
//   train_program metrics PACKAGE LM TEXT FOLDER    own metrics, and what judges a validation
//   train_program validated PACKAGE TEXT OTHER      another text, by the vocabulary of the first
//   train_program refusals PACKAGE TEXT             what is an error, and what it says
#include <lstmc/train.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>

using namespace lstmc;

namespace {

void demand(bool held, std::string_view what) {
  if (held)
    return;
  std::cerr << "not so: " << what << '\n';
  std::exit(1);
}

/// What `work` throws.
template <typename Work> Error thrown(Work work) {
  try {
    work();
  } catch (const Error &error) {
    return error;
  }
  demand(false, "an error is thrown");
  return {};
}

template <typename Work> void refused(Status status, std::string_view part, Work work) {
  const Error error = thrown(work);
  std::cout << error.what() << '\n';
  demand(error.status() == status && error.message().find(part) != std::string_view::npos, part);
}

void trainText(char **arguments) {
  const Data data = text(arguments[1], {.valid = 0.1});
  Trainer trainer(Package::open(arguments[0]));
  const End end = trainer.fit(data,
                              {.learning_rate = Factor{.rate = 0.01, .factor = 0.7, .step = 100},
                               .after = updates(std::atoi(arguments[3])),
                               .valid_every = updates(50),
                               .save_every = updates(50),
                               .seed = 1,
                               .output = arguments[2],
                               .resume = FitOptions::Resume::automatic},
                              EarlyStop{.patience = 3}, Progress{});
  std::printf("%016llx %lld %.4f\n", static_cast<unsigned long long>(end.weights_hash),
              static_cast<long long>(end.update), end.best.loss);
  demand(trainer.session().weights_hash() == end.weights_hash, "the session has these weights");
  for (const auto &[name, value] : trainer.score(data))
    std::printf("%s %.6g\n", name.c_str(), value);
  // Windows of a batch of 8 give what a session of one symbol gives.
  std::cout << sample(trainer.session(), data.vocabulary(),
                      {.prime = "the ", .length = 60, .temperature = 0});
}

void validateOther(char **arguments) {
  const Data data = text(arguments[1]);
  const std::string other = std::string("text:") + arguments[2];
  Trainer trainer(Package::open(arguments[0]));
  const FitOptions options{.after = updates(30), .seed = 1};
  std::printf("%.6f\n", trainer.fit(data, Data::open(other, data), options).loss);
  refused(Status::bad_file, "read by another vocabulary",
          [&] { trainer.fit(data, Data::open(other), options); });
  refused(Status::usage, "buckets= of the data",
          [&] { trainer.fit(Data::open(other + ",lines=yes,buckets=8|32"), options); });
}

/// A series whose windows predict what follows.
std::vector<float> wave() {
  std::vector<float> series(300);
  for (std::size_t i = 0; i < series.size(); ++i)
    series[i] = std::sin(0.1f * static_cast<float>(i));
  return series;
}

struct Windows {
  std::vector<float> series = wave();
  std::int64_t size() const { return static_cast<std::int64_t>(series.size()) - 6; }
  void fill(std::int64_t index, Row row) const {
    const auto at = static_cast<std::size_t>(index);
    row.input<float>("data").assign(std::span(series).subspan(at, 6));
    row.input<float>("label").at(0) = series[at + 6];
  }
};

void trainLoop(char **arguments) {
  const Package package = Package::open(arguments[0]);
  const std::vector<float> x(24, 0.25f), y(4, 1.0f);
  auto go = [&](Trainer &trainer, int count) {
    double loss = 0;
    for (int update = 0; update < count; ++update)
      loss = trainer.update({{"data", x}, {"label", y}});
    return loss;
  };
  Trainer whole(package), part(package), again(package), other(package);
  for (Trainer *trainer : {&whole, &part, &other})
    trainer->session().initialise(3);
  const double first = go(whole, 1);
  demand(go(whole, 19) < first, "the loss falls");
  go(part, 10);
  part.save(arguments[1]);
  again.load(arguments[1]);
  demand(again.updates() == 10, "the count of updates is kept");
  go(again, 10);
  demand(again.session().weights_hash() == whole.session().weights_hash(), "20 are 10 and 10");
  // All of it in memory: parameters and what the optimizer keeps, by name.
  for (const TensorInfo &info : part.session().parameters())
    other.session().set_parameter({info.name, part.session().parameter<float>(info.name)});
  demand(other.session().weights_hash() == part.session().weights_hash(), "parameters are set");
  const Weights copy = part.weights();
  go(part, 1);
  demand(copy.hash() != part.session().weights_hash(), "weights() is a copy");
  std::printf("%016llx\n", static_cast<unsigned long long>(whole.session().weights_hash()));
}

void trainRows(char **arguments) {
  const Package package = Package::open(arguments[0]);
  const std::string folder = arguments[1];
  const Data data = Data::rows(Windows{}, {.valid = 0.1});
  const FitOptions options = {.learning_rate = 0.01, .after = epochs(4), .seed = 2};
  int epochsSeen = 0, updatesSeen = 0, validations = 0;
  double last = 0;
  Trainer whole(package);
  const End end = whole.fit(
      data, options,
      [&](const EpochEnd &epoch) {
        ++epochsSeen;
        last = epoch.loss;
      },
      [&](const Update &update) { demand(update.update == ++updatesSeen, "each update is told"); },
      [&](const Validation &) { ++validations; });
  demand(epochsSeen == 4 && validations == 4 && updatesSeen == end.update, "hooks are called");
  demand(end.reason == Reason::finished && last < 0.05 && end.best.loss < 0.05, "it learns");

  // A stop by what an observer returns, and then on from the checkpoint.
  FitOptions kept = options;
  kept.output = folder + "/stopped";
  Trainer first(package), second(package);
  const End stopped = first.fit(data, kept, [](const Update &update) {
    return update.update == 70 ? Next::stop : Next::go_on;
  });
  demand(stopped.reason == Reason::stopped && stopped.update == 70, "an observer stops it");
  kept.resume = FitOptions::Resume::yes;
  demand(second.fit(data, kept).weights_hash == end.weights_hash, "rows are resumed to the bit");

  // An exception in a hook is thrown on after a checkpoint; one of a source passes through.
  kept.output = folder + "/thrown";
  kept.resume = FitOptions::Resume::no;
  Trainer third(package), fourth(package);
  try {
    third.fit(data, kept, [](const Update &update) {
      if (update.update == 65)
        throw std::string("hook");
    });
    demand(false, "an exception is thrown on");
  } catch (const std::string &what) {
    demand(what == "hook", "the exception is the hook's");
  }
  kept.resume = FitOptions::Resume::yes;
  demand(fourth.fit(data, kept).weights_hash == end.weights_hash, "it is resumed");

  // By a token from another thread.
  std::stop_source source;
  FitOptions endless = options;
  endless.after = epochs(1e6);
  endless.stop = source.get_token();
  std::jthread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    source.request_stop();
  });
  demand(Trainer(package).fit(data, endless).reason == Reason::stopped, "a token stops it");

  const std::vector<float> all = whole.predict<float>(data);
  demand(all.size() == 294 && std::abs(all[100] - wave()[106]) < 0.3f, "it predicts");
  const std::vector<float> series = wave();
  const std::vector<float> one =
      whole.predict<float>({{"data", std::span(series).subspan(100, 6)}}, "y");
  demand(one.size() == 1 && one[0] == all[100], "a sample alone gives the same bits");
  std::printf("%016llx\n", static_cast<unsigned long long>(end.weights_hash));
}

/// Numbers of its own; with a place or without.
struct Numbers {
  std::int64_t at = 0;
  bool next(Batch &batch) {
    if (at % 21 == 20) { // the end of an epoch
      ++at;
      return false;
    }
    std::int64_t number = at++ * 97 % 1009;
    for (float &value : batch.input<float>("data"))
      value = 0.001f * static_cast<float>(number = number * 31 % 1009);
    for (float &value : batch.input<float>("label"))
      value = 0.0005f * static_cast<float>(number);
    return true;
  }
};
struct Marked : Numbers {
  std::string mark() const { return std::to_string(at) + '\0'; }
  void seek(std::string_view mark) { at = std::atoll(std::string(mark).c_str()); }
};

/// Windows in their order, in batches of which the last of an epoch is not whole.
struct Parts {
  Windows windows{};
  std::int64_t next_ = 0;

  bool next(Batch &batch) {
    const std::int64_t left = windows.size() - next_, rows = std::min(left, batch.rows());
    if (rows == 0) {
      next_ = 0;
      return false;
    }
    const std::vector<float> series = wave();
    const auto data = batch.input<float>("data"), label = batch.input<float>("label");
    for (std::int64_t row = 0; row < rows; ++row, ++next_) {
      for (std::int64_t step = 0; step < 6; ++step)
        data.at(row, step, 0) = series[static_cast<std::size_t>(next_ + step)];
      label.at(row, 0) = series[static_cast<std::size_t>(next_ + 6)];
    }
    return rows < batch.rows() ? batch.end(rows) : true;
  }
  std::string mark() const { return std::to_string(next_); }
  void seek(std::string_view mark) { next_ = std::stoll(std::string(mark)); }
};
struct CountedParts : Parts {
  std::int64_t batches() const { return 74; }
  std::int64_t last_rows() const { return 2; }
};

/// A last batch of fewer samples is what it is of samples.
void endBatches(const Package &package, const std::string &folder) {
  const Data rows = Data::rows(Windows{}, {.shuffle = false});
  FitOptions options = {.learning_rate = 0.01, .after = updates(160), .metrics = {"mae"}};
  Trainer byRows(package), byBatches(package), counted(package);
  const End wanted = byRows.fit(rows, rows, options);
  const End found = byBatches.fit(Data::batches(Parts{}), Data::batches(Parts{}), options);
  demand(found.weights_hash == wanted.weights_hash, "batches train as their samples do");
  demand(found.loss == wanted.loss, "and are measured as they are");
  demand(counted.fit(Data::batches(CountedParts{}), Data::batches(CountedParts{}), options).loss ==
             wanted.loss,
         "where the source says how many there are, too");
  demand(byBatches.score(Data::batches(Parts{}), {"mae"}) == byRows.score(rows, {"mae"}),
         "score counts the samples of the last batch");
  const std::vector<float> y = byBatches.predict<float>(Data::batches(Parts{}));
  demand(y.size() == 294 && y == byRows.predict<float>(rows), "predict has them all");

  options.output = folder + "/ends";
  for (const std::int64_t end : {73, 100, 160}) { // 73 updates are an epoch
    options.after = updates(end);
    const End part = Trainer(package).fit(Data::batches(Parts{}), options);
    options.resume = FitOptions::Resume::yes;
    if (end == 160)
      demand(part.weights_hash == wanted.weights_hash, "resumed after a last batch, too");
  }
  struct Uneven : Parts {
    bool next(Batch &batch) {
      const bool any = Parts::next(batch);
      return any && next_ == 8 ? batch.end(1) : any;
    }
  };
  refused(Status::bad_file, "only the last may have fewer",
          [&] { Trainer(package).fit(Data::batches(Uneven{}), options); });
  struct Wrong : Parts {
    bool next(Batch &batch) { return Parts::next(batch) && batch.end(5); }
  };
  refused(Status::usage, "found 5 samples, want 1 to 4",
          [&] { Trainer(package).fit(Data::batches(Wrong{}), options); });
}

void trainBatches(char **arguments) {
  const Package package = Package::open(arguments[0]);
  endBatches(package, arguments[1]);
  FitOptions options = {.learning_rate = 0.01, .after = updates(50), .save_every = updates(7)};
  Trainer whole(package);
  const End end = whole.fit(Data::batches(Marked{}), options);
  options.output = std::string(arguments[1]) + "/batches";
  options.after = updates(33);
  Trainer(package).fit(Data::batches(Marked{}), options);
  options.after = updates(50);
  options.resume = FitOptions::Resume::yes;
  const End resumed = Trainer(package).fit(Data::batches(Marked{}), options);
  demand(resumed.update == 50 && resumed.weights_hash == end.weights_hash,
         "batches are resumed to the bit");
  // Validated on a stream too, which is read from its beginning each time.
  std::vector<double> losses;
  options = {.learning_rate = 0.01, .after = updates(40), .valid_every = updates(10)};
  Trainer(package).fit(Data::batches(Marked{}), Data::batches(Numbers{}), options,
                       [&](const Validation &valid) { losses.push_back(valid.loss); });
  demand(losses.size() == 4, "it validates on batches");
  options.output = std::string(arguments[1]) + "/unmarked";
  std::string warning;
  Trainer(package).fit(Data::batches(Numbers{}), options,
                       [&](const Warning &told) { warning = told.message; });
  demand(warning.find("without mark and seek") != std::string::npos, "it warns once");
  options.resume = FitOptions::Resume::yes;
  options.after = updates(50);
  refused(Status::bad_file, "without mark and seek",
          [&] { Trainer(package).fit(Data::batches(Numbers{}), options); });
  std::printf("%016llx\n", static_cast<unsigned long long>(end.weights_hash));
}

/// The metric mae, from outputs and labels.
struct Mine {
  static constexpr std::string_view name = "mine";
  double sum = 0;
  std::int64_t count = 0, begun = 0;

  void begin() {
    sum = 0;
    count = 0;
    ++begun;
  }
  void add(const Measured &batch) {
    const auto y = batch.output<float>("y_output"), label = batch.input<float>("label");
    for (std::int64_t row = 0; row < batch.rows(); ++row, ++count)
      sum += std::abs(double(y.at(row, 0)) - double(label.at(row, 0)));
  }
  double value() const { return sum / double(count); }
};

/// Its values are the numbers of the validations.
struct Rising {
  std::string name = "rising";
  double count = 0;
  void begin() { ++count; }
  void add(const Measured &) {}
  double value() const { return count; }
};

struct Hits {
  std::string_view name = "my_hits";
  double hits = 0, labels = 0;
  void begin() { hits = labels = 0; }
  void add(const Measured &batch) {
    const auto p = batch.output<float>("softmaxoutput0_output");
    const auto label = batch.input<std::int32_t>("label");
    for (std::int64_t row = 0; row < batch.rows(); ++row)
      for (std::int64_t step = 0; step < label.shape()[1]; ++step, ++labels) {
        const auto classes = p[row][step].span();
        hits += std::max_element(classes.begin(), classes.end()) - classes.begin() ==
                label.at(row, step);
      }
  }
  double value() const { return hits / labels; }
};

/// A training of the language model that an accuracy judges: the end, and each validation.
End judged(Trainer &trainer, const Data &data, FitOptions options,
           std::vector<Validation> &validations) {
  options.learning_rate = 0.02;
  options.valid_every = updates(20);
  options.save_every = updates(20);
  options.seed = 4;
  options.metrics = {"top_k_accuracy_2"};
  return trainer.fit(data, options, Hits{}, EarlyStop{.metric = "accuracy", .patience = 100},
                     [&](const Validation &valid) { validations.push_back(valid); });
}

void ownMetrics(char **arguments) {
  const Package package = Package::open(arguments[0]), lm = Package::open(arguments[1]);
  const std::string folder = arguments[3];
  const Data data = Data::rows(Windows{}, {.valid = 0.1});
  FitOptions options = {.learning_rate = 0.01, .after = epochs(4), .seed = 2, .metrics = {"mae"}};
  Trainer plain(package), measured(package);
  const End end = plain.fit(data, options);
  Mine mine;
  int validations = 0;
  const End same = measured.fit(data, options, mine, [&](const Validation &valid) {
    ++validations;
    demand(std::abs(valid["mine"] - valid["mae"]) < 1e-9, "a metric of one's own is right");
  });
  demand(same.weights_hash == end.weights_hash, "own metrics change nothing");
  demand(validations == 4 && mine.begun == 4, "each validation begins them");
  const auto score = measured.score(data, {"mae"}, mine);
  demand(score.at("mine") == mine.value() && std::abs(score.at("mae") - mine.value()) < 1e-9,
         "score measures them");

  // The best validation by what is asked for.
  options.after = epochs(9);
  const EarlyStop worse = {.metric = "rising", .patience = 2};
  const End early = Trainer(package).fit(data, options, Rising{}, worse);
  demand(early.reason == Reason::early_stop && early.best.update * 3 == early.update,
         "what gets worse stops it");
  EarlyStop better = worse;
  better.larger_is_better = true;
  demand(Trainer(package).fit(data, options, Rising{}, better).reason == Reason::finished,
         "what gets better does not");
  better.min_delta = 3;
  demand(Trainer(package).fit(data, options, Rising{}, better).reason == Reason::early_stop,
         "nor what is not better enough");

  // By accuracy, with carried states, also when it is ended and started again.
  const Data letters = text(arguments[2], {.valid = 0.1});
  std::vector<Validation> all, parts;
  Trainer whole(lm), first(lm), second(lm);
  const End last = judged(whole, letters, {.after = updates(120)}, all);
  double best = -1;
  for (const Validation &valid : all) {
    demand(valid.best == (valid["accuracy"] > best), "the best has the best accuracy");
    demand(valid["my_hits"] == valid["accuracy"], "forward is carried as evaluate is");
    demand(valid["top_k_accuracy_2"] >= valid["accuracy"], "metrics asked for are there too");
    best = std::max(best, valid["accuracy"]);
  }
  FitOptions kept = {.after = updates(60), .output = folder + "/judged"};
  judged(first, letters, kept, parts);
  kept.after = updates(120);
  kept.resume = FitOptions::Resume::yes;
  const End again = judged(second, letters, kept, parts);
  demand(again.weights_hash == last.weights_hash && again.best.update == last.best.update &&
             again.best.loss == last.best.loss && parts.size() == all.size(),
         "a judged training is resumed");
  for (std::size_t i = 0; i < all.size(); ++i)
    demand(parts[i].best == all[i].best, "with what was the best");

  struct Throwing : Rising {
    void add(const Measured &) { throw std::string("metric"); }
  };
  options.output = folder + "/metric";
  try {
    Trainer(package).fit(data, options, Throwing{});
    demand(false, "what a metric throws is thrown on");
  } catch (const std::string &) {
  }
  demand(Package::open(options.output).is_checkpoint(), "after a checkpoint");
  const auto fitted = [&](auto metric, const EarlyStop &stop) {
    Trainer(package).fit(data, {.learning_rate = 0.01}, metric, stop);
  };
  Rising taken;
  taken.name = "mse";
  refused(Status::usage, "a name that another one has", [&] { fitted(taken, {}); });
  refused(Status::usage, "none of that name", [&] { fitted(Rising{}, {.metric = "rsing"}); });
  refused(Status::usage, "is of a softmax output",
          [&] { fitted(Rising{}, {.metric = "accuracy"}); });
  refused(Status::usage, "min_delta", [&] { fitted(Rising{}, {.min_delta = -1}); });
  struct Unknown : Rising {
    void add(const Measured &batch) { (void)batch.output<float>("z"); }
  };
  refused(Status::usage, "y_output", [&] { (void)measured.score(data, {}, Unknown{}); });
}

void refusals(char **arguments) {
  const Package package = Package::open(arguments[0]);
  const std::vector<float> x(24, 0.25f), y(4, 1.0f);
  Trainer trainer(package);
  const std::uint64_t before = trainer.session().weights_hash();
  refused(Status::usage, "label", [&] { trainer.update({{"data", x}}); });
  refused(Status::usage, "did you mean \"data\"", [&] { trainer.update({{"dat", x}}); });
  refused(Status::usage, "want 24", [&] { trainer.update({{"data", y}}); });
  demand(trainer.session().weights_hash() == before && trainer.updates() == 0,
         "a refused update changes nothing");
  refused(Status::usage, "accurracy",
          [&] { trainer.fit(Data::rows(Windows{}), {.metrics = {"accurracy"}}); });
  refused(Status::usage, "want a whole number from 1", [&] {
    trainer.fit(Data::rows(Windows{}), {.learning_rate = Factor{.rate = 0.1, .step = 0}});
  });
  refused(Status::usage, "resume",
          [&] { trainer.fit(Data::rows(Windows{}), {.resume = FitOptions::Resume::yes}); });
  struct Half : Windows {
    void fill(std::int64_t, Row row) const { (void)row.input<float>("data"); }
  };
  refused(Status::usage, "label", [&] { trainer.fit(Data::rows(Half{}), {}); });
  struct Wrong : Windows {
    void fill(std::int64_t, Row row) const { (void)row.input<double>("data"); }
  };
  refused(Status::usage, "f64", [&] { trainer.fit(Data::rows(Wrong{}), {}); });
  refused(Status::usage, "has not ended", [&] {
    trainer.fit(Data::rows(Windows{}), {.learning_rate = 0.01},
                [&](const Update &) { trainer.update({{"data", x}, {"label", y}}); });
  });
  refused(Status::usage, "has not ended", [&] {
    trainer.fit(Data::rows(Windows{}), {.learning_rate = 0.01},
                [&](const Update &) { trainer.session().run("forward"); });
  });
  refused(Status::bad_file, "", [&] { (void)text("nothing.txt"); });
  refused(Status::usage, "vocabulary", [&] { (void)Data::rows(Windows{}).vocabulary(); });
  refused(Status::bad_file, "", [&] { trainer.load("nothing"); });
  refused(Status::bad_file, "", [&] { trainer.fit(text(arguments[1]), {}); });
  Trainer forward(package, {.entries = {"forward"}});
  refused(Status::usage, "entry \"step\"", [&] { forward.update({{"data", x}, {"label", y}}); });
  Trainer moved(std::move(trainer));
  refused(Status::usage, "moved from", [&] { trainer.update({{"data", x}}); });
  demand(moved.update({{"data", x}, {"label", y}}) > 0, "a moved trainer trains");
}

} // namespace

int main(int argc, char **argv) try {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "lm" && argc == 6)
    trainText(argv + 2);
  else if (what == "loop" && argc == 4)
    trainLoop(argv + 2);
  else if (what == "rows" && argc == 4)
    trainRows(argv + 2);
  else if (what == "batches" && argc == 4)
    trainBatches(argv + 2);
  else if (what == "metrics" && argc == 6)
    ownMetrics(argv + 2);
  else if (what == "validated" && argc == 5)
    validateOther(argv + 2);
  else if (what == "refusals" && argc == 4)
    refusals(argv + 2);
  else
    return 64;
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.status());
}

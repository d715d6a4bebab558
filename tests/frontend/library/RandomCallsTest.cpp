// Calls of lstmc_compiler.h in random orders, with wrong arguments among them: each ends with a
// status.
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <lstmc/lstmc_compiler.h>

namespace {

struct Close {
  void operator()(lstmc_network *network) const { lstmc_network_close(network); }
  void operator()(lstmc_net *net) const { lstmc_net_close(net); }
  void operator()(lstmc_plan *plan) const { lstmc_plan_close(plan); }
  void operator()(lstmc_bytes *bytes) const { lstmc_bytes_free(bytes); }
};

constexpr const char *kRegression = R"(
N = dim("batch", 2)
def net(x: float32[N, 3], y: float32[N, 2]):
    return LinearRegressionOutput(FullyConnected(x, num_hidden=2, name="fc"), y)
)";
constexpr const char *kTexts[] = {kRegression, "def net(x: float32[2, 3]):\n    return x * 2.0\n",
                                  "def net(x: float32[2, 3]): return z\n", "def", ""};

/// Makes calls on nets of its own, in one thread, and on networks that it or others made.
class Caller {
public:
  Caller(unsigned seed, lstmc_network *shared, std::string folder)
      : random_(seed), shared_(shared), folder_(std::move(folder)) {}

  void call() {
    switch (below(20)) {
    case 0:
      return create();
    case 1:
      return input();
    case 2:
    case 3:
    case 4:
    case 5:
      return op();
    case 6:
      return value(lstmc_net_index(net(), tensor(), int64_t(below(7)) - 3, place()));
    case 7:
      return describe();
    case 8:
      return scope();
    case 9:
      return check(lstmc_net_set(net(), uint32_t(below(2)),
                                 pick<const char *>({"optimizer", "optimizr", "seed", nullptr}),
                                 pick<const char *>({"adam", "3", "", nullptr}), place()));
    case 10:
      return finish();
    case 11:
      return parse();
    case 12:
      return open();
    case 13:
    case 14:
      return compile();
    case 15:
      return plan();
    case 16:
      return plot();
    case 17:
      return known();
    case 18:
      return check(lstmc_network_save(
          network(), pick({(folder_ + ".lnet").c_str(), "x.onnx", "/proc/none/x.lnet",
                           static_cast<const char *>(nullptr)})));
    default:
      return told();
    }
  }
  size_t passed() const { return passed_; }
  size_t compiled() const { return compiled_; }

private:
  size_t below(size_t end) { return random_() % end; }
  template <typename T> T pick(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }
  lstmc_net *net() {
    return nets_.empty() || below(40) == 0 ? nullptr : nets_[below(nets_.size())].get();
  }
  lstmc_network *network() {
    return below(30) == 0                       ? nullptr
           : networks_.empty() || below(3) == 0 ? shared_
                                                : networks_[below(networks_.size())].get();
  }
  /// A number that is a tensor of some net, or none.
  lstmc_value tensor() {
    return below(6) ? lstmc_value(below(12)) : pick<lstmc_value>({-1, -2, -9, 1 << 30, INT32_MIN});
  }
  const lstmc_place *place() {
    place_ = {pick<const char *>({"main.cpp", __FILE__, "", nullptr}), uint32_t(below(90)),
              uint32_t(below(50))};
    return below(4) ? &place_ : nullptr;
  }
  const char *name() {
    return pick<const char *>({"a", "b", "data", "fc", "", "a b", "_", nullptr, nullptr});
  }

  void check(lstmc_status status) {
    passed_ += status == LSTMC_OK;
    EXPECT_NE(status, LSTMC_INTERNAL) << lstmc_compiler_message();
    EXPECT_GE(int(status), 0);
    EXPECT_LE(int(status), 9) << lstmc_compiler_message();
    EXPECT_TRUE(status == LSTMC_OK || *lstmc_compiler_message() != 0);
  }
  void value(lstmc_value found) { sum_ += size_t(found); }

  void create() {
    if (nets_.size() > 4)
      nets_.erase(nets_.begin() + long(below(nets_.size())));
    lstmc_net *made = nullptr;
    check(lstmc_net_create(name(), below(20) ? &made : nullptr));
    if (made)
      nets_.emplace_back(made);
  }
  void input() {
    const lstmc_dim dims[] = {{pick<int64_t>({2, 4, 3, -1, 0, -7}), pick({"batch", "n", ""})},
                              {pick<int64_t>({3, 3, 5}), nullptr},
                              {pick<int64_t>({4, INT64_MAX}), nullptr}};
    value(lstmc_net_input(net(), name(), pick({LSTMC_F32, LSTMC_F32, LSTMC_I32, lstmc_dtype(99)}),
                          below(20) ? dims : nullptr, below(4), uint32_t(below(2)), place()));
  }
  void op() {
    const int64_t list[] = {int64_t(below(3)), -1, LSTMC_NONE};
    const lstmc_attribute attributes[] = {
        {pick<const char *>({"num_hidden", "act_type", "axis", "shape", "p", "x", nullptr}),
         lstmc_attribute_kind(below(6)), int64_t(below(9)) - 2,
         pick<double>({0.5, -1, std::nan(""), HUGE_VAL}),
         pick<const char *>({"tanh", "relu", "", nullptr}), below(9) ? list : nullptr, below(4)},
        {"name", LSTMC_TEXT, 0, 0, "fc", nullptr, 0}};
    const lstmc_argument arguments[] = {
        {pick<const char *>({nullptr, nullptr, "data", "x"}), tensor()}, {nullptr, tensor()}};
    lstmc_call call = {};
    call.size = below(40) ? sizeof call : below(sizeof call);
    call.op = pick<const char *>({"FullyConnected", "FullyConnected", "tanh", "Activation", "LSTM",
                                  "Reshape", "elemwise_add", "Variable", "SoftmaxOutput", "Nothing",
                                  "", nullptr});
    call.name = name();
    call.arguments = below(20) ? arguments : nullptr;
    call.argument_count = below(3);
    call.attributes = below(20) ? attributes : nullptr;
    call.attribute_count = below(2);
    call.place = below(4) && place() ? place_ : lstmc_place{nullptr, 0, 0};
    lstmc_value results[3] = {};
    sum_ +=
        lstmc_net_call(net(), below(20) ? &call : nullptr, below(20) ? results : nullptr, below(4));
  }
  void describe() {
    lstmc_value_info info = {};
    info.size = pick<size_t>({sizeof info, sizeof info, 0, 8});
    check(lstmc_net_value(net(), tensor(), below(20) ? &info : nullptr));
  }
  void scope() {
    if (below(2))
      return lstmc_net_leave(net());
    check(lstmc_net_enter(
        net(), pick<const char *>({"group", "dtype", "prefix", "recompute", "x", nullptr}),
        pick<const char *>({"a", "float64", "", nullptr})));
  }
  void finish() {
    const lstmc_value outputs[] = {tensor(), tensor()};
    lstmc_network *made = nullptr;
    check(lstmc_net_finish(net(), below(20) ? outputs : nullptr, below(3), place(),
                           below(20) ? &made : nullptr));
    keep(made);
  }
  void keep(lstmc_network *made) {
    if (networks_.size() > 6)
      networks_.erase(networks_.begin() + long(below(networks_.size())));
    if (made)
      networks_.emplace_back(made);
  }
  void parse() {
    const char *text = kTexts[below(std::size(kTexts))];
    lstmc_network *made = nullptr;
    check(lstmc_network_parse(pick<const char *>({"net.lnet", "", nullptr}),
                              below(20) ? text : nullptr,
                              pick<size_t>({std::char_traits<char>::length(text), 0, 7}), &made));
    keep(made);
  }
  void open() {
    lstmc_network *made = nullptr;
    const lstmc_option options[] = {option(), option()};
    const char *path = pick({"none.lnet", (folder_ + ".lnet").c_str(), "", "/proc",
                             static_cast<const char *>(nullptr)});
    check(below(2) ? lstmc_network_open(path, &made)
                   : lstmc_network_open_with(path, options, below(3), place(), &made));
    keep(made);
  }
  lstmc_option option() {
    return {pick<const char *>({"dims", "shapes", "entries", "entries", "devices", "optimizer",
                                "initializer", "memory", "fit", "optimzer", "", nullptr}),
            pick<const char *>({"batch=3", "x:4x3", "forward", "forward", "2xcpu", "adam",
                                "Xavier()", "1000", "momentum=0.5", "-1", "", nullptr})};
  }
  void compile() {
    const lstmc_option options[] = {option(), option()};
    lstmc_bytes *made = nullptr;
    const lstmc_status status =
        lstmc_network_compile(network(), below(20) ? options : nullptr, below(3), place(), &made);
    const std::unique_ptr<lstmc_bytes, Close> bytes(made);
    check(status);
    compiled_ += status == LSTMC_OK;
    EXPECT_EQ(status == LSTMC_OK, lstmc_bytes_size(made) > 0);
    if (made)
      sum_ += static_cast<const unsigned char *>(lstmc_bytes_data(made))[below(64)];
  }
  void plan() {
    const lstmc_option options[] = {option()};
    lstmc_plan *made = nullptr;
    check(lstmc_network_plan(network(), options, below(2), place(), &made));
    const std::unique_ptr<lstmc_plan, Close> plan(made);
    sum_ += lstmc_plan_peak(made) + std::string(lstmc_plan_table(made)).size() +
            std::string(lstmc_plan_json(made)).size() + size_t(lstmc_plan_seconds(made));
  }
  void plot() {
    lstmc_bytes *made = nullptr;
    check(lstmc_network_plot(
        network(), pick<const char *>({"layers", "program", "memory", "x", nullptr}),
        pick<const char *>({"dot", "html", "gif", nullptr}), nullptr, 0, place(), &made));
    const std::unique_ptr<lstmc_bytes, Close> bytes(made);
    sum_ += lstmc_bytes_size(made);
  }
  void known() {
    lstmc_tensor_info info = {};
    info.size = pick<size_t>({sizeof info, sizeof info, 8});
    lstmc_network *one = network();
    check(lstmc_network_argument(one, below(5), &info));
    check(lstmc_network_weight(one, below(2), &info));
    sum_ += lstmc_network_output(one, below(3)) != nullptr;
    sum_ += std::string(lstmc_network_hash(one)).size();
  }
  void told() {
    lstmc_diagnostic found = {};
    found.size = pick<size_t>({sizeof found, sizeof found, 8});
    if (lstmc_compiler_diagnostic(below(3), &found) == LSTMC_OK && found.size == sizeof found)
      sum_ += std::string(found.text).size() + std::string(found.place).size();
    sum_ += lstmc_compiler_reason(below(2), below(2)) != nullptr;
  }

  std::mt19937 random_;
  lstmc_network *shared_;
  std::string folder_;
  lstmc_place place_ = {};
  std::vector<std::unique_ptr<lstmc_net, Close>> nets_;
  std::vector<std::unique_ptr<lstmc_network, Close>> networks_;
  size_t sum_ = 0, passed_ = 0, compiled_ = 0;
};

TEST(CompilerCalls, InRandomOrdersEndWithAStatus) {
  lstmc_network *parsed = nullptr;
  ASSERT_EQ(lstmc_network_parse("net.lnet", kTexts[0], std::string(kTexts[0]).size(), &parsed),
            LSTMC_OK);
  const std::unique_ptr<lstmc_network, Close> shared(parsed);
  std::vector<std::unique_ptr<Caller>> callers;
  std::vector<std::thread> threads;
  // --gtest_shuffle --gtest_random_seed=N draws others.
  const auto drawn = unsigned(testing::UnitTest::GetInstance()->random_seed());
  for (unsigned seed = 4 * drawn; seed < 4 * drawn + 4; ++seed) {
    callers.push_back(std::make_unique<Caller>(
        seed, parsed, testing::TempDir() + "/random_calls" + std::to_string(seed)));
    threads.emplace_back([caller = callers.back().get()] {
      for (int i = 0; i < 2500; ++i)
        caller->call();
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  for (const auto &caller : callers) {
    EXPECT_GT(caller->passed(), 300u);
    EXPECT_GT(caller->compiled(), 20u);
  }
}

} // namespace

// Uses all of the C++ interface, to be compiled with any standard, compiler and set of warnings.
#include <lstmc/pool.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

// What exists without exceptions, too.
int without(const std::string &path) {
  lstmc::Result<lstmc::Package> package = lstmc::Package::try_open(path);
  if (!package)
    return static_cast<int>(package.error().status());
  lstmc::Result<lstmc::Session> session = package->try_session(
      {.threads = 1, .dims = {{"batch", 1}, {"seq", 1}}, .entries = {"forward"}});
  if (!session || !package->try_inputs() || !session->try_outputs("forward"))
    return 1;
  const std::vector<std::int32_t> ids(3);
  const lstmc::State start = session->state();
  session->input<std::int32_t>("data").at(0, 0) = 1;
  lstmc::Result<void> ran = session->try_run({{"data", ids}, {"length", 3}});
  ran = session->try_run("forward", std::vector<lstmc::Input>{{"data", ids}});
  const lstmc::Tensor<const float> y = session->output<float>("y");
  session->restore(start);
  session->initialise(3);
  session->set_parameter({"w", std::span<const float>(y[0])});
  const lstmc::Weights weights = session->weights();
  lstmc::Result<std::unique_ptr<lstmc::Pool>> pool = lstmc::Pool::try_make(
      *package, {.sessions = 2, .session = {.weights = weights, .log = [](std::string_view) {}}});
  auto answer = (*pool)->try_post({{"data", ids}}, "y").get();
  auto offered = (*pool)->try_offer<double>({{"data", ids}}, "y");
  auto hash = (*pool)->submit(
      [](lstmc::Session &own) -> lstmc::Result<std::uint64_t> { return own.weights_hash(); });
  return answer && offered && hash.get() && ran ? 0 : 1;
}

#if LSTMC_EXCEPTIONS
void with(const std::string &path) {
  const lstmc::Package package = lstmc::Package::open(path);
  lstmc::Session session = package.session({.weights = package.weights(path)});
  session.run();
  session.run("step");
  session.run({{"length", std::int64_t{3}}, {"mask", true}});
  session.input<std::int32_t>("data").assign(std::vector<std::int32_t>(3));
  const lstmc::Tensor<const std::int32_t> data = session.input<std::int32_t>("data");
  for (const std::int32_t id : data)
    static_cast<void>(id);
  session.restore(lstmc::State::from(session.state().bytes()));
  static_cast<void>(session.weights().get<float>("w").row(0));
  static_cast<void>(session.gradient<double>("w").size());
  lstmc::Pool pool(package);
  pool.post<lstmc::Half>({{"data", data}}, "y").get();
  pool.submit([](lstmc::Session &own) { own.reset_states(); }).get();
  lstmc::Session other = pool.submit([&](lstmc::Session &) { return package.session(); }).get();
  session = std::move(other);
  session.load(path);
  session.save(path);
  static_cast<void>(lstmc::Vocabulary::open(path).find("a"));
}
#endif

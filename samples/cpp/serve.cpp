// serve PACKAGE [WEIGHTS]: answers each line of up to 24 times 8 readings with a forecast, many
// lines at once. PACKAGE is of `lstmc compile samples/forecast.lnet -b 1`; the runtime alone is
// needed.
#include <cstdio>
#include <deque>
#include <iostream>
#include <iterator>
#include <lstmc/pool.hpp>
#include <sstream>

int main(int argc, char **argv) try {
  const lstmc::Package package = lstmc::Package::open(argc > 1 ? argv[1] : "forecast.lstmc");
  lstmc::PoolOptions options;
  if (argc > 2)
    options.session.weights = package.weights(argv[2]); // in memory once, for all sessions
  lstmc::Pool pool(package, options);
  const std::string output = package.outputs().at(0).name;

  std::deque<std::future<std::vector<float>>> answers;
  auto print = [&](std::size_t most) { // in the order of the lines
    for (; answers.size() > most; answers.pop_front())
      std::printf("%g\n", double(answers.front().get().at(0)));
  };
  for (std::string line; std::getline(std::cin, line); print(64)) {
    std::istringstream numbers(line);
    std::vector<float> readings(std::istream_iterator<float>(numbers), {});
    const auto steps = float(readings.size() / 8);
    readings.resize(24 * 8);
    answers.push_back(pool.post({{"data", readings}, {"length", steps}}, output));
  }
  print(0);
} catch (const lstmc::Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return int(error.status());
}

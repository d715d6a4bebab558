// Builds the network of CharLm.h, compiles it, trains it on a text, and lets it write.
//
//   train TEXT [UPDATES [WEIGHTS.safetensors]]
//
// Built by: c++ -std=c++20 train.cpp, linked with lstmc::compiler and lstmc::runtime.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "CharLm.h"

using namespace lstmc;

namespace {

/// Each row of the batch reads a part of the text of its own, window after window.
void train(Session &session, const Settings &s, const std::vector<int32_t> &text, int64_t updates) {
  const auto data = session.input<int32_t>("data", "step");
  const auto label = session.input<int32_t>("label", "step");
  const int64_t part = (int64_t(text.size()) - 1) / s.batch, windows = part / s.seq;
  for (int64_t update = 1; update <= updates; ++update) {
    const int64_t window = (update - 1) % windows;
    if (window == 0)
      session.reset_states();
    for (int64_t row = 0; row < s.batch; ++row) {
      const int32_t *from = text.data() + row * part + window * s.seq;
      data[row].assign({from, std::size_t(s.seq)});
      label[row].assign({from + 1, std::size_t(s.seq)});
    }
    session.set_update(0.005, update);
    session.run("step");
    // The loss is the quotient of the first two sums of the head.
    const auto sums = session.output<double>("softmaxoutput0_output_metric", "step");
    if (update % 100 == 0 || update == updates)
      std::printf("update %lld  loss %.4f\n", static_cast<long long>(update),
                  sums.at(0) / sums.at(1));
  }
}

/// Always the likeliest character, one at a time.
void write(Session &session, const std::string &symbols, int length) {
  const auto data = session.input<int32_t>("data");
  for (int32_t &id = data.at(0, 0); length > 0; --length) {
    std::putchar(symbols[size_t(id)]);
    session.run();
    const auto p = session.output<float>("softmaxoutput0_output");
    id = int32_t(std::max_element(p.begin(), p.end()) - p.begin());
  }
  std::putchar('\n');
}

int run(int argc, char **argv) {
  const int64_t updates = argc > 2 ? std::atoll(argv[2]) : 1000;
  const std::string weights = argc > 3 ? argv[3] : "char_lm.safetensors";

  std::ifstream file(argv[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::string symbols = text;
  std::ranges::sort(symbols);
  symbols.erase(std::ranges::unique(symbols).begin(), symbols.end());
  std::vector<int32_t> ids;
  for (char symbol : text)
    ids.push_back(int32_t(symbols.find(symbol)));

  Settings s{.vocab = int64_t(symbols.size()), .hidden = 64, .layers = 2, .batch = 8, .seq = 32};
  if (int64_t(text.size()) <= s.batch * s.seq) {
    std::fprintf(stderr, "the text has too few characters\n");
    return static_cast<int>(Status::bad_file);
  }
  {
    Session session = compile(charLm(s), {.optimizer = Adam{},
                                          .clip_gradient_norm = 5,
                                          .carry = {"lstm*"}}) // from window to window
                          .session();
    train(session, s, ids, updates);
    session.save(weights);
  }
  s.batch = s.seq = 1;
  Session session = compile(charLm(s), {.entries = {"forward"}, .carry = {"lstm*"}}).session();
  session.load(weights);
  write(session, symbols, 80);
  return 0;
}

} // namespace

int main(int argc, char **argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: train TEXT [UPDATES [WEIGHTS.safetensors]]\n");
    return static_cast<int>(Status::usage);
  }
  return run(argc, argv);
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.status());
}

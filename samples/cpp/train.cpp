// Builds the network of CharLm.h, compiles it, trains it on a text, and lets it write: the compiler
// by frontend/library/Compiler.h, the runtime by lstmc.h.
//
//   train TEXT [UPDATES [WEIGHTS.safetensors]]
//
// Built by: c++ -std=c++20 train.cpp, linked with lstmc::compiler and lstmc::runtime.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <lstmc/lstmc.h>

#include "CharLm.h"
#include "frontend/library/Compiler.h"
#include "frontend/symbol/Render.h"

using namespace lstmc;

namespace {

[[noreturn]] void end(int status, const std::string &message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(status);
}

void check(lstmc_status status) {
  if (status != LSTMC_OK)
    end(status, lstmc_message());
}

struct CloseSession {
  void operator()(lstmc_session *session) const { lstmc_session_close(session); }
};
using Session = std::unique_ptr<lstmc_session, CloseSession>;

/// The network compiled for these settings, and memory to run it in.
Session open(const Settings &s, const CompileOptions &options) {
  build::Net net("char_lm");
  if (Diagnostics errors = charLm(net, s); !errors.empty())
    end(LSTMC_INVALID_MODEL, symbol::render(errors));
  CompiledPackage bytes = compile(net, options);
  if (!bytes.ok())
    end(LSTMC_INVALID_MODEL, symbol::render(bytes.diagnostics()));
  lstmc_package *package = nullptr;
  lstmc_session *session = nullptr;
  check(lstmc_package_open_memory(bytes->data(), bytes->size(), &package));
  check(lstmc_session_create(package, nullptr, &session));
  lstmc_package_close(package); // the session goes on without it
  return Session(session);
}

template <typename T> T *input(const Session &session, const char *entry, const char *name) {
  lstmc_tensor tensor;
  check(lstmc_session_input(session.get(), entry, name, &tensor));
  return static_cast<T *>(tensor.data);
}

template <typename T> const T *output(const Session &session, const char *entry, const char *name) {
  lstmc_tensor tensor;
  check(lstmc_session_output(session.get(), entry, name, &tensor));
  return static_cast<const T *>(tensor.data);
}

/// Each row of the batch reads a part of the text of its own, window after window.
void train(const Session &session, const Settings &s, const std::vector<int32_t> &text,
           int64_t updates) {
  auto *data = input<int32_t>(session, "step", "data");
  auto *label = input<int32_t>(session, "step", "label");
  const int64_t part = (int64_t(text.size()) - 1) / s.batch, windows = part / s.seq;
  for (int64_t update = 1; update <= updates; ++update) {
    const int64_t window = (update - 1) % windows;
    if (window == 0)
      lstmc_session_reset_states(session.get());
    for (int64_t row = 0; row < s.batch; ++row) {
      const int32_t *from = text.data() + row * part + window * s.seq;
      std::copy_n(from, s.seq, data + row * s.seq);
      std::copy_n(from + 1, s.seq, label + row * s.seq);
    }
    check(lstmc_session_set_update(session.get(), 0.005, update, 0));
    check(lstmc_session_run(session.get(), "step"));
    // The loss is the quotient of the first two sums of the head.
    const auto *sums = output<double>(session, "step", "softmaxoutput0_output_metric");
    if (update % 100 == 0 || update == updates)
      std::printf("update %lld  loss %.4f\n", static_cast<long long>(update), sums[0] / sums[1]);
  }
}

/// Always the likeliest character, one at a time.
void write(const Session &session, int64_t vocab, const std::string &symbols, int length) {
  auto *data = input<int32_t>(session, "forward", "data");
  for (*data = 0; length > 0; --length) {
    std::putchar(symbols[size_t(*data)]);
    check(lstmc_session_run(session.get(), "forward"));
    const auto *p = output<float>(session, "forward", "softmaxoutput0_output");
    *data = int32_t(std::max_element(p, p + vocab) - p);
  }
  std::putchar('\n');
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2)
    end(LSTMC_USAGE, "usage: train TEXT [UPDATES [WEIGHTS.safetensors]]");
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
  if (int64_t(text.size()) <= s.batch * s.seq)
    end(LSTMC_BAD_FILE, "the text has too few characters");
  const std::pair<std::string, std::string> carry = {"carry", "lstm*"}; // from window to window
  {
    const Session session =
        open(s, {.optimizer = "adam", .fit = {{"clip_gradient_norm", "5"}, carry}});
    check(lstmc_session_initialise(session.get(), 0));
    train(session, s, ids, updates);
    check(lstmc_session_save_weights(session.get(), weights.c_str()));
  }
  s.batch = s.seq = 1;
  const Session session = open(s, {.fit = {carry}, .entry = {"forward"}});
  check(lstmc_session_load_weights(session.get(), weights.c_str()));
  write(session, s.vocab, symbols, 80);
  return 0;
}

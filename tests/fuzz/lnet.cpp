// Feeds text to lexer, parser, formatter and evaluator, with limits that keep a run short. The text
// has to be refused or read; text that fmt writes has to be read again unchanged.
#include <cstdlib>

#include "executor/base/InputFile.h"
#include "frontend/lnet/Load.h"
#include "frontend/lnet/format/Format.h"
#include "frontend/lnet/text/Stack.h"

using namespace lstmc;

static void check(std::string text) {
  lnet::LoadOptions options;
  options.limits.depth = 64;
  options.limits.nodes = 200;
  options.limits.steps = 20'000;
  options.limits.list = 10'000;
  Checked<std::string> once = lnet::format("f.lnet", text, options.limits);
  if (once.ok()) {
    Checked<std::string> twice = lnet::format("f.lnet", *once, options.limits);
    if (!twice.ok() || *twice != *once)
      std::abort();
  }
  (void)lnet::loadText("f.lnet", std::move(text), options).ok();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  // One thread for all calls: a thread costs a sanitizer as much as reading a file.
  lnet::runOnDeepStack([&] { check(std::string(asText({bytes, size}))); });
  return 0;
}

#include "tests/nets/Judge.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "executor/reference/Reference.h"
#include "frontend/lnet/Emit.h"
#include "frontend/symbol/Render.h"
#include "passes/Pipelines.h"
#include "tests/nets/Bench.h"
#include "tests/nets/Forward.h"
#include "tests/nets/Gradients.h"
#include "tests/nets/PipelineText.h"
#include "tests/nets/Rebuild.h"

namespace lstmc::nets {

namespace {

const std::vector<std::string> &allOptimisations() {
  static const std::vector<std::string> all = passes::optimisations();
  return all;
}

KernelFunction referenceKernel(KernelId id, std::span<const Tensor>) {
  return reference::kernel(id);
}

class Judgement {
public:
  Judgement(const std::string &text, const Questions &questions)
      : text_(text), questions_(questions) {}

  Verdict run() {
    try {
      Bench bench(text_);
      bench_ = &bench;
      if (questions_.asks("text"))
        judgeText();
      if (go() && judgeBase()) {
        if (go() && questions_.asks("plain"))
          judgePlain();
        for (const std::string &pass : questions_.passes)
          if (go() && questions_.asks("passes"))
            judgeWithout(pass);
        for (const Way &way : questions_.ways)
          if (go() && questions_.asks("ways") && verdict_.counts["ways"] < questions_.most)
            judgeWay(way);
        if (go() && questions_.asks("gpus"))
          judgeGpus();
        if (go() && questions_.asks("pipeline"))
          judgePipeline();
      }
      at_ = "forward";
      if (go() && questions_.asks("forward"))
        if (std::string wrong = judgeForward(bench, questions_.seed, verdict_.counts);
            !wrong.empty())
          fail("forward", wrong);
      at_ = "gradients";
      if (go() && questions_.asks("gradients"))
        if (std::string wrong = judgeGradients(bench, questions_.seed, verdict_.counts);
            !wrong.empty())
          fail("gradients", wrong);
    } catch (const std::exception &error) {
      fail(at_, error.what());
    }
    return std::move(verdict_);
  }

private:
  bool go() const { return verdict_.kind != Verdict::Wrong && verdict_.kind != Verdict::Refused; }
  void fail(const std::string &judge, const std::string &what) {
    if (judge != "ways" && judge != "passes" && judge != "gpus")
      verdict_.way.clear();
    verdict_.kind = Verdict::Wrong;
    verdict_.judge = judge;
    verdict_.what = what;
  }
  void count(const std::string &what) { ++verdict_.counts[what]; }

  //===---- text ------------------------------------------------------------------------------===//

  void judgeText() {
    at_ = "text";
    Checked<symbol::Network> net = lnet::loadText("net.lnet", text_);
    std::string hash = net->graph->hash();
    std::string written = lnet::emitLnet(*net->graph, net->fit);
    Checked<symbol::Network> again = lnet::loadText("net.lnet", written);
    if (!again.ok())
      return fail("text", symbol::render(again.diagnostics()) + written);
    if (again->graph->hash() != hash)
      return fail("text", "another graph comes of what is written:\n" + written);
    count("text");
  }

  //===---- bits ------------------------------------------------------------------------------===//

  /// Nullopt if the compiler rejects the net: E0402 and similar errors are about the net, others
  /// are bugs.
  std::optional<passes::Compiled> compile(const passes::CompileOptions &options) {
    Checked<passes::Compiled> compiled = bench_->compile(options);
    if (compiled.ok())
      return std::move(*compiled);
    const Diagnostic &error = compiled.diagnostics().front();
    std::string code(errorRecord(error.code).name);
    if (code == "E0099" || code.starts_with("E06"))
      throw std::runtime_error(symbol::render(compiled.diagnostics()));
    refused_ = code;
    refusal_ = error.message;
    return std::nullopt;
  }

  Outcome carryOut(const package::PackageData &data, int threads, KernelChooser kernels) {
    auto session = e2e::openSession(data, threads, kernels);
    return nets::carryOut(*session, bench_->learningRate(), questions_.seed);
  }

  bool judgeBase() {
    at_ = "compile";
    std::optional<passes::Compiled> compiled = compile(bench_->options());
    if (!compiled) {
      verdict_.kind = Verdict::Refused;
      verdict_.judge = refused_;
      verdict_.what = refusal_;
      return false;
    }
    rounds_ = std::ranges::any_of(
        compiled->rolled, [](const passes::RolledLayer &each) { return !each.rounding.empty(); });
    base_ = carryOut(compiled->package, 1, e2e::kernelsOf(cpu::machineLevel()));
    count("base");
    if (base_.notFinite.empty())
      return true;
    verdict_.kind = Verdict::NotFinite;
    verdict_.what = base_.notFinite;
    return false;
  }

  void compare(const Outcome &outcome) {
    if (std::string differs = outcome.differsFrom(base_); !differs.empty())
      fail(at_, differs + " has other bits");
    else
      count(at_);
  }

  void judgePlain() {
    at_ = "plain";
    passes::CompileOptions options = bench_->options();
    options.disabled = allOptimisations();
    if (rounds_) // the compiler says that its loop adds gradients in another order
      std::erase(options.disabled, "roll-recurrence");
    if (std::optional<passes::Compiled> compiled = compile(options))
      compare(carryOut(compiled->package, 1, referenceKernel));
    else
      fail(at_, "refused: " + refused_);
  }

  void judgeWithout(const std::string &pass) {
    at_ = "passes";
    if (rounds_ && pass == "roll-recurrence")
      return count("loops in an order of their own");
    verdict_.way = pass;
    passes::CompileOptions options = bench_->options();
    options.disabled = {pass};
    if (std::optional<passes::Compiled> compiled = compile(options))
      compare(carryOut(compiled->package, 1, e2e::kernelsOf(cpu::machineLevel())));
    else
      fail(at_, "refused: " + refused_);
  }

  void judgeWay(const Way &way) {
    at_ = "ways";
    verdict_.way = way.text();
    passes::CompileOptions options =
        way.applyTo(bench_->options(), bench_->groups(), bench_->layers());
    std::optional<passes::Compiled> compiled = compile(options);
    if (!compiled && refusal_.find("in segments: ") != std::string::npos) {
      options.segments = 0;
      compiled = compile(options);
    }
    if (!compiled) {
      verdict_.what = refused_ + ": " + refusal_;
      return count("refused " + refused_);
    }
    compare(carryOut(compiled->package, way.variant.threads, e2e::kernelsOf(way.level)));
  }

  /// On one emulated GPU, and in one of the ways on several, with orders drawn from the seed.
  void judgeGpus() {
    at_ = "gpus";
    verdict_.way.clear();
    judgeOnGpus(bench_->options());
    if (questions_.ways.empty() || !go())
      return;
    const Way &way = questions_.ways[size_t(questions_.seed % questions_.ways.size())];
    verdict_.way = way.text();
    passes::CompileOptions options =
        way.applyTo(bench_->options(), bench_->groups(), bench_->layers());
    options.streams = 1 + int64_t(questions_.seed % 8);
    judgeOnGpus(std::move(options), questions_.seed % 3 == 0);
  }

  /// `mixed`: every second device stays a cpu.
  void judgeOnGpus(passes::CompileOptions options, bool mixed = false) {
    std::map<std::string, std::string> gpus;
    for (size_t i = 0; i < options.devices.size(); ++i) {
      std::string &device = options.devices[i];
      std::string &gpu = gpus[device] = device;
      if (!mixed || i % 2 == 0)
        gpu.replace(0, device.find(':'), "emu");
      device = gpu;
    }
    for (auto &[group, device] : options.place)
      device = gpus[device];
    const std::optional<passes::Compiled> compiled = compile(options);
    if (!compiled)
      return count("refused " + refused_);
    const auto tiles = questions_.seed % 2 == 0 ? std::optional(true) : std::nullopt;
    const auto session = e2e::openNamed(compiled->package, questions_.seed, tiles);
    compare(nets::carryOut(*session, bench_->learningRate(), questions_.seed));
  }

  /// Of the net itself, and in one of the ways.
  void judgePipeline() {
    at_ = "pipeline";
    judgePipelineOf(bench_->options());
    if (questions_.ways.empty() || !go())
      return;
    const Way &way = questions_.ways[size_t(questions_.seed % questions_.ways.size())];
    judgePipelineOf(way.applyTo(bench_->options(), bench_->groups(), bench_->layers()));
  }

  void judgePipelineOf(passes::CompileOptions options) {
    options.keepSource = true;
    const std::optional<passes::Compiled> compiled = compile(options);
    if (!compiled)
      return count("refused " + refused_);
    if (std::string wrong = judgePipelineText(*compiled); !wrong.empty())
      fail(at_, wrong);
    else
      count(at_);
  }

  const std::string &text_;
  const Questions &questions_;
  Bench *bench_ = nullptr;
  Verdict verdict_;
  Outcome base_;
  bool rounds_ = false; ///< a loop of the net adds gradients in an order of its own
  std::string at_ = "load", refused_, refusal_;
};

} // namespace

bool Questions::asks(const std::string &judge) const {
  return judges.empty() || std::ranges::find(judges, judge) != judges.end();
}

Questions questionsFor(uint64_t seed) {
  Questions questions;
  questions.seed = seed;
  const std::vector<Way> &ways = coveringWays();
  for (uint64_t i = 0; i < 12; ++i)
    questions.ways.push_back(ways[size_t((seed * 12 + i) % ways.size())]);
  questions.most = 6;
  questions.passes = {allOptimisations()[seed % allOptimisations().size()]};
  return questions;
}

Verdict judge(const std::string &text, const Questions &questions) {
  return Judgement(text, questions).run();
}

} // namespace lstmc::nets

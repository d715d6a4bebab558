// nets --seeds A..B [--done FILE] [--found FOLDER] [--until-found] [--no-shrink] [--judge NAME]
// [-v] [FILE.lnet...]
//
// Makes random nets and runs every judge; exit 1 if one of them finds anything. `--done` is a file
// of seeds that are done, which are skipped; findings are written to FOLDER. If files are given,
// they are checked instead of seeds. `--judge`, which may be repeated, asks only these judges.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "passes/Pipelines.h"
#include "tests/nets/Child.h"
#include "tests/nets/Shrink.h"

namespace lstmc::nets {

namespace {

namespace fs = std::filesystem;

struct Arguments {
  uint64_t first = 1, last = 0;
  std::string done, found = "found";
  bool untilFound = false, verbose = false, noShrink = false;
  std::vector<std::string> files, judges;
};

Arguments parse(int argc, char **argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    auto next = [&] { return i + 1 < argc ? std::string(argv[++i]) : std::string(); };
    if (word == "--seeds") {
      std::string range = next();
      size_t dots = range.find("..");
      arguments.first = std::stoull(range);
      arguments.last =
          dots == std::string::npos ? arguments.first : std::stoull(range.substr(dots + 2));
    } else if (word == "--done") {
      arguments.done = fs::absolute(next());
    } else if (word == "--found") {
      arguments.found = next();
    } else if (word == "--until-found") {
      arguments.untilFound = true;
    } else if (word == "--no-shrink") {
      arguments.noShrink = true;
    } else if (word == "--judge") {
      arguments.judges.push_back(next());
    } else if (word == "-v") {
      arguments.verbose = true;
    } else {
      arguments.files.push_back(fs::absolute(word));
    }
  }
  arguments.found = fs::absolute(arguments.found);
  return arguments;
}

class Driver {
public:
  explicit Driver(Arguments arguments) : arguments_(std::move(arguments)) {
    std::ifstream done(arguments_.done);
    for (uint64_t seed; done >> seed;)
      done_.insert(seed);
  }

  int run() {
    auto begin = std::chrono::steady_clock::now();
    for (const std::string &file : arguments_.files)
      judgeFile(file);
    for (uint64_t seed = arguments_.first; seed <= arguments_.last; ++seed) {
      if (done_.contains(seed))
        continue;
      judgeSeed(seed);
      if (arguments_.untilFound && findings_ > 0)
        break;
    }
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    fmt::print("{} nets in {:.1f} s, {} findings\n", nets_, took.count(), findings_);
    for (const auto &[what, count] : counts_)
      fmt::print("  {} {}\n", count, what);
    return findings_ > 0;
  }

private:
  void judgeFile(const std::string &file) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    uint64_t seed = 1; // "# seed 7: what was found"
    if (text.str().starts_with("# seed "))
      seed = std::stoull(text.str().substr(7));
    Questions questions;
    questions.judges = arguments_.judges;
    questions.seed = seed;
    questions.ways = coveringWays();
    questions.passes = passes::optimisations();
    take(file, judgeInChild(seed, questions, text.str()), questions);
  }

  void judgeSeed(uint64_t seed) {
    Questions questions = questionsFor(seed);
    questions.judges = arguments_.judges;
    take(fmt::format("seed {}", seed), judgeInChild(seed, questions), questions);
    if (!arguments_.done.empty())
      std::ofstream(arguments_.done, std::ios::app) << seed << '\n';
  }

  void take(const std::string &name, const Judged &judged, const Questions &questions) {
    ++nets_;
    const Verdict &verdict = judged.verdict;
    constexpr const char *kKinds[] = {"fine", "refused", "not finite", "WRONG"};
    std::string kind = kKinds[verdict.kind];
    if (verdict.kind == Verdict::Refused)
      kind += " " + verdict.judge;
    ++counts_["nets " + kind];
    for (const auto &[what, count] : verdict.counts)
      counts_[what] += count;
    if (arguments_.verbose)
      fmt::print("{}: {} {}\n", name, kind, verdict.what);
    if (verdict.kind != Verdict::Wrong)
      return;
    ++findings_;
    fmt::print("{}: {} {}: {}\n", name, verdict.judge, verdict.way, verdict.what);
    std::fflush(stdout);
    if (!arguments_.noShrink && !judged.text.empty())
      keep(judged, questions);
  }

  /// The smallest net that fails in the same way: with the same judge, in the same way of running
  /// it, with the same code.
  void keep(const Judged &judged, Questions questions) {
    const Verdict &first = judged.verdict;
    if (first.judge != "crash")
      questions.judges = {first.judge};
    std::erase_if(questions.ways, [&](const Way &way) { return way.text() != first.way; });
    std::erase_if(questions.passes, [&](const std::string &pass) { return pass != first.way; });
    auto failsSo = [&](const std::string &text, const Questions &asked) {
      Verdict verdict = judgeInChild(asked.seed, asked, text).verdict;
      return verdict.kind == Verdict::Wrong && verdict.judge == first.judge &&
             kindOf(verdict.what) == kindOf(first.what);
    };
    auto fails = [&](const std::string &text) { return failsSo(text, questions); };
    std::string text = judged.text;
    for (int round = 0; round < 2; ++round) {
      if (!questions.ways.empty())
        questions.ways = {simplest(questions.ways.front(), [&](const Way &way) {
          Questions asked = questions;
          asked.ways = {way};
          return failsSo(text, asked);
        })};
      text = shrink(text, fails);
    }
    Verdict last = judgeInChild(questions.seed, questions, text).verdict;
    std::string what = last.what.substr(0, last.what.find('\n'));
    fs::create_directories(arguments_.found);
    fs::path file = fs::path(arguments_.found) / fmt::format("{}.lnet", questions.seed);
    std::ofstream(file) << fmt::format("# seed {}: {} {}: {}\n", questions.seed, last.judge,
                                       last.way, what)
                        << text;
    fmt::print("{}\n", file.string());
  }
  static std::string kindOf(const std::string &what) {
    if (size_t at = what.find("error["); at != std::string::npos)
      return what.substr(at, 11);
    for (const char *kind : {"has other bits", "along a line", "the ops as written"})
      if (what.find(kind) != std::string::npos)
        return kind;
    return what.substr(0, 40);
  }

  Arguments arguments_;
  std::set<uint64_t> done_;
  std::map<std::string, int64_t> counts_;
  int64_t nets_ = 0, findings_ = 0;
};

} // namespace

} // namespace lstmc::nets

int main(int argc, char **argv) {
  return lstmc::nets::Driver(lstmc::nets::parse(argc, argv)).run();
}

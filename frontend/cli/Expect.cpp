#include "frontend/cli/Expect.h"

#include <algorithm>

#include "frontend/driver/SettingText.h"

namespace lstmc::cli {

Result<Expectation> Expectation::parse(const std::string &text,
                                       const std::vector<std::string_view> &metrics) {
  size_t begin = text.find_first_of("<>=!");
  if (begin == std::string::npos || begin == 0)
    return fail(ErrorCode::E0001, "--expect takes METRIC<NUMBER, got \"{}\"", text);
  size_t end = begin + 1 + (begin + 1 < text.size() && text[begin + 1] == '=');
  Expectation expectation{text, text.substr(0, begin), text.substr(begin, end - begin), 0};
  if (expectation.relation == "=" || expectation.relation == "!")
    return fail(ErrorCode::E0001, "--expect knows < <= > >= == !=, got \"{}\"", text);
  if (std::find(metrics.begin(), metrics.end(), expectation.metric) == metrics.end()) {
    return fail(ErrorCode::E0001, "--expect knows no metric \"{}\"{}", expectation.metric,
                didYouMean(expectation.metric, metrics));
  }
  LSTMC_ASSIGN(expectation.bound, parseNumber("--expect", text.substr(end)));
  return expectation;
}

bool Expectation::holds(double value) const {
  return relation == "<"    ? value < bound
         : relation == "<=" ? value <= bound
         : relation == ">"  ? value > bound
         : relation == ">=" ? value >= bound
         : relation == "==" ? value == bound
                            : value != bound;
}

Result<std::vector<Expectation>> expectations(const Options &options,
                                              const std::vector<std::string_view> &metrics) {
  std::vector<Expectation> all;
  for (const std::string &text : options.expect) {
    LSTMC_ASSIGN(Expectation expectation, Expectation::parse(text, metrics));
    all.push_back(expectation);
  }
  return all;
}

std::vector<std::string> metricsExpected(const Options &options) {
  std::vector<std::string> metrics;
  for (const std::string &text : options.expect)
    metrics.push_back(text.substr(0, text.find_first_of("<>=!")));
  return metrics;
}

std::vector<training::HeldExpectation>
judge(const std::vector<Expectation> &expectations,
      const std::function<std::optional<double>(const std::string &)> &valueOf) {
  std::vector<training::HeldExpectation> held;
  for (const Expectation &expectation : expectations) {
    std::optional<double> value = valueOf(expectation.metric);
    held.push_back({expectation.text, value, value && expectation.holds(*value)});
  }
  return held;
}

bool allHeld(const std::vector<training::HeldExpectation> &held, const Console &console) {
  bool all = true;
  for (const training::HeldExpectation &expectation : held)
    if (!expectation.held) {
      all = false;
      console.say(
          fmt::format("expectation not held: {} (value {})", expectation.text,
                      expectation.value ? fmt::format("{:.6g}", *expectation.value) : "none"));
    }
  return all;
}

} // namespace lstmc::cli

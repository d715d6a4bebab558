#include "executor/training/Sampling.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "executor/base/Numeric.h"
#include "executor/base/Philox.h"
#include "executor/base/Quote.h"
#include "executor/data/Array.h"
#include "executor/data/TokenText.h"
#include "executor/session/Values.h"
#include "executor/training/KeptStates.h"
#include "executor/training/Predict.h"

namespace lstmc::training {

namespace {

constexpr std::string_view kEntry = "forward";

/// Picks a symbol from probabilities, made sharper by 1/temperature and cut to the likeliest.
/// `uniform` is in [0, 1).
int64_t pick(std::span<const float> p, const Sampling &sampling, double uniform) {
  std::vector<std::pair<double, int64_t>> candidates;
  for (size_t i = 0; i < p.size(); ++i)
    candidates.push_back({double(p[i]), int64_t(i)});
  std::ranges::sort(candidates, {}, [](auto &c) { return std::pair(-c.first, c.second); });
  if (sampling.topK > 0 && sampling.topK < int64_t(candidates.size()))
    candidates.resize(size_t(sampling.topK));
  if (sampling.temperature <= 0)
    return candidates.front().second;
  double sum = 0, largest = std::max(candidates.front().first, 1e-30);
  for (auto &[weight, symbol] : candidates)
    sum += weight = std::pow(weight / largest, 1 / sampling.temperature);
  if (sampling.topP > 0) {
    const double wanted = sampling.topP * sum;
    size_t kept = 0;
    for (sum = 0; kept < candidates.size() && sum < wanted; ++kept)
      sum += candidates[kept].first;
    candidates.resize(std::max<size_t>(kept, 1));
  }
  double target = uniform * sum;
  for (auto &[weight, symbol] : candidates) {
    target -= weight;
    if (target < 0)
      return symbol;
  }
  return candidates.front().second;
}

/// The network as a function from the symbols so far to the probabilities of the next.
class Writer {
public:
  Writer(Session &session, const data::Vocabulary &vocabulary)
      : session_(session), vocabulary_(vocabulary) {}

  Status open() {
    const package::PackageData &data = session_.package().data();
    const std::optional<size_t> forward = session_.package().findEntry(kEntry);
    if (!forward || !session_.hasEntry(kEntry))
      return fail(ErrorCode::E0610, "the model has no entry forward to sample from");
    const package::Entry &entry = data.entries[*forward];
    const package::Binding *read = nullptr;
    for (const package::Binding &binding : entry.inputs) {
      LSTMC_ASSIGN(const Tensor tensor, session_.input(kEntry, binding.name));
      if (binding.role == "label")
        session::setMissing(tensor, binding.range);
      if (binding.role != "data")
        continue;
      if (read)
        return fail(ErrorCode::E0610, "sample needs a net of one input, found {} and {}",
                    inQuotes(read->name), inQuotes(binding.name));
      read = &binding;
      input_ = tensor;
    }
    if (!read || (input_.rank != 2 && input_.elements() != 1))
      return fail(ErrorCode::E0610, "sample needs a net of one input of symbols, found {}",
                  read ? data::shapeText(data::shapeOf(input_)) : "none");
    if (entry.outputs.empty())
      return fail(ErrorCode::E0610, "the model's entry forward has no output to sample from");
    LSTMC_ASSIGN(output_, session_.output(kEntry, entry.outputs[0].name));
    LSTMC_TRY(findSteps(*read, entry.outputs[0]));
    session_.resetStates();
    if (!data.states.empty() && steps_ > 1)
      before_.emplace(session_);
    for (int64_t i = 0; i < input_.elements(); ++i)
      writeElement(input_.data, input_.dtype, i, 0);
    return {};
  }

  /// Feeds a symbol; probabilities() are then those of the next.
  Status feed(int64_t symbol) {
    if (int64_t(window_.size()) == steps_)
      nextWindow();
    window_.push_back(symbol);
    if (before_)
      before_->putBack();
    for (size_t step = 0; step < window_.size(); ++step)
      writeElement(input_.data, input_.dtype, int64_t(step) * inputStride_, window_[step]);
    LSTMC_TRY(session_.run(kEntry));
    for (size_t i = 0; i < vocabulary_.size(); ++i)
      if (const float p = probabilities()[i]; !std::isfinite(p))
        return fail(ErrorCode::E0701, "after {}: found {} as the probability of {}, want a number",
                    inQuotes(vocabulary_.symbol(size_t(symbol))), p,
                    inQuotes(vocabulary_.symbol(i)));
    return {};
  }
  /// The first sequence of the batch, after its last symbol.
  std::span<const float> probabilities() const {
    return {output_.as<float>() + (int64_t(window_.size()) - 1) * outputStride_,
            vocabulary_.size()};
  }

private:
  /// The window that was full has ended, and its last run has left the states after it. A window of
  /// one symbol leaves them for the next by itself.
  void nextWindow() {
    if (before_) {
      before_->keep();
      window_.clear();
    } else {
      window_.erase(window_.begin());
    }
  }

  /// Where the steps of the first sequence are in input and output.
  Status findSteps(const package::Binding &read, const package::Binding &written) {
    const auto symbols = int64_t(vocabulary_.size());
    if (output_.dtype != DType::F32 || output_.elements() != input_.elements() * symbols)
      return fail(ErrorCode::E0610,
                  "the net gives {} numbers for {} symbols, the vocabulary has {}",
                  output_.elements(), input_.elements(), symbols);
    if (input_.elements() == 1)
      return {};
    const int axis = stepAxis(read);
    steps_ = input_.shape[size_t(axis)];
    inputStride_ = input_.strides[size_t(axis)];
    const int64_t batch = input_.elements() / steps_;
    int outputAxis = axisNamed(written, "seq");
    if (outputAxis < 0 && output_.rank == 3)
      outputAxis =
          output_.shape[0] == steps_ && output_.shape[1] == batch && (steps_ != batch || axis == 0)
              ? 0
              : 1;
    if (output_.rank == 3 && outputAxis <= 1 && output_.shape[2] == symbols &&
        output_.shape[size_t(outputAxis)] == steps_) {
      outputStride_ = output_.strides[size_t(outputAxis)];
      return {};
    }
    if (batch > 1)
      return fail(ErrorCode::E0610, "the net gives {} for symbols {}, want its steps on an axis",
                  data::shapeText(data::shapeOf(output_)), data::shapeText(data::shapeOf(input_)));
    outputStride_ = symbols;
    return {};
  }

  /// The axis called "seq", else the one that is not "batch", else the last.
  static int stepAxis(const package::Binding &read) {
    if (const int axis = axisNamed(read, "seq"); axis >= 0)
      return axis;
    return axisNamed(read, "batch") == 1 ? 0 : 1;
  }

  Session &session_;
  const data::Vocabulary &vocabulary_;
  Tensor input_, output_;
  int64_t steps_ = 1, inputStride_ = 1, outputStride_ = 0; ///< of a step, in elements
  std::vector<int64_t> window_;
  std::optional<KeptStates> before_; ///< the window
};

/// What is drawn reaches `take` at once, so that a stop loses nothing.
class Text {
public:
  explicit Text(const std::function<Status(std::string_view)> &take) : take_(take) {}

  Status add(std::string_view piece) {
    if (piece.empty())
      return {};
    last_ = piece.back();
    return take_(piece);
  }
  /// Words stand apart; a line's first one does not.
  Status addWord(std::string_view word) {
    if (word == data::kEndOfLine)
      return add("\n");
    if (last_ != '\n')
      LSTMC_TRY(add(" "));
    return add(word);
  }

private:
  const std::function<Status(std::string_view)> &take_;
  char last_ = '\n';
};

} // namespace

Result<int64_t> sampleText(Session &session, const data::Vocabulary &vocabulary,
                           data::TextUnit unit, const Sampling &sampling,
                           const std::function<Status(std::string_view)> &take,
                           const std::function<bool()> &goesOn) {
  Writer writer(session, vocabulary);
  LSTMC_TRY(writer.open());
  Text text(take);
  LSTMC_ASSIGN(data::TokenText tokens, data::tokenise(sampling.prime, unit, vocabulary, "--prime"));
  LSTMC_TRY(text.add(sampling.prime));
  if (tokens.size() == 0)
    LSTMC_TRY(writer.feed(vocabulary.find("\n").value_or(0)));
  for (int64_t i = 0; i < tokens.size(); ++i) {
    LSTMC_ASSIGN(const int32_t token, tokens.at(i));
    LSTMC_TRY(writer.feed(token));
  }
  int64_t drawn = 0;
  for (; drawn < sampling.length && goesOn(); ++drawn) {
    const double uniform =
        randomUniform(sampling.seed, uint64_t(drawn), /*ordinal=*/0, /*update=*/0);
    const int64_t symbol = pick(writer.probabilities(), sampling, uniform);
    const std::string_view word = vocabulary.symbol(size_t(symbol));
    LSTMC_TRY(unit == data::TextUnit::Word ? text.addWord(word) : text.add(word));
    LSTMC_TRY(writer.feed(symbol));
  }
  return drawn;
}

} // namespace lstmc::training

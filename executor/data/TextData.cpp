#include "executor/base/Quote.h"
#include "executor/base/Sha256.h"
#include "executor/data/Elements.h"
#include "executor/data/Sources.h"
#include "executor/data/TextLines.h"

namespace lstmc::data {
namespace {

/// N parallel streams of a text, cut into windows of T steps.
///
/// Of L tokens, each stream has m = floor((L - 1) / N) consecutive ones; the rest is dropped.
/// Window k has steps kT to kT+T-1 of every stream; the label of a step is the next token.
class TextFeed : public Feed {
public:
  TextFeed(const TokenText &tokens, int64_t begin, int64_t end, int64_t streams, int64_t steps,
           DataAndLabel slots)
      : tokens_(tokens), begin_(begin), end_(end), streams_(streams), steps_(steps),
        length_((end - begin - 1) / streams), data_(*slots.data) {
    if (slots.label)
      label_ = *slots.label;
  }

  int64_t batches() const override { return length_ / steps_; }
  int64_t sequences() const override { return streams_; }
  std::string leftOut() const override {
    // The last symbol is only used as a label.
    int64_t all = end_ - begin_ - 1, fed = batches() * steps_ * streams_;
    return fed == all ? ""
                      : fmt::format("{} of {} symbols fill no window of {} in {} streams",
                                    all - fed, all, steps_, streams_);
  }
  bool restarts(const Position &position) const override { return position.batch == 0; }

  Status fill(const Position &position) override {
    LSTMC_TRY(write(data_, position.batch * steps_));
    return label_ ? write(*label_, position.batch * steps_ + 1) : Status();
  }

private:
  Status write(const InputSlot &slot, int64_t firstStep) {
    const Tensor &to = slot.tensor;
    int64_t batchStride = to.strides[size_t(slot.batchAxis)];
    int64_t stepStride = to.rank == 2 ? to.strides[size_t(1 - slot.batchAxis)] : 0;
    window_.resize(size_t(steps_));
    const RowWindow rows = slot.rows.within(streams_);
    for (int64_t n = rows.begin; n < rows.end; ++n) {
      LSTMC_TRY(tokens_.read(begin_ + n * length_ + firstStep, window_));
      for (int64_t t = 0; t < steps_; ++t)
        writeElement(to.data, to.dtype, n * batchStride + t * stepStride, window_[size_t(t)]);
    }
    return {};
  }

  const TokenText &tokens_;
  int64_t begin_, end_, streams_, steps_;
  int64_t length_; ///< of a stream, in tokens
  InputSlot data_;
  std::optional<InputSlot> label_;
  std::vector<int32_t> window_; ///< of one stream
};

std::vector<int64_t> stepsOfLines(const std::vector<TextLine> &lines) {
  std::vector<int64_t> steps;
  for (const TextLine &line : lines)
    steps.push_back(line.steps());
  return steps;
}

/// A text as windows of T steps, one after the other: window k has the symbols kT to kT+T-1. The
/// last one is filled up with the last symbol.
class WindowFeed : public Feed {
public:
  WindowFeed(const TokenText &tokens, int64_t steps, int64_t sequences, bool carried,
             InputSlot slot)
      : tokens_(tokens), steps_(steps), sequences_(sequences), each_(carried ? 1 : sequences),
        slot_(std::move(slot)) {}

  int64_t windows() const { return (tokens_.size() + steps_ - 1) / steps_; }
  int64_t batches() const override { return (windows() + each_ - 1) / each_; }
  int64_t sequences() const override { return sequences_; }
  int64_t rows(const Position &position) const override {
    return rowsOf(windows(), each_, position.batch);
  }
  bool restarts(const Position &position) const override { return position.batch == 0; }

  Status fill(const Position &position) override {
    const Tensor &to = slot_.tensor;
    int64_t batchStride = to.strides[size_t(slot_.batchAxis)];
    int64_t stepStride = to.rank == 2 ? to.strides[size_t(1 - slot_.batchAxis)] : 0;
    for (int64_t n = 0; n < sequences_; ++n) {
      int64_t window = position.batch * each_ + std::min(n, each_ - 1);
      int64_t first = std::min(window * steps_, tokens_.size() - 1);
      window_.resize(size_t(std::min(steps_, tokens_.size() - first)));
      LSTMC_TRY(tokens_.read(first, window_));
      window_.resize(size_t(steps_), window_.back());
      for (int64_t t = 0; t < steps_; ++t)
        writeElement(to.data, to.dtype, n * batchStride + t * stepStride, window_[size_t(t)]);
    }
    return {};
  }

private:
  const TokenText &tokens_;
  int64_t steps_, sequences_;
  int64_t each_; ///< windows in a batch
  InputSlot slot_;
  std::vector<int32_t> window_;
};

class TextData : public DataSet {
public:
  TextData(DataSpec spec, TextUnit unit, Vocabulary vocabulary, TokenText tokens,
           std::string digest)
      : DataSet(std::move(spec)), unit_(unit), vocabulary_(std::move(vocabulary)),
        tokens_(std::move(tokens)) {
    digest_ = std::move(digest);
  }

  Result<std::unique_ptr<Feed>> feed(Part part, std::vector<InputSlot> slots,
                                     uint64_t seed) const override {
    if (spec_.lines)
      return feedOfLines(part, std::move(slots), part == Part::Train && spec_.shuffle, seed,
                         /*all=*/false);
    LSTMC_TRY(dataAndLabel(slots, DataKind::Text).status());
    LSTMC_ASSIGN(int64_t streams, batchExtent(slots));
    LSTMC_ASSIGN(int64_t steps, stepsOf(slots));
    int64_t split = splitPoint(tokens_.size(), spec_.valid);
    int64_t begin = part == Part::Valid ? split : 0;
    int64_t end = part == Part::Train ? split : tokens_.size();
    if ((end - begin - 1) / streams < steps)
      return failAt(
          {spec_.files[0].second}, ErrorCode::E0605,
          "text: found {} tokens in this part, want at least {} for {} streams of {} steps",
          end - begin, streams * steps + 1, streams, steps);
    auto make = [&](std::vector<InputSlot> to) -> Result<std::unique_ptr<Feed>> {
      LSTMC_ASSIGN(DataAndLabel filled, dataAndLabel(to, DataKind::Text));
      return std::unique_ptr<Feed>(new TextFeed(tokens_, begin, end, streams, steps, filled));
    };
    return tokens_.inFile() ? readAhead(std::move(slots), make) : make(std::move(slots));
  }

  Result<std::unique_ptr<BucketFeed>> bucketFeed(const std::vector<std::vector<InputSlot>> &slots,
                                                 uint64_t seed) const override {
    if (!spec_.lines)
      return DataSet::bucketFeed(slots, seed);
    LSTMC_ASSIGN(int64_t batch, batchExtent(slots[0]));
    LSTMC_ASSIGN(std::vector<TextLine> lines, linesIn(Part::Train));
    const auto every = std::make_shared<const std::vector<TextLine>>(std::move(lines));
    std::vector<std::unique_ptr<SequenceWriter>> writers;
    for (const std::vector<InputSlot> &each : slots) {
      LSTMC_ASSIGN(writers.emplace_back(), lineWriter(each, batch, every));
    }
    const std::vector<int64_t> steps = stepsOfLines(*every);
    return data::bucketFeed(std::move(writers), spec_.buckets, steps,
                            chooseSequences(steps, spec_.buckets.back(), "lines"), batch,
                            spec_.shuffle, seed);
  }

  Result<Samples> samples(std::vector<InputSlot> slots, bool carried) const override {
    if (spec_.lines) {
      Samples all;
      LSTMC_ASSIGN(all.feed, feedOfLines(Part::All, std::move(slots), false, 0, /*all=*/true));
      LSTMC_ASSIGN(std::vector<TextLine> every, lines());
      all.count = int64_t(every.size());
      return all;
    }
    LSTMC_ASSIGN(DataAndLabel filled, dataAndLabel(slots, DataKind::Text));
    LSTMC_ASSIGN(int64_t sequences, batchExtent(slots));
    LSTMC_ASSIGN(int64_t steps, stepsOf(slots));
    if (tokens_.size() == 0)
      return failAt({spec_.files[0].second}, ErrorCode::E0605,
                    "text: found no symbols, want at least 1");
    auto feed = std::make_unique<WindowFeed>(tokens_, steps, sequences, carried, *filled.data);
    int64_t windows = feed->windows();
    return Samples{std::move(feed), windows, tokens_.size(), [this](int64_t at) -> Result<int64_t> {
                     LSTMC_ASSIGN(int32_t id, tokens_.at(at));
                     return int64_t(id);
                   }};
  }

  Learned learned() const override { return {vocabulary_, unit_, {}}; }

private:
  Result<std::vector<TextLine>> lines() const {
    return linesOf(tokens_, vocabulary_.find(unit_ == TextUnit::Word ? kEndOfLine : "\n"));
  }

  /// The lines of a part.
  Result<std::vector<TextLine>> linesIn(Part part) const {
    LSTMC_ASSIGN(std::vector<TextLine> chosen, lines());
    const int64_t split = splitPoint(int64_t(chosen.size()), spec_.valid);
    if (part == Part::Valid)
      chosen.erase(chosen.begin(), chosen.begin() + split);
    else if (part == Part::Train)
      chosen.resize(size_t(split));
    return chosen;
  }

  /// What fills `slots` with lines.
  Result<std::unique_ptr<SequenceWriter>>
  lineWriter(const std::vector<InputSlot> &slots, int64_t batch,
             const std::shared_ptr<const std::vector<TextLine>> &every) const {
    LSTMC_ASSIGN(std::unique_ptr<LineSlots> found, lineSlots(slots, batch));
    LSTMC_ASSIGN(int64_t steps, stepsOf(found->others));
    return std::unique_ptr<SequenceWriter>(new LineWriter(tokens_, every, steps, *found));
  }

  /// `all`: no line may be left out.
  Result<std::unique_ptr<Feed>> feedOfLines(Part part, std::vector<InputSlot> slots, bool shuffles,
                                            uint64_t seed, bool all) const {
    LSTMC_ASSIGN(int64_t batch, batchExtent(slots));
    LSTMC_ASSIGN(std::unique_ptr<LineSlots> found, lineSlots(slots, batch));
    LSTMC_ASSIGN(int64_t steps, stepsOf(found->others));
    LSTMC_ASSIGN(std::vector<TextLine> lines, linesIn(part));
    const auto every = std::make_shared<const std::vector<TextLine>>(std::move(lines));
    ChosenSequences chosen = chooseSequences(stepsOfLines(*every), steps, "lines");
    if (chosen.longer > 0 && (all || spec_.buckets.empty()))
      return tooLong(*every, steps, found->filled.data->name);
    if (batchesOf(chosen.count(), batch, part) < 1)
      return failAt({spec_.files[0].second}, ErrorCode::E0605,
                    "text: found {} lines in this part, want at least {}", chosen.count(),
                    part == Part::Train ? fmt::format("one batch of {}", batch) : "1");
    auto make = [&](const std::vector<InputSlot> &to) -> Result<std::unique_ptr<Feed>> {
      LSTMC_ASSIGN(std::unique_ptr<SequenceWriter> writer, lineWriter(to, batch, every));
      return sequenceFeed(std::move(writer), std::move(chosen), batch, part, shuffles, seed);
    };
    return tokens_.inFile() ? readAhead(std::move(slots), make) : make(slots);
  }

  Error tooLong(const std::vector<TextLine> &lines, int64_t steps, const std::string &input) const {
    const TextLine &line =
        *std::ranges::find_if(lines, [&](const TextLine &one) { return one.steps() > steps; });
    return failAt(placeOf(line.first), ErrorCode::E0605,
                  "line: found {} symbols before its last, want at most the {} steps of input {}",
                  line.steps(), steps, inQuotes(input));
  }

  /// Steps of the inputs, which have to be the same and to hold every symbol.
  Result<int64_t> stepsOf(const std::vector<InputSlot> &slots) const {
    int64_t steps = 0;
    for (const InputSlot &slot : slots) {
      if (slot.tensor.rank > 2)
        return fail(ErrorCode::E0605, "input {}: found rank {}, want streams and steps",
                    inQuotes(slot.name), slot.tensor.rank);
      int64_t here = slot.tensor.rank == 2 ? slot.tensor.shape[size_t(1 - slot.batchAxis)] : 1;
      if (steps != 0 && here != steps)
        return fail(ErrorCode::E0605, "input {}: found {} steps, want {} as in {}",
                    inQuotes(slot.name), here, steps, inQuotes(slots.front().name));
      steps = here;
      if (!representable(double(vocabulary_.size()), slot.tensor.dtype))
        return fail(ErrorCode::E0604, "input {}: found {}, want a type that holds {} symbols",
                    inQuotes(slot.name), dtypeLongName(slot.tensor.dtype), vocabulary_.size());
      if (slot.range && int64_t(vocabulary_.size()) - 1 > slot.range->high)
        return tooManySymbols(slot);
    }
    return steps;
  }

  /// An error at the first symbol of the text that is out of range for the network, if there is
  /// one.
  Error tooManySymbols(const InputSlot &slot) const {
    const std::string &file = spec_.files[0].second;
    Place place{file};
    std::string found;
    Result<std::optional<FoundToken>> first = firstOutside(*slot.range);
    if (!first.ok())
      return first.error();
    if (*first) {
      int32_t id = (*first)->id;
      found = fmt::format("{} is number {}", inQuotes(vocabulary_.symbol(size_t(id))), id);
      place = placeOf((*first)->number);
    } else if (!spec_.vocabularyFile.empty()) {
      place = {spec_.vocabularyFile};
    }
    return failAt(place, ErrorCode::E0604, "vocabulary: found {} symbols{}, want {} for input {}",
                  vocabulary_.size(), found.empty() ? "" : ", of which " + found,
                  slot.range->text(), inQuotes(slot.name));
  }

  struct FoundToken {
    int64_t number; ///< of the text's tokens
    int32_t id;
  };

  Result<std::optional<FoundToken>> firstOutside(const ValueRange &range) const {
    std::optional<FoundToken> found;
    LSTMC_TRY(tokens_.each([&](int64_t number, int32_t id) {
      if (!range.holds(double(id)))
        found = {number, id};
      return !found;
    }));
    return found;
  }

  /// The place of a token in the file, which is read again to find it.
  Place placeOf(int64_t token) const {
    const std::string &file = spec_.files[0].second;
    Place place{file};
    Result<InputFile> source = openSource(spec_, file);
    if (!source.ok())
      return place;
    int64_t number = 0;
    Limits limits;
    Status found = eachToken({*source, limits.csvLine}, unit_, file, limits,
                             [&](std::string_view, int line, int column) -> Status {
                               if (number++ == token)
                                 place = {file, line, column};
                               return {};
                             });
    return found.ok() ? place : Place{file};
  }

  TextUnit unit_;
  Vocabulary vocabulary_;
  TokenText tokens_;
};

} // namespace

static Result<Vocabulary> vocabularyOf(const DataSpec &spec, const Limits &limits) {
  LSTMC_ASSIGN(StoredBytes source, readSource(spec, spec.vocabularyFile, UINT64_MAX));
  LSTMC_ASSIGN(Bytes bytes, std::move(source).take());
  return Vocabulary::parse(asText(bytes), spec.vocabularyFile, limits);
}

/// The data of a text, read block by block.
static Result<std::unique_ptr<DataSet>> textData(const DataSpec &spec, const Learned *learned,
                                                 TextUnit unit, const TextBlocks &text,
                                                 std::string digest, const Limits &limits) {
  const std::string &file = spec.files[0].second;
  Result<Vocabulary> vocabulary = learned && learned->vocabulary ? *learned->vocabulary
                                  : spec.vocabularyFile.empty()
                                      ? makeVocabulary(text, unit, file, limits)
                                      : vocabularyOf(spec, limits);
  if (!vocabulary.ok())
    return vocabulary.error();
  LSTMC_ASSIGN(TokenText tokens, tokenise(text, unit, *vocabulary, file, limits));
  return std::unique_ptr<DataSet>(
      new TextData(spec, unit, std::move(*vocabulary), std::move(tokens), std::move(digest)));
}

Result<std::unique_ptr<DataSet>> loadText(const DataSpec &spec, const Learned *learned,
                                          const Limits &limits) {
  const std::string &file = spec.files[0].second;
  if (spec.unit && learned && learned->unit && *spec.unit != *learned->unit)
    return fail(ErrorCode::E0610, "data {}: found unit {}, want {} as the vocabulary has it",
                inQuotes(spec.source), textUnitName(*spec.unit), textUnitName(*learned->unit));
  if (!spec.buckets.empty() && !spec.lines)
    return fail(ErrorCode::E0001,
                "data {}: found buckets= for one stream of symbols, want lines=yes, which makes "
                "each line a sequence",
                inQuotes(spec.source));
  TextUnit unit = learned && learned->unit ? *learned->unit : spec.unit.value_or(TextUnit::Char);
  if (isInput(spec, file)) {
    LSTMC_ASSIGN(StoredBytes input, readSource(spec, file, limits.dataMemory));
    LSTMC_ASSIGN(Bytes bytes, std::move(input).take());
    return textData(spec, learned, unit, TextBlocks(asText(bytes)), sha256(bytes), limits);
  }
  LSTMC_ASSIGN(InputFile source, openSource(spec, file));
  if (source.bytes() <= limits.dataMemory) {
    LSTMC_ASSIGN(Bytes bytes, source.readAll());
    return textData(spec, learned, unit, TextBlocks(asText(bytes)), sha256(bytes), limits);
  }
  Sha256 digest;
  LSTMC_TRY(addTo(digest, StoredBytes(source)));
  return textData(spec, learned, unit, TextBlocks(source, limits.csvLine), digest.finish(), limits);
}

} // namespace lstmc::data

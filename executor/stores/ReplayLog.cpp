#include "executor/stores/ReplayLog.h"

#include <algorithm>
#include <cerrno>
#include <tuple>

#include <fcntl.h>
#include <unistd.h>

#include "executor/base/Hash.h"
#include "executor/base/InputFile.h"
#include "executor/base/OutputFile.h"
#include "executor/base/ParseNumber.h"
#include "executor/base/Quote.h"

namespace lstmc::stores {

namespace {

constexpr std::string_view kFirstLine = "lstmc replay 2";

std::optional<int64_t> number(std::string_view text) {
  std::optional<int64_t> value = parseNumber<int64_t>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

/// Adds a section that ends with a space, its digest and a newline. The digest of all is that of
/// the last section, with the one of those before as its seed.
std::string sealed(std::string text, uint64_t &digest) {
  digest = hashBytes(text.data(), text.size(), digest);
  return text + fmt::format("{:016x}\n", digest);
}

/// Lines of a file, and where it is.
class Lines {
public:
  Lines(std::string_view text, std::string file)
      : section_(text), rest_(text), file_(std::move(file)) {}

  bool more() const { return !rest_.empty(); }
  bool nextIs(std::string_view word) const { return rest_.starts_with(word); }
  std::string_view next() {
    ++line_;
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    complete_ = end < rest_.size();
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return line;
  }
  Place place() const { return {file_, line_, 1}; }

  /// What is after `word` and a space in the next line.
  Result<std::string_view> field(std::string_view word) {
    const std::string_view line = next();
    if (!line.starts_with(word) || line.size() <= word.size() || line[word.size()] != ' ')
      return failAt(place(), ErrorCode::E0603, "found {}, want {} and a value", inQuotes(line),
                    inQuotes(word));
    return line.substr(word.size() + 1);
  }
  Result<int64_t> numberField(std::string_view word, int64_t least, int64_t most) {
    LSTMC_ASSIGN(std::string_view text, field(word));
    const std::optional<int64_t> value = number(text);
    if (!value || *value < least || *value > most)
      return failAt(place(), ErrorCode::E0604, "{}: found {}, want {} to {}", word, inQuotes(text),
                    least, most);
    return *value;
  }

  /// Whether the next line is there as a whole.
  bool nextIsComplete() const { return rest_.find('\n') != std::string_view::npos; }
  /// The end of a section: a line that begins with `words` and ends with its digest. E0609.
  Result<std::string_view> seal(std::string_view words) {
    const std::string_view line = next();
    const std::string_view text =
        section_.substr(0, section_.size() - rest_.size() - (complete_ ? 1 : 0));
    const size_t own = text.size() - std::min(text.size(), size_t(kDigest));
    const std::string wanted = sealed(std::string(text.substr(0, own)), digest_);
    if (!line.starts_with(words) || !complete_ || wanted != section_.substr(0, text.size() + 1))
      return failAt(place(), ErrorCode::E0609,
                    "found another digest than that of what is before it: the log is damaged");
    section_ = rest_;
    return line.substr(0, line.size() - kDigest);
  }

private:
  static constexpr size_t kDigest = 16;

  std::string_view section_, rest_; ///< from the last digest on; from the next line on
  uint64_t digest_ = 0;
  bool complete_ = true; ///< the last line has its newline
  std::string file_;
  int line_ = 0;
};

constexpr int64_t kMost = int64_t(1) << 53, kMostRanks = 64;

Result<ReplayHead> readHead(Lines &lines) {
  if (const std::string_view line = lines.next(); line != kFirstLine)
    return failAt(lines.place(), ErrorCode::E0603, "found {}, want {}", inQuotes(line),
                  inQuotes(kFirstLine));
  ReplayHead head;
  LSTMC_ASSIGN(int64_t workers, lines.numberField("workers", 1, kMostRanks));
  LSTMC_ASSIGN(int64_t servers, lines.numberField("servers", 0, kMostRanks));
  head.workers = int(workers);
  head.servers = int(servers);
  LSTMC_ASSIGN(head.staleness, lines.numberField("staleness", 0, kMost));
  LSTMC_ASSIGN(head.batch, lines.numberField("batch", 1, kMost));
  LSTMC_ASSIGN(head.bigArrayBound, lines.numberField("bigarray-bound", 0, kMost));
  LSTMC_ASSIGN(int64_t seed, lines.numberField("seed", 0, INT64_MAX));
  head.seed = uint64_t(seed);
  LSTMC_ASSIGN(head.program, lines.field("program"));
  LSTMC_ASSIGN(head.weights, lines.field("weights"));
  LSTMC_ASSIGN(head.data, lines.field("data"));
  if (lines.nextIs("compression ")) {
    LSTMC_ASSIGN(std::string_view text, lines.field("compression"));
    head.compression = parseFinite(text).value_or(0);
    if (!(head.compression > 0))
      return failAt(lines.place(), ErrorCode::E0604,
                    "compression: found {}, want a positive number", inQuotes(text));
  }
  LSTMC_ASSIGN(std::string_view line, lines.seal("digest "));
  (void)line;
  return head;
}

/// "finished UPDATE WEIGHTS DIGEST"
Result<ReplayLog::Finish> readFinish(Lines &lines) {
  LSTMC_ASSIGN(std::string_view line, lines.seal("finished "));
  std::string_view rest = line.substr(line.find(' ') + 1);
  const size_t space = std::min(rest.find(' '), rest.size());
  const std::optional<int64_t> update = number(rest.substr(0, space));
  rest.remove_prefix(std::min(space + 1, rest.size()));
  if (!update || rest.size() < 2)
    return failAt(lines.place(), ErrorCode::E0603, "found {}, want an update and a hash of weights",
                  inQuotes(line));
  return ReplayLog::Finish{*update, std::string(rest.substr(0, rest.size() - 1))};
}

std::string textOf(const ReplayHead &head, uint64_t &digest) {
  std::string text =
      fmt::format("{}\nworkers {}\nservers {}\nstaleness {}\nbatch {}\nbigarray-bound {}\n"
                  "seed {}\nprogram {}\nweights {}\ndata {}\n{}",
                  kFirstLine, head.workers, head.servers, head.staleness, head.batch,
                  head.bigArrayBound, head.seed, head.program, head.weights, head.data,
                  head.compression > 0 ? fmt::format("compression {}\n", head.compression) : "");
  return sealed(text + "digest ", digest);
}

/// As far as its digest.
std::string textOf(const ReplayLog::Span &span) {
  std::string text = fmt::format("events {}\n", span.update);
  for (const std::string &events : span.events)
    text += events + "\n";
  return text + fmt::format("end {} ", span.update);
}

/// Rows, carried states and keys are those of so many workers and servers; weights are not.
Status sameNumbers(const ReplayHead &found, int workers, int servers, const std::string &path) {
  for (auto [name, is, wanted] : {std::tuple("workers", found.workers, workers),
                                  std::tuple("servers", found.servers, servers)})
    if (is != wanted)
      return failAt({path}, ErrorCode::E0610,
                    "{}: found {}, want {}; --init-params CHECKPOINT into another folder goes on "
                    "with the weights alone",
                    name, is, wanted);
  return {};
}

/// The first field in which two runs differ.
Status sameRun(const ReplayHead &found, const ReplayHead &want, const std::string &path) {
  auto same = [&](std::string_view name, const auto &is, const auto &wanted) -> Status {
    return is == wanted
               ? Status()
               : failAt({path}, ErrorCode::E0610, "{}: found {}, want {}", name, is, wanted);
  };
  LSTMC_TRY(sameNumbers(found, want.workers, want.servers, path));
  LSTMC_TRY(same("staleness", found.staleness, want.staleness));
  LSTMC_TRY(same("batch", found.batch, want.batch));
  LSTMC_TRY(same("bigarray-bound", found.bigArrayBound, want.bigArrayBound));
  LSTMC_TRY(same("seed", found.seed, want.seed));
  LSTMC_TRY(same("program", found.program, want.program));
  LSTMC_TRY(same("compression", found.compression, want.compression));
  return same("data", found.data, want.data);
}

} // namespace

std::string text(const Event &event) {
  return event.kind == Event::Kind::Meeting ? "m"
                                            : fmt::format("{}{}", char(event.kind), event.worker);
}

Result<std::vector<Event>> parseEvents(std::string_view text, int workers, const Place &place) {
  std::vector<Event> events;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::optional<int64_t> worker = word.empty() ? std::nullopt : number(word.substr(1));
    if (word == "m")
      events.push_back({Event::Kind::Meeting, 0});
    else if (worker && *worker < workers && (word[0] == 'u' || word[0] == 'a'))
      events.push_back({Event::Kind(word[0]), int(*worker)});
    else
      return failAt(place, ErrorCode::E0603,
                    "found event {}, want m, or u or a and a worker below {}", inQuotes(word),
                    workers);
  }
  return events;
}

Result<ReplayLog> ReplayLog::read(const std::string &path) {
  LSTMC_ASSIGN(Bytes bytes, readFile(path));
  Lines lines(asText(bytes), path);
  ReplayLog log;
  LSTMC_ASSIGN(log.head, readHead(lines));
  while (lines.more()) {
    if (lines.nextIs("finished")) {
      LSTMC_ASSIGN(log.finish, readFinish(lines));
      if (lines.more())
        return failAt(lines.place(), ErrorCode::E0603, "found more after the end");
      break;
    }
    LSTMC_ASSIGN(int64_t update, lines.numberField("events", log.updates() + 1, kMost));
    Span span{update, {}};
    for (int server = 0; server < log.head.servers && lines.more(); ++server) {
      span.events.emplace_back(lines.next());
      if (auto events = parseEvents(span.events.back(), log.head.workers, lines.place());
          !events.ok() && lines.more())
        return events.error();
    }
    if (!lines.nextIsComplete())
      break; // killed while it wrote
    LSTMC_ASSIGN(std::string_view end, lines.seal(fmt::format("end {} ", update)));
    (void)end;
    log.spans.push_back(std::move(span));
  }
  return log;
}

Status checkFinish(const std::string &path, int64_t update, const std::string &weights) {
  LSTMC_ASSIGN(ReplayLog log, ReplayLog::read(path));
  if (log.finish && log.finish->update == update && log.finish->weights != weights)
    return failAt({path}, ErrorCode::E0609,
                  "weights after update {}: found {} in the replay, want {} as the run has ended "
                  "with",
                  update, weights, log.finish->weights);
  return {};
}

Status checkNumbers(const std::string &path, int workers, int servers) {
  LSTMC_ASSIGN(ReplayLog log, ReplayLog::read(path));
  return sameNumbers(log.head, workers, servers, path);
}

Result<std::vector<Event>> ReplayLog::eventsOf(int server, const std::string &path) const {
  std::vector<Event> all;
  for (const Span &span : spans) {
    LSTMC_ASSIGN(std::vector<Event> events,
                 parseEvents(span.events[size_t(server)], head.workers, {path}));
    all.insert(all.end(), events.begin(), events.end());
  }
  return all;
}

Result<ReplayWriter> ReplayWriter::open(std::string path, const ReplayHead &head, int64_t update) {
  uint64_t digest = 0;
  std::string text = textOf(head, digest);
  if (update > 0) {
    LSTMC_ASSIGN(ReplayLog old, ReplayLog::read(path));
    LSTMC_TRY(sameRun(old.head, head, path));
    std::erase_if(old.spans, [&](const ReplayLog::Span &span) { return span.update > update; });
    if (old.updates() != update)
      return failAt({path}, ErrorCode::E0605, "found events up to update {}, want those up to {}",
                    old.updates(), update);
    digest = 0;
    text = textOf(old.head, digest);
    for (const ReplayLog::Span &span : old.spans)
      text += sealed(textOf(span), digest);
  }
  LSTMC_TRY(writeFile(path, text, OutputFile::Existing::Replace));
  return ReplayWriter(std::move(path), digest);
}

Status ReplayWriter::append(const ReplayLog::Span &span) { return add(textOf(span)); }

Status ReplayWriter::finish(const ReplayLog::Finish &finish) {
  return add(fmt::format("finished {} {} ", finish.update, finish.weights));
}

Status ReplayWriter::add(std::string section) {
  const std::string text = sealed(std::move(section), digest_);
  const int file = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  const bool well = file >= 0 && ::write(file, text.data(), text.size()) == ssize_t(text.size()) &&
                    ::fsync(file) == 0;
  const int error = errno;
  if (file >= 0)
    ::close(file);
  return well ? Status()
              : failAt({path_}, ErrorCode::E0601, "cannot append: {}", std::strerror(error));
}

} // namespace lstmc::stores

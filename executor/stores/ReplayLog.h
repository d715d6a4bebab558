// The order in which servers did what workers asked, as a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc::stores {

/// Something that a server did.
struct Event {
  enum class Kind : char { Update = 'u', Answer = 'a', Meeting = 'm' };
  Kind kind;
  int worker; ///< of a meeting, which all workers have, 0
};

/// "u0 a0 m"; E0603 with the file's place for what is none of these, or names a worker that there
/// is not.
Result<std::vector<Event>> parseEvents(std::string_view text, int workers, const Place &place);
std::string text(const Event &event);

/// What a run was, so that another one can be it again.
struct ReplayHead {
  int workers = 0, servers = 0;
  int64_t staleness = 0;
  int64_t batch = 0; ///< rows of all workers
  int64_t bigArrayBound = 0;
  uint64_t seed = 0;
  std::string program;    ///< the network's digest: networkDigest()
  std::string weights;    ///< the hash of those at first
  std::string data;       ///< the digest of the training data
  double compression = 0; ///< its threshold; 0: there is none, and no line of it
};

/// A file of lines:
///
///   lstmc replay 2
///   workers 2              and each other field of the head, a line each
///   digest DIGEST
///   events 12              of all updates after the last such line up to the workers' update 12:
///   u0 a0 u1 a1 m          of server 0
///   u1 a1 u0 a0 m          of server 1
///   end 12 DIGEST          without this line a run was killed while it wrote: what is after the
///                          last `end` is left out
///   finished 12 WEIGHTS DIGEST   the hash of the weights after update 12; not of a run that was
///                                killed, or goes on
///
/// DIGEST is of all bytes before it in the file.
struct ReplayLog {
  struct Span {
    int64_t update;
    std::vector<std::string> events; ///< by server
  };
  struct Finish {
    int64_t update;
    std::string weights;
  };
  ReplayHead head;
  std::vector<Span> spans;
  std::optional<Finish> finish;

  /// E0601, E0603, E0604, and E0609 where a digest differs, with file and line.
  static Result<ReplayLog> read(const std::string &path);
  /// All of a server's, in order. E0603.
  Result<std::vector<Event>> eventsOf(int server, const std::string &path) const;
  /// The last update of the workers.
  int64_t updates() const { return spans.empty() ? 0 : spans.back().update; }
};

/// E0609 if the run that the log is of came to other weights after its last update; and the errors
/// of read().
Status checkFinish(const std::string &path, int64_t update, const std::string &weights);

/// E0610 unless the log is of a run of so many; and the errors of read().
Status checkNumbers(const std::string &path, int workers, int servers);

/// Appends to a log.
class ReplayWriter {
public:
  /// A new log; or, of a run that goes on after `update`, the old one up to there. E0610 where that
  /// is of another run, E0605 where it does not reach so far.
  static Result<ReplayWriter> open(std::string path, const ReplayHead &head, int64_t update);
  /// On the disk when it returns. E0601.
  Status append(const ReplayLog::Span &span);
  Status finish(const ReplayLog::Finish &finish);

private:
  ReplayWriter(std::string path, uint64_t digest) : path_(std::move(path)), digest_(digest) {}
  Status add(std::string text);

  std::string path_;
  uint64_t digest_; ///< of what the file has
};

} // namespace lstmc::stores

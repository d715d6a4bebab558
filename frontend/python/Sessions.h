// A session as Python has it.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "executor/session/Session.h"
#include "frontend/python/Models.h"
#include "frontend/python/Signals.h"
#include "frontend/python/Values.h"

namespace lstmc::python {

/// One session, used by one thread at a time: others wait, without the GIL. A process made by fork
/// has none of its threads, and is refused (E0001).
class PythonSession {
public:
  /// With room for sessions of `neighbours` (beside()).
  PythonSession(const Compiled &compiled, const GivenFields &given,
                const std::vector<const Compiled *> &neighbours = {});
  explicit PythonSession(std::unique_ptr<Session> session);
  PythonSession(PythonSession &&) = default;
  PythonSession &operator=(PythonSession &&) = delete;
  ~PythonSession();

  /// A session of a neighbour, in the memory of this one, which outlives it.
  PythonSession beside(const Compiled &neighbour, const GivenFields &given) const;

  /// Runs an entry. KeyboardInterrupt after ctrl-C, from the main thread.
  void run(const std::string &entry, bool mainThread);
  /// The same of any work: `work` is called without the GIL, while nobody else uses the session.
  void perform(bool mainThread,
               const std::function<Status(Session &, const Interruptible &)> &work);

  Session &get() const;
  /// Held while the session is used. Does not hold the GIL.
  std::recursive_mutex &mutex() const { return *mutex_; }
  /// The error of a run, with what the session knows of numbers that are not finite.
  Failure failureOf(const Error &error) const;

private:
  std::unique_ptr<Session> session_;
  std::unique_ptr<std::recursive_mutex> mutex_ = std::make_unique<std::recursive_mutex>();
  int process_;
};

void addSessions(nanobind::module_ &module);

} // namespace lstmc::python

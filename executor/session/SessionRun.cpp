// A session runs its entries: in parts around `commit`, on one thread or several, and says what
// went wrong.
#include <algorithm>
#include <stdexcept>

#include "executor/base/NumberText.h"
#include "executor/base/Quote.h"
#include "executor/session/Findings.h"
#include "executor/session/NonFinite.h"
#include "executor/session/SessionImpl.h"

namespace lstmc {

using session::BoundEntry;
using session::Part;

void Session::Impl::beginRun() {
  std::lock_guard lock(lateMutex);
  if (late)
    for (const std::shared_ptr<Device> &device : devices)
      device->stop(false);
  late.reset();
}

/// From the watchdog's thread.
void Session::Impl::endRun(const Error &error) {
  std::lock_guard lock(lateMutex);
  late = error;
  for (const std::shared_ptr<Device> &device : devices)
    device->stop(true);
  transport->abort(error);
}

Status Session::Impl::lateStatus() {
  std::lock_guard lock(lateMutex);
  return late ? Status(*late) : Status();
}

Status Session::Impl::runPart(BoundEntry &entry, Part part,
                              const std::function<void()> *meanwhile) {
  Status status = (entry.programs.size() > 1 || options.peers) && parallel
                      ? parallel->run(entry, part, meanwhile)
                      : runInTurn(entry, part, meanwhile);
  if (status.ok())
    status = lateStatus(); // what the launches have left is not what they should
  if (!status.ok())
    faultAfterCommit = part != Part::BeforeCommit && entry.changesParameters;
  return status;
}

Status Session::Impl::runInTurn(BoundEntry &entry, Part part,
                                const std::function<void()> *meanwhile) {
  for (session::BoundProgram &program : entry.programs) { // one: nothing to wait for
    Device &device = *devices[program.device];
    if (program.streams > 1 || program.indices || device.keepsGraphs() || meanwhile) {
      LSTMC_TRY(runStreams(entry, program, part, meanwhile));
      continue;
    }
    size_t commit = program.source->commit, end = program.launches->size();
    size_t first = part == Part::Committed ? commit : 0;
    session::Watchdog::Stretch stretch(*watchdog, entry, program, first);
    device.run(*program.launches, first, part == Part::BeforeCommit ? commit : end,
               program.timesFrom(first));
  }
  return {};
}

/// Segment by segment; a program without transfers.
Status Session::Impl::runStreams(const BoundEntry &entry, const session::BoundProgram &program,
                                 Part part, const std::function<void()> *meanwhile) {
  Device &device = *devices[program.device];
  Status status;
  for (size_t i = program.firstSegment(part); i < program.lastSegment(part);) {
    const session::Segment &segment = program.segments[i];
    session::Watchdog::Stretch stretch(*watchdog, entry, program, segment.launch);
    status = program.checkIndices(device, segment);
    if (!status.ok())
      break;
    if (program.beginsGraph(device, i)) {
      i = program.runGraph(device, i);
      continue;
    }
    if (i == program.commitSegment)
      device.finish(); // where all streams come together
    program.begin(device, segment);
    program.launch(device, segment);
    program.end(device, segment);
    ++i;
  }
  if (meanwhile && status.ok())
    (*meanwhile)();
  device.finish();
  return status;
}

Status Session::Impl::runParts(BoundEntry &entry, const session::NextInputs *next) {
  if (observer || options.checkNan || (entry.programs.size() > 1 && options.oneThread))
    return runWatched(entry);
  const std::function<void()> *meanwhile = next && !next->afterCommit ? next->fill : nullptr;
  if (!entry.looksAtNumbers)
    return runPart(entry, Part::All, meanwhile);
  LSTMC_TRY(runPart(entry, Part::BeforeCommit, meanwhile));
  if (!transport->vote(entry.finite())) {
    LSTMC_TRY(transport->status());
    return explain(entry);
  }
  views->beginTake(size_t(&entry - entries.data()));
  return runPart(entry, Part::Committed, next && next->afterCommit ? next->fill : nullptr);
}

/// And tells the timer, if there is one.
Status Session::Impl::runTimed(BoundEntry &entry, const session::NextInputs *next) {
  if (!timer)
    return runParts(entry, next);
  std::vector<std::span<const LaunchInterval>> times;
  for (session::BoundProgram &program : entry.programs) {
    program.times->assign(program.source->launches.size(), {});
    times.push_back(*program.times);
  }
  Status status = runParts(entry, next);
  timer->ran(*package, *entry.source, times);
  return status;
}

Status Session::Impl::prepareRun(BoundEntry &entry, Part part) {
  if (entry.changesParameters && part == Part::All)
    LSTMC_TRY(Status(formulaStatus));
  LSTMC_TRY(scalarsOf(entry).take(formula, part));
  if (init && copiesAreStale) {
    LSTMC_TRY(runTimed(entries[*init]));
    copiesAreStale = false;
  }
  if (entry.prepare && entry.preparedFor != parametersVersion) {
    LSTMC_TRY(run(entries[*entry.prepare]));
    entry.preparedFor = parametersVersion;
  }
  scalarsOf(entry).write(formula);
  return {};
}

Status Session::Impl::runToCommit(BoundEntry &entry, BoundEntry *instead) {
  LSTMC_TRY(prepareRun(entry, Part::BeforeCommit));
  LSTMC_TRY(instead ? runPart(*instead, Part::All) : runPart(entry, Part::BeforeCommit));
  return entry.finite() ? Status() : Status(explain(entry));
}

Status Session::Impl::run(BoundEntry &entry, const session::NextInputs *next) {
  LSTMC_TRY(prepareRun(entry));
  Status status = runTimed(entry, next);
  // One that failed may have changed some of them.
  if (entry.changesParameters)
    ++parametersVersion;
  if (!status.ok())
    copiesAreStale = true;
  return status;
}

Status Session::run(std::string_view name) { return run(name, {}); }

namespace {
/// Clears a flag at its end.
struct Cleared {
  std::atomic<bool> &flag;
  ~Cleared() { flag = false; }
};
} // namespace

Status Session::run(std::string_view name, const std::function<bool()> &fillNext) try {
  auto found = std::ranges::find(impl_->entries, name, &BoundEntry::name);
  if (found == impl_->entries.end())
    return impl_->unknownEntry(name);
  if (session::writesWeights(*found))
    LSTMC_TRY(impl_->checkOwnWeights(name));
  if (impl_->running.exchange(true))
    return fail(ErrorCode::E0001,
                "entry {}: the session is in another run, of another thread or one whose next "
                "inputs are being filled; it is used by one thread at a time",
                inQuotes(name));
  const Cleared cleared{impl_->running};
  const auto index = size_t(found - impl_->entries.begin());
  impl_->views->giveBack(index);
  impl_->beginRun();
  auto fillAndGive = [&] {
    if (fillNext())
      impl_->views->giveInputs(index);
  };
  using Ahead = session::HostViews::Ahead;
  const std::function<void()> fill = std::ref(fillAndGive); // allocates nothing
  const Ahead ahead = fillNext ? impl_->views->inputsAhead(index) : Ahead::Never;
  const session::NextInputs next{&fill, ahead == Ahead::FromCommit};
  Status status = impl_->run(*found, ahead == Ahead::Never ? nullptr : &next);
  if (ahead != Ahead::Never)
    impl_->views->endGiveInputs(index, status.ok());
  impl_->tellChoices();
  if (status.ok() && impl_->options.peers)
    status = impl_->shareOutputs(index);
  impl_->views->take(index); // also of one that failed: what it left counts
  return status;
} catch (const std::runtime_error &error) { // a driver's, of a launch or a copy on this thread
  return fail(ErrorCode::E0803, "a device failed in {}: {}", name, error.what());
}

std::string Session::Impl::when(const BoundEntry &entry) const {
  // What prepares an entry is a part of it to the user.
  for (const BoundEntry &prepared : entries)
    if (prepared.prepare && &entries[*prepared.prepare] == &entry)
      return when(prepared);
  for (const session::ScalarInput &scalar : entry.scalars)
    if (scalar.name == "update")
      return "at update " + grouped(scalar.integer);
  return "in " + std::string(entry.name);
}

Status Session::Impl::runWatched(BoundEntry &entry) {
  // What init copies is looked at where an entry uses it, which can say at which update.
  session::WatchedRun watched(*package, devices, *transport, observer,
                              options.checkNan && !isInit(entry), watchdog.get());
  for (Part part : {Part::BeforeCommit, Part::Committed}) {
    const bool well = watched.run(entry, part);
    Status status = lateStatus();
    if (status.ok())
      status = transport->status();
    if (status.ok() && (!well || (peers() && watched.checksNan())))
      status = foundBy(watched, entry, well);
    if (!status.ok()) {
      faultAfterCommit = part == Part::Committed && entry.changesParameters;
      return status;
    }
    if (part == Part::BeforeCommit && !transport->vote(entry.finite())) {
      LSTMC_TRY(transport->status());
      return explain(entry);
    }
  }
  return {};
}

/// What the run stopped at, or any rank's did.
Status Session::Impl::foundBy(const session::WatchedRun &watched, const BoundEntry &entry,
                              bool well) {
  const std::string moment = when(entry);
  std::optional<session::Found> mine;
  if (!well) {
    mine = {-1, {}};
    if (auto given = session::explainGiven(*package, devices, entry, moment))
      mine->diagnostic = *given;
    else
      mine = {watched.order(entry), watched.describe(moment)};
  }
  if (peers()) {
    LSTMC_ASSIGN(fault, session::earliest(*peers(), mine));
  } else {
    fault = mine->diagnostic;
  }
  return fault ? Status(session::asError(*fault)) : Status();
}

/// Says what was not finite before `commit`, which is all that has run.
Error Session::Impl::explain(BoundEntry &entry) {
  faultAfterCommit = false;
  fault = session::explain(*package, devices, *transport, entry, when(entry), peers());
  if (Status status = transport->status(); !status.ok())
    return status.error(); // the ranks could not look together
  if (!fault)
    return fail(ErrorCode::E0804, "{}: a rank says that a number is not finite, and none finds it",
                when(entry));
  return session::asError(*fault);
}

const Diagnostic *Session::fault() const { return impl_->fault ? &*impl_->fault : nullptr; }
bool Session::faultAfterCommit() const { return impl_->faultAfterCommit; }
void Session::setObserver(SessionObserver *observer) { impl_->observer = observer; }

void Session::setTimer(SessionTimer *timer) {
  impl_->timer = timer;
  for (BoundEntry &entry : impl_->entries)
    for (session::BoundProgram &program : entry.programs)
      program.times = timer ? std::make_unique<std::vector<LaunchInterval>>() : nullptr;
}

} // namespace lstmc

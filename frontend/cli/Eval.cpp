// eval: what a network measures on data.

#include <algorithm>

#include "executor/session/NonFinite.h"
#include "executor/session/WhyNotFinite.h"
#include "executor/training/SessionTrainable.h"
#include "executor/training/TrainReport.h"
#include "executor/training/Trainer.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Expect.h"
#include "frontend/cli/IdleFlags.h"
#include "frontend/cli/Operand.h"
#include "frontend/cli/Trace.h"
#include "frontend/driver/Data.h"
#include "frontend/driver/FitCheck.h"
#include "frontend/driver/TrainOptions.h"
#include "frontend/driver/Version.h"

namespace lstmc::cli {

namespace {

/// What is measured, and on what. A member may point to one before it.
struct Job {
  Model model;
  ModelData data;
  std::vector<std::string> metrics;
  uint64_t seed = 0;
  std::unique_ptr<Session> session;
  std::optional<Diagnostic> fault; ///< of measures that are not finite
};

/// A checkpoint knows its vocabulary; a source takes what the data offer. `wanted` is judged once
/// the model has been measured.
Checked<Job> prepare(const Options &options, const std::vector<Expectation> &wanted,
                     Console &console) {
  Job job;
  LSTMC_CHECKED_ASSIGN(job.metrics, metricsAsked(options));
  ModelRequest request;
  request.entries = {"evaluate"};
  request.measures = metricsExpected(options);
  request.findings = idleFlagsIn(options);
  LSTMC_CHECKED_ASSIGN(NamedModel named, readNamedModel(options, request));
  LSTMC_CHECKED_ASSIGN(job.data,
                       loadData(options, {.job = "eval"}, named.data, named.namer, named.known()));
  if (!job.data.remark.empty())
    console.say(job.data.remark);
  LSTMC_CHECKED_ASSIGN(job.model,
                       modelFor(std::move(named), options.operands[0], job.data, options, request));
  console.warn(job.model.warnings);
  std::vector<std::string> needed = job.metrics;
  for (const Expectation &expectation : wanted)
    if (training::needsScores(expectation.metric))
      needed.push_back(expectation.metric);
  for (const std::string &name : needed)
    LSTMC_CHECKED_TRY(checkMetric(name, job.model));
  if (!hasWeights(job.model, options))
    return asDiagnostic(failAt({job.model.path}, ErrorCode::E0610,
                               "weights: found none to evaluate, want --params PATH, or a "
                               "checkpoint in place of this file"));
  LSTMC_CHECKED_ASSIGN(job.session, openSession(job.model, options, {"evaluate"}));
  LSTMC_CHECKED_ASSIGN(job.seed, seedInForce(job.model, options));
  return job;
}

/// With --dry-run everything but the measuring.
Result<training::Evaluation> evaluate(Job &job, bool dryRun) {
  LSTMC_ASSIGN(auto trainable, training::SessionTrainable::create(*job.session));
  LSTMC_ASSIGN(auto slots, trainable->inputs(training::Trainable::Entry::Evaluate));
  data::DataSet &data = *job.data.data;
  LSTMC_ASSIGN(auto feed, data.feed(training::validationPart(data), slots, job.seed));
  if (dryRun)
    return training::Evaluation();
  return training::evaluate(*trainable, *feed, [&](int64_t batch) -> Error {
    Result<Diagnostic> why =
        session::whyNotFinite(*job.session, "evaluate", fmt::format("in batch {}", batch + 1));
    if (!why.ok())
      return why.error();
    job.fault = *why;
    return session::asError(*job.fault);
  });
}

void print(const training::Evaluation &evaluation,
           const std::vector<training::HeldExpectation> &held, const Job &job,
           const Options &options, Console &console) {
  const training::MetricTotals &totals = evaluation.totals;
  std::string hash = fmt::format("{:016x}", job.session->weightsHash());
  if (console.json()) {
    training::EvaluationContext context{
        options.operands[0],  job.data.data->spec().source, versionLine(), hash, job.seed,
        job.session->memory()};
    console.print(training::evaluationJson(evaluation, context, job.metrics, held));
    return;
  }
  std::string line;
  for (std::string_view name : training::metricsReported(job.metrics))
    if (std::optional<double> value = totals.value(name))
      line += fmt::format("{}{} {:.6g}", line.empty() ? "" : "  ", name, *value);
  console.print(line +
                fmt::format("  labels {:.0f}  ignored {:.0f}", totals.labels(), totals.ignored()));
  console.say(fmt::format("seed {}  weights {}  {}", job.seed, hash, versionLine()));
}

} // namespace

CommandResult evalCommand(const Options &options, Console &console) {
  LSTMC_CHECKED_ASSIGN(std::vector<Expectation> wanted,
                       expectations(options, training::metricNames()));
  Trace trace(options);
  LSTMC_CHECKED_ASSIGN(Job job, prepare(options, wanted, console));
  if (job.model.compiled)
    trace.passes(job.model.compiled->spans);
  trace.watch(*job.session);
  Result<training::Evaluation> evaluation = evaluate(job, options.dryRun);
  if (!evaluation.ok()) {
    const Diagnostic *fault = job.fault ? &*job.fault : job.session->fault(); // has the user's line
    bool numbers = fault && evaluation.error().code == ErrorCode::E0701;
    return Diagnostics{numbers ? *fault : asDiagnostic(evaluation.error())};
  }
  if (options.dryRun) {
    console.say("nothing was evaluated: --dry-run");
    return ExitCode::Ok;
  }
  LSTMC_CHECKED_ASSIGN(Diagnostics outside, job.session->indexWarning());
  console.warn(outside);
  if (!evaluation->leftOut.empty())
    console.say(fmt::format("left out  {}", evaluation->leftOut));
  LSTMC_CHECKED_TRY(trace.write(console, job.session->peers()));
  std::vector<training::HeldExpectation> held =
      judge(wanted, [&](const std::string &metric) { return evaluation->totals.value(metric); });
  print(*evaluation, held, job, options, console);
  return allHeld(held, console) ? ExitCode::Ok : ExitCode::AnswerIsNo;
}

} // namespace lstmc::cli

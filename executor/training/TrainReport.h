// Training and evaluation as JSON: lstmc.train/1 and lstmc.eval/1.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "executor/session/Session.h"
#include "executor/training/Evaluate.h"
#include "executor/training/TrainEvents.h"

namespace lstmc::training {

/// What the loop does not know and the documents hold. `planJson` is a JSON text, or empty for
/// null.
struct ReportContext {
  std::string version, build, model;
  std::vector<std::string> devices;
  int64_t steps = 0;
  std::string planJson;
};

/// An `--expect` and what became of it.
struct HeldExpectation {
  std::string text;
  std::optional<double> value;
  bool held = false;
};

/// Writes a line per event (`--format jsonl`) or, at `finish`, one document (`--json`). Names,
/// units and schema are those of command.md §6: every line has schema, event, update, epoch and
/// time_s; a number that is not finite is null.
class TrainReport : public TrainObserver {
public:
  enum class Form { Lines, Document };
  using Sink = std::function<void(const std::string &text)>; ///< gets no line end

  TrainReport(Form form, ReportContext context, Sink sink);
  ~TrainReport() override;

  void start(const StartEvent &event) override;
  void update(const UpdateEvent &event) override;
  void valid(const ValidEvent &event) override;
  void save(const SaveEvent &event) override;
  void end(const EndEvent &event) override;

  /// The `end` line, or the document: once, after train() has returned.
  void finish(const MemoryUse &memory, const std::vector<HeldExpectation> &expectations,
              int exitCode);

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// {"peak": [{device planned_bytes measured_bytes}], "resident_beyond_bytes": N}, as all documents
/// of runs have it, and "emulated": true where a device is an emulated GPU, so that times mean
/// nothing.
std::string memoryJson(const MemoryUse &memory);

struct EvaluationContext {
  std::string model, data, build, weightsHash;
  uint64_t seed = 0;
  MemoryUse memory = {};
};

/// lstmc.eval/1 as one JSON document. `metrics` are those asked for; all that the heads give if
/// empty.
std::string evaluationJson(const Evaluation &result, const EvaluationContext &context,
                           const std::vector<std::string> &metrics,
                           const std::vector<HeldExpectation> &expectations);

} // namespace lstmc::training

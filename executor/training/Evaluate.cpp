#include "executor/training/Evaluate.h"

#include <chrono>
#include <cstring>

namespace lstmc::training {

void resetStates(Trainable &model) {
  for (const data::NamedTensor &state : model.states())
    std::memset(state.tensor.data, 0, data::bytesOf(state.tensor).size());
}

Result<Evaluation> evaluate(Trainable &model, data::Feed &feed) {
  auto begin = std::chrono::steady_clock::now();
  std::vector<data::NamedTensor> states = model.states();
  std::vector<Bytes> kept;
  for (const data::NamedTensor &state : states) {
    std::span<const uint8_t> bytes = data::bytesOf(state.tensor);
    kept.emplace_back(bytes.begin(), bytes.end());
  }
  Evaluation result{MetricTotals(model.heads()), 0, 0};
  Status status;
  for (int64_t batch = 0; batch < feed.batches() && status.ok(); ++batch) {
    data::Position position{0, batch};
    if (feed.restarts(position))
      resetStates(model);
    feed.fill(position);
    status = model.evaluate();
    for (size_t head = 0; head < model.heads().size() && status.ok(); ++head)
      result.totals.add(head, model.metric(Trainable::Entry::Evaluate, head));
  }
  for (size_t i = 0; i < states.size(); ++i)
    std::memcpy(states[i].tensor.data, kept[i].data(), kept[i].size());
  if (!status.ok())
    return status.error();
  result.sequences = feed.batches() * feed.sequences();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

} // namespace lstmc::training

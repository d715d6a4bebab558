#include "executor/stores/SplitTrainable.h"

namespace lstmc::stores {

Status SplitTrainable::prepare(double threshold) {
  LSTMC_ASSIGN(inner_, training::SessionTrainable::create(session_));
  LSTMC_ASSIGN(step_, session::SplitStep::create(session_));
  LSTMC_ASSIGN(std::vector<data::InputSlot> inputs, inner_->inputs(Entry::Step));
  rows_.emplace(std::move(inputs), workers_, worker_);
  size_t bytes = 0;
  for (const StoredTensor &state : inner_->states())
    bytes += size_t(state.bytes());
  states_.assign(size_t(workers_), std::vector<std::byte>(bytes));
  if (threshold > 0) {
    LSTMC_ASSIGN(residuals_, Residuals::create(*step_, workers_, threshold));
  }
  return {};
}

std::vector<StoredTensor> SplitTrainable::slots() {
  std::vector<StoredTensor> all = inner_->slots();
  if (!residuals_)
    return all;
  for (const StoredTensor &parameter : inner_->parameters())
    for (size_t key = 0; key < step_->keys(); ++key)
      for (int worker = 0; worker < workers_ && step_->name(key) == parameter.name; ++worker) {
        Tensor kept = parameter.tensor;
        kept.data = residuals_->of(worker, key).data();
        all.emplace_back(fmt::format("{}/residual{}", parameter.name, worker), kept);
      }
  return all;
}

Result<std::vector<data::InputSlot>> SplitTrainable::inputs(Entry entry) {
  if (entry == Entry::Step)
    return rows_->all();
  return inner_->inputs(entry);
}

std::vector<StoredTensor> SplitTrainable::states() {
  const std::vector<StoredTensor> own = inner_->states();
  std::vector<StoredTensor> all;
  for (int worker = 0; worker < workers_; ++worker) {
    size_t at = 0;
    for (StoredTensor state : own) {
      const std::string name = worker == 0 ? state.name : fmt::format("{}@{}", state.name, worker);
      Tensor copy = state.tensor;
      copy.data = statesOf(worker).data() + at;
      at += size_t(state.bytes());
      if (worker == worker_)
        state.name = name;
      else
        state = StoredTensor(name, copy);
      all.push_back(std::move(state));
    }
  }
  return all;
}

void SplitTrainable::readStates(std::span<std::byte> into) const {
  for (const StoredTensor &state : inner_->states()) {
    state.read(into.first(size_t(state.bytes())));
    into = into.subspan(size_t(state.bytes()));
  }
}

void SplitTrainable::writeStates(std::span<const std::byte> from) {
  for (const StoredTensor &state : inner_->states()) {
    state.write(from.first(size_t(state.bytes())));
    from = from.subspan(size_t(state.bytes()));
  }
}

Status SplitTrainable::computeGradients(int worker, int64_t clock, uint64_t seed,
                                        const Rows &rows) {
  rows.give();
  session_.setScalar("update", (clock - 1) * workers_ + worker + 1);
  session_.setScalar("seed", int64_t(seed));
  Status status = step_->gradients();
  failed_ = !status.ok();
  if (status.ok() && residuals_)
    residuals_->compress(worker);
  return status;
}

} // namespace lstmc::stores

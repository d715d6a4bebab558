#include "executor/stores/KeyStore.h"

namespace lstmc::stores {

Result<std::unique_ptr<KeyStore>> KeyStore::create(Session &session, session::SplitStep &step,
                                                   KeyParts parts,
                                                   const training::FitSettings &fit) {
  std::unique_ptr<KeyStore> store(new KeyStore(session, step, std::move(parts), fit));
  for (const session::KeyPart &part : store->parts_.parts()) {
    LSTMC_ASSIGN(store->programs_.emplace_back(), step.prepare(part));
  }
  return store;
}

void KeyStore::update(std::span<const std::byte> values) {
  const int64_t number = ++updates_;
  session_.setScalar("learning_rate", fit_.schedule.rate(fit_.baseRate(), number));
  session_.setScalar("update", number);
  for (size_t i = 0; i < programs_.size(); ++i) {
    const session::KeyPart &part = parts_.parts()[i];
    const auto bytes = size_t(step_.valuesBytes(part));
    step_.update(part, *programs_[i], values.first(bytes));
    values = values.subspan(bytes);
  }
}

} // namespace lstmc::stores

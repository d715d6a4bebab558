#include "executor/stores/Residuals.h"

#include "executor/base/FloatMode.h"

namespace lstmc::stores {

Result<std::unique_ptr<Residuals>> Residuals::create(const session::SplitStep &step, int workers,
                                                     double threshold) {
  std::unique_ptr<Residuals> made(new Residuals(step, threshold));
  size_t elements = 0, most = 0;
  for (size_t key = 0; key < step.keys(); ++key) {
    LSTMC_ASSIGN(MemoryRange gradient, step.gradient(key));
    made->gradients_.push_back(gradient);
    made->begins_.push_back(elements);
    elements += size_t(step.elements(key));
    most = std::max(most, size_t(step.elements(key)));
  }
  made->kept_.assign(size_t(workers), std::vector<float>(elements, 0));
  made->room_.resize(most);
  return made;
}

std::span<float> Residuals::of(int worker, size_t key) {
  return of(worker).subspan(begins_[key], size_t(step_.elements(key)));
}

void Residuals::compress(int worker) {
  const FloatMode mode;
  const float t = threshold_;
  for (size_t key = 0; key < gradients_.size(); ++key) {
    const std::span<float> kept = of(worker, key), gradient = std::span(room_).first(kept.size());
    gradients_[key].read(0, std::as_writable_bytes(gradient));
    for (size_t i = 0; i < kept.size(); ++i) {
      const float all = kept[i] + gradient[i];
      float given = all >= t ? t : all <= -t ? -t : 0;
      given += all - all; // what is not finite is not hidden
      kept[i] = all - given;
      gradient[i] = given;
    }
    gradients_[key].write(0, std::as_bytes(gradient));
  }
}

} // namespace lstmc::stores

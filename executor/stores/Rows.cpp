#include "executor/stores/Rows.h"

#include "executor/session/Binding.h"

namespace lstmc::stores {

Rows::Rows(std::vector<data::InputSlot> inputs, int workers, int worker)
    : worker_(worker), inputs_(std::move(inputs)) {
  for (const data::InputSlot &input : inputs_) {
    std::vector<int64_t> shape(input.tensor.shape.begin(),
                               input.tensor.shape.begin() + input.tensor.rank);
    const int64_t own = shape[size_t(input.batchAxis)];
    shape[size_t(input.batchAxis)] = workers * own;
    data::InputSlot whole = input;
    whole.rows = {worker * own, (worker + 1) * own};
    whole.tensor = session::layoutOf(input.tensor.dtype, shape);
    memory_.emplace_back(size_t(whole.tensor.elements()) * dtypeBytes(whole.tensor.dtype));
    whole.tensor.data = memory_.back().data();
    all_.push_back(whole);
  }
}

void Rows::give() const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Tensor &own = inputs_[i].tensor;
    const auto axis = size_t(inputs_[i].batchAxis);
    Tensor rows = all_[i].tensor;
    rows.data = rows.as<std::byte>() +
                size_t(worker_ * own.shape[axis] * rows.strides[axis]) * dtypeBytes(rows.dtype);
    rows.shape[axis] = own.shape[axis];
    session::copyTensor(rows, own);
  }
}

} // namespace lstmc::stores

#include "executor/stores/Rows.h"

#include "executor/session/Binding.h"

namespace lstmc::stores {

Rows::Rows(std::vector<data::InputSlot> inputs, int workers) : inputs_(std::move(inputs)) {
  for (const data::InputSlot &input : inputs_) {
    std::vector<int64_t> shape(input.tensor.shape.begin(),
                               input.tensor.shape.begin() + input.tensor.rank);
    shape[size_t(input.batchAxis)] *= workers;
    data::InputSlot whole = input;
    whole.tensor = session::layoutOf(input.tensor.dtype, shape);
    memory_.emplace_back(size_t(whole.tensor.elements()) * dtypeBytes(whole.tensor.dtype));
    whole.tensor.data = memory_.back().data();
    all_.push_back(whole);
  }
}

void Rows::give(int worker) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Tensor &own = inputs_[i].tensor;
    const auto axis = size_t(inputs_[i].batchAxis);
    Tensor rows = all_[i].tensor;
    rows.data = rows.as<std::byte>() +
                size_t(worker * own.shape[axis] * rows.strides[axis]) * dtypeBytes(rows.dtype);
    rows.shape[axis] = own.shape[axis];
    session::copyTensor(rows, own);
  }
}

} // namespace lstmc::stores

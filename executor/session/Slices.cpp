#include "executor/session/Slices.h"

#include <algorithm>
#include <cstring>

#include "executor/session/Binding.h"

namespace lstmc::session {

Slices::Slices(const package::Package &package, const Devices &devices)
    : package_(package), devices_(devices) {}

const Slices::Whole *Slices::find(const package::Slot &slot) const {
  auto found = std::find_if(whole_.begin(), whole_.end(),
                            [&](const Whole &whole) { return whole.slot == &slot; });
  return found == whole_.end() ? nullptr : &*found;
}

template <typename F> void Slices::eachSlice(const package::Slot &slot, F visit) const {
  size_t begin = 0;
  for (uint32_t index : slot.buffers) {
    const package::Buffer &buffer = package_.data().buffers[index];
    Tensor slice = bind(buffer, *devices_[buffer.device]);
    size_t bytes = size_t(slice.elements()) * dtypeBytes(slice.dtype);
    visit(slice.data, begin, bytes);
    begin += bytes;
  }
}

std::vector<Tensor> Slices::pieces(const package::Parameter &parameter,
                                   const package::Slot &slot) const {
  std::vector<Tensor> pieces;
  if (const Whole *made = find(slot)) {
    const package::Buffer &shape = package_.data().buffers[parameter.buffers[0]];
    pieces.push_back(bind(shape, *devices_[shape.device]));
    pieces.back().data = made->bytes.get();
  } else {
    for (uint32_t index : slot.buffers)
      pieces.push_back(
          bind(package_.data().buffers[index], *devices_[package_.data().buffers[index].device]));
  }
  return pieces;
}

Tensor Slices::whole(const package::Parameter &parameter, const package::Slot &slot) {
  const package::Buffer &shape = package_.data().buffers[parameter.buffers[0]];
  Tensor tensor = bind(shape, *devices_[shape.device]);
  if (const Whole *known = find(slot)) {
    tensor.data = known->bytes.get();
    return tensor;
  }
  Whole made{&slot, std::make_unique<std::byte[]>(shape.bytes)};
  eachSlice(slot, [&](const void *slice, size_t begin, size_t bytes) {
    std::memcpy(made.bytes.get() + begin, slice, bytes);
  });
  tensor.data = made.bytes.get();
  whole_.push_back(std::move(made));
  return tensor;
}

void Slices::writeBack() {
  for (const Whole &whole : whole_)
    eachSlice(*whole.slot, [&](void *slice, size_t begin, size_t bytes) {
      std::memcpy(slice, whole.bytes.get() + begin, bytes);
    });
  whole_.clear();
}

} // namespace lstmc::session

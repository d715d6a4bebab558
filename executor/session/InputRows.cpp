#include "executor/session/InputRows.h"

#include <algorithm>

#include "executor/abi/KernelArguments.h"
#include "executor/session/RemoteDevice.h"

namespace lstmc::session {

namespace {

/// Of a dense buffer, the rows along one axis that views of it touch.
class TouchedRows {
public:
  TouchedRows(const package::Buffer &buffer, int axis) : extent_(buffer.shape[size_t(axis)]) {
    for (size_t inner = size_t(axis) + 1; inner < buffer.shape.size(); ++inner)
      step_ *= buffer.shape[inner];
  }

  void add(const package::Operand &view) {
    std::vector<Axis> axes;
    int64_t first = view.offset, dense = 1;
    for (size_t i = view.shape.size(); i-- > 0;) {
      const int64_t stride = view.strides.empty() ? dense : view.strides[i];
      dense *= view.shape[i];
      if (view.shape[i] == 0)
        return;
      first += std::min<int64_t>(stride, 0) * (view.shape[i] - 1);
      axes.push_back({view.shape[i], std::abs(stride)});
    }
    std::ranges::sort(axes, std::greater(), &Axis::stride);
    add(axes, first);
  }

  RowWindow rows = RowWindow::none();

private:
  struct Axis {
    int64_t extent, stride;
  };

  /// From place `first` on; axes by falling strides.
  void add(std::span<const Axis> axes, int64_t first) {
    int64_t last = first;
    for (const Axis &axis : axes)
      last += (axis.extent - 1) * axis.stride;
    const int64_t all = step_ * extent_; // of all rows, before the first comes again
    if (first / all == last / all)
      return rows.include({first / step_ % extent_, last / step_ % extent_ + 1});
    for (int64_t i = 0; i < axes[0].extent; ++i)
      add(axes.subspan(1), first + i * axes[0].stride);
  }

  int64_t extent_, step_ = 1;
};

} // namespace

RowWindow rowsRead(const package::PackageData &data, const package::Entry &entry,
                   const package::Binding &input, int axis, const Devices &devices) {
  TouchedRows touched(data.buffers[input.buffer], axis);
  auto isHere = [&](size_t device) { return !isRemote(*devices[device]); };
  for (const package::DeviceProgram &program : entry.programs)
    for (const package::Launch &launch : program.launches) {
      const bool sends = launch.kernel == KernelId::Send;
      if (!isHere(sends ? size_t(argumentsOf<SendArguments>(launch).peer) : program.device))
        continue;
      for (const package::Operand &operand : launch.operands)
        if (operand.buffer == input.buffer)
          touched.add(operand);
    }
  return touched.rows;
}

} // namespace lstmc::session

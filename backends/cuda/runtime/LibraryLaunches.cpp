#include <limits>
#include <utility>

#include "backends/cuda/kernels/Movement.h"
#include "backends/cuda/kernels/Products.h"
#include "backends/cuda/model/LibraryScratch.h"
#include "backends/cuda/runtime/Groups.h"

namespace lstmc::cuda {

namespace {

/// Rows without gaps in them, that do not overlap.
bool takes(const Tensor &matrix) {
  return (matrix.strides[2] == 1 || matrix.shape[2] == 1) &&
         (matrix.strides[1] >= matrix.shape[2] || matrix.shape[1] == 1) && matrix.strides[0] >= 0;
}
int64_t rowStride(const Tensor &matrix) {
  return matrix.shape[1] == 1 ? matrix.shape[2] : matrix.strides[1];
}

GpuLaunch unpacked(const Tensor &p, std::byte *to, const LibraryProduct &product, int gates) {
  const int64_t matrices = product.wMatrix ? product.matrices : 1;
  return elementwise("lstmc_unpack",
                     gpu::UnpackArguments{operandOf(p),
                                          {reinterpret_cast<float *>(to)},
                                          matrices * product.depth * product.columns,
                                          product.depth,
                                          product.columns / gates,
                                          gates});
}

/// Strided, at an address of the device.
Tensor viewOf(float *data, std::initializer_list<std::pair<int64_t, int64_t>> axes) {
  Tensor view;
  view.data = data;
  for (auto [extent, stride] : axes) {
    view.shape[size_t(view.rank)] = extent;
    view.strides[size_t(view.rank++)] = stride;
  }
  return view;
}

} // namespace

std::byte *alignedForLibrary(std::byte *address) {
  const auto number = reinterpret_cast<uintptr_t>(address);
  return address + (roundUp(int64_t(number), kLibraryAlignment) - int64_t(number));
}

GpuLaunch copyOf(const Tensor &x, const Tensor &y) {
  return elementwise("lstmc_copy", gpu::CopyArguments{operandOf(x), operandOf(y), y.elements(),
                                                      int(sizeof(float))});
}

/// The panels that are full, then the rest of the units.
std::vector<GpuLaunch> unpackedRows(const Tensor &p, float *to, int64_t gates, int64_t units,
                                    int64_t depth, int64_t apart) {
  const int64_t row = gates * kPanel, panel = depth * row;
  const int64_t panels = units / kPanel, rest = units % kPanel;
  auto *from = p.as<float>();
  std::vector<GpuLaunch> copies;
  if (panels > 0)
    copies.push_back(copyOf(
        viewOf(from, {{gates, kPanel}, {panels, panel}, {kPanel, 1}, {depth, row}}),
        viewOf(to, {{gates, apart}, {panels, kPanel * depth}, {kPanel, depth}, {depth, 1}})));
  if (rest > 0)
    copies.push_back(
        copyOf(viewOf(from + panels * panel, {{gates, kPanel}, {rest, 1}, {depth, row}}),
               viewOf(to + panels * kPanel * depth, {{gates, apart}, {rest, depth}, {depth, 1}})));
  return copies;
}

std::vector<GpuLaunch> libraryProductOf(const Tensor &x, const Tensor &p, const Tensor &bias,
                                        const Tensor &y, bool oneMatrix, int gates,
                                        std::byte *scratch, int64_t scratchBytes,
                                        RoundedTo roundedTo) {
  LibraryProduct product = {};
  product.matrices = y.shape[0];
  product.rows = y.shape[1];
  product.columns = y.shape[2];
  product.depth = x.shape[2];
  product.roundedTo = roundedTo;
  const bool empty = y.elements() == 0 || product.depth == 0;
  const bool many = product.matrices > std::numeric_limits<int32_t>::max();
  if (empty || many || y.dtype != DType::F32 || !takes(x) || !takes(y) ||
      (bias && bias.strides[0] != 1 && bias.shape[0] > 1))
    return {};
  product.xStride = rowStride(x);
  product.yStride = rowStride(y);
  product.xMatrix = x.strides[0];
  product.yMatrix = y.strides[0];
  product.wMatrix = oneMatrix ? 0 : product.depth * product.columns;
  // Steps without gaps between them are one matrix.
  if (oneMatrix && product.xMatrix == product.rows * product.xStride &&
      product.yMatrix == product.rows * product.yStride)
    product.rows *= std::exchange(product.matrices, 1);
  const int64_t weights =
      unpackedBytes(oneMatrix ? 1 : product.matrices, product.columns, product.depth);
  std::byte *first = alignedForLibrary(scratch);
  product.workspaceBytes = scratchBytes - (first - scratch) - weights;
  if (!scratch || product.workspaceBytes < 0)
    return {};
  product.workspaceBytes = std::min(product.workspaceBytes, kLibraryWorkspace);
  product.x = x.data;
  product.w = first;
  product.bias = bias.data;
  product.y = y.data;
  product.workspace = first + weights;
  GpuLaunch multiply;
  multiply.library = product;
  return {unpacked(p, first, product, gates), multiply};
}

} // namespace lstmc::cuda

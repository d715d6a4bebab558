#include <limits>
#include <utility>

#include "backends/cuda/kernels/Products.h"
#include "backends/cuda/model/LibraryScratch.h"
#include "backends/cuda/runtime/Groups.h"

namespace lstmc::cuda {

namespace {

std::byte *aligned(std::byte *address) {
  const auto number = reinterpret_cast<uintptr_t>(address);
  return address + (roundUp(int64_t(number), kLibraryAlignment) - int64_t(number));
}

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

} // namespace

std::vector<GpuLaunch> libraryProductOf(const Tensor &x, const Tensor &p, const Tensor &bias,
                                        const Tensor &y, bool oneMatrix, int gates,
                                        std::byte *scratch, int64_t scratchBytes) {
  LibraryProduct product = {};
  product.matrices = y.shape[0];
  product.rows = y.shape[1];
  product.columns = y.shape[2];
  product.depth = x.shape[2];
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
  std::byte *first = aligned(scratch);
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

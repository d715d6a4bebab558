#include "backends/cuda/kernels/TensorProducts.h"

namespace lstmc::gpu {

namespace {

/// One sum, from +0, in groups of Rule::kDepth terms, ascending; then the bias. A result depends
/// neither on the rows nor on the columns beside it.
template <typename Rule> LSTMC_DEVICE void product(const TensorProductArguments &all) {
  const ProductArguments &a = all.product;
  const int64_t block = blockIndex() / all.columnBlocks, outer = block / a.rowBlocks;
  const int64_t firstRow = block % a.rowBlocks * kTile;
  const int64_t firstColumn = blockIndex() % all.columnBlocks * kTile;
  const int64_t rows = a.y.shape[1], columns = a.y.shape[2], depth = a.x.shape[2];
  const Global<const float> x = elementsOf<const float>(a.x).from(outer * a.x.strides[0]);
  const Global<const float> p =
      elementsOf<const float>(a.p).from((a.oneMatrix ? 0 : outer) * a.panels * depth * kPanel);
  const bool xQuads = alignedQuads(x.data) && a.x.strides[1] % 4 == 0 && a.x.strides[2] == 1;
  const bool pQuads = alignedQuads(p.data);

  TileSum<Rule> sum = {};
  sum.template addAll<Order::LinesFirst>(depth, [&](Tile xTile, Tile pTile, int64_t begin) {
    copyTile<Order::LinesFirst>(xTile, x, xQuads, [&](int line, int k) -> int64_t {
      const int64_t row = firstRow + line, at = begin + k;
      return row < rows && at < depth ? row * a.x.strides[1] + at * a.x.strides[2] : kNowhere;
    });
    copyTile<Order::DepthFirst>(pTile, p, pQuads, [&](int line, int k) -> int64_t {
      const int64_t panel = (firstColumn + line) / int(kPanel), at = begin + k;
      return panel < a.panels && at < depth
                 ? (panel * depth + at) * int(kPanel) + (firstColumn + line) % int(kPanel)
                 : kNowhere;
    });
  });

  const Global<const float> bias = elementsOf<const float>(a.bias);
  const Global<float> y = elementsOf<float>(a.y);
  sum.forEach([&](int line, int across, float value) {
    const int64_t row = firstRow + line, column = firstColumn + across;
    if (row < rows && column < columns)
      y.store(at(a.y, outer, row, column), bias ? value + bias.load(at(a.bias, column)) : value);
  });
}

} // namespace

LSTMC_GPU_KERNEL(lstmc_product_tf32, TensorProductArguments, a) { product<Tf32>(a); }
LSTMC_GPU_KERNEL(lstmc_product_bf16, TensorProductArguments, a) { product<Bf16>(a); }
LSTMC_GPU_KERNEL(lstmc_product_fp16, TensorProductArguments, a) { product<Fp16>(a); }

} // namespace lstmc::gpu

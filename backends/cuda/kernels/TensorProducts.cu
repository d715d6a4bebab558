#include "backends/cuda/kernels/TensorProducts.h"

namespace lstmc::gpu {

namespace {

/// One sum, from +0, in groups of Rule::kDepth terms, ascending; then the bias. A result depends
/// neither on the rows nor on the columns beside it.
template <typename Rule> LSTMC_DEVICE void product(const TensorProductArguments &all) {
  const ProductArguments &a = all.product;
  const int64_t block = blockIndex() / all.columnBlocks, outer = block / a.rowBlocks;
  const int64_t firstRow = block % a.rowBlocks * kTile;
  const int firstColumn = int(blockIndex() % all.columnBlocks) * kTile;
  const int64_t depth = a.x.shape[2], units = a.y.shape[2] / all.gates;
  const int width = all.gates * int(kPanel), columns = int(a.panels) * width; // as they are packed
  const int height = int(a.y.shape[1]);
  const int64_t rows = all.flat ? a.y.shape[0] * height : height;
  const Global<const float> x = elementsOf<const float>(a.x).from(outer * a.x.strides[0]);
  const Global<const float> p =
      elementsOf<const float>(a.p).from((a.oneMatrix ? 0 : outer) * a.panels * depth * width);
  const bool xQuads = alignedQuads(x.data) && a.x.strides[0] % 4 == 0 && a.x.strides[1] % 4 == 0 &&
                      a.x.strides[2] == 1;
  const bool pQuads = alignedQuads(p.data);
  auto rowOf = [&](const Operand &of, int64_t row) {
    return all.flat ? int(row) / height * of.strides[0] + int(row) % height * of.strides[1]
                    : row * of.strides[1];
  };

  TileSum<Rule> sum = {};
  auto copy = [&](Tile xTile, Tile pTile, int64_t begin) {
    copyTile<Order::LinesFirst>(xTile, x, xQuads, [&](int line, int k) -> int64_t {
      const int64_t row = firstRow + line, at = begin + k;
      return row < rows && at < depth ? rowOf(a.x, row) + at * a.x.strides[2] : kNowhere;
    });
    copyTile<Order::DepthFirst>(pTile, p, pQuads, [&](int line, int k) -> int64_t {
      const int column = firstColumn + line;
      const int64_t at = begin + k;
      return column < columns && at < depth ? (column / width * depth + at) * width + column % width
                                            : kNowhere;
    });
  };
  throughTiles(depth, copy, [&](Tile xTile, Tile pTile, int64_t count) {
    sum.template add<Order::LinesFirst>(xTile, pTile, count);
  });

  const Global<const float> bias = elementsOf<const float>(a.bias);
  const Global<float> y = elementsOf<float>(a.y).from(outer * a.y.strides[0]);
  sum.forEach([&](int line, int across, float value) {
    const int64_t row = firstRow + line;
    const int column = firstColumn + across;
    const int64_t unit = column / width * kPanel + column % int(kPanel);
    const int64_t to = column % width / int(kPanel) * units + unit;
    if (row < rows && column < columns && unit < units)
      y.store(rowOf(a.y, row) + to * a.y.strides[2],
              bias ? added(value, bias.load(at(a.bias, to))) : value);
  });
}

} // namespace

LSTMC_GPU_KERNEL(lstmc_product_tf32, TensorProductArguments, a) { product<Tf32>(a); }
LSTMC_GPU_KERNEL(lstmc_product_bf16, TensorProductArguments, a) { product<Bf16>(a); }
LSTMC_GPU_KERNEL(lstmc_product_fp16, TensorProductArguments, a) { product<Fp16>(a); }

} // namespace lstmc::gpu

// Ops that are products of matrices.
#include <map>

#include "tests/nets/plain/Rules.h"

namespace lstmc::nets::plain {

namespace {

/// The rows of a tensor as a matrix whose last axes, from `first` on, are the columns.
struct Matrix {
  Matrix(const Array &x, size_t first) : x(x) {
    for (size_t axis = first; axis < x.shape.size(); ++axis)
      columns *= x.shape[axis];
    rows = x.count() / columns;
  }
  Number operator()(int64_t row, int64_t column) const {
    return x.x[size_t(row * columns + column)];
  }
  const Array &x;
  int64_t rows, columns = 1;
};

Array fullyConnected(sym::FullyConnectedOp op, const Values &at) {
  const Array &x = at(op.getData()), &w = at(op.getWeight()), *b = at.maybe(op.getBias());
  const Matrix rows(x, op.getFlatten() ? 1 : x.shape.size() - 1), weight(w, 1);
  Array y = zerosFor(op.getOutput());
  for (int64_t n = 0; n < rows.rows; ++n)
    for (int64_t h = 0; h < weight.rows; ++h) {
      Number sum = b ? b->x[size_t(h)] : 0;
      for (int64_t k = 0; k < weight.columns; ++k)
        sum += rows(n, k) * weight(h, k);
      y.x[size_t(n * weight.rows + h)] = sum;
    }
  return y;
}

/// The last axis of `a` (with `transposeA` the first) times the first of `b` (the last).
Array dot(sym::DotOp op, const Values &at) {
  const Array &a = at(op.getLhs()), &b = at(op.getRhs());
  const bool ta = op.getTransposeA(), tb = op.getTransposeB();
  const int64_t inner = ta ? a.shape.front() : a.shape.back();
  const int64_t rows = a.count() / inner, columns = b.count() / inner;
  Array y = zerosFor(op.getOutput());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t k = 0; k < inner; ++k)
        y.x[size_t(i * columns + j)] += a.x[size_t(ta ? k * rows + i : i * inner + k)] *
                                        b.x[size_t(tb ? j * inner + k : k * columns + j)];
  return y;
}

/// alpha * op(a) * op(b) for each pair of matrices in the last two axes.
Array matrixProducts(mlir::Value result, const Array &a, const Array &b, bool ta, bool tb,
                     Number alpha) {
  const size_t last = a.shape.size() - 1;
  return made(result, [&](const Index &i) {
    const int64_t inner = a.shape[ta ? last - 1 : last];
    Number sum = 0;
    for (int64_t k = 0; k < inner; ++k) {
      Index left = i, right = i;
      left[last - 1] = ta ? k : i[last - 1];
      left[last] = ta ? i[last - 1] : k;
      right[last - 1] = tb ? i[last] : k;
      right[last] = tb ? k : i[last];
      sum += a.at(left) * b.at(right);
    }
    return alpha * sum;
  });
}

Array einsum(sym::EinsumOp op, const Values &at) {
  auto [left, right] = op.getSubscripts().split("->");
  llvm::SmallVector<llvm::StringRef> operands;
  left.split(operands, ',');
  std::map<char, int64_t> extents;
  for (auto [letters, arg] : llvm::zip_equal(operands, op.getArgs())) {
    letters = letters.trim();
    for (size_t axis = 0; axis < letters.size(); ++axis)
      extents[letters[axis]] = at(arg).shape[axis];
  }
  const llvm::StringRef result = right.trim();
  std::string all = result.str();
  Index shape;
  for (auto [letter, extent] : extents)
    if (!llvm::is_contained(result, letter))
      all.push_back(letter);
  for (char letter : all)
    shape.push_back(extents[letter]);
  auto indexOf = [&](llvm::StringRef letters, const Index &i) {
    Index own;
    for (char letter : letters)
      own.push_back(i[all.find(letter)]);
    return own;
  };
  Array y = zerosFor(op.getOutput());
  const bool scalar = result.empty();
  forEach(shape, [&](const Index &i) {
    Number product = 1;
    for (auto [letters, arg] : llvm::zip_equal(operands, op.getArgs()))
      product *= at(arg).at(indexOf(letters, i));
    (scalar ? y.x[0] : y.at(indexOf(result, i))) += product;
  });
  return y;
}

} // namespace

void addProducts(Rules &rules) {
  on<sym::FullyConnectedOp>(rules, fullyConnected);
  on<sym::DotOp>(rules, dot);
  on<sym::BatchDotOp>(rules, [](sym::BatchDotOp op, const Values &at) {
    return matrixProducts(op.getOutput(), at(op.getLhs()), at(op.getRhs()), op.getTransposeA(),
                          op.getTransposeB(), 1);
  });
  on<sym::LinalgGemm2Op>(rules, [](sym::LinalgGemm2Op op, const Values &at) {
    return matrixProducts(op.getOutput(), at(op.getA()), at(op.getB()), op.getTransposeA(),
                          op.getTransposeB(), op.getAlpha().convertToDouble());
  });
  on<sym::LinalgGemmOp>(rules, [](sym::LinalgGemmOp op, const Values &at) {
    const Array &c = at(op.getC());
    Array y = matrixProducts(op.getOutput(), at(op.getA()), at(op.getB()), op.getTransposeA(),
                             op.getTransposeB(), op.getAlpha().convertToDouble());
    for (size_t i = 0; i < y.x.size(); ++i)
      y.x[i] += Number(op.getBeta().convertToDouble()) * c.x[i];
    return y;
  });
  on<sym::EinsumOp>(rules, einsum);
}

} // namespace lstmc::nets::plain

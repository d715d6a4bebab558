// Ops that read at indices, and those that read by the lengths of sequences.
#include <algorithm>

#include "tests/nets/plain/Rules.h"

namespace lstmc::nets::plain {

namespace {

Array embedding(sym::EmbeddingOp op, const Values &at) {
  const Array &ids = at(op.getData()), &table = at(op.getWeight());
  return made(op.getOutput(), [&](Index i) {
    const int64_t column = i.pop_back_val();
    return table.at({inside(ids.at(i), table.shape[0]), column});
  });
}

Array take(sym::TakeOp op, const Values &at) {
  const Array &x = at(op.getA()), &indices = at(op.getIndices());
  const auto axis = size_t(x.axis(int64_t(op.getAxis())));
  return made(op.getOutput(), [&](const Index &i) {
    Index place(i.begin() + axis, i.begin() + axis + indices.shape.size());
    Index from(i.begin(), i.begin() + axis);
    from.push_back(inside(indices.at(place), x.shape[axis], op.getMode() == "wrap"));
    from.append(i.begin() + axis + indices.shape.size(), i.end());
    return x.at(from);
  });
}

Array pick(sym::PickOp op, const Values &at) {
  const Array &x = at(op.getData()), &index = at(op.getIndex());
  const int64_t axis = x.axis(int64_t(op.getAxis()));
  // Both the index and the result have one number for each of the other axes.
  Array y = zerosFor(op.getOutput());
  Index rows = replaced(x.shape, axis, 1);
  size_t row = 0;
  forEach(rows, [&](const Index &i) {
    int64_t picked = inside(index.x[row], x.extent(axis), op.getMode() == "wrap");
    y.x[row++] = x.at(replaced(i, axis, picked));
  });
  return y;
}

Array oneHot(sym::OneHotOp op, const Values &at) {
  const Array &indices = at(op.getIndices());
  return made(op.getOutput(), [&](Index i) {
    const int64_t column = i.pop_back_val();
    return Number(whole(indices.at(i)) == column ? op.getOnValue().convertToDouble()
                                                 : op.getOffValue().convertToDouble());
  });
}

/// The first axes of an index into `extents`, from column `picked` of `indices` [M, ...].
Index placeOf(const Array &indices, const Index &picked, const Index &extents) {
  Index place;
  for (int64_t m = 0; m < indices.shape[0]; ++m)
    place.push_back(inside(indices.at(with(picked, 0, m)), extents[size_t(m)]));
  return place;
}

Array gatherNd(sym::GatherNdOp op, const Values &at) {
  const Array &x = at(op.getData()), &indices = at(op.getIndices());
  const size_t picks = indices.shape.size() - 1;
  return made(op.getOutput(), [&](const Index &i) {
    Index from = placeOf(indices, Index(i.begin(), i.begin() + picks), x.shape);
    from.append(i.begin() + picks, i.begin() + picks + (x.shape.size() - from.size()));
    return x.at(from);
  });
}

Array scatterNd(sym::ScatterNdOp op, const Values &at) {
  const Array &x = at(op.getData()), &indices = at(op.getIndices());
  Array y = zerosFor(op.getOutput());
  const Index picks(indices.shape.begin() + 1, indices.shape.end());
  const size_t inRow = y.shape.size() - size_t(indices.shape[0]);
  const Index rest(y.shape.end() - inRow, y.shape.end());
  size_t from = 0;
  forEach(picks, [&](const Index &picked) {
    Index to = placeOf(indices, picked, y.shape);
    forEach(rest, [&](const Index &column) {
      Index place = to;
      place.append(column.begin(), column.end());
      y.at(place) += x.x[from++];
    });
  });
  return y;
}

Array diag(sym::DiagOp op, const Values &at) {
  const Array &x = at(op.getData());
  const int64_t k = op.getK(), down = std::max<int64_t>(-k, 0), right = std::max<int64_t>(k, 0);
  if (x.rank() == 1)
    return made(op.getOutput(), [&](const Index &i) {
      return i[1] - i[0] == k ? x.x[size_t(i[0] - down)] : Number(0);
    });
  const int64_t rows = x.axis(op.getAxis1()), columns = x.axis(op.getAxis2());
  return made(op.getOutput(), [&](Index i) {
    const int64_t on = i.pop_back_val();
    Index from;
    size_t next = 0;
    for (int64_t axis = 0; axis < x.rank(); ++axis)
      from.push_back(axis == rows ? on + down : axis == columns ? on + right : i[next++]);
    return x.at(from);
  });
}

//===---- sequences
//-----------------------------------------------------------------------------===//

/// Length of the sequence that an element belongs to, in data whose steps are on `axis`.
struct Lengths {
  Lengths(const Array &data, const Array *lengths, int64_t axis)
      : lengths(lengths), steps(data.shape[size_t(axis)]), batch(size_t(1 - axis)) {}
  int64_t of(const Index &i) const { return lengths ? whole(lengths->x[size_t(i[batch])]) : steps; }
  const Array *lengths;
  int64_t steps;
  size_t batch;
};

Array sequenceMask(sym::SequenceMaskOp op, const Values &at) {
  const Array &x = at(op.getData());
  const int64_t axis = int64_t(op.getAxis());
  const Lengths lengths(x, at.maybe(op.getSequenceLength()), axis);
  return made(op.getOutput(), [&](const Index &i) {
    return i[size_t(axis)] < lengths.of(i) ? x.at(i) : Number(op.getValue().convertToDouble());
  });
}

Array sequenceLast(sym::SequenceLastOp op, const Values &at) {
  const Array &x = at(op.getData());
  const int64_t axis = int64_t(op.getAxis());
  const Lengths lengths(x, at.maybe(op.getSequenceLength()), axis);
  return made(op.getOutput(), [&](const Index &i) {
    Index from = with(i, axis, 0);
    from[size_t(axis)] = inside(Number(lengths.of(from)) - 1, lengths.steps);
    return x.at(from);
  });
}

Array sequenceReverse(sym::SequenceReverseOp op, const Values &at) {
  const Array &x = at(op.getData());
  const Lengths lengths(x, at.maybe(op.getSequenceLength()), 0);
  return made(op.getOutput(), [&](const Index &i) {
    const int64_t end = std::min(lengths.of(i), lengths.steps);
    return x.at(replaced(i, 0, i[0] < end ? end - 1 - i[0] : i[0]));
  });
}

} // namespace

void addIndices(Rules &rules) {
  onExact<sym::EmbeddingOp>(rules, embedding);
  onExact<sym::TakeOp>(rules, take);
  onExact<sym::PickOp>(rules, pick);
  onExact<sym::OneHotOp>(rules, oneHot);
  onExact<sym::GatherNdOp>(rules, gatherNd);
  on<sym::ScatterNdOp>(rules, scatterNd);
  onExact<sym::DiagOp>(rules, diag);
  onExact<sym::SequenceMaskOp>(rules, sequenceMask);
  onExact<sym::SequenceLastOp>(rules, sequenceLast);
  onExact<sym::SequenceReverseOp>(rules, sequenceReverse);
}

} // namespace lstmc::nets::plain

// Ops that move elements: each element of the result is one of the data.
#include <algorithm>

#include "tests/nets/plain/Rules.h"

namespace lstmc::nets::plain {

namespace {

/// The same elements, row-major, in the result's shape.
Array reshaped(mlir::Value result, const Array &x) {
  Array y = zerosFor(result);
  y.x = x.x;
  return y;
}

template <typename Op> void onReshape(Rules &rules) {
  onExact<Op>(rules, [](Op op, const Values &at) {
    return reshaped(op->getResult(0), at(op->getOperand(0)));
  });
}

/// The result's element at an index is the broadcast element of the operand.
template <typename Op> void onStretch(Rules &rules) {
  onExact<Op>(rules, [](Op op, const Values &at) {
    const Array &x = at(op->getOperand(0));
    return made(op->getResult(0), [&](const Index &i) { return x.stretched(i); });
  });
}

/// Where a slice of Python begins.
int64_t beginOf(mlir::Attribute given, int64_t extent, int64_t step) {
  auto number = llvm::dyn_cast_or_null<mlir::IntegerAttr>(given);
  if (!number)
    return step > 0 ? 0 : extent - 1;
  int64_t begin = number.getInt();
  if (begin < 0)
    begin += extent;
  return step > 0 ? std::clamp<int64_t>(begin, 0, extent)
                  : std::clamp<int64_t>(begin, -1, extent - 1);
}

mlir::Attribute entry(mlir::ArrayAttr entries, size_t axis) {
  return entries && axis < entries.size() ? entries[axis] : mlir::Attribute();
}

Array slice(sym::SliceOp op, const Values &at) {
  const Array &x = at(op.getData());
  Index begin, step;
  for (size_t axis = 0; axis < x.shape.size(); ++axis) {
    auto number = llvm::dyn_cast_or_null<mlir::IntegerAttr>(entry(op.getStepAttr(), axis));
    step.push_back(number ? number.getInt() : 1);
    begin.push_back(beginOf(entry(op.getBegin(), axis), x.shape[axis], step[axis]));
  }
  return made(op.getOutput(), [&](Index i) {
    for (size_t axis = 0; axis < i.size(); ++axis)
      i[axis] = begin[axis] + (i[axis] == 0 ? 0 : i[axis] * step[axis]);
    return x.at(i);
  });
}

Array sliceAxis(sym::SliceAxisOp op, const Values &at) {
  const Array &x = at(op.getData());
  const int64_t axis = x.axis(int64_t(op.getAxis()));
  int64_t begin = int64_t(op.getBegin());
  if (begin < 0)
    begin += x.extent(axis);
  return made(op.getOutput(),
              [&](const Index &i) { return x.at(replaced(i, axis, i[size_t(axis)] + begin)); });
}

Array transpose(sym::TransposeOp op, const Values &at) {
  const Array &x = at(op.getData());
  return made(op.getOutput(), [&](const Index &i) {
    Index from(i.size());
    for (size_t axis = 0; axis < i.size(); ++axis)
      from[op.getAxes().empty() ? i.size() - 1 - axis : size_t(x.axis(op.getAxes()[axis]))] =
          i[axis];
    return x.at(from);
  });
}

Array concat(sym::ConcatOp op, const Values &at) {
  const int64_t axis = at(op.getArgs().front()).axis(int64_t(op.getDim()));
  return made(op.getOutput(), [&](const Index &i) {
    int64_t place = i[size_t(axis)];
    for (mlir::Value arg : op.getArgs()) {
      const Array &x = at(arg);
      if (place < x.extent(axis))
        return x.at(replaced(i, axis, place));
      place -= x.extent(axis);
    }
    return Number(0);
  });
}

Array stack(sym::StackOp op, const Values &at) {
  const int64_t given = int64_t(op.getAxis());
  const int64_t axis = given < 0 ? given + at(op.getArgs().front()).rank() + 1 : given;
  return made(op.getOutput(), [&](const Index &i) {
    return at(op.getArgs()[unsigned(i[size_t(axis)])]).at(without(i, axis));
  });
}

Results sliceChannel(sym::SliceChannelOp op, const Values &at) {
  const Array &x = at(op.getData());
  const int64_t axis = x.axis(int64_t(op.getAxis()));
  const int64_t size = x.extent(axis) / int64_t(op.getNumOutputs());
  Results parts;
  for (auto [part, result] : llvm::enumerate(op.getOutputs()))
    parts.push_back(made(result, [&, first = int64_t(part) * size](Index i) {
      if (op.getSqueezeAxis())
        i = with(i, axis, 0);
      return x.at(replaced(i, axis, i[size_t(axis)] + first));
    }));
  return parts;
}

Array reverse(sym::ReverseOp op, const Values &at) {
  const Array &x = at(op.getData());
  return made(op.getOutput(), [&](Index i) {
    for (int64_t axis : op.getAxis())
      i = replaced(i, x.axis(axis), x.extent(axis) - 1 - i[size_t(x.axis(axis))]);
    return x.at(i);
  });
}

Array tile(sym::TileOp op, const Values &at) {
  const Array &x = at(op.getData());
  return made(op.getOutput(), [&](const Index &i) {
    Index from;
    for (size_t axis = 0; axis < x.shape.size(); ++axis)
      from.push_back(i[i.size() - x.shape.size() + axis] % x.shape[axis]);
    return x.at(from);
  });
}

Array repeat(sym::RepeatOp op, const Values &at) {
  const Array &x = at(op.getData());
  const int64_t repeats = int64_t(op.getRepeats());
  if (!op.getAxis())
    return made(op.getOutput(), [&](const Index &i) { return x.x[size_t(i[0] / repeats)]; });
  const int64_t axis = x.axis(int64_t(*op.getAxis()));
  return made(op.getOutput(),
              [&](const Index &i) { return x.at(replaced(i, axis, i[size_t(axis)] / repeats)); });
}

} // namespace

void addMoves(Rules &rules) {
  onReshape<sym::ReshapeOp>(rules);
  onReshape<sym::FlattenOp>(rules);
  onReshape<sym::ExpandDimsOp>(rules);
  onReshape<sym::SqueezeOp>(rules);
  onReshape<sym::ReshapeLikeOp>(rules);
  onStretch<sym::BroadcastToOp>(rules);
  onStretch<sym::BroadcastAxisOp>(rules);
  onStretch<sym::BroadcastLikeOp>(rules);
  onExact<sym::SliceLikeOp>(rules, [](sym::SliceLikeOp op, const Values &at) {
    const Array &x = at(op.getData());
    return made(op.getOutput(), [&](const Index &i) { return x.at(i); });
  });
  onExact<sym::SwapAxisOp>(rules, [](sym::SwapAxisOp op, const Values &at) {
    const Array &x = at(op.getData());
    return made(op.getOutput(), [&](Index i) {
      std::swap(i[size_t(x.axis(int64_t(op.getDim1())))], i[size_t(x.axis(int64_t(op.getDim2())))]);
      return x.at(i);
    });
  });
  onExact<sym::TransposeOp>(rules, transpose);
  onExact<sym::ConcatOp>(rules, concat);
  onExact<sym::StackOp>(rules, stack);
  onExact<sym::SliceChannelOp>(rules, sliceChannel);
  onExact<sym::SliceOp>(rules, slice);
  onExact<sym::SliceAxisOp>(rules, sliceAxis);
  onExact<sym::ReverseOp>(rules, reverse);
  onExact<sym::TileOp>(rules, tile);
  onExact<sym::RepeatOp>(rules, repeat);
  // The parameters of a stack, one after the other.
  onExact<sym::RnnParamConcatOp>(rules, [](sym::RnnParamConcatOp op, const Values &at) {
    Array y = zerosFor(op.getOutput());
    y.x.clear();
    for (mlir::Value arg : op.getArgs())
      y.x.insert(y.x.end(), at(arg).x.begin(), at(arg).x.end());
    return y;
  });
}

} // namespace lstmc::nets::plain

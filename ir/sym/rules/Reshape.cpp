// Reshape: MXNet's codes.
#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

namespace {

/// Reads the codes together with the operand's extents. `source[i]` is the axis of data that axis i
/// of the result copies, or -1.
class CodeReader {
public:
  CodeReader(ShapeRelation &relation, Value data, SmallVector<int64_t> extents)
      : relation_(relation), data_(data), in_(std::move(extents)) {}

  SmallVector<int64_t> out, source;

  LogicalResult read(ArrayRef<int64_t> codes) {
    for (size_t i = 0; i < codes.size(); ++i) {
      int64_t code = codes[i];
      if (code > 0) {
        add(code, -1);
        ++at_;
      } else if (code == 0) {
        if (failed(has(1, code)))
          return failure();
        add(in_[at_], at_);
        ++at_;
      } else if (code == -1) {
        if (failed(addInferred()))
          return failure();
        ++at_;
      } else if (code == -2) {
        for (; at_ < int64_t(in_.size()); ++at_)
          add(in_[at_], at_);
      } else if (code == -3) {
        if (failed(has(2, code)))
          return failure();
        bool open = in_[at_] == kOpen || in_[at_ + 1] == kOpen;
        add(open ? kOpen : product({in_[at_], in_[at_ + 1]}), -1);
        at_ += 2;
      } else if (code == -4) {
        if (failed(has(1, code)) || failed(split(codes, i)))
          return failure();
        i += 2;
      } else {
        return relation_.refuse(ErrorCode::E0206)
               << "shape has the code " << code << ", which means nothing";
      }
    }
    return success();
  }

  /// Replaces -1 by what remains of the elements, once everything else is known.
  LogicalResult infer() {
    if (inferred_ < 0 || llvm::is_contained(in_, kOpen))
      return success();
    int64_t known = 1;
    for (auto [axis, extent] : llvm::enumerate(out))
      if (int64_t(axis) != inferred_) {
        if (extent == kOpen)
          return success();
        known = product({known, extent});
      }
    int64_t all = product(in_);
    if (all % known != 0)
      return relation_.refuse(ErrorCode::E0207, {{data_}})
             << relation_.name(data_) << " has " << all << " elements, which -1 cannot divide by "
             << known;
    out[inferred_] = all / known;
    return success();
  }

private:
  void add(int64_t extent, int64_t from) {
    out.push_back(extent);
    source.push_back(from);
  }

  LogicalResult addInferred() {
    if (inferred_ >= 0)
      return relation_.refuse(ErrorCode::E0206) << "-1 stands twice in shape";
    inferred_ = out.size();
    add(kOpen, -1);
    return success();
  }

  LogicalResult has(int64_t axes, int64_t code) {
    if (at_ + axes <= int64_t(in_.size()))
      return success();
    return relation_.refuse(ErrorCode::E0319, {{data_}})
           << "code " << code << " needs axis " << at_ + axes - 1 << ", " << relation_.name(data_)
           << " has " << in_.size() << (in_.size() == 1 ? " axis" : " axes");
  }

  LogicalResult split(ArrayRef<int64_t> codes, size_t i) {
    if (i + 2 >= codes.size())
      return relation_.refuse(ErrorCode::E0319) << "code -4 wants two numbers after it";
    int64_t first = codes[i + 1], second = codes[i + 2], whole = in_[at_++];
    if (first == 0 || first < -1 || second == 0 || second < -1 || (first == -1 && second == -1))
      return relation_.refuse(ErrorCode::E0206)
             << "code -4 cannot split into " << first << " and " << second;
    int64_t known = first == -1 ? second : first;
    if (first == -1 || second == -1) {
      if (whole != kOpen && whole % known != 0)
        return relation_.refuse(ErrorCode::E0207, {{data_, at_ - 1}})
               << relation_.name(data_) << " has " << whole << " on axis " << at_ - 1 << ", which "
               << known << " does not divide";
      (first == -1 ? first : second) = whole == kOpen ? kOpen : whole / known;
    } else if (whole != kOpen && product({first, second}) != whole) {
      return relation_.refuse(ErrorCode::E0207, {{data_, at_ - 1}})
             << relation_.name(data_) << " has " << whole << " on axis " << at_ - 1 << ", " << first
             << " times " << second << " is " << product({first, second});
    }
    add(first, -1);
    add(second, -1);
    return success();
  }

  ShapeRelation &relation_;
  Value data_;
  SmallVector<int64_t> in_;
  int64_t at_ = 0, inferred_ = -1;
};

/// The codes in reverse order, with those of a split kept together.
SmallVector<int64_t> reversed(ArrayRef<int64_t> codes) {
  SmallVector<SmallVector<int64_t, 3>> groups;
  for (size_t i = 0; i < codes.size(); ++i)
    if (codes[i] == -4 && i + 2 < codes.size()) {
      groups.push_back({-4, codes[i + 2], codes[i + 1]});
      i += 2;
    } else {
      groups.push_back({codes[i]});
    }
  SmallVector<int64_t> result;
  for (auto &group : llvm::reverse(groups))
    result.append(group);
  return result;
}

/// Translates `target_shape` of old files into the codes of `shape`.
SmallVector<int64_t> fromTarget(ArrayRef<int64_t> target, bool keepHighest) {
  SmallVector<int64_t> codes;
  for (auto [axis, extent] : llvm::enumerate(target))
    codes.push_back(keepHighest && axis == 0 ? 0 : extent == 0 ? -1 : extent);
  return codes;
}

} // namespace

LogicalResult ReshapeOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), output = getOutput();
  if (failed(relation.sameType(data, output)))
    return failure();
  SmallVector<int64_t> codes = getShape().empty() ? fromTarget(getTargetShape(), getKeepHighest())
                                                  : SmallVector<int64_t>(getShape());
  if (codes.empty())
    return relation.refuse(ErrorCode::E0203) << "needs shape";
  bool dependsOnRank = llvm::any_of(codes, [](int64_t code) { return code == 0 || code < -1; });
  if (!relation.ranked(data) && dependsOnRank)
    return success();

  // reshape:codes
  SmallVector<int64_t> extents(relation.extents(data));
  int64_t rank = extents.size();
  if (getReverse()) {
    codes = reversed(codes);
    std::reverse(extents.begin(), extents.end());
  }
  CodeReader reader(relation, data, std::move(extents));
  if (failed(reader.read(codes)) || (relation.ranked(data) && failed(reader.infer())))
    return failure();
  if (getReverse()) {
    std::reverse(reader.out.begin(), reader.out.end());
    std::reverse(reader.source.begin(), reader.source.end());
    for (int64_t &axis : reader.source)
      axis = axis < 0 ? axis : rank - 1 - axis;
  }
  if (failed(relation.fixShape(output, reader.out, "shape")))
    return failure();
  if (!relation.ranked(data))
    return success();
  for (auto [axis, from] : llvm::enumerate(reader.source))
    if (from >= 0 &&
        failed(relation.equal(output, axis, data, from, "on axis " + std::to_string(axis))))
      return failure();

  // reshape:elements
  return relation.sameElements(output, 0, relation.rank(output), data, 0, rank);
}

StringRef ReshapeOp::extentsAttribute() { return "shape"; }

BatchPosition ReshapeOp::batchOfResult(unsigned, ArrayRef<BatchPosition> operands) {
  return reshaped(operands[0], shapeOf(getData()), shapeOf(getOutput()));
}

} // namespace lstmc::sym

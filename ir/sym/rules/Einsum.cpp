// einsum: its subscripts and shapes, and its expansion to products and sums.
#include "ir/sym/Create.h"
#include "ir/sym/RuleSupport.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace lstmc::sym {

namespace {

/// "bij,bkj->bik": the letters of each operand, and of the result.
struct Subscripts {
  SmallVector<StringRef, 2> operands;
  StringRef result;

  static Subscripts of(EinsumOp op) {
    Subscripts subscripts;
    auto [left, right] = op.getSubscripts().split("->");
    left.split(subscripts.operands, ',');
    for (StringRef &letters : subscripts.operands)
      letters = letters.trim();
    subscripts.result = right.trim();
    return subscripts;
  }

  /// An operand with the letter, and the axis of the letter.
  std::pair<size_t, size_t> find(char letter) const {
    for (auto [operand, letters] : llvm::enumerate(operands))
      if (size_t at = letters.find(letter); at != StringRef::npos)
        return {operand, at};
    return {operands.size(), 0};
  }
};

/// einsum:subscripts, except for the number of operands.
LogicalResult checkLetters(ShapeRelation &relation, EinsumOp op, const Subscripts &subscripts) {
  auto refuse = [&](const Twine &why) {
    return relation.refuse(ErrorCode::E0319)
           << "subscripts are \"" << op.getSubscripts() << "\": " << why.str();
  };
  if (!op.getSubscripts().contains("->"))
    return refuse("\"->\" and the letters of the result are missing");
  auto checkOne = [&](StringRef letters) -> LogicalResult {
    for (auto [i, letter] : llvm::enumerate(letters)) {
      if (!llvm::isAlpha(letter))
        return refuse("letters only are built, found " + Twine("'") + StringRef(&letter, 1) + "'");
      if (letters.find(letter, i + 1) != StringRef::npos)
        return refuse(Twine("'") + StringRef(&letter, 1) + "' stands twice in one operand");
    }
    return success();
  };
  for (StringRef letters : subscripts.operands)
    if (failed(checkOne(letters)))
      return failure();
  if (failed(checkOne(subscripts.result)))
    return failure();
  for (char letter : subscripts.result)
    if (subscripts.find(letter).first == subscripts.operands.size())
      return refuse(Twine("no operand has '") + StringRef(&letter, 1) + "' of the result");
  return success();
}

} // namespace

LogicalResult EinsumOp::relateShapes(ShapeRelation &relation) {
  Subscripts subscripts = Subscripts::of(*this);
  if (failed(checkLetters(relation, *this, subscripts)))
    return failure();
  // einsum:count
  size_t count = getArgs().size();
  if (count < 1 || count > 2)
    return relation.refuse(ErrorCode::E0215) << count << " operands, one or two are built";
  if (count != subscripts.operands.size())
    return relation.refuse(ErrorCode::E0319)
           << "has " << count << (count == 1 ? " operand" : " operands") << ", subscripts name "
           << subscripts.operands.size();
  for (int round = 0; round < 2; ++round)
    for (Value operand : getArgs())
      if (failed(relation.sameType(getOutput(), operand)))
        return failure();
  if (failed(relation.floatType(getOutput())))
    return failure();
  for (auto [operand, letters] : llvm::zip_equal(getArgs(), subscripts.operands))
    if (failed(relation.fixRank(operand, int64_t(letters.size()))))
      return failure();
  // einsum:extents
  auto relate = [&](Value value, int64_t axis, char letter) {
    auto [operand, at] = subscripts.find(letter);
    std::string noun = "for " + std::string(1, letter);
    return relation.equal(value, axis, getArgs()[operand], int64_t(at), noun);
  };
  for (auto [operand, letters] : llvm::zip_equal(getArgs(), subscripts.operands))
    for (auto [axis, letter] : llvm::enumerate(letters))
      if (failed(relate(operand, int64_t(axis), letter)))
        return failure();
  if (subscripts.result.empty())
    return relation.fixShape(getOutput(), {1}, "");
  if (failed(relation.fixRank(getOutput(), int64_t(subscripts.result.size()))))
    return failure();
  for (auto [axis, letter] : llvm::enumerate(subscripts.result))
    if (failed(relate(getOutput(), int64_t(axis), letter)))
      return failure();
  return success();
}

namespace {

/// A tensor whose axes have letters.
struct Lettered {
  Value value;
  std::string letters;

  int64_t extent(char letter) const { return shapeOf(value)[letters.find(letter)]; }
  bool has(char letter) const { return letters.find(letter) != std::string::npos; }
};

class Writer {
public:
  Writer(OpBuilder &builder, Location loc) : builder_(builder), loc_(loc) {}

  /// Sums over the letters for which `keep` is false.
  Lettered sumOthers(const Lettered &x, llvm::function_ref<bool(char)> keep) {
    SmallVector<int64_t> axes, shape;
    Lettered result{x.value, ""};
    for (auto [axis, letter] : llvm::enumerate(x.letters))
      if (keep(letter)) {
        shape.push_back(x.extent(letter));
        result.letters += letter;
      } else {
        axes.push_back(int64_t(axis));
      }
    if (axes.empty())
      return x;
    auto type = rankedType(x.value).clone(shape.empty() ? ArrayRef<int64_t>{1} : shape);
    result.value = builder_.create<SumOp>(loc_, type, x.value, builder_.getDenseI64ArrayAttr(axes),
                                          builder_.getBoolAttr(false), builder_.getBoolAttr(false));
    return result;
  }

  /// Transposes the axes.
  Lettered inOrder(const Lettered &x, StringRef letters) {
    SmallVector<int64_t> permutation;
    for (char letter : letters)
      permutation.push_back(int64_t(x.letters.find(letter)));
    if (llvm::is_sorted(permutation))
      return x;
    return {createTranspose(builder_, loc_, x.value, permutation), letters.str()};
  }

  /// Sums products over the letters `inner`, in the order in which a has them, for each index of
  /// `shared`. Axes of the result: shared, those only in a, those only in b.
  Lettered multiply(const Lettered &a, const Lettered &b, StringRef shared, StringRef inner) {
    auto alone = [&](const Lettered &x, const Lettered &other) {
      std::string letters;
      llvm::copy_if(x.letters, std::back_inserter(letters),
                    [&](char letter) { return !other.has(letter); });
      return letters;
    };
    std::string rows = alone(a, b), columns = alone(b, a);
    int64_t batch = extents(a, shared), depth = extents(a, inner);
    Lettered left = inOrder(a, (shared + rows + inner).str());
    Lettered right = inOrder(b, (shared + inner + columns).str());
    Value product = matrices(left.value, right.value, shared.empty() ? 0 : batch, extents(a, rows),
                             depth, extents(b, columns));
    SmallVector<int64_t> shape;
    std::string letters = shared.str() + rows + columns;
    for (char letter : letters)
      shape.push_back((a.has(letter) ? a : b).extent(letter));
    if (shape.empty())
      shape.push_back(1);
    return {createReshape(builder_, loc_, product, shape), letters};
  }

private:
  int64_t extents(const Lettered &x, StringRef letters) {
    int64_t all = 1;
    for (char letter : letters)
      all *= x.extent(letter);
    return all;
  }

  /// Without batch letters a dot, whose sums over rows of the batch are by shards.
  Value matrices(Value a, Value b, int64_t batch, int64_t rows, int64_t depth, int64_t columns) {
    BoolAttr no = builder_.getBoolAttr(false);
    auto type = rankedType(a);
    if (batch == 0)
      return builder_.create<DotOp>(loc_, type.clone({rows, columns}),
                                    createReshape(builder_, loc_, a, {rows, depth}),
                                    createReshape(builder_, loc_, b, {depth, columns}), no, no);
    return builder_.create<BatchDotOp>(loc_, type.clone({batch, rows, columns}),
                                       createReshape(builder_, loc_, a, {batch, rows, depth}),
                                       createReshape(builder_, loc_, b, {batch, depth, columns}),
                                       no, no);
  }

  OpBuilder &builder_;
  Location loc_;
};

} // namespace

Value EinsumOp::writtenOut(OpBuilder &builder) {
  Subscripts subscripts = Subscripts::of(*this);
  Writer writer(builder, getLoc());
  StringRef result = subscripts.result;
  SmallVector<Lettered, 2> operands;
  for (auto [operand, letters] : llvm::zip_equal(getArgs(), subscripts.operands))
    operands.push_back({operand, letters.str()});
  auto shared = [&](char letter) {
    return operands.size() == 2 && operands[0].has(letter) && operands[1].has(letter);
  };
  for (Lettered &operand : operands)
    operand = writer.sumOthers(
        operand, [&](char letter) { return result.contains(letter) || shared(letter); });
  Lettered value = operands[0];
  if (operands.size() == 2) {
    std::string batch, inner;
    for (char letter : operands[0].letters)
      if (shared(letter))
        (result.contains(letter) ? batch : inner) += letter;
    value = writer.multiply(operands[0], operands[1], batch, inner);
  }
  value = writer.inOrder(value, result);
  if (value.value == getArgs()[0]) // no op was needed, but the result needs a location of its own
    return builder.create<CopyOp>(getLoc(), value.value.getType(), value.value);
  return value.value;
}

} // namespace lstmc::sym

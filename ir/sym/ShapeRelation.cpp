#include "ir/sym/ShapeRelation.h"

#include "ir/sym/Location.h"
#include "ir/sym/OpText.h"
#include "ir/sym/SymOps.h"

using namespace mlir;

namespace lstmc::sym {

// Up to this many values, searching the list is faster than a map.
static constexpr size_t kSmallOp = 8;

//===---- facts -------------------------------------------------------------------------------===//

ShapeRelation::Fact &ShapeRelation::fact(Value value) {
  if (index_.empty()) {
    for (Fact &fact : facts_)
      if (fact.value == value)
        return fact;
  } else if (auto at = index_.find(value); at != index_.end()) {
    return facts_[at->second];
  }
  Fact &fact = facts_.emplace_back();
  fact.value = value;
  fact.type = cast<TensorType>(value.getType());
  fact.element = fact.type.getElementType();
  if (auto ranked = dyn_cast<RankedTensorType>(fact.type)) {
    fact.ranked = true;
    fact.typeDims = ranked.getShape();
  }
  if (facts_.size() == kSmallOp + 1)
    for (auto [i, known] : llvm::enumerate(facts_))
      index_[known.value] = i;
  else if (facts_.size() > kSmallOp)
    index_[value] = facts_.size() - 1;
  return fact;
}

void ShapeRelation::setRank(Fact &fact, int64_t rank) {
  fact.ranked = fact.changed = fact.ownsDims = true;
  fact.own.assign(rank, kOpen);
  if (origins_ && fact.value.getDefiningOp() != op_)
    origins_->record(fact.value, kRankAxis, op_);
}

void ShapeRelation::setExtent(Fact &fact, int64_t axis, int64_t extent) {
  if (!fact.ownsDims) {
    fact.own.assign(fact.typeDims.begin(), fact.typeDims.end());
    fact.ownsDims = true;
  }
  fact.own[axis] = extent;
  fact.changed = true;
  if (origins_ && fact.value.getDefiningOp() != op_)
    origins_->record(fact.value, axis, op_);
}

TensorType ShapeRelation::typeOf(const Fact &fact) {
  if (!fact.ranked)
    return UnrankedTensorType::get(fact.element);
  return RankedTensorType::get(fact.dims(), fact.element);
}

bool ShapeRelation::complete(Value value) {
  Fact &known = fact(value);
  return known.ranked && !llvm::is_contained(known.dims(), kOpen);
}

Type ShapeRelation::type(Value value) {
  Type element = fact(value).element;
  return isa<OpenType>(element) ? Type() : element;
}

//===---- relations of extents ----------------------------------------------------------------===//

LogicalResult ShapeRelation::fixRank(Value value, int64_t wanted, StringRef why) {
  Fact &known = fact(value);
  if (!known.ranked) {
    setRank(known, wanted);
    return success();
  }
  int64_t found = known.dims().size();
  if (found == wanted)
    return success();
  CodedDiagnostic diagnostic = refuse(ErrorCode::E0207, {{value, kRankAxis}});
  diagnostic << name(value) << " has " << found << (found == 1 ? " axis" : " axes") << ", ";
  if (why.empty())
    return diagnostic << "wants " << wanted;
  return diagnostic << why;
}

LogicalResult ShapeRelation::fix(Value value, int64_t axis, int64_t wanted, StringRef noun,
                                 StringRef why) {
  if (wanted == kOpen)
    return success();
  Fact &known = fact(value);
  int64_t found = known.dims()[axis];
  if (found == wanted)
    return success();
  if (found == kOpen) {
    setExtent(known, axis, wanted);
    return success();
  }
  return refuse(ErrorCode::E0207, {{value, axis}})
         << name(value) << " has " << found << ' ' << noun << ", " << why << " is " << wanted;
}

LogicalResult ShapeRelation::equal(Value a, int64_t axisA, Value b, int64_t axisB, StringRef noun) {
  // Load both before either is used: loading a fact may move the others in memory.
  fact(a), fact(b);
  Fact &left = fact(a), &right = fact(b);
  int64_t x = left.dims()[axisA], y = right.dims()[axisB];
  if (names_) {
    names_->join(a, axisA, b, axisB);
    return success();
  }
  if (x == y)
    return success();
  if (x == kOpen)
    setExtent(left, axisA, y);
  else if (y == kOpen)
    setExtent(right, axisB, x);
  else
    return refuse(ErrorCode::E0207, {{a, axisA}, {b, axisB}})
           << roleOf(op_, a, /*last=*/a == b) << " has " << x << ' ' << noun << ", " << name(b)
           << " has " << y;
  return success();
}

LogicalResult ShapeRelation::sameShape(Value a, Value b) {
  fact(a), fact(b);
  Fact &left = fact(a), &right = fact(b);
  if (!names_ && left.ranked && right.ranked && left.dims() == right.dims())
    return success();
  if (!left.ranked && !right.ranked)
    return success();
  if (!left.ranked)
    setRank(left, right.dims().size());
  if (!right.ranked)
    setRank(right, left.dims().size());

  int64_t bad = left.dims().size() == right.dims().size() ? kTypeAxis : kRankAxis;
  for (int64_t axis = 0, end = left.dims().size(); bad == kTypeAxis && axis < end; ++axis) {
    int64_t x = left.dims()[axis], y = right.dims()[axis];
    if (names_)
      names_->join(a, axis, b, axis);
    else if (x == kOpen && y != kOpen)
      setExtent(left, axis, y);
    else if (y == kOpen && x != kOpen)
      setExtent(right, axis, x);
    else if (x != y)
      bad = axis;
  }
  if (bad == kTypeAxis)
    return success();
  std::string leftText = factText(left), rightText = factText(right);
  return refuse(ErrorCode::E0207, {{a, bad}, {b, bad}})
         << name(a) << " is " << leftText << ", " << name(b) << " is " << rightText;
}

LogicalResult ShapeRelation::fixShape(Value value, ArrayRef<int64_t> extents, StringRef why) {
  if (failed(
          fixRank(value, extents.size(),
                  why.empty() ? std::string() : (why + " gives " + Twine(extents.size())).str())))
    return failure();
  for (auto [axis, wanted] : llvm::enumerate(extents)) {
    Fact &known = fact(value);
    int64_t found = known.dims()[axis];
    if (wanted == kOpen || found == wanted)
      continue;
    if (found == kOpen) {
      setExtent(known, axis, wanted);
      continue;
    }
    CodedDiagnostic diagnostic = refuse(ErrorCode::E0207, {{value, int64_t(axis)}});
    diagnostic << name(value) << " has " << found << " on axis " << axis << ", ";
    if (why.empty())
      return diagnostic << "wants " << wanted;
    return diagnostic << why << " gives " << wanted;
  }
  return success();
}

namespace {
/// Product of the known extents of a run of axes, and the open axis if there is exactly one.
struct Run {
  int64_t product = 1, open = 0, openAxis = -1;
  bool tooMany = false;
  Run(ArrayRef<int64_t> dims, int64_t from, int64_t to) {
    for (int64_t axis = from; axis < to; ++axis) {
      if (dims[axis] == kOpen) {
        ++open;
        openAxis = axis;
      } else if (__builtin_mul_overflow(product, dims[axis], &product)) {
        tooMany = true;
        return;
      }
    }
  }
};
} // namespace

LogicalResult ShapeRelation::sameElements(Value a, int64_t fromA, int64_t toA, Value b,
                                          int64_t fromB, int64_t toB, StringRef noun) {
  fact(a), fact(b);
  if (toA - fromA == 1 && toB - fromB == 1)
    return equal(a, fromA, b, fromB, noun);
  Fact &left = fact(a), &right = fact(b);
  Run x(left.dims(), fromA, toA), y(right.dims(), fromB, toB);
  if (x.tooMany || y.tooMany)
    return refuse(ErrorCode::E0402)
           << name(x.tooMany ? a : b) << " has more elements than 64 bits count";
  if (x.open + y.open > 1 || names_)
    return success();
  if (x.open == 0 && y.open == 0 && x.product == y.product)
    return success();
  Run &whole = x.open == 0 ? x : y, &part = x.open == 0 ? y : x;
  if (part.open == 1 && whole.product % part.product == 0) {
    setExtent(x.open ? left : right, part.openAxis, whole.product / part.product);
    return success();
  }
  return refuse(ErrorCode::E0207, {{a, fromA}, {b, fromB}})
         << name(a) << " has " << x.product << ' ' << noun << (x.open ? " in each" : "") << ", "
         << name(b) << " has " << y.product << (y.open ? " in each" : "");
}

//===---- relations of types ------------------------------------------------------------------===//

LogicalResult ShapeRelation::sameType(Value a, Value b) {
  fact(a), fact(b);
  Fact &left = fact(a), &right = fact(b);
  if (left.element == right.element)
    return success();
  if (isa<OpenType>(left.element))
    return fixType(a, right.element, "");
  if (isa<OpenType>(right.element))
    return fixType(b, left.element, "");
  CodedDiagnostic diagnostic = refuse(ErrorCode::E0208, {{a, kTypeAxis}, {b, kTypeAxis}});
  diagnostic << name(a) << " is " << elementText(left.element) << ", " << name(b) << " is "
             << elementText(right.element);
  if (origins_) // of a source
    diagnostic.help("x.astype(\"float32\") converts a tensor to another type");
  return diagnostic;
}

LogicalResult ShapeRelation::fixType(Value value, Type wanted, StringRef why) {
  Fact &known = fact(value);
  if (known.element == wanted)
    return success();
  if (isa<OpenType>(known.element)) {
    known.element = wanted;
    known.changed = true;
    if (origins_ && value.getDefiningOp() != op_)
      origins_->record(value, kTypeAxis, op_);
    return success();
  }
  return refuse(ErrorCode::E0208, {{value, kTypeAxis}})
         << name(value) << " is " << elementText(known.element) << ", " << why << " is "
         << elementText(wanted);
}

LogicalResult ShapeRelation::floatType(Value value) {
  Type element = type(value);
  if (!element || isa<FloatType>(element))
    return success();
  return refuse(ErrorCode::E0208, {{value, kTypeAxis}})
         << name(value) << " is " << elementText(element) << ", wants a float type";
}

//===---- messages ----------------------------------------------------------------------------===//

std::string ShapeRelation::factText(const Fact &fact) { return typeText(typeOf(fact)); }

std::string ShapeRelation::name(Value value) { return roleOf(op_, value); }

/// Index of the operand that is `value`; -1 for a result.
static int64_t operandIndex(Operation *op, Value value) {
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get() == value)
      return operand.getOperandNumber();
  return -1;
}

/// The user's text for an operand, if it is a name; else the name of the operand in its record.
static std::string writtenName(Operation *op, Value value) {
  int64_t index = operandIndex(op, value);
  if (index >= 0)
    if (std::optional<SourceRange> place = argumentPlace(op->getLoc(), index))
      if (std::string text = coveredText(*place); isName(text))
        return text;
  return roleOf(op, value);
}

Operation *ShapeRelation::originOf(const Subject &subject) {
  if (Operation *op = origins_->find(subject.value, subject.axis))
    return op;
  return subject.value.getDefiningOp();
}

void ShapeRelation::explain(CodedDiagnostic &diagnostic, const Subject &subject) {
  Operation *origin = originOf(subject);
  if (origin == op_)
    return;
  DimNames names;
  names.update(*op_->getBlock());
  std::string text = writtenName(op_, subject.value) + " is " +
                     typeText(typeOf(fact(subject.value)), subject.value, names);
  Location place = origin ? origin->getLoc() : subject.value.getLoc();
  if (!origin || isa<VariableOp>(origin))
    text += ", declared";
  else
    text += ", from " + callText(origin);
  diagnostic.because(text + atText(place), place);
}

CodedDiagnostic ShapeRelation::refuse(ErrorCode code, ArrayRef<Subject> subjects) {
  // The first subject that has a place in the source is underlined; the others get ~.
  SmallVector<std::pair<int64_t, const Subject *>, 2> ordered;
  for (const Subject &subject : subjects) {
    int64_t index = operandIndex(op_, subject.value);
    ordered.emplace_back(index < 0 ? INT64_MAX : index, &subject);
  }
  llvm::sort(ordered); // equal indices keep their order: subjects lie in one array
  SmallVector<Location, 2> places;
  for (auto [index, subject] : ordered)
    if (index != INT64_MAX)
      if (std::optional<SourceRange> place = argumentPlace(op_->getLoc(), index))
        places.push_back(placed(op_->getLoc(), *place));

  CodedDiagnostic diagnostic = emitCoded(places.empty() ? op_->getLoc() : places.front(), code);
  diagnostic << labelOf(op_) << ": ";
  if (!origins_)
    return diagnostic;
  for (Location place : llvm::drop_begin(places, places.empty() ? 0 : 1))
    diagnostic.also(place);
  for (auto [index, subject] : ordered)
    explain(diagnostic, *subject);
  return diagnostic;
}

} // namespace lstmc::sym

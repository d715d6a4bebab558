// Relations between the shapes and types of an op's values, and the solver that infers from them.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include "ir/sym/Diagnose.h"
#include "ir/sym/DimNames.h"

namespace lstmc::sym {

/// An extent that nothing has fixed yet.
inline constexpr int64_t kOpen = mlir::ShapedType::kDynamic;

/// Used in place of an axis: kRankAxis for the rank, kTypeAxis for the element type.
inline constexpr int64_t kRankAxis = -1, kTypeAxis = -2;

/// The op that fixed an extent of a value; recorded only if it is not the value's defining op.
class Origins {
public:
  void record(mlir::Value value, int64_t axis, mlir::Operation *op) {
    if (by_.try_emplace({value, axis}, op).second)
      log_.push_back({value, axis});
  }
  mlir::Operation *find(mlir::Value value, int64_t axis) const { return by_.lookup({value, axis}); }

  /// Facts recorded after a `mark` can be removed again.
  size_t mark() const { return log_.size(); }
  void rollBack(size_t mark) {
    for (; log_.size() > mark; log_.pop_back())
      by_.erase(log_.back());
  }

private:
  using Key = std::pair<mlir::Value, int64_t>;
  llvm::DenseMap<Key, mlir::Operation *> by_;
  llvm::SmallVector<Key> log_;
};

/// The shapes and types around one op. Rules (ShapeRule::relateShapes) state relations. Each
/// relation learns what it can in both directions. On a contradiction it reports E0207 (extents and
/// ranks) or E0208 (types), with the places where the facts came from, and fails. Axes count from
/// 0; a rule resolves negative ones itself.
class ShapeRelation {
public:
  /// With `names`, the relations do not solve (the graph is solved already) but tell `names` which
  /// axes share a name.
  ShapeRelation(mlir::Operation *op, Origins *origins, DimNames *names = nullptr)
      : op_(op), origins_(origins), names_(names) {}

  // ---- what is known ----
  bool ranked(mlir::Value value) { return fact(value).ranked; }
  int64_t rank(mlir::Value value) { return fact(value).dims().size(); }
  int64_t extent(mlir::Value value, int64_t axis) { return fact(value).dims()[axis]; }
  llvm::ArrayRef<int64_t> extents(mlir::Value value) { return fact(value).dims(); }
  /// The value is ranked and every extent is known.
  bool complete(mlir::Value value);
  /// Null while it is open.
  mlir::Type type(mlir::Value value);

  // ---- relations of extents ----
  /// `value` has this many axes. The message counts its axes, then gives `why`, or else the number.
  llvm::LogicalResult fixRank(mlir::Value value, int64_t rank, llvm::StringRef why = {});
  /// Fixes one extent to `extent`, as `why` requires: "weight has 60 outputs, num_hidden is 65"
  /// (noun outputs, why num_hidden).
  llvm::LogicalResult fix(mlir::Value value, int64_t axis, int64_t extent, llvm::StringRef noun,
                          llvm::StringRef why);
  /// Two axes have one extent: "weight has 200 inputs, data has 256".
  llvm::LogicalResult equal(mlir::Value a, int64_t axisA, mlir::Value b, int64_t axisB,
                            llvm::StringRef noun);
  /// Two values have one shape: "lhs is float32[2, 3], rhs is float32[2, 4]".
  llvm::LogicalResult sameShape(mlir::Value a, mlir::Value b);
  /// The whole shape, which the rule has computed from others.
  llvm::LogicalResult fixShape(mlir::Value value, llvm::ArrayRef<int64_t> extents,
                               llvm::StringRef why);
  /// Axes [fromA, toA) of a and [fromB, toB) of b have the same number of elements. Finds the
  /// extent of one open axis.
  llvm::LogicalResult sameElements(mlir::Value a, int64_t fromA, int64_t toA, mlir::Value b,
                                   int64_t fromB, int64_t toB, llvm::StringRef noun = "elements");

  // ---- relations of types ----
  llvm::LogicalResult sameType(mlir::Value a, mlir::Value b);
  llvm::LogicalResult fixType(mlir::Value value, mlir::Type element, llvm::StringRef why);
  /// E0208 unless the type is a float or open.
  llvm::LogicalResult floatType(mlir::Value value);

  // ---- refusals ----
  /// A value of the op that an error is about, and the axis whose origin explains the error (also
  /// kRankAxis, kTypeAxis).
  struct Subject {
    mlir::Value value;
    int64_t axis = kRankAxis;
  };
  /// Starts an error with "OP: ", for the caller to continue. It underlines the subjects and says
  /// where the facts about them come from. Rules with checks beyond these relations report through
  /// this.
  CodedDiagnostic refuse(ErrorCode code, llvm::ArrayRef<Subject> subjects = {});
  /// "weight", "arg1", "output".
  std::string name(mlir::Value value);
  mlir::Operation *op() { return op_; }

  /// Whether the relations only propagate names of dims; all extents are known then and need no
  /// check.
  bool naming() const { return names_ != nullptr; }

  // ---- for the solver ----
  struct Fact {
    mlir::Value value;
    mlir::TensorType type;
    bool ranked = false, changed = false, ownsDims = false;
    mlir::Type element;
    llvm::ArrayRef<int64_t> typeDims;
    llvm::SmallVector<int64_t, 4> own;
    llvm::ArrayRef<int64_t> dims() const {
      return ownsDims ? llvm::ArrayRef<int64_t>(own) : typeDims;
    }
  };
  llvm::MutableArrayRef<Fact> facts() { return facts_; }
  /// The current type of a fact.
  static mlir::TensorType typeOf(const Fact &fact);

private:
  Fact &fact(mlir::Value value);
  void setRank(Fact &fact, int64_t rank);
  void setExtent(Fact &fact, int64_t axis, int64_t extent);
  mlir::Operation *originOf(const Subject &subject);
  void explain(CodedDiagnostic &diagnostic, const Subject &subject);

  static std::string factText(const Fact &fact);

  mlir::Operation *op_;
  Origins *origins_;
  DimNames *names_;
  llvm::SmallVector<Fact, 6> facts_;
  llvm::DenseMap<mlir::Value, unsigned> index_; ///< only for ops with many values
};

/// Runs the rules of a graph until nothing changes. Types of values are changed in place.
class ShapeSolver {
public:
  /// Solves one new op and everything that follows from it. On failure all types are as before.
  llvm::LogicalResult settle(mlir::Operation *op);
  /// Solves all ops of a block in order, then what still changes. Stops at the first contradiction.
  llvm::LogicalResult settleAll(mlir::Block &block);
  /// Element types that nothing has fixed become float32, MXNet's default.
  llvm::LogicalResult closeTypes(mlir::Block &block);

  const Origins &origins() const { return origins_; }

private:
  llvm::LogicalResult visit(mlir::Operation *op, bool laterOpsFollow);
  llvm::LogicalResult drain();
  void enqueue(mlir::Operation *op);

  Origins origins_;
  llvm::SmallVector<mlir::Operation *> queue_;
  llvm::DenseSet<mlir::Operation *> queued_;
  llvm::SmallVector<std::pair<mlir::Value, mlir::Type>> undo_;
  bool keepUndo_ = false;
};

/// E0211 for extents and types that are still open. Inputs and variables are reported first,
/// because a user can specify their shapes.
llvm::LogicalResult checkClosed(mlir::Block &block);

} // namespace lstmc::sym

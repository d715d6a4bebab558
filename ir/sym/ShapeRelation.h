// How ops state what their shapes and types have to do with one another, and the solver that
// listens.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include "ir/sym/Diagnose.h"
#include "ir/sym/DimNames.h"

namespace lstmc::sym {

/// An extent that nothing has fixed yet.
inline constexpr int64_t kOpen = mlir::ShapedType::kDynamic;

/// In place of an axis: the rank, the element type.
inline constexpr int64_t kRankAxis = -1, kTypeAxis = -2;

/// Which op fixed an extent of a value where it was not the op that makes the value.
class Origins {
public:
  void record(mlir::Value value, int64_t axis, mlir::Operation *op) {
    if (by_.try_emplace({value, axis}, op).second)
      log_.push_back({value, axis});
  }
  mlir::Operation *find(mlir::Value value, int64_t axis) const { return by_.lookup({value, axis}); }

  /// What has been recorded since a `mark` can be taken back.
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

/// The shapes and types around one op. Rules (ShapeRule::relateShapes) state relations; each one
/// learns what it can in both directions and fails after reporting a contradiction, E0207 for
/// extents and ranks, E0208 for types, with the places that the facts came from. Axes count from 0;
/// negative ones from the end are for the rule to resolve.
class ShapeRelation {
public:
  /// `names`: instead of solving, says which axes have the name of which (the graph is solved
  /// already).
  ShapeRelation(mlir::Operation *op, Origins *origins, DimNames *names = nullptr)
      : op_(op), origins_(origins), names_(names) {}

  // ---- what is known ----
  bool ranked(mlir::Value value) { return fact(value).ranked; }
  int64_t rank(mlir::Value value) { return fact(value).dims().size(); }
  int64_t extent(mlir::Value value, int64_t axis) { return fact(value).dims()[axis]; }
  llvm::ArrayRef<int64_t> extents(mlir::Value value) { return fact(value).dims(); }
  /// Ranked, and every extent is known.
  bool complete(mlir::Value value);
  /// Null while it is open.
  mlir::Type type(mlir::Value value);

  // ---- relations of extents ----
  /// `value` has this many axes; the message counts them, or says `why` after them.
  llvm::LogicalResult fixRank(mlir::Value value, int64_t rank, llvm::StringRef why = {});
  /// The extent, which `why` asks for: "weight has 60 outputs, num_hidden is 65" (noun outputs, why
  /// num_hidden).
  llvm::LogicalResult fix(mlir::Value value, int64_t axis, int64_t extent, llvm::StringRef noun,
                          llvm::StringRef why);
  /// Two axes have one extent: "weight has 200 inputs, data has 256".
  llvm::LogicalResult equal(mlir::Value a, int64_t axisA, mlir::Value b, int64_t axisB,
                            llvm::StringRef noun);
  /// Two values have one shape: "lhs is float32[2, 3], rhs is float32[2, 4]".
  llvm::LogicalResult sameShape(mlir::Value a, mlir::Value b);
  /// The whole shape, where the rule computed it from others.
  llvm::LogicalResult fixShape(mlir::Value value, llvm::ArrayRef<int64_t> extents,
                               llvm::StringRef why);
  /// Axes [fromA, toA) of a and [fromB, toB) of b have the same number of elements; finds one open
  /// extent.
  llvm::LogicalResult sameElements(mlir::Value a, int64_t fromA, int64_t toA, mlir::Value b,
                                   int64_t fromB, int64_t toB, llvm::StringRef noun = "elements");

  // ---- relations of types ----
  llvm::LogicalResult sameType(mlir::Value a, mlir::Value b);
  llvm::LogicalResult fixType(mlir::Value value, mlir::Type element, llvm::StringRef why);
  /// E0208 unless it is a float, or open.
  llvm::LogicalResult floatType(mlir::Value value);

  // ---- refusals ----
  /// A value of the op that a refusal is about, and the axis whose origin explains it (kRankAxis,
  /// kTypeAxis).
  struct Subject {
    mlir::Value value;
    int64_t axis = kRankAxis;
  };
  /// "OP: ", to be continued. Underlines the subjects and says where the facts about them come
  /// from. A rule that finds more than these relations say reports through this.
  CodedDiagnostic refuse(ErrorCode code, llvm::ArrayRef<Subject> subjects = {});
  /// "weight", "arg1", "output".
  std::string name(mlir::Value value);
  mlir::Operation *op() { return op_; }

  /// Whether this is about names of dims: extents are known, nothing has to be checked.
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
  /// The type that a fact has come to.
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
  llvm::DenseMap<mlir::Value, unsigned> index_; ///< of ops with many values only
};

/// Carries relations through a graph until nothing changes. Types of values are changed in place.
class ShapeSolver {
public:
  /// One op that came new: its rule, and everything that follows from it. On failure all types are
  /// as before.
  llvm::LogicalResult settle(mlir::Operation *op);
  /// All ops of a block, in order, then what still moves. Stops at the first contradiction.
  llvm::LogicalResult settleAll(mlir::Block &block);
  /// Element types that nothing fixed are float32, MXNet's default.
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

/// E0211 for what is still open, inputs and variables first: their shapes are what a user can give.
llvm::LogicalResult checkClosed(mlir::Block &block);

} // namespace lstmc::sym

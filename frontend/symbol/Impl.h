// The state of a Graph: the module under construction, and the names, counts and scopes of its
// calls.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

#include "frontend/symbol/Diagnose.h"
#include "frontend/symbol/Lifetime.h"
#include "frontend/symbol/Rehearsal.h"
#include "frontend/symbol/Symbol.h"
#include "ir/sym/DimNames.h"
#include "ir/sym/Location.h"
#include "ir/sym/OpTable.h"
#include "ir/sym/ShapeRelation.h"

namespace lstmc::symbol {

/// Bytes of a name.
inline constexpr size_t kLongestName = 4096;

struct Graph::Impl {
  Impl(std::string name, GraphOptions options);

  std::string name;
  GraphOptions options;
  mlir::MLIRContext context;
  DiagnosticCollector collector;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  mlir::Block *body;
  mlir::OpBuilder builder;
  sym::LocationEncoder locations;
  sym::ShapeSolver solver;
  sym::DimNames dimNames;

  /// Attributes of the arguments of `body`; the function has those up to the last declareInputs().
  std::vector<mlir::DictionaryAttr> inputAttributes;

  /// Inputs, parameters and states by name.
  struct Named {
    mlir::Value value;
    bool shareIsMeant = false;
    Initialiser init;
    std::optional<double> lrMult, wdMult;
  };
  llvm::StringMap<Named> named;
  /// Number of automatic names so far, by hint ("fullyconnected").
  llvm::StringMap<int64_t> counts;
  /// Number of begin states whose name was already in use, by name.
  llvm::StringMap<int64_t> stateCounts;
  std::vector<Scope> scopes;
  int64_t nodes = 0;
  bool callsRepeat = false;
  std::optional<Rehearsal> rehearsal; ///< of a graph that is rehearsable
  bool finished = false;
  std::vector<mlir::Value> outputs;
  std::vector<Setting> fit, data;
  LifetimeHold lifetime;
  /// Nodes that no output depends on, kept so that symbols stay valid.
  mlir::Block unused;

  static mlir::Value valueOf(const Symbol &symbol) {
    return mlir::Value::getFromOpaquePointer(symbol.value_);
  }
  static Symbol symbolOf(Graph *graph, mlir::Value value) {
    return Symbol(graph, value.getAsOpaquePointer());
  }

  mlir::Type openType();

  /// E0206 for an extent below 1, E0402 for more elements than can be planned.
  std::optional<Diagnostic> checkShape(const Shape &shape, const Origin &origin);
  /// E0402 for more elements or axes than can be planned; negative extents are open.
  std::optional<Diagnostic> checkSize(llvm::ArrayRef<int64_t> extents, const Origin &origin);
  mlir::TensorType typeOf(const Shape &shape, std::optional<DType> dtype);
  mlir::ArrayAttr dimsOf(const Shape &shape);
  Shape shapeOf(mlir::Value value);
  mlir::ArrayAttr initAttr(const Initialiser &init);
  mlir::Attribute attributeOf(const AttributeValue &value);

  /// The type of the innermost `with dtype(..)`; nullopt outside of all.
  std::optional<DType> computeType() const;

  /// A name with the prefixes of the name scopes in force.
  std::string scoped(const std::string &name);

  /// Sets the ctx_group in force on a parameter or state. Nodes get the other scopes too
  /// (Apply.cpp).
  void addGroup(mlir::Operation *op);

  mlir::BlockArgument addInput(llvm::StringRef name, mlir::Type type, Role role,
                               mlir::ArrayAttr dims, mlir::Location at);
  void dropLastInput();
  /// Gives the function the inputs that were added since. All at once, because its type and the
  /// list of attributes are made anew and kept for good: one by one, memory would grow with the
  /// square of the inputs. Whoever reads a name or the dims of an input calls this.
  void declareInputs();

  std::optional<Symbol> rehearseNamed(Graph *graph, llvm::StringRef name, const std::string &key);

  /// `wanted`, or with a number where something has that name.
  std::string unusedStateName(const std::string &wanted);

  /// E0204 for a text that no package may hold; `what` begins the message.
  static std::optional<Diagnostic> checkText(llvm::StringRef what, llvm::StringRef text,
                                             const Origin &origin);

  /// Limits that hold for every node, and what a name may consist of.
  std::optional<Diagnostic> checkNew(llvm::StringRef name, const Origin &origin);
};

/// An attribute of a record, its aliases left out.
OpAttribute attributeOf(const sym::AttributeRecord &record);

/// The value of an op's attribute, as callers write it.
AttributeValue valueOf(mlir::Attribute attribute);
/// Whether a value equals the record's default, given as text.
bool isDefault(const AttributeValue &value, std::string_view text);

/// Why an op ignores an attribute, given its other attributes; empty if it reads it.
std::string idleReason(mlir::Operation *op, llvm::StringRef attribute);

/// A diagnostic at a place.
Diagnostic makeError(ErrorCode code, const Origin &origin, std::string message,
                     std::string help = {});

} // namespace lstmc::symbol

// Runs a tree: top to bottom, once. The parts are in Evaluate*.cpp, Call.cpp, Arithmetic.cpp,
// Indexing.cpp, Builtins.cpp, Settings.cpp, Training.cpp, TensorOps.cpp, Types.cpp, Nets.cpp and
// Imports.cpp.
#pragma once

#include <functional>

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>

#include "executor/abi/Schedules.h"
#include "executor/base/NumberText.h"
#include "frontend/lnet/Load.h"
#include "frontend/lnet/Resolve.h"
#include "frontend/lnet/Value.h"
#include "frontend/lnet/text/Problems.h"

namespace lstmc::lnet {

/// A file that is being or has been run.
struct Module {
  std::unique_ptr<SourceFile> file;
  std::unique_ptr<Tree> tree;
  Value globals;         ///< its frame
  std::string key;       ///< the real path: what makes it the same file
  std::string folder;    ///< as in messages; imports are looked for here
  bool main = false;     ///< named on the command line
  bool internal = false; ///< layers.lnet: messages name the user's call instead
  bool running = false, done = false;
  bool broken = false; ///< its text has errors: whatever is imported from it is unknown
  bool failed = false; ///< running it gave errors: what it lacks is unknown
  Owner owner;
};

/// An evaluated type annotation.
struct TypeValue {
  struct Extent {
    enum class Kind { Known, Infer, Ellipsis } kind;
    int64_t extent = 0;
    uint32_t dim = 0;
  };
  std::optional<DType> dtype;
  bool hasDims = false;
  std::vector<Extent> extents;
  std::vector<std::shared_ptr<TypeValue>> parts; ///< of a tuple
  Span span;
  Module *module = nullptr;
  bool unknown = false; ///< an error was reported in it
};

/// The arguments of one call, evaluated left to right.
struct Arguments {
  struct Named {
    const Argument *argument;
    Value value;
  };
  const CallExpr *call = nullptr;
  llvm::SmallVector<Value, 6> positional;
  llvm::SmallVector<const Expr *, 6> places; ///< of the positional ones
  llvm::SmallVector<Named, 6> named;
  bool unknown = false; ///< what `*x` gives is not known, so neither is how many there are
};

class Evaluator;

struct BuiltinRecord {
  std::string_view name;
  Value (Evaluator::*run)(Arguments &);
  bool internal = false; ///< known in layers.lnet only
};

/// A parameter of a built-in function.
struct BuiltinParameter {
  std::string_view name;
  bool required = false;
};

class Evaluator {
public:
  /// `rehearses`: of a graph that grows large, nodes are counted only, to see whether the limit
  /// comes first (Graph::rehearse). Where it does not, there is no net, and `inVain` says so.
  Evaluator(const LoadOptions &options, Problems &problems, bool rehearses = false);
  ~Evaluator();

  /// Runs the file; null if it could not be read. `text` instead of the file's own.
  Module *runMain(const std::string &path, std::optional<std::string> text);
  /// Draws the net that options and file choose. Nothing after errors.
  std::optional<LoadedNet> drawNet(Module &module);
  /// Values that `--shape` gives to the dims of the chosen net's inputs.
  std::map<std::string, int64_t> dimsOfShapes(Module &module);
  void giveDims(std::map<std::string, int64_t> dims) { shapeDims_ = std::move(dims); }
  bool inVain() const { return inVain_; }
  /// E0001 for every `--set` that named nothing.
  void checkSettingsUsed();

  struct Builtins; ///< the table, Builtins.cpp

private:
  enum class Flow { Next, Return };

  // Statements: EvaluateStatement.cpp.
  Flow run(Block block);
  Flow runStatement(const Stmt *stmt);
  Flow runFor(const ForStmt *stmt);
  Flow runIf(const IfStmt *stmt);
  Flow runWith(const WithStmt *stmt);
  void runDef(const DefStmt *stmt);
  void assign(const Expr *targets, Value value, const Expr *source);
  void assignName(const NameExpr *name, Value value);
  Flow skipUnknown(std::initializer_list<Block> blocks);
  void define(const NameExpr *name, const Stmt *stmt);
  std::optional<bool> truth(const Value &value, Span span);

  // Loops in force.
  struct LoopRecord {
    const Expr *targets;
    Span iterable;
    Module *module;
    Value item;
    uint64_t index = 0, count = 0;
    int64_t nodesBefore = 0, nodesAtIteration = 0, stepsBefore = 0;
    int64_t lastIteration = 0; ///< nodes made by the one before
    size_t callDepth = 0;
    struct Costly {
      const CallExpr *call = nullptr;
      std::string_view name;
      int64_t nodes = 0;
    } costly{}, lastCostly{};
  };
  /// Goes over the elements of a value; `body` gets each and says whether to go on. False if it
  /// cannot.
  bool forEach(const Value &iterable, const Expr *source, const std::function<bool(Value)> &body);
  void beginIteration(Value item, uint64_t count);

  // Expressions: EvaluateExpression.cpp.
  Value evaluate(const Expr *expr);
  Value evaluateName(const NameExpr *expr);
  Value outside(const NameExpr *expr);
  Value findOutside(std::string_view name);
  Value unknownName(const NameExpr *expr);
  Value evaluateSequence(const SequenceExpr *expr);
  Value evaluateDict(const DictExpr *expr);
  Value evaluateComprehension(const ComprehensionExpr *expr);
  Value evaluateLogic(const BinaryExpr *expr);
  Value evaluateCompare(const CompareExpr *expr);
  Value evaluateAttribute(const AttributeExpr *expr);
  Value evaluateLambda(const LambdaExpr *expr);
  Value makeDict(std::vector<std::pair<Value, Value>> entries, const Expr *source);
  Value makeSequence(ValueKind kind, std::vector<Value> items, Span span);
  Value makeString(std::string text, Span span);

  // Calls: Call.cpp.
  Value evaluateCall(const CallExpr *expr);
  bool evaluateArguments(const CallExpr *expr, Arguments &arguments);
  Value callMethod(const CallExpr *expr, const AttributeExpr *callee);
  Value callFunction(const Value &function, Arguments &arguments);
  Value runFunction(FunctionObject &function, FrameObject &frame, const CallExpr *call);
  /// Puts arguments to parameters; false after an error. `what` names a parameter in messages.
  bool bind(std::string_view callee, std::string_view what, Arguments &arguments,
            const std::vector<std::string_view> &names, std::vector<Value> &values,
            std::vector<const Expr *> *places = nullptr);
  /// As above for built-in functions; missing ones stay Unset.
  bool bindBuiltin(std::string_view callee, Arguments &arguments,
                   std::initializer_list<BuiltinParameter> parameters, std::vector<Value> &values,
                   std::vector<const Expr *> *places = nullptr);
  Span calleeSpan(const CallExpr *call) const;

  // Arithmetic.cpp, Indexing.cpp, StringFormat.cpp.
  Value binary(TokenKind op, const Value &left, const Value &right, Span opSpan,
               const Expr *leftPlace, const Expr *rightPlace);
  Value integerBinary(TokenKind op, int64_t a, int64_t b, Span span);
  Value floatBinary(TokenKind op, double a, double b, Span span, const Value &left,
                    const Value &right);
  Value sequenceBinary(TokenKind op, const Value &left, const Value &right, Span span);
  Value unary(TokenKind op, const Value &operand, const UnaryExpr *expr);
  Value compare(CompareOp op, const Value &left, const Value &right, const CompareTerm &term,
                const Expr *leftPlace);
  std::optional<bool> contains(const Value &container, const Value &item, Span span);
  std::optional<int> order(const Value &a, const Value &b, std::string_view op, Span span);
  std::optional<std::string> formatString(const std::string &format, const Value &values,
                                          Span span);
  Value evaluateIndex(const IndexExpr *expr);
  Value index(const Value &base, const Value &index, const IndexExpr *expr);
  Value slice(const Value &base, const SliceExpr *slice, const IndexExpr *expr);
  Value indexTensor(const Value &base, const IndexExpr *expr);

  // Tensors: TensorOps.cpp.
  Value callOp(const symbol::OpSignature &op, Arguments &arguments);
  Value apply(symbol::Call &call, Span origin);
  Value applyOne(std::string_view op, std::vector<Value> inputs,
                 std::vector<symbol::NamedAttribute> attributes, Span origin,
                 std::vector<const Expr *> places);
  Value tensorBinary(TokenKind op, const Value &left, const Value &right, Span opSpan,
                     const Expr *leftPlace, const Expr *rightPlace);
  Value tensorCompare(CompareOp op, const Value &left, const Value &right, const CompareTerm &term,
                      const Expr *leftPlace);
  std::optional<symbol::AttributeValue> attribute(const symbol::OpSignature &op,
                                                  const symbol::OpAttribute &record,
                                                  const Value &value, const Expr *place);
  /// Of a list of extents or a single one: the dims that they are the values of, "" for others.
  std::vector<std::string> dimsOf(const Value &extents) const;
  Value wrap(const std::vector<symbol::Symbol> &symbols);
  Value wrap(symbol::Symbol symbol) { return heap_.make<TensorObject>(symbol); }
  bool mayDraw(std::string_view what, Span span);
  bool checkNodes(Span origin);
  void reportGraph(Diagnostics diagnostics);

  // Types and nets: Types.cpp, Nets.cpp.
  std::shared_ptr<TypeValue> evaluateType(const TypeNode *node);
  bool evaluateExtent(const Expr *expr, TypeValue &type);
  symbol::Shape shapeOf(const TypeValue &type) const;
  std::string typeText(const TypeValue &type) const;
  std::string tensorText(const symbol::Symbol &symbol) const;
  void checkType(const Value &value, const std::shared_ptr<TypeValue> &type, std::string_view name,
                 Span span);
  void checkDeclared(symbol::Symbol symbol, const std::shared_ptr<TypeValue> &type,
                     std::string name, SourceRange place);
  bool isNet(const FunctionObject &function) const;
  std::vector<FunctionObject *> netsOf(Module &module) const;
  FunctionObject *chooseNet(Module &module, bool report);
  const InputShape *shapeFor(std::string_view input) const;

  // Built-in functions: Builtins.cpp.
  Value builtinRange(Arguments &), builtinLen(Arguments &), builtinEnumerate(Arguments &),
      builtinZip(Arguments &);
  Value builtinReversed(Arguments &), builtinSorted(Arguments &), builtinMin(Arguments &),
      builtinMax(Arguments &);
  Value builtinAbs(Arguments &), builtinSum(Arguments &), builtinInt(Arguments &),
      builtinFloat(Arguments &);
  Value builtinStr(Arguments &), builtinBool(Arguments &), builtinList(Arguments &),
      builtinTuple(Arguments &);
  Value builtinDict(Arguments &);
  Value extreme(Arguments &arguments, std::string_view name, bool largest);
  std::optional<std::vector<Value>> elements(const Value &value, const Expr *source);
  bool sort(std::vector<Value> &items, std::vector<Value> &keys, bool reverse, Span span);
  // Variables.cpp.
  Value builtinVariable(Arguments &), builtinLayerName(Arguments &), builtinBeginState(Arguments &);
  Value builtinExpect(Arguments &), builtinLayerShown(Arguments &);
  Value initialiser(Arguments &), scheduler(Arguments &);
  Value builtinUniform(Arguments &), builtinNormal(Arguments &), builtinXavier(Arguments &);
  Value builtinMsraPrelu(Arguments &);
  Value builtinOrthogonal(Arguments &), builtinConstant(Arguments &), builtinZero(Arguments &);
  Value builtinOne(Arguments &), builtinLstmBias(Arguments &), builtinMixed(Arguments &),
      builtinLoad(Arguments &);
  Value simpleInitialiser(Arguments &arguments, std::string_view shown, std::string_view name,
                          std::initializer_list<std::string_view> parameters, size_t required);
  std::optional<symbol::Initialiser> initialiserOf(const Value &value, const Expr *place);
  std::optional<symbol::Shape> shapeArgument(const Value &value, const Expr *place);
  template <size_t Row> Value builtinSchedule(Arguments &arguments) {
    return schedule(arguments, kSchedules[Row]);
  }
  Value schedule(Arguments &arguments, const ScheduleRow &row);
  std::optional<symbol::AttributeValue> scheduleArgument(const ScheduleArgument &argument,
                                                         const Value &value, const Expr *place);
  // Settings.cpp, Training.cpp.
  Value builtinSetting(Arguments &), builtinDim(Arguments &), builtinFit(Arguments &),
      builtinData(Arguments &), builtinPlace(Arguments &);
  Value builtinNotBuilt(Arguments &), builtinCustom(Arguments &);
  Value declareSetting(SettingInForce record, const Value &fallback, Span nameSpan);
  std::optional<Value> parseSetting(const std::string &name, const std::string &text,
                                    const Value &like, Span span);
  struct NetDefaults {
    std::string net;
    std::vector<symbol::Setting> settings;
  };
  Value training(Arguments &arguments, std::string_view function, std::vector<NetDefaults> &into);
  void noSuchOptimizer(const Argument &argument, const Value &value);

  // Imports: Imports.cpp.
  void runImport(const ImportStmt *stmt);
  Module *loadModule(const std::string &shown, const std::string &key, std::string text,
                     const ImportStmt *stmt);
  void runModule(Module &module);
  std::optional<std::string> readSource(const std::string &path, std::optional<SourceRange> place);
  Module *layers();

  // Messages.
  SourceRange place(Span span) const;
  Value report(Diagnostic diagnostic);
  template <typename... Args>
  Value error(ErrorCode code, Span span, fmt::format_string<Args...> format, Args &&...args) {
    return report(makeError(code, span, fmt::format(format, std::forward<Args>(args)...)));
  }
  Diagnostic makeError(ErrorCode code, Span span, std::string message, std::string help = {}) const;
  Value limitError(ErrorCode code, Span span, std::string message, std::string_view limit);
  void abort();
  bool giveUpRehearsal();
  bool outOfSteps(Span span);
  const LoopRecord *heaviest(bool steps) const;
  std::string loopText(const LoopRecord &loop) const;

  void addLoopValues(const Expr *targets, const Value &item, SourceRange &range) const;
  SourceRange loopPlace(const LoopRecord &loop) const;

  /// Counts one expression; false once the limit is reached.
  bool step(Span span) { return --stepsLeft_ >= 0 || outOfSteps(span); }
  /// Counts the work on `n` elements, so that no value is copied for nothing.
  bool stepMany(uint64_t n, Span span) {
    stepsLeft_ -= int64_t(n / 4);
    return stepsLeft_ >= 0 || outOfSteps(span);
  }

  struct CallRecord {
    std::string_view name;
    Module *callerModule;
    const CallExpr *call; ///< null: the net itself
    size_t loops;         ///< in force at the call
    bool internal;        ///< the function is layers.lnet's
    mutable std::string text;
  };

  const LoadOptions &options_;
  Problems &problems_;
  Heap heap_;
  std::vector<std::unique_ptr<Module>> modules_;
  std::vector<Value> outside_; ///< ops, built-in functions and layers met so far
  Module *module_ = nullptr;
  FrameObject *frame_ = nullptr;
  Value frameHold_;
  Value returned_;
  std::vector<CallRecord> calls_;
  std::vector<Module *> imports_; ///< files being run, outermost first
  Module *layers_ = nullptr;
  std::vector<LoopRecord> loops_;
  std::map<const void *, Owner> owners_;
  const Owner *owner_ = nullptr;
  uint64_t runs_ = 0;
  uint64_t callDepth_ = 0;
  int64_t stepsLeft_ = 0;
  bool aborted_ = false;
  const bool rehearses_;
  bool limitReached_ = false, inVain_ = false;
  symbol::Graph *graph_ = nullptr;
  int64_t nodes_ = 0;
  std::vector<std::string> nameScopes_;
  std::map<std::string, int> layerCounts_;
  std::string layerShown_; ///< what messages call nodes of layers.lnet: "LSTM(num_hidden=256)"
  std::vector<std::string> dims_;
  std::vector<SettingInForce> settings_;
  std::map<std::string, Value> settingValues_;
  std::map<std::string, int64_t> shapeDims_;
  std::vector<NetDefaults> fit_, data_, place_;
  struct Declared {
    symbol::Symbol symbol;
    std::shared_ptr<TypeValue> type;
    std::string name;
    SourceRange place;
  };
  std::vector<Declared> declared_; ///< looked at again once all shapes are known
};

} // namespace lstmc::lnet

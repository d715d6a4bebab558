// Build-time values: the results of expressions. Small ones are stored in the Value itself, the
// others on a heap and reference-counted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/lnet/evaluation/Resolve.h"
#include "frontend/lnet/text/Tree.h"
#include "frontend/symbol/Symbol.h"

namespace lstmc::lnet {

struct Builtin;
struct Module;
struct TypeValue;

enum class ValueKind : uint8_t {
  Unset,   ///< a name that has no value yet
  Unknown, ///< the result of an error; whatever depends on it is unknown too, without another
           ///< message
  None,
  Infer, ///< `_` where an extent is written
  Bool,
  Integer,
  Float,
  Builtin,
  Op,
  // The following are on the heap, with a reference count.
  String,
  Tuple,
  List,
  Dict,
  Range,
  Function,
  Frame,
  Tensor,
  Initialiser,
  Scheduler,
};

/// The name of a kind in messages: "an integer", "a list".
std::string_view kindName(ValueKind kind);

/// A function or file whose runs make lists.
struct Owner {
  std::string text; ///< "unrolled(..), a.lnet:14:5"
};

/// A reference-counted value. All that live are in a list, so that cycles of closures can be freed
/// at the end of the run.
struct Object {
  explicit Object(ValueKind kind) : kind(kind) {}
  virtual ~Object() = default;
  /// Drops the values that it holds.
  virtual void clear() {}

  ValueKind kind;
  uint32_t references = 0;
  Object *before = nullptr, *after = nullptr;
};

class Value {
public:
  Value() = default;
  Value(const Value &other) : kind_(other.kind_), dim_(other.dim_), integer_(other.integer_) {
    retain();
  }
  Value(Value &&other) noexcept : kind_(other.kind_), dim_(other.dim_), integer_(other.integer_) {
    other.kind_ = ValueKind::Unset;
  }
  Value &operator=(Value other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(dim_, other.dim_);
    std::swap(integer_, other.integer_);
    return *this;
  }
  ~Value() {
    if (kind_ >= ValueKind::String)
      release(object_);
  }

  static Value unknown() { return Value(ValueKind::Unknown); }
  static Value none() { return Value(ValueKind::None); }
  static Value infer() { return Value(ValueKind::Infer); }
  static Value boolean(bool value) {
    Value result(ValueKind::Bool);
    result.integer_ = value;
    return result;
  }
  /// `dim`: number of the dim that it is the value of, from 1; 0 for none.
  static Value integer(int64_t value, uint32_t dim = 0) {
    Value result(ValueKind::Integer);
    result.integer_ = value;
    result.dim_ = dim;
    return result;
  }
  static Value number(double value) {
    Value result(ValueKind::Float);
    result.float_ = value;
    return result;
  }
  static Value builtin(const Builtin *function) {
    Value result(ValueKind::Builtin);
    result.builtin_ = function;
    return result;
  }
  static Value op(const symbol::OpSignature *signature) {
    Value result(ValueKind::Op);
    result.op_ = signature;
    return result;
  }
  static Value object(Object *object) {
    Value result(object->kind);
    result.object_ = object;
    ++object->references;
    return result;
  }

  ValueKind kind() const { return kind_; }
  bool is(ValueKind kind) const { return kind_ == kind; }
  bool isUnknown() const { return kind_ == ValueKind::Unknown; }
  bool isNumber() const { return kind_ == ValueKind::Integer || kind_ == ValueKind::Float; }
  bool isSequence() const { return kind_ == ValueKind::Tuple || kind_ == ValueKind::List; }

  bool boolean() const { return integer_ != 0; }
  int64_t integer() const { return integer_; }
  double number() const { return kind_ == ValueKind::Integer ? double(integer_) : float_; }
  uint32_t dim() const { return kind_ == ValueKind::Integer ? dim_ : 0; }
  const Builtin &builtin() const { return *builtin_; }
  const symbol::OpSignature &op() const { return *op_; }
  template <typename T> T &as() const { return *static_cast<T *>(object_); }
  bool sameObject(const Value &other) const {
    return kind_ == other.kind_ && kind_ >= ValueKind::Builtin && object_ == other.object_;
  }
  const std::string &string() const;
  std::vector<Value> &items() const;

private:
  explicit Value(ValueKind kind) : kind_(kind) {}
  void retain() {
    if (kind_ >= ValueKind::String)
      ++object_->references;
  }
  static void release(Object *object);

  ValueKind kind_ = ValueKind::Unset;
  uint32_t dim_ = 0;
  union {
    int64_t integer_ = 0;
    double float_;
    Object *object_;
    const Builtin *builtin_;
    const symbol::OpSignature *op_;
  };
};

struct StringObject : Object {
  explicit StringObject(std::string text) : Object(ValueKind::String), text(std::move(text)) {}
  std::string text;
};

struct SequenceObject : Object { ///< Tuple, List
  SequenceObject(ValueKind kind, std::vector<Value> items)
      : Object(kind), items(std::move(items)) {}
  void clear() override { items.clear(); }
  std::vector<Value> items;
  uint64_t owner = 0;           ///< of a list: number of the run of the function that made it
  const Owner *maker = nullptr; ///< and which function or file that was
};

/// Keys in the order they came; made once, never changed.
struct DictObject : Object {
  DictObject() : Object(ValueKind::Dict) {}
  void clear() override { entries.clear(); }
  std::vector<std::pair<Value, Value>> entries;
  std::unordered_multimap<size_t, size_t> index; ///< hash of a key to its entry
};

struct RangeObject : Object {
  RangeObject(int64_t start, int64_t stop, int64_t step)
      : Object(ValueKind::Range), start(start), stop(stop), step(step) {}
  /// The count of numbers; it fits in 64 bits.
  uint64_t size() const;
  int64_t at(uint64_t index) const { return int64_t(uint64_t(start) + index * uint64_t(step)); }
  int64_t start, stop, step;
};

struct FrameObject : Object {
  FrameObject(Value parent, const Scope &scope, uint64_t run)
      : Object(ValueKind::Frame), parent(std::move(parent)), scope(&scope),
        slots(scope.names.size()), run(run) {}
  void clear() override {
    slots.clear();
    parent = Value();
  }
  Value parent;       ///< the frame that its function was made in
  const Scope *scope; ///< the names of the slots
  std::vector<Value> slots;
  /// Number of the run of a function; a comprehension has that of the function it is in.
  uint64_t run;
  /// The def or import that set each slot; empty if there is none yet.
  std::vector<const Stmt *> defined;
};

struct FunctionObject : Object {
  FunctionObject() : Object(ValueKind::Function) {}
  void clear() override {
    closure = Value();
    defaults.clear();
  }
  const DefStmt *def = nullptr; ///< this or `lambda`
  const LambdaExpr *lambda = nullptr;
  Module *module = nullptr;
  Value closure;
  std::vector<Value> defaults; ///< Unset for a parameter without default
  std::vector<std::shared_ptr<TypeValue>> types;
  std::shared_ptr<TypeValue> result;
  bool running = false;
  std::string runningSince; ///< "a.lnet:9:4", of the call that is running it
  std::string_view name() const { return def ? def->name->name : std::string_view("lambda"); }
};

struct TensorObject : Object {
  explicit TensorObject(symbol::Symbol symbol) : Object(ValueKind::Tensor), symbol(symbol) {}
  symbol::Symbol symbol;
};

struct InitialiserObject : Object {
  explicit InitialiserObject(symbol::Initialiser init)
      : Object(ValueKind::Initialiser), init(std::move(init)) {}
  symbol::Initialiser init;
};

struct SchedulerObject : Object {
  SchedulerObject() : Object(ValueKind::Scheduler) {}
  std::string name; ///< "factor"
  std::vector<symbol::NamedAttribute> arguments;
};

inline const std::string &Value::string() const { return as<StringObject>().text; }
inline std::vector<Value> &Value::items() const { return as<SequenceObject>().items; }

/// Owns all values on the heap of one run.
class Heap {
public:
  Heap();
  ~Heap();
  Heap(const Heap &) = delete;
  Heap &operator=(const Heap &) = delete;

  template <typename T, typename... Args> Value make(Args &&...args) {
    T *object = new T(std::forward<Args>(args)...);
    link(object);
    return Value::object(object);
  }

private:
  void link(Object *object);
  Object ends_;
};

/// Hash of a key of a dict; equal keys have equal hashes. Nothing for a value that may be no key (a
/// list, a tensor, a NaN).
std::optional<size_t> hashOf(const Value &value);

/// Equality as in Python, except that a bool is not a number. Nothing if the answer depends on two
/// different tensors.
std::optional<bool> equal(const Value &a, const Value &b);

/// Elements looked at by `equal` and `hashOf` since the last call of this, which sets the count to
/// 0. Nested values can have exponentially many elements: both functions give up after kMostWork of
/// them, and what they return is then not right.
uint64_t takeWork();
inline constexpr uint64_t kMostWork = 100'000'000;

/// The text of `str(value)`; of strings inside others, their `repr`. Cut short somewhat after
/// `limit` bytes.
std::string textOf(const Value &value, size_t limit = 1 << 20);
/// Like `repr`: strings with quotes. At most about `limit` bytes.
std::string reprOf(const Value &value, size_t limit = 60);

} // namespace lstmc::lnet

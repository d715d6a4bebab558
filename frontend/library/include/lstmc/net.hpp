// Networks written in C++: values, and a function per op (ops.hpp), over lstmc_compiler.h.
//
//   lstmc::build::Net net("twice");
//   const auto x = net.data("data", lstmc::DType::F32, {{2, "batch"}, 3});
//   const auto y = lstmc::build::fullyConnected(tanh(x) * 2.0, {.num_hidden = 4, .name = "fc"});
//   const lstmc::Network network = net.finish({y});
//
// An op that fails gives a value that could not be made, on which others fail in silence; finish()
// has all errors, each at its line. A value without a network, made by Value(), stands for an
// argument left out; as the only argument of an op it is an Error at once.
//
// A Net and its values are used by one thread at a time.
#ifndef LSTMC_NET_HPP
#define LSTMC_NET_HPP

#include <lstmc/network.hpp>

#include <concepts>
#include <source_location>

namespace lstmc {
inline namespace LSTMC_ABI {
namespace build {

/// An extent, with the name of the dim that it is ("batch"). -1: follows from what is known.
struct Dim {
  std::int64_t extent = -1;
  std::string name{};

  template <std::integral Extent>
  Dim(Extent length, std::string named = {})
      : extent(static_cast<std::int64_t>(length)), name(std::move(named)) {}
};

/// A field that has to be written: without it, the initialiser does not compile.
template <typename T> class Required {
public:
  template <std::convertible_to<T> Given>
  constexpr Required(Given &&value) : value_(static_cast<T>(std::forward<Given>(value))) {}
  constexpr const T &value() const { return value_; }

private:
  T value_;
};

/// A word of the program's text, as a template argument.
template <std::size_t size> struct Word {
  char text[size];
  constexpr Word(const char (&from)[size]) {
    for (std::size_t i = 0; i < size; ++i)
      text[i] = from[i];
  }
  constexpr bool is(std::string_view other) const { return other == text; }
};

namespace detail {
/// No constant: a call of it ends a compilation.
inline void not_one_of_the_words_that_the_op_knows() {}
} // namespace detail

/// One of some words, or none. A literal that is another word does not compile; a std::string is
/// known when the program runs, and another word is then an error of its line.
template <Word... words> class Choice {
public:
  constexpr Choice() = default;
  consteval Choice(const char *word) : word_(word) {
    if (!(words.is(word) || ...))
      detail::not_one_of_the_words_that_the_op_knows();
  }
  Choice(const std::string &word) {
    ((words.is(word) ? void(word_ = words.text) : void()), ...);
    if (!word_)
      word.copy(unknown_, sizeof unknown_ - 1);
  }
  /// "": not given.
  std::string text() const { return word_ ? word_ : unknown_; }

private:
  const char *word_ = nullptr;
  char unknown_[40] = {}; ///< begin of a text that is none of the words, for the message
};

/// A word that has to be written.
template <Word... words> class RequiredChoice : public Choice<words...> {
public:
  consteval RequiredChoice(const char *word) : Choice<words...>(word) {}
  RequiredChoice(const std::string &word) : Choice<words...>(word) {}
};

/// {2, 3}, or one integer. Empty: not given.
class Integers {
public:
  Integers() = default;
  template <std::integral T> Integers(T value) : values_{static_cast<std::int64_t>(value)} {}
  Integers(std::initializer_list<std::int64_t> values) : values_(values) {}
  Integers(std::vector<std::int64_t> values) : values_(std::move(values)) {}
  const std::vector<std::int64_t> &values() const { return values_; }

private:
  std::vector<std::int64_t> values_;
};

/// {0, std::nullopt}: integers and None. Empty: not given.
class Entries {
public:
  Entries() = default;
  Entries(std::initializer_list<std::optional<std::int64_t>> values) : values_(values) {}
  Entries(std::vector<std::optional<std::int64_t>> values) : values_(std::move(values)) {}
  const std::vector<std::optional<std::int64_t>> &values() const { return values_; }

private:
  std::vector<std::optional<std::int64_t>> values_;
};

using Place = std::source_location;

namespace detail {

struct CloseNet {
  void operator()(lstmc_net *net) const noexcept { lstmc_net_close(net); }
};
using Handle = std::shared_ptr<lstmc_net>;

/// What stops a program that passes no network: an Error, or without exceptions nothing yet.
inline void no_network([[maybe_unused]] const Place &place, [[maybe_unused]] const char *op) {
#if LSTMC_EXCEPTIONS
  throw Error::make(Status::invalid_model, "E0203", {op, ": no argument is a value of a network"},
                    lstmc::detail::text_of(place));
#endif
}

} // namespace detail

/// An index with the place of the user's call: operator[] has no other argument for it.
struct PlacedIndex {
  std::int64_t operand;
  Place place;
  template <std::integral T>
  PlacedIndex(T index, Place at = Place::current())
      : operand(static_cast<std::int64_t>(index)), place(at) {}
};

/// A tensor of a network, which lives as long as a value of it. Copy it freely.
class Value {
public:
  /// No value: an argument left out.
  Value() = default;
  /// Whether there is one, and it could be made.
  explicit operator bool() const { return id_ > 0; }

  /// The extents known so far, -1 where one is open; nothing where their number is.
  std::optional<std::vector<std::int64_t>> shape() const {
    const lstmc_value_info found = info();
    if (found.rank < 0)
      return std::nullopt;
    return std::vector<std::int64_t>(found.shape, found.shape + found.rank);
  }
  std::optional<DType> dtype() const {
    const lstmc_value_info found = info();
    return found.dtype < 0 ? std::nullopt : std::optional(static_cast<DType>(found.dtype));
  }
  std::string name() const {
    const lstmc_value_info found = info();
    return found.name ? found.name : "";
  }

  /// The part with that index along the first axis; -1 is the last.
  Value operator[](PlacedIndex index) const;
  /// From `begin` to before `end` along an axis; negative ones count from the end.
  Value slice(std::int64_t begin, std::optional<std::int64_t> end, std::int64_t axis = 0,
              Place place = Place::current()) const;

  Value &operator+=(const Value &other);
  Value &operator-=(const Value &other);
  Value &operator*=(const Value &other);
  Value &operator/=(const Value &other);

  /// For functions of lstmc_compiler.h.
  lstmc_net *net() const noexcept { return net_.get(); }
  lstmc_value id() const noexcept { return id_; }

private:
  friend class Net;
  friend class OpCall;

  Value(detail::Handle net, lstmc_value id) noexcept : net_(std::move(net)), id_(id) {}
  lstmc_value_info info() const {
    lstmc_value_info found = {};
    found.size = sizeof found;
    found.rank = found.dtype = -1;
    if (id_ > 0)
      lstmc_net_value(net_.get(), id_, &found);
    return found;
  }

  detail::Handle net_;
  lstmc_value id_ = LSTMC_NO_VALUE;
};

using Values = std::vector<Value>;

/// A scope of a network, left when this ends.
class [[nodiscard]] Scoped {
public:
  Scoped(Scoped &&other) noexcept = default;
  Scoped &operator=(Scoped &&) = delete;
  ~Scoped() { lstmc_net_leave(net_.get()); }

private:
  friend class Net;
  Scoped(detail::Handle net, const char *kind, const std::string &value) : net_(std::move(net)) {
    lstmc_net_enter(net_.get(), kind, value.c_str());
  }
  detail::Handle net_;
};

/// How a parameter is made beside its name.
struct ParameterOptions {
  std::vector<std::int64_t> shape{}; ///< empty: follows from its readers
  std::optional<DType> dtype{};
  Initializer init{}; ///< else that of the network
  std::optional<double> lr_mult{}, wd_mult{};
};

/// A network in the making; a handle, which lives as long as this or a value of it.
class Net {
public:
  /// Status::out_of_memory alone.
  explicit Net(const std::string &name) {
    lstmc_net *made = nullptr;
    if (lstmc_net_create(name.c_str(), &made) == LSTMC_OK)
      net_ = detail::Handle(made, detail::CloseNet());
  }

  /// An input.
  Value data(const std::string &name, DType dtype, const std::vector<Dim> &shape,
             Place place = Place::current()) {
    return input(name, dtype, shape, 0, place);
  }
  /// An input that only the training reads.
  Value label(const std::string &name, DType dtype, const std::vector<Dim> &shape,
              Place place = Place::current()) {
    return input(name, dtype, shape, 1, place);
  }
  /// The same name is the same parameter.
  Value parameter(const std::string &name, const ParameterOptions &options = {},
                  Place place = Place::current());

  /// What is made while the result lives is of this group (CompileOptions::place), is computed
  /// again in the backward pass, computes in that type, or has the prefix in its names.
  Scoped group(const std::string &name) const { return Scoped(net_, "group", name); }
  Scoped recompute() const { return Scoped(net_, "recompute", ""); }
  Scoped type(DType dtype) const {
    return Scoped(net_, "dtype", dtype == DType::F64 ? "float64" : "float32");
  }
  Scoped prefix(const std::string &text) const { return Scoped(net_, "prefix", text); }

  /// A key of fit(..) of the language with its value as text, as the network's default; finish()
  /// refuses unknown keys and wrong values at this line. CompileOptions stand above it.
  void fit(const std::string &key, const std::string &value, Place place = Place::current()) {
    set(0, key, value, place);
  }
  /// The same of data(..).
  void data_setting(const std::string &key, const std::string &value,
                    Place place = Place::current()) {
    set(1, key, value, place);
  }

  /// Ends the network. Status::invalid_model, with all errors of all lines.
  Result<Network> try_finish(const Values &outputs, Place place = Place::current()) noexcept {
    return lstmc::detail::attempt([&]() -> Result<Network> {
      std::vector<lstmc_value> ids;
      for (const Value &output : outputs)
        ids.push_back(output.id() > 0 && output.net() != net_.get() ? LSTMC_FOREIGN_VALUE
                                                                    : output.id());
      const lstmc_place at = lstmc::detail::place_of(place);
      lstmc_network *made = nullptr;
      const auto status = lstmc_net_finish(net_.get(), ids.data(), ids.size(), &at, &made);
      return lstmc::detail::network_of(status, made);
    });
  }
#if LSTMC_EXCEPTIONS
  Network finish(const Values &outputs, Place place = Place::current()) {
    return try_finish(outputs, place).value();
  }
#endif

  /// For functions of lstmc_compiler.h.
  lstmc_net *handle() const noexcept { return net_.get(); }

private:
  friend class OpCall;

  Value input(const std::string &name, DType dtype, const std::vector<Dim> &shape,
              std::uint32_t is_label, const Place &place) {
    std::vector<lstmc_dim> dims;
    for (const Dim &dim : shape)
      dims.push_back({dim.extent, dim.name.c_str()});
    const lstmc_place at = lstmc::detail::place_of(place);
    return Value(net_, lstmc_net_input(net_.get(), name.c_str(), static_cast<lstmc_dtype>(dtype),
                                       dims.data(), dims.size(), is_label, &at));
  }
  void set(std::uint32_t of_data, const std::string &key, const std::string &value,
           const Place &place) {
    const lstmc_place at = lstmc::detail::place_of(place);
    lstmc_net_set(net_.get(), of_data, key.c_str(), value.c_str(), &at);
  }

  detail::Handle net_;
};

/// A call of an op in the making, for ops.hpp. What was left out is not passed on, so that defaults
/// are the records' own.
class OpCall {
public:
  OpCall(const char *op, std::string name, const Place &place)
      : op_(op), name_(std::move(name)), place_(place) {}

  OpCall &in(const Net &net) {
    net_ = net.net_;
    return *this;
  }
  OpCall &input(const char *name, const Value &value) {
    meet(value);
    arguments_.push_back({name, id_of(value)});
    return *this;
  }
  OpCall &inputs(const Values &values) {
    for (const Value &value : values)
      input(nullptr, value);
    return *this;
  }
  OpCall &input(const Value &value) { return input(nullptr, value); }

  OpCall &attribute(const char *name, const std::optional<std::int64_t> &value) {
    if (value)
      add(name, LSTMC_INTEGER).integer = *value;
    return *this;
  }
  OpCall &attribute(const char *name, const std::optional<double> &value) {
    if (value)
      add(name, LSTMC_NUMBER).number = *value;
    return *this;
  }
  OpCall &attribute(const char *name, const std::optional<bool> &value) {
    if (value)
      add(name, LSTMC_BOOLEAN).integer = *value;
    return *this;
  }
  OpCall &attribute(const char *name, const std::optional<std::string> &value) {
    return value ? text(name, *value) : *this;
  }
  OpCall &attribute(const char *name, const std::optional<DType> &value) {
    static constexpr const char *names[] = {"float32", "float64", "float16", "bfloat16", "int8",
                                            "uint8",   "int32",   "int64",   "bool"};
    return value ? text(name, names[static_cast<std::size_t>(*value)]) : *this;
  }
  OpCall &attribute(const char *name, const Integers &value) {
    return value.values().empty() ? *this : list(name, value.values());
  }
  OpCall &attribute(const char *name, const Entries &value) {
    std::vector<std::int64_t> entries;
    for (const std::optional<std::int64_t> &entry : value.values())
      entries.push_back(entry.value_or(LSTMC_NONE));
    return entries.empty() ? *this : list(name, std::move(entries));
  }
  template <Word... words> OpCall &attribute(const char *name, const Choice<words...> &value) {
    const std::string word = value.text();
    return word.empty() ? *this : text(name, word);
  }
  template <typename T> OpCall &attribute(const char *name, const Required<T> &value) {
    return attribute(name, std::optional<T>(value.value()));
  }
  OpCall &list(const char *name, std::vector<std::int64_t> values) {
    lists_.push_back(std::move(values));
    lstmc_attribute &attribute = add(name, LSTMC_LIST);
    attribute.list = lists_.back().data();
    attribute.count = lists_.back().size();
    return *this;
  }
  OpCall &text(const char *name, std::string value) {
    texts_.push_back(std::make_unique<std::string>(std::move(value)));
    add(name, LSTMC_TEXT).text = texts_.back()->c_str();
    return *this;
  }

  /// The only output.
  Value one() {
    Values made = all();
    return made.empty() ? failed() : made.front();
  }
  /// One that could not be made.
  Value failed() const { return Value(net_, net_ ? LSTMC_FAILED_VALUE : LSTMC_NO_VALUE); }
  Values all() {
    if (!net_) {
      detail::no_network(place_, op_);
      return {};
    }
    lstmc_call call = {};
    call.size = sizeof call;
    call.op = op_;
    call.name = name_.c_str();
    call.arguments = arguments_.data();
    call.argument_count = arguments_.size();
    call.attributes = attributes_.data();
    call.attribute_count = attributes_.size();
    call.place = lstmc::detail::place_of(place_);
    std::vector<lstmc_value> ids(16);
    const std::size_t made = lstmc_net_call(net_.get(), &call, ids.data(), ids.size());
    ids.resize(made); // of more than there is room for, the ids follow one another
    for (std::size_t i = 16; i < made; ++i)
      ids[i] = ids[i - 1] + 1;
    Values values;
    for (lstmc_value id : ids)
      values.push_back(Value(net_, id));
    return values;
  }

private:
  void meet(const Value &value) {
    if (!net_)
      net_ = value.net_;
  }
  lstmc_value id_of(const Value &value) const {
    return value.id_ > 0 && value.net_ != net_ ? LSTMC_FOREIGN_VALUE : value.id_;
  }
  lstmc_attribute &add(const char *name, lstmc_attribute_kind kind) {
    lstmc_attribute attribute = {};
    attribute.name = name;
    attribute.kind = kind;
    return attributes_.emplace_back(attribute);
  }

  const char *op_;
  std::string name_;
  Place place_;
  detail::Handle net_;
  std::vector<lstmc_argument> arguments_;
  std::vector<lstmc_attribute> attributes_;
  std::vector<std::vector<std::int64_t>> lists_; // a vector that moves keeps its elements' place
  std::vector<std::unique_ptr<std::string>> texts_;
};

/// Options of ops that have no other.
struct Named {
  std::string name = {};
};

inline Value Net::parameter(const std::string &name, const ParameterOptions &options, Place place) {
  OpCall call("Variable", name, place);
  call.in(*this);
  if (!options.shape.empty())
    call.list("shape", options.shape);
  if (options.dtype)
    call.attribute("dtype", std::optional(static_cast<std::int64_t>(*options.dtype)));
  if (const std::string init = options.init.text(); !init.empty())
    call.text("init", init);
  return call.attribute("lr_mult", options.lr_mult).attribute("wd_mult", options.wd_mult).one();
}

inline Value Value::operator[](PlacedIndex index) const {
  if (!net_) {
    detail::no_network(index.place, "x[index]");
    return {};
  }
  const lstmc_place at = lstmc::detail::place_of(index.place);
  return Value(net_, lstmc_net_index(net_.get(), id_, index.operand, &at));
}

inline Value Value::slice(std::int64_t begin, std::optional<std::int64_t> end, std::int64_t axis,
                          Place place) const {
  return OpCall("slice_axis", {}, place)
      .input(*this)
      .attribute("axis", std::optional(axis))
      .attribute("begin", std::optional(begin))
      .attribute("end", end)
      .one();
}

//===---- recurrent layers --------------------------------------------------------------------===//

/// output [T, N, directions * units], or [N, T, ..] with .layout = "NTC"; final states [layers *
/// directions, N, units], c of an LSTM only.
struct Layer {
  Value output, h, c;
};

/// Parameters NAME_i2h_weight, NAME_h2h_weight, NAME_i2h_bias, NAME_h2h_bias; NAME_l1_... above the
/// first layer, NAME_r0_... backward.
struct LstmOptions {
  Required<std::int64_t> num_hidden;
  std::int64_t num_layers = 1;
  bool bidirectional = false;
  double p = 0;   ///< dropout between layers, in training
  Value h{}, c{}; ///< states before the first step; zero unless given
  Value length{}; ///< [N]: how many steps of each sequence are real
  Choice<"TNC", "NTC"> layout{};
  std::string name{}; ///< else "lstm0" and so on
};
struct GruOptions {
  Required<std::int64_t> num_hidden;
  std::int64_t num_layers = 1;
  bool bidirectional = false;
  double p = 0;
  Value h{}, length{};
  Choice<"TNC", "NTC"> layout{};
  std::string name{};
};
struct RnnLayerOptions {
  Required<std::int64_t> num_hidden;
  Choice<"relu", "tanh"> activation{}; ///< relu, as in MXNet
  std::int64_t num_layers = 1;
  bool bidirectional = false;
  double p = 0;
  Value h{}, length{};
  Choice<"TNC", "NTC"> layout{};
  std::string name{};
};

namespace detail {

template <typename Options> Layer layer(OpCall call, const Value &x, const Options &options) {
  call.input(x)
      .input("h", options.h)
      .input("length", options.length)
      .attribute("num_hidden", options.num_hidden)
      .attribute("num_layers", std::optional(options.num_layers))
      .attribute("bidirectional", std::optional(options.bidirectional))
      .attribute("p", std::optional(options.p))
      .attribute("layout", options.layout);
  Values made = call.all();
  if (made.size() < 2) {
    const Value none = call.failed();
    return {none, none, none};
  }
  return {made[0], made[1], made.size() > 2 ? made[2] : Value()};
}

} // namespace detail

inline Layer lstm(const Value &x, const LstmOptions &options, Place place = Place::current()) {
  OpCall call("LSTM", options.name, place);
  call.input("c", options.c);
  return detail::layer(std::move(call), x, options);
}
inline Layer gru(const Value &x, const GruOptions &options, Place place = Place::current()) {
  return detail::layer(OpCall("GRU", options.name, place), x, options);
}
inline Layer rnnLayer(const Value &x, const RnnLayerOptions &options,
                      Place place = Place::current()) {
  OpCall call("RNNLayer", options.name, place);
  call.attribute("activation", options.activation);
  return detail::layer(std::move(call), x, options);
}

//===---- operators ---------------------------------------------------------------------------===//

/// An operand with the place of the user's call: operators have no other argument for it.
template <typename T> struct Placed {
  T operand;
  Place place;
  Placed(T value, Place at = Place::current()) : operand(std::move(value)), place(at) {}
};
/// A number, of any arithmetic type.
struct PlacedNumber {
  double operand;
  Place place;
  template <typename T>
    requires std::is_arithmetic_v<T>
  PlacedNumber(T number, Place at = Place::current())
      : operand(static_cast<double>(number)), place(at) {}
};
using PlacedValue = Placed<Value>;

namespace detail {

/// Whether an op must broadcast the two: shapes that are known differ.
inline bool stretch(const Value &left, const Value &right) {
  const auto a = left.shape(), b = right.shape();
  if (!a || !b)
    return false;
  if (a->size() != b->size())
    return true;
  for (std::size_t i = 0; i < a->size(); ++i)
    if ((*a)[i] != (*b)[i] && ((*a)[i] == 1 || (*b)[i] == 1))
      return true;
  return false;
}
inline Value binary(const char *same, const char *stretching, const Value &left,
                    const PlacedValue &right) {
  return OpCall(stretch(left, right.operand) ? stretching : same, {}, right.place)
      .input("lhs", left)
      .input("rhs", right.operand)
      .one();
}
inline Value scaled(const char *op, const Value &value, const PlacedNumber &number) {
  return OpCall(op, {}, number.place)
      .input("data", value)
      .attribute("scalar", std::optional(number.operand))
      .one();
}

} // namespace detail

// Element-wise, with broadcasting of extents of 1: the ops for two values of one shape, for two of
// different shapes, for a value and a number, and for a number and a value.
#define LSTMC_OPERATOR(SIGN, SAME, STRETCHING, NUMBER, NUMBER_FIRST)                               \
  inline Value operator SIGN(const Value &lhs, const PlacedValue &rhs) {                           \
    return detail::binary(SAME, STRETCHING, lhs, rhs);                                             \
  }                                                                                                \
  inline Value operator SIGN(const Value &lhs, const PlacedNumber &rhs) {                          \
    return detail::scaled(NUMBER, lhs, rhs);                                                       \
  }                                                                                                \
  inline Value operator SIGN(const PlacedNumber &lhs, const Value &rhs) {                          \
    return detail::scaled(NUMBER_FIRST, rhs, lhs);                                                 \
  }
LSTMC_OPERATOR(+, "elemwise_add", "broadcast_add", "_plus_scalar", "_plus_scalar")
LSTMC_OPERATOR(-, "elemwise_sub", "broadcast_sub", "_minus_scalar", "_rminus_scalar")
LSTMC_OPERATOR(*, "elemwise_mul", "broadcast_mul", "_mul_scalar", "_mul_scalar")
LSTMC_OPERATOR(/, "elemwise_div", "broadcast_div", "_div_scalar", "_rdiv_scalar")
LSTMC_OPERATOR(<, "_lesser", "broadcast_lesser", "_lesser_scalar", "_greater_scalar")
LSTMC_OPERATOR(>, "_greater", "broadcast_greater", "_greater_scalar", "_lesser_scalar")
LSTMC_OPERATOR(<=, "_lesser_equal", "broadcast_lesser_equal", "_lesser_equal_scalar",
               "_greater_equal_scalar")
LSTMC_OPERATOR(>=, "_greater_equal", "broadcast_greater_equal", "_greater_equal_scalar",
               "_lesser_equal_scalar")
#undef LSTMC_OPERATOR
inline Value operator-(const PlacedValue &value) {
  return OpCall("negative", {}, value.place).input("data", value.operand).one();
}

inline Value &Value::operator+=(const Value &other) { return *this = *this + other; }
inline Value &Value::operator-=(const Value &other) { return *this = *this - other; }
inline Value &Value::operator*=(const Value &other) { return *this = *this * other; }
inline Value &Value::operator/=(const Value &other) { return *this = *this / other; }

} // namespace build
} // namespace LSTMC_ABI
} // namespace lstmc

#include <lstmc/ops.hpp>

#endif

#include "tests/nets/Arguments.h"

#include <algorithm>

#include "executor/abi/DType.h"

namespace lstmc::nets {

using symbol::AttributeValue;
using symbol::NamedAttribute;
using symbol::Tuple;
using Kind = sym::AttributeKind;

namespace {

/// Requirement of an input beyond the types in its record.
enum class Wish {
  Any,     ///< of any shape: the first input
  Partner, ///< of the first input's shape, or one that broadcasts with it
  Ones,    ///< with an extent of 1
  Steps,   ///< [T, N, I]
  Three,   ///< row numbers
  Indices, ///< numbers of rows
  PerRow,  ///< indices, one for each row of the first along `axis`
  Counts,  ///< lengths, one for each row of the first along `axis`
  Lengths, ///< lengths, one for each sequence of the first
  Inner,   ///< with an axis that fits into a product with the first
  Begin,   ///< a state before the first step
  Label,
};

struct Row {
  std::string_view op, input;
  Wish wish;
};

/// The only list of names: ops whose inputs have other requirements than equal shapes. An op that
/// is not listed gets inputs drawn for any op.
constexpr Row kWishes[] = {
    {"sym.embedding", "data", Wish::Indices},
    {"sym.take", "indices", Wish::Indices},
    {"sym.one_hot", "indices", Wish::Indices},
    {"sym.pick", "index", Wish::PerRow},
    {"sym.softmax", "length", Wish::Counts},
    {"sym.log_softmax", "length", Wish::Counts},
    {"sym.sequence_mask", "sequence_length", Wish::Lengths},
    {"sym.sequence_last", "sequence_length", Wish::Lengths},
    {"sym.sequence_reverse", "sequence_length", Wish::Lengths},
    {"sym.dot", "rhs", Wish::Inner},
    {"sym.batch_dot", "lhs", Wish::Three},
    {"sym.batch_dot", "rhs", Wish::Inner},
    {"sym.linalg_gemm2", "B", Wish::Inner},
    {"sym.linalg_gemm", "B", Wish::Inner},
    {"sym.gather_nd", "indices", Wish::Indices},
    {"sym.scatter_nd", "indices", Wish::Indices},
    {"sym.squeeze", "data", Wish::Ones},
    {"sym.broadcast_to", "data", Wish::Ones},
    {"sym.broadcast_axis", "data", Wish::Ones},
    {"sym.batch_take", "indices", Wish::PerRow},
    {"sym.convolution", "data", Wish::Three},
    {"sym.pooling", "data", Wish::Three},
    {"sym.instance_norm", "data", Wish::Three},
    {"sym.ctc_loss", "data", Wish::Steps},
    {"sym.ctc_loss", "data_lengths", Wish::Lengths},
    {"sym.ctc_loss", "label_lengths", Wish::Lengths},
    {"sym.rnn", "data", Wish::Steps},
    {"sym.rnn", "state", Wish::Begin},
    {"sym.rnn", "state_cell", Wish::Begin},
    {"sym.rnn", "sequence_length", Wish::Lengths},
};

Wish wishOf(const sym::OpRecord &op, const sym::InputRecord &input, bool first) {
  for (const Row &row : kWishes)
    if (row.op == op.opName && row.input == input.name)
      return row.wish;
  return input.label ? Wish::Label : first ? Wish::Any : Wish::Partner;
}

class Drawer {
public:
  Drawer(Pool &pool, const sym::OpRecord &op) : pool_(pool), draw_(pool.draw), op_(op) {}

  symbol::Call run() {
    call_.op = std::string(op_.mxnetName);
    if (!op_.inputs.empty())
      first_ = item(op_.inputs.front(), true);
    if (!first_ && !op_.inputs.empty())
      first_ = draw_.oneOf(pool_.items); // such a call is refused
    if (first_ && first_->rank() == 0)   // read as a second operand only: attributes need axes
      first_ = pool_.parameter({draw_.oneOf(pool_.sizes.features)});
    attributes();
    inputs();
    return std::move(call_);
  }

private:
  //===---- inputs ----------------------------------------------------------------------------===//

  void inputs() {
    if (op_.variadic())
      return anyNumber();
    for (const sym::InputRecord &input : op_.inputs) {
      bool first = &input == &op_.inputs.front();
      if (!hasInput(op_, input, call_.attributes))
        continue;
      if (input.parameter) {
        if (std::optional<Item> shared = sharedParameter(input))
          call_.named.push_back({std::string(input.name), shared->symbol});
        continue;
      }
      if (input.optional && draw_.chance(0.6))
        continue;
      if (std::optional<Item> value = first ? first_ : item(input, false))
        call_.named.push_back({std::string(input.name), value->symbol});
    }
  }

  void anyNumber() {
    std::vector<Item> items = {*first_};
    while (items.size() < 4 && draw_.chance(0.6))
      if (std::optional<Item> more = partner())
        items.push_back(*more);
    draw_.shuffle(items);
    for (const sym::AttributeRecord &attribute : op_.attributes)
      if (attribute.required && attribute.kind == Kind::String) {
        items.resize(std::min<size_t>(items.size(), 2));
        call_.attributes.push_back({std::string(attribute.name), subscripts(items)});
      }
    for (const Item &item : items)
      call_.positional.push_back(item.symbol);
  }

  /// Letters for the axes of each item, the same for some axes of one extent, and then for those of
  /// a result: "ab,cb->ca".
  std::string subscripts(const std::vector<Item> &items) {
    std::vector<int64_t> extents; // of a, b, ...
    std::vector<char> named;
    std::string text;
    for (const Item &item : items) {
      std::string letters;
      for (int64_t extent : item.extents) {
        size_t letter = extents.size();
        for (size_t i = 0; i < extents.size(); ++i)
          if (extents[i] == extent && letters.find(char('a' + i)) == std::string::npos &&
              draw_.chance(0.8))
            letter = i;
        if (letter == extents.size()) {
          extents.push_back(extent);
          if (draw_.chance(0.6))
            named.push_back(char('a' + letter));
        }
        letters += char('a' + letter);
      }
      text += (text.empty() ? "" : ",") + letters;
    }
    draw_.shuffle(named);
    return text + "->" + std::string(named.begin(), named.end());
  }

  /// Usually unset: the call creates its own.
  std::optional<Item> sharedParameter(const sym::InputRecord &input) {
    if (!draw_.chance(0.25))
      return std::nullopt;
    const Item *found = pool_.find([&](const Item &item) {
      return item.symbol.name().ends_with("_" + std::string(input.name)) ||
             (draw_.chance(0.1) && isFloating(item.dtype));
    });
    return found ? std::optional(*found) : std::nullopt;
  }

  std::optional<Item> item(const sym::InputRecord &input, bool first) {
    switch (wishOf(op_, input, first)) {
    case Wish::Any:
      return any([&](const Item &item) {
        return isFloating(item.dtype) ? item.rank() > 1 || draw_.chance(0.5) : draw_.chance(0.15);
      });
    case Wish::Partner:
      return partner();
    case Wish::Ones:
      if (auto found = any([](const Item &item) { return std::ranges::count(item.extents, 1); }))
        return found;
      if (auto shape = any([](const Item &item) { return isFloating(item.dtype) && item.rank(); }))
        return pool_.parameter(withOnes(shape->extents, 1));
      return std::nullopt;
    case Wish::Steps:
      return any([&](const Item &item) {
        return item.rank() == 3 && isFloating(item.dtype) &&
               (item.extents[1] == pool_.sizes.batch || draw_.chance(0.1));
      });
    case Wish::Three:
      return any([](const Item &item) { return item.rank() == 3 && isFloating(item.dtype); });
    case Wish::Indices:
      return indices();
    case Wish::PerRow:
      return numbers(withoutAxis(), "index");
    case Wish::Counts:
      return numbers(withoutAxis(), "length");
    case Wish::Lengths:
      return lengths();
    case Wish::Inner:
      return inner();
    case Wish::Begin:
      return begin();
    case Wish::Label:
      return label();
    }
    return std::nullopt;
  }

  template <typename Fits> std::optional<Item> any(Fits fits) {
    const Item *found = pool_.find(fits);
    return found ? std::optional(*found) : std::nullopt;
  }
  std::optional<Item> anyFloat() {
    return any([](const Item &item) { return isFloating(item.dtype); });
  }
  std::optional<Item> ofShape(const Extents &extents, double most = 1) {
    if (!draw_.chance(most))
      return std::nullopt;
    return any([&](const Item &item) {
      return item.extents == extents && isFloating(item.dtype) == isFloating(first_->dtype);
    });
  }

  Extents withOnes(Extents extents, int least) {
    for (int i = 0; i < least || draw_.chance(0.3); ++i)
      extents[size_t(draw_.below(int64_t(extents.size())))] = 1;
    return extents;
  }

  /// A second operand: another value of the same shape, one that broadcasts, or any.
  std::optional<Item> partner() {
    if (!first_)
      return anyFloat();
    if (draw_.chance(0.1))
      return anyFloat();
    if (draw_.chance(0.3)) {
      Extents extents = withOnes(first_->extents, 1);
      if (auto found = ofShape(extents))
        return found;
      return isFloating(first_->dtype) ? pool_.parameter(extents) : first_;
    }
    auto found = any([&](const Item &item) {
      return item.extents == first_->extents && item.dtype == first_->dtype &&
             !(item.symbol == first_->symbol);
    });
    if (found || !isFloating(first_->dtype))
      return found ? found : first_;
    if (std::ranges::count(first_->extents, pool_.sizes.batch))
      return draw_.chance(0.7) ? std::optional(pool_.input("data", first_->extents, DType::F32))
                               : first_;
    return pool_.parameter(first_->extents);
  }

  Extents withoutAxis() {
    Extents extents = first_->extents;
    int64_t axis = integer("axis", -1);
    axis += axis < 0 ? first_->rank() : 0;
    if (axis >= 0 && axis < first_->rank())
      extents.erase(extents.begin() + axis);
    if (extents.empty())
      extents = {1};
    return extents;
  }

  Item numbers(const Extents &extents, const char *stem) {
    if (draw_.chance(0.3))
      if (auto found = ofShape(extents))
        return *found;
    return pool_.input(stem, extents, draw_.chance(0.5) ? DType::F32 : DType::I32);
  }

  std::optional<Item> indices() {
    const AttributeValue *mode = given("mode");
    const bool raises = mode && *mode == AttributeValue("raise"); // where a computed one is outside
    if (!raises && draw_.chance(0.6))
      if (auto found = any([&](const Item &item) {
            return !isFloating(item.dtype) || item.symbol.name().starts_with("index") ||
                   draw_.chance(0.05);
          }))
        return found;
    const Sizes &sizes = pool_.sizes;
    return numbers(draw_.oneOf<Extents>({{sizes.batch},
                                         {sizes.steps, sizes.batch},
                                         {sizes.batch, sizes.steps},
                                         {draw_.between(1, 4)}}),
                   "index");
  }

  std::optional<Item> lengths() {
    if (first_->rank() < 2)
      return std::nullopt;
    return numbers({first_->extents[integer("axis", 0) == 0 ? 1 : 0]}, "length");
  }

  std::optional<Item> inner() {
    const Extents &a = first_->extents;
    if (op_.opName == "sym.batch_dot" && a.size() != 3)
      return std::nullopt;
    bool turnA = flag("transpose_a"), turnB = flag("transpose_b");
    int64_t free = draw_.oneOf(pool_.sizes.features);
    Extents extents;
    int64_t inner = 0;
    if (op_.opName != "sym.dot" && a.size() == 3) {
      inner = turnA ? a[1] : a[2];
      extents = turnB ? Extents{a[0], free, inner} : Extents{a[0], inner, free};
      if (auto found = any([&](const Item &b) {
            return b.rank() == 3 && b.extents[0] == a[0] && b.extents[turnB ? 2 : 1] == inner &&
                   b.dtype == first_->dtype;
          }))
        return found;
    } else {
      inner = turnA ? a.front() : a.back();
      extents = turnB ? Extents{free, inner} : Extents{inner, free};
      if (draw_.chance(0.5))
        if (auto found = any([&](const Item &b) {
              return b.rank() > 0 && (turnB ? b.extents.back() : b.extents.front()) == inner &&
                     b.dtype == first_->dtype;
            }))
          return found;
    }
    if (std::ranges::count(extents, pool_.sizes.batch))
      return pool_.input("data", extents, DType::F32);
    return pool_.parameter(extents);
  }

  std::optional<Item> begin() {
    if (first_->rank() < 2)
      return std::nullopt;
    bool both = flag("bidirectional");
    Extents extents = {integer("num_layers", 1) * (both ? 2 : 1), first_->extents[1],
                       integer("state_size", 1)};
    if (auto found = ofShape(extents, 0.7))
      return found;
    return pool_.input("data", extents, DType::F32);
  }

  /// Usually an input created here, because the shape rule does not always determine one that the
  /// call creates.
  std::optional<Item> label() {
    if (!first_ || draw_.chance(0.15))
      return std::nullopt;
    const Extents &data = first_->extents;
    Extents less(data.begin(), data.end() - 1), noChannel = data;
    if (data.size() > 1)
      noChannel.erase(noChannel.begin() + 1);
    std::vector<Extents> shapes = {data, noChannel, {data.front()}};
    if (!less.empty())
      shapes.push_back(less);
    if (data.size() == 3) // a row of classes for each sequence
      shapes.push_back({data[1], draw_.oneOf(pool_.sizes.features)});
    return pool_.input("k", draw_.oneOf(shapes), draw_.chance(0.7) ? DType::F32 : DType::I32, true);
  }

  //===---- attributes ------------------------------------------------------------------------===//

  void attributes() {
    for (const sym::AttributeRecord &attribute : op_.attributes) {
      if (!attribute.required && draw_.chance(attribute.nullable ? 0.6 : 0.45))
        continue;
      if (attribute.kind == Kind::String)
        continue; // words without effect (ctx)
      call_.attributes.push_back({std::string(attribute.name), value(attribute)});
    }
  }

  AttributeValue value(const sym::AttributeRecord &attribute) {
    switch (attribute.kind) {
    case Kind::Boolean:
      return draw_.chance(0.5);
    case Kind::Choice:
      return std::string(draw_.oneOf(attribute.choices));
    case Kind::DType:
      return std::string(draw_.chance(0.8) ? "float32" : draw_.oneOf({"int32", "float64"}));
    case Kind::Float:
      return number(attribute.name);
    case Kind::Integer:
      return whole(attribute);
    case Kind::Tuple:
      return tuple(attribute.name);
    case Kind::Entries:
      return entries(attribute.name);
    case Kind::String:
      break;
    }
    return std::string(attribute.defaultText);
  }

  double number(std::string_view name) {
    if (name == "p")
      return draw_.oneOf({0.1, 0.3, 0.5});
    if (name == "ignore_label")
      return double(draw_.below(3));
    if (name == "eps")
      return draw_.oneOf({1e-5, 1e-2});
    if (name == "a_min")
      return draw_.oneOf({-1.0, -0.3, 0.0});
    if (name == "start" || name == "value" || name == "off_value" || name == "valid_thresh")
      return draw_.oneOf({0.0, 1.0, -0.5, 2.0});
    if (name == "stop")
      return double(draw_.chance(0.3) ? pool_.sizes.batch : draw_.between(2, 6));
    return draw_.oneOf({0.25, 0.5, 1.0, 1.5, 2.0});
  }

  int64_t rank() const { return first_ ? first_->rank() : 1; }
  /// Rarely the batch, because most ops along it need all rows at once.
  int64_t axis() {
    int64_t axis = draw_.between(-rank(), draw_.chance(0.1) ? rank() : rank() - 1);
    bool rows = first_ && axis < rank() &&
                first_->extents[size_t(axis < 0 ? axis + rank() : axis)] == pool_.sizes.batch;
    return rows && draw_.chance(0.75) ? draw_.between(-rank(), rank() - 1) : axis;
  }

  int64_t whole(const sym::AttributeRecord &attribute) {
    std::string_view name = attribute.name;
    if (name.starts_with("axis") || name.starts_with("dim"))
      return axis();
    if (name == "begin" || name == "end")
      return draw_.between(-2, 4);
    if (name == "ord")
      return draw_.between(1, 2);
    if (name == "k") // of topk and diag
      return draw_.between(-2, 3);
    if (name == "input_dim" || name == "depth")
      return draw_.between(3, 9);
    if (name.starts_with("num_hidden") || name.ends_with("_dim") || name.ends_with("_size"))
      return draw_.oneOf(pool_.sizes.features);
    if (name == "num_layers")
      return draw_.between(1, 2);
    if (name == "num_outputs" && first_) // one that divides some axis
      return std::max<int64_t>(
          1, draw_.chance(0.7) ? draw_.oneOf(first_->extents) / draw_.between(1, 3) : 2);
    return draw_.between(1, 3);
  }

  Extents someAxes(double each) {
    Extents axes;
    for (int64_t i = 0; i < rank(); ++i)
      if (draw_.chance(first_->extents[size_t(i)] == pool_.sizes.batch ? each / 3 : each))
        axes.push_back(draw_.chance(0.2) ? i - rank() : i);
    if (axes.empty())
      axes.push_back(axis());
    return axes;
  }

  static Tuple tupleOf(const Extents &numbers) {
    Tuple tuple;
    for (int64_t number : numbers)
      tuple.push_back(number);
    return tuple;
  }

  AttributeValue tuple(std::string_view name) {
    if (name == "axes" && op_.attributes.size() == 1) { // all of them, in another order
      Extents axes;
      for (int64_t i = 0; i < rank(); ++i)
        axes.push_back(i);
      draw_.shuffle(axes);
      return tupleOf(axes);
    }
    if (name == "axis" && op_.opName == "sym.broadcast_axis") {
      Extents axes;
      for (int64_t i = 0; i < rank(); ++i)
        if (first_->extents[size_t(i)] == 1)
          axes.push_back(i);
      return tupleOf(axes);
    }
    if (name == "axis" || name == "axes")
      return tupleOf(someAxes(0.4));
    if (name == "size") {
      Extents sizes;
      for (int64_t i = 0; i < std::ranges::count(first_->extents, 1); ++i)
        sizes.push_back(draw_.chance(0.15) ? pool_.sizes.batch : draw_.between(1, 4));
      return tupleOf(sizes);
    }
    if (name == "reps") {
      Extents reps;
      for (int64_t i = draw_.between(1, rank()); i > 0; --i)
        reps.push_back(draw_.between(1, 2));
      return tupleOf(reps);
    }
    if (name == "shape")
      return shape();
    if (name == "kernel" || name == "stride" || name == "dilate" || name == "pad")
      return windows(name);
    if (name == "pad_width")
      return widths();
    if (name == "indices")
      return draw_.chance(0.5) ? Tuple{0, 1} : Tuple{0};
    if (name == "target_shape")
      return Tuple();
    Extents numbers;
    for (int64_t i = 0; i < rank(); ++i)
      numbers.push_back(draw_.between(0, 3));
    return tupleOf(numbers);
  }

  /// A number for each extent after samples and channels.
  AttributeValue windows(std::string_view name) {
    Extents numbers;
    for (int64_t i = 2; i < rank(); ++i)
      numbers.push_back(name == "pad" ? draw_.below(2)
                                      : draw_.between(1, name == "kernel" ? 3 : 2));
    return tupleOf(numbers);
  }

  /// Before and after each axis, but seldom beside rows of the batch.
  AttributeValue widths() {
    Extents numbers;
    for (int64_t i = 0; i < 2 * rank(); ++i)
      numbers.push_back(first_->extents[size_t(i / 2)] == pool_.sizes.batch || draw_.chance(0.5)
                            ? 0
                            : draw_.below(3));
    return tupleOf(numbers);
  }

  AttributeValue shape() {
    Extents codes = !first_ ? pool_.find([](const Item &) { return true; })->extents
                    : op_.opName == "sym.broadcast_to" ? stretched()
                    : op_.opName == "sym.scatter_nd"   ? first_->extents
                                                       : reshaped();
    bool named = false;
    std::vector<std::string> dims;
    for (int64_t code : codes) {
      bool rows = code == pool_.sizes.batch && !named && draw_.chance(0.9);
      named |= rows;
      dims.push_back(rows ? "batch" : "");
    }
    if (named)
      call_.dims = dims;
    return tupleOf(codes);
  }

  Extents stretched() {
    Extents codes;
    for (int64_t extent : first_->extents)
      codes.push_back(extent != 1         ? draw_.oneOf<int64_t>({0, extent})
                      : draw_.chance(0.3) ? pool_.sizes.batch
                                          : draw_.between(1, 4));
    return codes;
  }

  /// Extents kept, joined and split in two, by the codes of Reshape.
  Extents reshaped() {
    const Extents &from = first_->extents;
    Extents codes;
    for (size_t i = 0; i < from.size(); ++i) {
      if (i + 1 < from.size() && draw_.chance(0.25)) {
        codes.push_back(draw_.chance(0.8) ? -3 : from[i] * from[i + 1]);
        ++i;
      } else if (from[i] % 2 == 0 && from[i] != pool_.sizes.batch && draw_.chance(0.3)) {
        if (draw_.chance(0.5))
          codes.insert(codes.end(), {-4, 2, draw_.chance(0.5) ? -1 : from[i] / 2});
        else
          codes.insert(codes.end(), {from[i] / 2, 2});
      } else {
        codes.push_back(draw_.chance(0.6) ? 0 : from[i]);
      }
    }
    if (draw_.chance(0.15))
      codes.push_back(1);
    if (draw_.chance(0.2))
      codes.back() = -1;
    return codes;
  }

  AttributeValue entries(std::string_view name) {
    Tuple tuple;
    int64_t axes = entries_ ? entries_ : draw_.between(1, rank());
    entries_ = axes;
    for (int64_t i = 0; i < axes; ++i) {
      int64_t extent = first_->extents[size_t(i)];
      if (draw_.chance(extent == pool_.sizes.batch ? 0.9 : 0.5))
        tuple.push_back(std::nullopt);
      else if (name == "step")
        tuple.push_back(draw_.oneOf<int64_t>({1, 2, -1, -2}));
      else if (name == "begin")
        tuple.push_back(draw_.between(-extent, extent - 1));
      else
        tuple.push_back(draw_.between(-1, extent + 1));
    }
    return tuple;
  }

  const AttributeValue *given(std::string_view name) const {
    for (const NamedAttribute &attribute : call_.attributes)
      if (attribute.name == name)
        return &attribute.value;
    return nullptr;
  }
  int64_t integer(std::string_view name, int64_t otherwise) const {
    const AttributeValue *value = given(name);
    return value && std::holds_alternative<int64_t>(*value) ? std::get<int64_t>(*value) : otherwise;
  }
  bool flag(std::string_view name) const {
    const AttributeValue *value = given(name);
    return value && std::holds_alternative<bool>(*value) && std::get<bool>(*value);
  }

  Pool &pool_;
  Draw &draw_;
  const sym::OpRecord &op_;
  symbol::Call call_;
  std::optional<Item> first_;
  int64_t entries_ = 0; ///< in each of slice's tuples
};

} // namespace

symbol::Call drawCall(Pool &pool, const sym::OpRecord &op) { return Drawer(pool, op).run(); }

bool hasInput(const sym::OpRecord &op, const sym::InputRecord &input,
              const std::vector<symbol::NamedAttribute> &attributes) {
  if (input.conditionAttribute.empty())
    return true;
  const sym::AttributeRecord *record = op.attribute(input.conditionAttribute);
  std::string value = record ? std::string(record->defaultText) : "";
  for (const NamedAttribute &attribute : attributes)
    if (attribute.name == input.conditionAttribute) {
      if (auto flag = std::get_if<bool>(&attribute.value))
        value = *flag ? "true" : "false";
      else if (auto text = std::get_if<std::string>(&attribute.value))
        value = *text;
    }
  if (value == "True" || value == "False")
    value = value == "True" ? "true" : "false";
  return value == input.conditionValue;
}

} // namespace lstmc::nets

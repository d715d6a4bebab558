#include "frontend/lnet/Emit.h"

#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "executor/abi/Schedules.h"
#include "frontend/lnet/evaluation/Value.h"
#include "frontend/lnet/format/Format.h"
#include "frontend/lnet/net/Evaluator.h"
#include "frontend/lnet/text/Lexer.h"
#include "frontend/symbol/ValueText.h"
#include "frontend/symbol/View.h"

namespace lstmc::lnet {

namespace {

using symbol::AttributeValue;
using symbol::NodeView;

class Emitter {
public:
  explicit Emitter(const symbol::Graph &graph) : view_(symbol::view(graph)) {}

  std::string run(const std::vector<symbol::Setting> &fit, const std::vector<symbol::Setting> &data,
                  const std::vector<symbol::Setting> &place) {
    net_ = identifier(view_.name, "net");
    std::string parameters;
    for (const symbol::InputView &input : view_.inputs) {
      inputs_.push_back(identifier(input.name, "data"));
      parameters += (parameters.empty() ? "" : ", ") + inputs_.back() + ": " +
                    std::string(dtypeLongName(input.dtype)) + shapeText(input.shape, "[", "]");
    }
    std::string body;
    for (size_t i = 0; i < view_.nodes.size(); ++i)
      body += statement(i);
    std::string outputs;
    for (const symbol::EdgeView &output : view_.outputs)
      outputs += (outputs.empty() ? "" : ", ") + reference(output);
    std::string text;
    for (auto &[name, variable] : dims_)
      text += fmt::format("{} = dim({}, {})\n", variable.first, symbol::stringText(name),
                          variable.second);
    text += fmt::format("\ndef {}({}):\n{}    return {}\n\n", net_, parameters, body, outputs);
    text += training("fit", fit) + training("data", data) + training("place", place);
    Checked<std::string> formatted = format("emitted.lnet", text);
    return formatted.ok() ? std::move(*formatted) : text;
  }

private:
  /// A valid identifier that is not a keyword, op or function, and not used yet.
  std::string identifier(const std::string &wanted, const std::string &otherwise) {
    std::string name;
    for (char c : wanted)
      name += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
                  ? c
                  : '_';
    if (name.empty() || (name[0] >= '0' && name[0] <= '9') || name.size() > 200)
      name = otherwise;
    std::string unique = name;
    // Counted by name, so that many equal ones take linear time.
    for (int &number = numbers_[name]; !taken_.insert(unique).second || isReserved(unique);)
      unique = fmt::format("{}_{}", name, ++number + 1);
    return unique;
  }
  static bool isReserved(const std::string &name) {
    constexpr std::string_view kKeywords[] = {
#define LSTMC_X(KIND, SPELLING) SPELLING,
        LSTMC_LNET_KEYWORDS(LSTMC_X)
#undef LSTMC_X
    };
    // `data` is both a function and a common name of inputs. An input hides the function, but only
    // inside the net.
    bool function = isFunction(name) && name != "data";
    return name == "_" || function || symbol::findOp(name) ||
           std::find(std::begin(kKeywords), std::end(kKeywords), name) != std::end(kKeywords);
  }

  /// Of two extents of one name the second is a number: a dim has one value. One to infer, 0, has
  /// that.
  bool isDim(const symbol::Dim &dim) const {
    const auto known = dims_.find(dim.name);
    return !dim.name.empty() &&
           (known == dims_.end() || dim.extent <= 0 || known->second.second == dim.extent);
  }

  std::string dimVariable(const symbol::Dim &dim) {
    auto [at, fresh] = dims_.try_emplace(dim.name);
    if (fresh)
      at->second = {identifier(dim.name, "extent"), dim.extent};
    return at->second.first;
  }

  std::string shapeText(const symbol::Shape &shape, std::string_view open, std::string_view close) {
    if (!shape.ranked || shape.dims.empty())
      return "";
    std::string text(open);
    for (size_t i = 0; i < shape.dims.size(); ++i) {
      const symbol::Dim &dim = shape.dims[i];
      text += i ? ", " : "";
      text += dim.extent == symbol::kUnknown ? "_"
              : !isDim(dim)                  ? std::to_string(dim.extent)
                                             : dimVariable(dim);
    }
    if (shape.dims.size() == 1 && open == "(")
      text += ",";
    return text + std::string(close);
  }

  std::string reference(const symbol::EdgeView &edge) {
    if (edge.input)
      return inputs_[edge.index];
    const std::string &name = names_[edge.index];
    return view_.nodes[edge.index].outputs > 1 ? fmt::format("{}[{}]", name, edge.output) : name;
  }

  /// Whether the dims of the node are the names of this attribute's extents.
  static bool holdsDims(const NodeView &node, std::string_view attribute) {
    bool stops =
        std::ranges::any_of(node.attributes, [](const auto &a) { return a.name == "stop"; });
    return !node.dims.empty() && attribute == (node.op != "_arange" ? "shape"
                                               : stops              ? "stop"
                                                                    : "start");
  }

  /// A shape, or the end of a range.
  std::string extents(const AttributeValue &value, const std::vector<std::string> &dims) {
    if (auto end = std::get_if<double>(&value))
      return isDim({int64_t(*end), dims[0]}) ? dimVariable({int64_t(*end), dims[0]})
                                             : symbol::floatText(*end);
    const auto &tuple = std::get<symbol::Tuple>(value);
    std::string text = "(";
    for (size_t i = 0; i < tuple.size(); ++i)
      text += (isDim({*tuple[i], dims[i]}) ? dimVariable({*tuple[i], dims[i]})
                                           : std::to_string(*tuple[i])) +
              (i + 1 < tuple.size() || i == 0 ? ", " : "");
    return text + ")";
  }

  /// Literals of the language are finite; attributes of ops may be "inf".
  static std::string attributeText(const AttributeValue &value) {
    const auto *number = std::get_if<double>(&value);
    return number && !std::isfinite(*number) ? symbol::stringText(symbol::floatText(*number))
                                             : symbol::valueText(value);
  }

  std::string call(const NodeView &node) {
    std::string text;
    auto add = [&](const std::string &argument) { text += (text.empty() ? "" : ", ") + argument; };
    switch (node.kind) {
    case NodeView::Kind::Variable:
      add(symbol::stringText(node.name));
      if (std::string shape = shapeText(node.shape, "(", ")"); !shape.empty())
        add("shape=" + shape);
      if (node.dtype != DType::F32)
        add("dtype=" + symbol::stringText(std::string(dtypeLongName(node.dtype))));
      if (!node.init.name.empty())
        add("init=" + symbol::initialiserText(node.init));
      if (node.lrMult)
        add("lr_mult=" + symbol::floatText(*node.lrMult));
      if (node.wdMult)
        add("wd_mult=" + symbol::floatText(*node.wdMult));
      return "Variable(" + text + ")";
    case NodeView::Kind::BeginState:
      return fmt::format("_begin_state({}, {}, {})", symbol::stringText(node.name),
                         shapeText(node.shape, "(", ")"),
                         symbol::stringText(std::string(dtypeLongName(node.dtype))));
    case NodeView::Kind::Op:
      break;
    }
    const symbol::OpSignature *op = symbol::findOp(node.op);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      auto &[name, edge] = node.inputs[i];
      bool byPosition =
          !op || op->variadic || (i < op->inputs.size() && op->inputs[i].name == name && i < 1);
      add(byPosition ? reference(edge) : name + "=" + reference(edge));
    }
    for (const symbol::NamedAttribute &attribute : node.attributes)
      add(attribute.name + "=" +
          (holdsDims(node, attribute.name) ? extents(attribute.value, node.dims)
                                           : attributeText(attribute.value)));
    add("name=" + symbol::stringText(node.name));
    return node.op + "(" + text + ")";
  }

  /// The scopes of a node, as a heading; empty if there are none.
  static std::string scopes(const NodeView &node) {
    std::string text;
    auto add = [&](const std::string &scope) {
      text += (text.empty() ? "    with " : ", ") + scope;
    };
    if (!node.group.empty())
      add("ctx_group(" + symbol::stringText(node.group) + ")");
    if (node.recompute)
      add("recompute()");
    return text.empty() ? text : text + ":\n";
  }

  std::string statement(size_t i) {
    const NodeView &node = view_.nodes[i];
    std::string heading = scopes(node);
    std::string text;
    if (heading != heading_)
      text = heading;
    heading_ = heading;
    std::string right = call(node);
    names_.push_back(identifier(node.name, "t"));
    return text + (heading.empty() ? "    " : "        ") + names_.back() + " = " + right + "\n";
  }

  std::string training(const std::string &function, const std::vector<symbol::Setting> &settings) {
    if (settings.empty())
      return "";
    std::string text = function + "(" + net_;
    for (const symbol::Setting &setting : settings) {
      std::string value = setting.initialiser ? symbol::initialiserText(*setting.initialiser)
                                              : symbol::valueText(setting.value);
      if (setting.key == "lr_scheduler") {
        std::string arguments;
        for (const symbol::NamedAttribute &argument : setting.arguments)
          arguments += (arguments.empty() ? "" : ", ") + argument.name + "=" +
                       symbol::valueText(argument.value);
        for (const ScheduleRow &row : kSchedules)
          if (setting.value == AttributeValue(std::string(row.name)))
            value = std::string(row.shown) + "(" + arguments + ")";
      } else if (setting.key == "shuffle") {
        value = setting.value == AttributeValue(std::string("yes")) ? "True" : "False";
      }
      text += ", " + setting.key + "=" + value;
    }
    return text + ")\n";
  }

  symbol::GraphView view_;
  std::string net_, heading_;
  std::vector<std::string> inputs_, names_;
  std::set<std::string> taken_;
  std::map<std::string, int> numbers_; ///< by name, how many numbers were tried
  std::map<std::string, std::pair<std::string, int64_t>> dims_;
};

} // namespace

std::string emitLnet(const symbol::Graph &graph, const std::vector<symbol::Setting> &fit,
                     const std::vector<symbol::Setting> &data,
                     const std::vector<symbol::Setting> &place) {
  return Emitter(graph).run(fit, data, place);
}

} // namespace lstmc::lnet

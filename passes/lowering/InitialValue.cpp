#include "passes/lowering/InitialValue.h"

#include <cctype>
#include <cmath>
#include <optional>
#include <regex>

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include "ir/sym/Diagnose.h"

namespace lstmc::passes {

namespace {

using llvm::StringRef;
using mlir::ArrayAttr;
using mlir::DictionaryAttr;

class Resolver {
public:
  Resolver(StringRef parameter, llvm::ArrayRef<int64_t> shape, mlir::Location location)
      : parameter(parameter), shape(shape), location(location) {}

  mlir::FailureOr<InitialValue> rule(ArrayAttr init) {
    StringRef name;
    DictionaryAttr given = DictionaryAttr::get(init.getContext());
    if (!init.empty())
      if (auto word = llvm::dyn_cast<mlir::StringAttr>(init[0]))
        name = word.getValue();
    if (init.size() > 1)
      if (auto dictionary = llvm::dyn_cast<DictionaryAttr>(init[1]))
        given = dictionary;
    if (name == "mixed")
      return mixed(given);
    arguments = given;
    InitialValue value;
    value.text = spell(name, given);
    if (name == "zero" || name == "zeros")
      return value;
    if (name == "one" || name == "ones")
      return constant(value, 1);
    if (name == "constant")
      return constant(value, number("value", 0));
    if (name == "uniform" && (given.contains("low") || given.contains("high")))
      return uniform(value, number("low", 0), number("high", 1));
    if (name == "uniform")
      return uniform(value, -number("scale", 0.07), number("scale", 0.07));
    if (name == "normal")
      return normal(value, number("sigma", 0.01));
    if (name == "orthogonal")
      return orthogonal(value);
    if (name == "xavier")
      return xavier(value, number("magnitude", 3), word("rnd_type", "uniform"));
    if (name == "msraprelu") {
      double slope = number("slope", 0.25);
      return xavier(value, 2 / (1 + slope * slope), "gaussian");
    }
    if (name == "lstmbias") {
      value.kind = InitKind::LstmBias;
      value.a = number("forget_bias", 1);
      return value;
    }
    if (name == "load") // the file's values come with --params; until then
      return given.contains("default_init") && llvm::isa<ArrayAttr>(given.get("default_init"))
                 ? rule(llvm::cast<ArrayAttr>(given.get("default_init")))
                 : mlir::FailureOr<InitialValue>(value);
    return sym::emitCoded(location, ErrorCode::E0319)
               << "no initialiser is named \"" << name << '"',
           mlir::failure();
  }

  /// What the name alone says; none where it says "weight", or nothing.
  std::optional<InitialValue> byName() const {
    auto one = llvm::StringSwitch<std::optional<double>>(parameter)
                   .EndsWith("bias", 0)
                   .EndsWith("gamma", 1)
                   .EndsWith("beta", 0)
                   .EndsWith("moving_mean", 0)
                   .EndsWith("moving_var", 1)
                   .EndsWith("moving_inv_var", 0)
                   .EndsWith("moving_avg", 0)
                   .Default(std::nullopt);
    if (!one)
      return std::nullopt;
    InitialValue value;
    value.a = *one;
    value.text = *one == 0 ? "Zero()" : "One()";
    return value;
  }

private:
  static InitialValue constant(InitialValue value, double a) {
    value.a = a;
    return value;
  }
  static InitialValue uniform(InitialValue value, double low, double high) {
    value.kind = InitKind::Uniform;
    value.a = low;
    value.b = high;
    return value;
  }
  static InitialValue normal(InitialValue value, double sigma) {
    value.kind = InitKind::Normal;
    value.a = sigma;
    return value;
  }

  mlir::FailureOr<InitialValue> orthogonal(InitialValue value) {
    if (failed(needsMatrix("Orthogonal")))
      return mlir::failure();
    value.kind = InitKind::Orthogonal;
    value.variant = word("rand_type", "uniform") == "normal" ? OrthogonalStart::Normal
                                                             : OrthogonalStart::Uniform;
    value.a = number("scale", 1.414);
    return value;
  }

  mlir::FailureOr<InitialValue> xavier(const InitialValue &value, double magnitude,
                                       StringRef kind) {
    if (failed(needsMatrix("Xavier")))
      return mlir::failure();
    double area = 1;
    for (int64_t extent : shape.drop_front(2))
      area *= double(extent);
    double in = double(shape[1]) * area, out = double(shape[0]) * area;
    StringRef factor = word("factor_type", "avg");
    double scale = std::sqrt(magnitude / (factor == "in"    ? in
                                          : factor == "out" ? out
                                                            : (in + out) / 2));
    return kind == "gaussian" ? normal(value, scale) : uniform(value, -scale, scale);
  }

  mlir::LogicalResult needsMatrix(StringRef what) {
    if (shape.size() >= 2)
      return mlir::success();
    return sym::emitCoded(location, ErrorCode::E0319)
           << what << " needs at least 2 dimensions, \"" << parameter << "\" has "
           << int64_t(shape.size());
  }

  mlir::FailureOr<InitialValue> mixed(DictionaryAttr given) {
    auto patterns = llvm::dyn_cast_or_null<ArrayAttr>(given.get("patterns"));
    auto initialisers = llvm::dyn_cast_or_null<ArrayAttr>(given.get("initializers"));
    if (patterns && initialisers && patterns.size() == initialisers.size())
      for (auto [pattern, chosen] : llvm::zip_equal(patterns, initialisers)) {
        auto text = llvm::dyn_cast<mlir::StringAttr>(pattern);
        auto rules = llvm::dyn_cast<ArrayAttr>(chosen);
        if (text && rules && matches(text.getValue()))
          return rule(rules);
      }
    return sym::emitCoded(location, ErrorCode::E0319)
               << "no pattern of Mixed matches \"" << parameter << '"',
           mlir::failure();
  }

  /// A regular expression from the name's start, as Python's re.match.
  bool matches(StringRef pattern) const {
    try {
      return std::regex_search(parameter.str(), std::regex(pattern.str()),
                               std::regex_constants::match_continuous);
    } catch (const std::regex_error &) {
      return false;
    }
  }

  double number(StringRef name, double otherwise) const {
    mlir::Attribute found = arguments.get(name);
    if (auto real = llvm::dyn_cast_or_null<mlir::FloatAttr>(found))
      return real.getValueAsDouble();
    if (auto integer = llvm::dyn_cast_or_null<mlir::IntegerAttr>(found))
      return double(integer.getInt());
    return otherwise;
  }
  StringRef word(StringRef name, StringRef otherwise) const {
    auto found = llvm::dyn_cast_or_null<mlir::StringAttr>(arguments.get(name));
    return found ? found.getValue() : otherwise;
  }

  static std::string spell(StringRef name, DictionaryAttr arguments) {
    StringRef shown = llvm::StringSwitch<StringRef>(name)
                          .Case("lstmbias", "LSTMBias")
                          .Case("msraprelu", "MSRAPrelu")
                          .Default(name);
    std::string text = shown.str();
    if (!text.empty())
      text[0] = char(std::toupper(static_cast<unsigned char>(text[0])));
    text += '(';
    llvm::raw_string_ostream out(text);
    llvm::interleaveComma(arguments, out, [&](mlir::NamedAttribute argument) {
      out << argument.getName().getValue() << '=';
      if (auto real = llvm::dyn_cast<mlir::FloatAttr>(argument.getValue()))
        out << llvm::format("%.6g", real.getValueAsDouble());
      else
        argument.getValue().print(out, /*elideType=*/true);
    });
    out << ')';
    return text;
  }

  StringRef parameter;
  llvm::ArrayRef<int64_t> shape;
  mlir::Location location;
  DictionaryAttr arguments;
};

} // namespace

mlir::FailureOr<InitialValue> resolveInitialValue(StringRef parameter,
                                                  llvm::ArrayRef<int64_t> shape, ArrayAttr init,
                                                  ArrayAttr fallback, mlir::Location location) {
  Resolver resolver(parameter, shape, location);
  if (init)
    return resolver.rule(init);
  if (std::optional<InitialValue> value = resolver.byName())
    return *value;
  if (fallback)
    return resolver.rule(fallback);
  mlir::Builder builder(location.getContext());
  return resolver.rule(builder.getArrayAttr(
      {builder.getStringAttr("uniform"),
       builder.getDictionaryAttr(builder.getNamedAttr("scale", builder.getF64FloatAttr(0.01)))}));
}

} // namespace lstmc::passes

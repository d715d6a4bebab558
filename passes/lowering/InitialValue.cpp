#include "passes/lowering/InitialValue.h"

#include <cctype>
#include <cmath>

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include "ir/sym/Diagnose.h"
#include "ir/sym/InitialRule.h"

namespace lstmc::passes {

namespace {

using llvm::StringRef;
using mlir::ArrayAttr;
using mlir::DictionaryAttr;

class Resolver {
public:
  Resolver(StringRef parameter, mlir::RankedTensorType type, mlir::Location location)
      : parameter(parameter), type(type), shape(type.getShape()), location(location) {}

  mlir::FailureOr<InitialValue> rule(ArrayAttr init) {
    StringRef name = sym::nameOfRule(init);
    DictionaryAttr given = sym::argumentsOfRule(init);
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
    if (name == "values")
      return values(given);
    return sym::emitCoded(location, ErrorCode::E0319)
               << "no initialiser is named \"" << name << '"',
           mlir::failure();
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
    sym::CodedDiagnostic diagnostic = sym::emitCoded(location, ErrorCode::E0319);
    diagnostic << what << " needs at least 2 dimensions, \"" << parameter << "\" has "
               << int64_t(shape.size());
    diagnostic.help("give it another one: Variable(.., init=Uniform(0.1))");
    return diagnostic;
  }

  /// Explicit initial values of the source, converted to the parameter's type.
  mlir::FailureOr<InitialValue> values(DictionaryAttr given) {
    auto numbers = llvm::dyn_cast_or_null<mlir::DenseElementsAttr>(given.get("values"));
    if (!numbers || !numbers.getElementType().isF64())
      return sym::emitCoded(location, ErrorCode::E0319)
                 << "the initial values of \"" << parameter << "\" are no numbers of f64",
             mlir::failure();
    if (numbers.getType().getShape() != type.getShape())
      return sym::emitCoded(location, ErrorCode::E0319)
                 << "the initial values of \"" << parameter << "\" are "
                 << shapeText(numbers.getType().getShape()) << ", the parameter is "
                 << shapeText(type.getShape()),
             mlir::failure();
    InitialValue value;
    value.text = "values" + shapeText(type.getShape());
    value.values = numbers;
    for (double number : numbers.getValues<double>())
      if (!std::isfinite(type.getElementType().isF32() ? double(float(number)) : number))
        return sym::emitCoded(location, ErrorCode::E0319)
                   << "an initial value of \"" << parameter << "\" is " << number
                   << ", beyond what " << (type.getElementType().isF32() ? "float32" : "float64")
                   << " holds",
               mlir::failure();
    return value;
  }

  static std::string shapeText(llvm::ArrayRef<int64_t> extents) {
    std::string text;
    llvm::raw_string_ostream out(text);
    out << '[';
    llvm::interleaveComma(extents, out);
    out << ']';
    return text;
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
  mlir::RankedTensorType type;
  llvm::ArrayRef<int64_t> shape;
  mlir::Location location;
  DictionaryAttr arguments;
};

} // namespace

mlir::FailureOr<InitialValue> InitialValues::resolve(StringRef parameter,
                                                     mlir::RankedTensorType type, ArrayAttr init,
                                                     ArrayAttr fallback, mlir::Location location) {
  mlir::FailureOr<ArrayAttr> rule =
      sym::initialRule(parameter, init, fallback, location.getContext());
  if (failed(rule))
    return sym::emitCoded(location, ErrorCode::E0319)
               << "no pattern of Mixed matches \"" << parameter << '"',
           mlir::failure();
  const std::pair<mlir::Attribute, mlir::Type> key(*rule, type);
  if (auto known = known_.find(key); known != known_.end())
    return known->second;
  mlir::FailureOr<InitialValue> value = Resolver(parameter, type, location).rule(*rule);
  if (succeeded(value))
    known_[key] = *value;
  return value;
}

} // namespace lstmc::passes

// The gradient of every op, through the whole compiler in f64, against extrapolated central
// differences of the forward entry of the same package. Every op of the op table has to be tested
// here.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "cmake/SourceFolder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "executor/base/Philox.h"
#include "ir/exec/Exec.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/OpTable.h"
#include "ir/sym/SymOps.h"
#include "tests/e2e/Net.h"

namespace lstmc::e2e {
namespace {

using Numbers = std::vector<double>;

/// Ranges of parameter values, in order of preference. Not near 0, where several ops have a corner
/// or a pole.
struct Range {
  double low, high;
  bool bothSigns;
};
constexpr Range kRanges[] = {{0.3, 0.9, true}, {0.3, 0.9, false}, {1.2, 1.9, false}};

/// The net of a case: f64 arguments become parameters, other arguments inputs, and the results are
/// combined to one number.
class CaseBuilder {
public:
  CaseBuilder(mlir::func::FuncOp net) : net_(net), builder_(net.getContext()) {}

  void build() {
    builder_.setInsertionPointToStart(&net_.front());
    for (unsigned i = net_.getNumArguments(); i-- > 0;)
      takeArgument(i);
    mlir::Operation *end = net_.front().getTerminator();
    builder_.setInsertionPoint(end);
    if (!end->getOperand(0).getDefiningOp<sym::LossHead>())
      end->setOperands(loss(end->getOperands()));
    net_.setType(builder_.getFunctionType(net_.front().getArgumentTypes(), end->getOperandTypes()));
    net_.setResultAttr(0, sym::kNameAttr, builder_.getStringAttr("loss"));
  }

private:
  mlir::Value create(llvm::StringRef op, mlir::ValueRange operands, mlir::Type type,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    mlir::OperationState state(net_.getLoc(), op, operands, type, attributes);
    return builder_.create(state)->getResult(0);
  }
  mlir::Value variable(const std::string &name, mlir::Type type) {
    return create("sym.variable", {}, type,
                  builder_.getNamedAttr("name", builder_.getStringAttr(name)));
  }

  void takeArgument(unsigned index) {
    mlir::BlockArgument argument = net_.getArgument(index);
    auto type = llvm::cast<mlir::RankedTensorType>(argument.getType());
    std::string name = "x" + std::to_string(index);
    if (type.getElementType().isF64()) {
      argument.replaceAllUsesWith(variable(name, type));
      net_.eraseArgument(index);
      return;
    }
    net_.setArgAttr(index, sym::kNameAttr, builder_.getStringAttr(name));
    net_.setArgAttr(index, sym::kRoleAttr, builder_.getStringAttr("data"));
  }

  /// Multiplies the results by parameters of their shapes and adds all, so that the gradient of
  /// every element has its own factor.
  mlir::Value loss(mlir::ValueRange results) {
    auto scalar = mlir::RankedTensorType::get({1}, builder_.getF64Type());
    llvm::SmallVector<mlir::Value> sums;
    for (mlir::Value result : results) {
      mlir::Value factor = variable("factor" + std::to_string(sums.size()), result.getType());
      mlir::Value product = create("sym.elemwise_mul", {result, factor}, result.getType());
      sums.push_back(create("sym.sum", product, scalar));
    }
    return create("sym.make_loss", create("sym.add_n", sums, scalar), scalar);
  }

  mlir::func::FuncOp net_;
  mlir::OpBuilder builder_;
};

/// A compiled case, and its loss as a function of the parameters.
class Case {
public:
  Case(mlir::ModuleOp module, mlir::func::FuncOp net) {
    if (auto divisor = net->getAttrOfType<mlir::IntegerAttr>("test.divisor"))
      divisor_ = divisor.getInt();
    CaseBuilder(net).build();
    passes::CompileOptions options;
    options.optimizer.name = "none";
    Checked<passes::Compiled> compiled = passes::compile(module, options);
    if (!compiled.ok()) {
      problem_ = compiled.diagnostics().front().message;
      return;
    }
    session_ = openSession(compiled->package, 1);
    feedInputs();
  }

  const std::string &problem() const { return problem_; }

  /// False if the loss is not finite there. Adds to `wrong` every difference above 1e-7 of a
  /// tensor's largest gradient.
  bool check(const Range &range, std::string &wrong) {
    uint32_t number = 0;
    for (const package::Parameter &parameter : parameters())
      place(*session_->parameter(parameter.name), range, number++);
    session_->parametersChanged();
    if (!std::isfinite(loss()))
      return false;
    std::map<std::string, Numbers> gradients;
    session_->setScalar("learning_rate", 0.0);
    if (!session_->run("step").ok())
      return false;
    for (const package::Parameter &parameter : parameters())
      if (Result<Tensor> gradient = session_->output("step", "gradient:" + parameter.name);
          gradient.ok())
        gradients[parameter.name].assign(gradient->as<double>(),
                                         gradient->as<double>() + gradient->elements());
    for (const package::Parameter &parameter : parameters())
      compare(parameter.name, gradients[parameter.name], wrong);
    return true;
  }

private:
  const std::vector<package::Parameter> &parameters() const {
    return session_->package().data().parameters;
  }

  void feedInputs() {
    const package::PackageData &data = session_->package().data();
    for (const package::Entry &entry : data.entries)
      for (const package::Binding &binding : entry.inputs) {
        if (binding.role == "scalar" || entry.name.starts_with("prepare:"))
          continue;
        Tensor to = *session_->input(entry.name, binding.name);
        for (int64_t i = 0; i < to.elements(); ++i)
          if (to.dtype == DType::I32)
            to.as<int32_t>()[i] = int32_t(i % 3);
          else
            to.as<uint8_t>()[i] = uint8_t(i % 2);
      }
    session_->setScalar("update", int64_t(1));
    session_->setScalar("seed", int64_t(5));
  }

  static void place(const Tensor &x, const Range &range, uint32_t number) {
    for (int64_t i = 0; i < x.elements(); ++i) {
      double value =
          range.low + (range.high - range.low) * randomUniform(1, uint64_t(i), number, 0);
      bool negative = range.bothSigns && randomUniform(1, uint64_t(i), number, 1) < 0.5;
      x.as<double>()[i] = negative ? -value : value;
    }
  }

  double loss() {
    if (divisor_ == 0)
      return session_->run("forward").ok() ? session_->output("forward", "loss")->as<double>()[0]
                                           : NAN;
    return session_->run("evaluate").ok() ? reported() * double(divisor_) : NAN;
  }

  /// Computed from the sums of the whole batch, or of each row.
  double reported() {
    Result<Tensor> metric = session_->output("evaluate", "loss_metric");
    double loss = 0, weight = 0;
    for (int64_t at = 0; at < metric->elements(); at += kEvaluationFields) {
      loss += metric->as<double>()[at];
      weight += metric->as<double>()[at + 1];
    }
    return loss / weight;
  }

  /// D(h) = (loss(x + h) - loss(x - h)) / 2h has an error of h^2, and (4 D(h/2) - D(h)) / 3 one of
  /// h^4: about 1e-12 at h = 1e-3, beside 1e-13 from rounding.
  double difference(double &element) {
    const double kept = element;
    auto at = [&](double value) {
      element = value;
      session_->parametersChanged();
      return loss();
    };
    auto central = [&](double h) { return (at(kept + h) - at(kept - h)) / (2 * h); };
    const double result = (4 * central(kStep / 2) - central(kStep)) / 3;
    at(kept);
    return result;
  }

  void compare(const std::string &name, const Numbers &got, std::string &wrong) {
    Tensor x = *session_->parameter(name);
    Numbers want;
    for (int64_t i = 0; i < x.elements(); ++i)
      want.push_back(difference(x.as<double>()[i]));
    // A missing gradient is 0: forward does not depend on the parameter.
    Numbers found = got.empty() ? Numbers(want.size(), 0) : got;
    double largest = 1e-3;
    for (double v : want)
      largest = std::max(largest, std::fabs(v));
    for (size_t i = 0; i < want.size(); ++i)
      if (!(std::fabs(found[i] - want[i]) <= 1e-7 * largest))
        wrong +=
            fmt::format("{}[{}] at {}: {} and {}\n", name, i, x.as<double>()[i], found[i], want[i]);
  }

  static constexpr double kStep = 1e-3;
  int64_t divisor_ = 0; ///< divisor of a head's gradient in an update; 0 if the net has no head
  std::string problem_;
  std::unique_ptr<Session> session_;
};

class GradientTest : public ::testing::Test {
protected:
  GradientTest() {
    context.allowUnregisteredDialects();
    context.loadDialect<mlir::func::FuncDialect, sym::SymDialect, exec::ExecDialect>();
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  /// Checks in the first range where the loss is finite.
  void expectGradient(mlir::ModuleOp module, const std::string &name) {
    Case made(module, *module.getOps<mlir::func::FuncOp>().begin());
    ASSERT_EQ(made.problem(), "") << name;
    std::string wrong;
    bool defined =
        std::ranges::any_of(kRanges, [&](const Range &range) { return made.check(range, wrong); });
    EXPECT_TRUE(defined) << name << " is finite in no range";
    EXPECT_EQ(wrong, "") << name;
  }

  /// Runs the functions of a file and adds their ops to `seen`.
  void expectGradientsOf(const std::filesystem::path &file) {
    mlir::OwningOpRef<mlir::ModuleOp> cases =
        mlir::parseSourceFile<mlir::ModuleOp>(file.string(), &context);
    ASSERT_TRUE(cases) << file;
    for (auto function : cases->getOps<mlir::func::FuncOp>()) {
      function.walk([&](mlir::Operation *op) { seen.insert(op->getName().getStringRef().str()); });
      mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(function.getLoc());
      module->push_back(function.clone());
      expectGradient(*module, function.getName().str());
    }
  }

  /// An element-wise op on tensors of one shape, with 0.5 for its numbers.
  std::string elementwise(const sym::OpRecord &record) {
    const std::string type = "tensor<3x4xf64>";
    std::string arguments, operands, types, attributes;
    for (size_t i = 0; i < record.inputs.size(); ++i) {
      const char *comma = i ? ", " : "";
      arguments += fmt::format("{}%x{}: {}", comma, i, type);
      operands += fmt::format("{}%x{}", comma, i);
      types += comma + type;
    }
    for (const sym::AttributeRecord &attribute : record.attributes)
      if (attribute.required)
        attributes += fmt::format("{}{} = 0.5", attributes.empty() ? "" : ", ", attribute.name);
    return fmt::format(
        "func.func @f({0}) -> {1} {{\n %y = {2} {3} {{{4}}} : ({5}) -> {1}\n return %y : {1}\n}}",
        arguments, type, record.opName, operands, attributes, types);
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::set<std::string> seen;
};

TEST_F(GradientTest, OfEveryOpOfTheTable) {
  for (const char *file : {"elementwise", "moves", "sums", "recurrent", "heads", "shorthands",
                           "composed", "convolution", "imported", "written"})
    expectGradientsOf(fmt::format(LSTMC_SOURCE_DIR "/tests/e2e/gradients/{}.mlir", file));
  int made = 0;
  for (const sym::OpRecord &record : sym::opRecords()) {
    mlir::OperationName name(record.opName, &context);
    if (record.mxnetName.empty() || name.hasTrait<sym::NoGradient>() ||
        seen.contains(std::string(record.opName)))
      continue;
    ASSERT_TRUE(name.hasInterface<sym::ScalarRule>())
        << record.opName << " has no case in tests/e2e/gradients";
    mlir::OwningOpRef<mlir::ModuleOp> module = parse(elementwise(record));
    ASSERT_TRUE(module) << record.opName << " needs a case in tests/e2e/gradients";
    expectGradient(*module, std::string(record.opName));
    ++made;
  }
  EXPECT_GT(made, 60);
}

/// Checks the trait: the result of an op without gradient is constant except for jumps, by
/// differences; but that of block_grad, which is there to have none.
TEST_F(GradientTest, IsAbsentOnlyWhereTheTraitSaysSo) {
  for (const sym::OpRecord &record : sym::opRecords()) {
    mlir::OperationName name(record.opName, &context);
    bool writtenOut = name.hasInterface<sym::ShorthandRule>() &&
                      !name.hasInterface<sym::KernelRule>() &&
                      !name.hasInterface<sym::ScalarRule>();
    if (!record.mxnetName.empty() && !writtenOut) {
      EXPECT_NE(name.hasTrait<sym::NoGradient>(), name.hasInterface<sym::GradientRule>())
          << record.opName;
    }
    if (name.hasTrait<sym::NoGradient>() && name.hasInterface<sym::ScalarRule>() &&
        record.opName != "sym.block_grad") {
      mlir::OwningOpRef<mlir::ModuleOp> module = parse(elementwise(record));
      ASSERT_TRUE(module) << record.opName;
      expectGradient(*module, std::string(record.opName));
    }
  }
}

} // namespace
} // namespace lstmc::e2e

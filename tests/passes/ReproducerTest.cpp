// The files that are saved when the compiler has a bug.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

#include "executor/package/Package.h"
#include "ir/sym/Diagnose.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "passes/Reproducer.h"
#include "tests/executor/package/SamplePackage.h"

namespace lstmc::passes {
namespace {

enum class Says { Nothing, NoCode, Code };

/// Changes the module, then fails.
struct Failing : mlir::PassWrapper<Failing, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Failing)
  explicit Failing(Says says) : says(says) {}
  llvm::StringRef getArgument() const final { return "failing"; }
  void runOnOperation() final {
    getOperation()->walk([](mlir::func::FuncOp function) { function.setName("changed"); });
    if (says == Says::NoCode)
      getOperation().emitError("it went wrong");
    if (says == Says::Code)
      sym::emitCoded(getOperation(), ErrorCode::E0207) << "shapes disagree";
    signalPassFailure();
  }
  Says says;
};

class Reproducer : public testing::Test {
protected:
  Reproducer() {
    context.disableMultithreading();
    context.loadDialect<mlir::func::FuncDialect>();
    std::filesystem::create_directory(folder);
    std::filesystem::current_path(folder);
  }
  ~Reproducer() override {
    std::filesystem::current_path(home);
    std::filesystem::remove_all(folder);
  }

  Diagnostic fail(Says says, std::string_view name = "net") {
    Diagnostics diagnostics;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &from) {
      Diagnostic &diagnostic = diagnostics.emplace_back();
      diagnostic.code = sym::toDiagnostic(from).code;
      diagnostic.message = from.str();
      return mlir::success();
    });
    std::string text = "func.func private @" + std::string(name) + "()";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    auto manager = mlir::PassManager::on<mlir::ModuleOp>(&context);
    manager.addPass(std::make_unique<Failing>(says));
    EXPECT_TRUE(failed(runOrReproduce(manager, *module, diagnostics)));
    EXPECT_EQ(diagnostics.size(), 1u);
    return diagnostics.front();
  }
  static std::vector<std::string> files() {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator("."))
      names.push_back(entry.path().filename().string());
    return names;
  }

  mlir::MLIRContext context;
  std::filesystem::path home = std::filesystem::current_path();
  std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                 ("lstmc-reproducer-test-" + std::to_string(::getpid()));
};

TEST_F(Reproducer, HoldsTheModuleAsGivenAndThePipeline) {
  Diagnostic silent = fail(Says::Nothing);
  EXPECT_EQ(silent.code, ErrorCode::E0099);
  EXPECT_EQ(silent.message, "a pass failed without saying why");
  ASSERT_EQ(files().size(), 1u);
  std::string name = files().front();
  ASSERT_EQ(silent.reasons.size(), 1u);
  EXPECT_EQ(silent.reasons[0].text, "saved: lstmc opt --run-reproducer " + name);
  EXPECT_TRUE(name.starts_with("lstmc-reproducer-") && name.ends_with(".mlir")) << name;
  std::ostringstream text;
  text << std::ifstream(name).rdbuf();
  EXPECT_NE(text.str().find("\"net\""), std::string::npos) << text.str();
  EXPECT_EQ(text.str().find("changed"), std::string::npos);
  EXPECT_NE(text.str().find("pipeline: \"builtin.module(failing)\""), std::string::npos)
      << text.str();
  EXPECT_TRUE(mlir::parseSourceString<mlir::ModuleOp>(text.str(), &context));

  // The name is a hash of the contents.
  Diagnostic said = fail(Says::NoCode);
  EXPECT_EQ(said.message, "it went wrong");
  EXPECT_EQ(said.reasons.at(0).text, silent.reasons[0].text);
  EXPECT_EQ(files().size(), 1u);
  EXPECT_NE(fail(Says::Nothing, "other").reasons.at(0).text, silent.reasons[0].text);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(Reproducer, IsForFailuresOfOursOnly) {
  Diagnostic user = fail(Says::Code);
  EXPECT_EQ(user.code, ErrorCode::E0207);
  EXPECT_TRUE(user.reasons.empty());
  EXPECT_TRUE(files().empty());
}

/// The compiler's pipeline, with options of every form, is the same after being written and read.
TEST_F(Reproducer, PipelinesReadBack) {
  registerLstmcPasses();
  CompileOptions options;
  options.entries = {"forward", "step"};
  options.carry = {"lm*", "lstm0_*"};
  options.optimizer.name = "adam";
  options.optimizer.clipGradientNorm = 0.3;
  options.disabled = {"in-place", "fuse"};
  auto manager = mlir::PassManager::on<mlir::ModuleOp>(&context),
       read = mlir::PassManager::on<mlir::ModuleOp>(&context);
  buildPipeline(manager, options);
  auto textOf = [](mlir::PassManager &manager) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    manager.printAsTextualPipeline(stream);
    return text;
  };
  std::string text = textOf(manager), inner = text.substr(text.find('(') + 1);
  inner.pop_back();
  ASSERT_TRUE(succeeded(mlir::parsePassPipeline(inner, read))) << text;
  EXPECT_EQ(textOf(read), text);
}

/// A bug of ours, not an error of the file or of the user; it is reported at the line of its
/// launch.
TEST_F(Reproducer, ExplainsAPackageThatItsOwnCheckRefuses) {
  auto net = mlir::parseSourceString<mlir::ModuleOp>("func.func private @net()", &context);
  package::PackageData data = package::samplePackage();
  data.entries[package::sample::kStep].programs[0].launches[2].ints[LossMetricInt::count] = 7;
  auto opened = package::Package::open(package::serialize(data), "the package just compiled");
  ASSERT_FALSE(opened.ok());
  Diagnostic fault = explainRefusal(opened.error(), data, *net, {});
  EXPECT_EQ(fault.code, ErrorCode::E0099);
  EXPECT_EQ(fault.place.line, int(data.locations[1].line));
  ASSERT_EQ(fault.reasons.size(), 2u);
  const std::string place = fmt::format("entries[2].programs[0].launches[2].ints[{}]: found 7",
                                        size_t(LossMetricInt::count));
  EXPECT_NE(fault.reasons[0].text.find(place), std::string::npos) << fault.reasons[0].text;
  ASSERT_EQ(files().size(), 1u);
  EXPECT_EQ(fault.reasons[1].text, "saved: lstmc opt --run-reproducer " + files().front());
}

TEST_F(Reproducer, GoesToTheTemporaryFolderWhereThisOneTakesNothing) {
  std::filesystem::remove(folder);
  Diagnostic silent = fail(Says::Nothing);
  ASSERT_EQ(silent.reasons.size(), 1u);
  std::string path =
      silent.reasons[0].text.substr(std::string("saved: lstmc opt --run-reproducer ").size());
  EXPECT_EQ(std::filesystem::path(path).parent_path(), std::filesystem::temp_directory_path());
  EXPECT_TRUE(std::filesystem::remove(path));
}

} // namespace
} // namespace lstmc::passes

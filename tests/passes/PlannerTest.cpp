// The planner on random programs, checked by the validator; and the validator on plans with errors
// that the test inserts.
#include <random>

#include <gtest/gtest.h>

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

#include "executor/package/Plan.h"
#include "passes/Lifetimes.h"
#include "passes/PackageBuilder.h"
#include "passes/Passes.h"
#include "passes/Placement.h"

namespace lstmc::passes {
namespace {

using Rows = llvm::SmallVector<int64_t, 2>;

/// A chain of copies, softmaxes and fused additions over values with random lifetimes.
class RandomProgram {
public:
  RandomProgram(mlir::MLIRContext &context, unsigned seed) : random(seed), builder(&context) {
    module = mlir::ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
    auto plan = builder.create<exec::PlanOp>(loc(), llvm::ArrayRef<llvm::StringRef>{"cpu:0"});
    builder.setInsertionPointToEnd(&plan.getBody().front());
    input = buffer(exec::Kind::Input, {8, 16});
    parameter = buffer(exec::Kind::Parameter, {3, 5});
    addFused();
    auto program = builder.create<exec::ProgramOp>(loc(), "forward", 0);
    builder.setInsertionPointToEnd(&program.getBody().front());
    builder.create<exec::InputOp>(loc(), input, "x", "data", builder.getStrArrayAttr({}));
    build();
  }

  mlir::OwningOpRef<mlir::ModuleOp> module;

private:
  mlir::Location loc() { return builder.getUnknownLoc(); }
  unsigned draw(unsigned below) { return unsigned(random() % below); }

  mlir::Value buffer(exec::Kind kind, Rows shape) {
    return builder.create<exec::BufferOp>(loc(), mlir::MemRefType::get(shape, builder.getF32Type()),
                                          kind, "b" + std::to_string(count++), 0,
                                          mlir::IntegerAttr(), mlir::Value());
  }

  void addFused() {
    auto fused = builder.create<exec::FusedOp>(loc(), 0);
    mlir::OpBuilder::InsertionGuard guard(builder);
    mlir::Block &body = fused.getBody().emplaceBlock();
    for (int i = 0; i < 3; ++i)
      body.addArgument(builder.getF32Type(), loc());
    builder.setInsertionPointToEnd(&body);
    mlir::Value sum = builder.create<exec::ScalarOp>(
        loc(), builder.getF32Type(), "add",
        mlir::ValueRange{body.getArgument(0), body.getArgument(1)}, mlir::FloatAttr());
    builder.create<exec::ResultsOp>(loc(), mlir::ValueRange{sum}, llvm::ArrayRef<int64_t>{2});
  }

  void launch(KernelId kernel, llvm::ArrayRef<mlir::Value> operands, llvm::ArrayRef<int64_t> ints,
              llvm::ArrayRef<double> floats) {
    llvm::SmallVector<int64_t> views;
    llvm::SmallVector<mlir::Value> present;
    for (mlir::Value operand : operands) {
      views.push_back(operand ? 0 : -1);
      if (operand)
        present.push_back(operand);
    }
    builder.create<exec::LaunchOp>(loc(), kernel, present, views, ints, floats);
  }

  void build() {
    std::vector<mlir::Value> values = {input};
    for (int step = 0; step < 60; ++step) {
      unsigned recent = std::min<unsigned>(unsigned(values.size()), 1 + draw(8));
      mlir::Value x = values[values.size() - 1 - draw(recent)];
      auto type = llvm::cast<mlir::MemRefType>(x.getType());
      Rows shape(type.getShape());
      unsigned kind = draw(4);
      if (kind == 0) {
        mlir::Value fresh =
            buffer(exec::Kind::Activation, {1 + int64_t(draw(40)), 1 + int64_t(draw(40))});
        launch(KernelId::Fill, {fresh}, {}, {1.0});
        values.push_back(fresh);
        continue;
      }
      mlir::Value y = buffer(exec::Kind::Activation, shape);
      if (kind == 1)
        launch(KernelId::Copy, {x, y}, {}, {});
      else if (kind == 2)
        launch(KernelId::Softmax, {x, {}, y}, {0}, {1.0});
      else
        launch(KernelId::Fused, {x, x, y}, {0}, {});
      values.push_back(y);
    }
    mlir::Value last = values.back();
    mlir::Value out =
        buffer(exec::Kind::Output, Rows(llvm::cast<mlir::MemRefType>(last.getType()).getShape()));
    launch(KernelId::Copy, {last, out}, {}, {});
    builder.create<exec::OutputOp>(loc(), out, "y", "output", builder.getStrArrayAttr({}));
  }

  std::mt19937 random;
  mlir::OpBuilder builder;
  mlir::Value input, parameter;
  int count = 0;
};

class PlannerTest : public ::testing::Test {
protected:
  PlannerTest() {
    context.disableMultithreading();
    context.loadDialect<exec::ExecDialect>();
  }

  bool run(mlir::ModuleOp module, std::unique_ptr<mlir::Pass> pass) {
    mlir::PassManager manager(&context);
    manager.addPass(std::move(pass));
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
      message = d.str();
      return mlir::success();
    });
    return succeeded(manager.run(module));
  }

  static exec::PlanOp planOf(mlir::ModuleOp module) {
    return *module.getOps<exec::PlanOp>().begin();
  }

  mlir::MLIRContext context;
  std::string message;
};

TEST_F(PlannerTest, EveryPlanIsValid) {
  for (unsigned seed = 0; seed < 200; ++seed)
    for (bool inPlace : {false, true})
      for (bool sharing : {false, true}) {
        RandomProgram program(context, seed);
        PlanMemoryOptions options;
        options.inPlace = inPlace;
        options.sharing = sharing;
        ASSERT_TRUE(run(*program.module, createPlanMemory(options))) << seed << message;
        ASSERT_TRUE(run(*program.module, createValidatePlan())) << seed << message;
      }
}

TEST_F(PlannerTest, SchedulingKeepsPlansValidAndNeverRaisesThePeak) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomProgram before(context, seed), after(context, seed);
    ASSERT_TRUE(run(*after.module, createSchedule()));
    ASSERT_TRUE(run(*before.module, createPlanMemory()));
    ASSERT_TRUE(run(*after.module, createPlanMemory()));
    ASSERT_TRUE(run(*after.module, createValidatePlan())) << seed << message;
  }
}

/// Launches of a plan that wait for events.
std::vector<exec::LaunchOp> waiters(mlir::ModuleOp module) {
  std::vector<exec::LaunchOp> found;
  module.walk([&](exec::LaunchOp launch) {
    if (!launch.awaited().empty())
      found.push_back(launch);
  });
  return found;
}

/// Plans of several streams are valid, and none of their events can be left out.
TEST_F(PlannerTest, EveryEventIsNeeded) {
  size_t events = 0;
  for (unsigned seed = 0; seed < 60; ++seed)
    for (unsigned streams : {2u, 3u, 8u}) {
      RandomProgram program(context, seed);
      ScheduleOptions options;
      options.streams = streams;
      ASSERT_TRUE(run(*program.module, createSchedule(options)));
      ASSERT_TRUE(run(*program.module, createPlanMemory()));
      ASSERT_TRUE(run(*program.module, createValidatePlan())) << seed << message;
      for (exec::LaunchOp launch : waiters(*program.module)) {
        const std::vector<int64_t> waits(launch.awaited().begin(), launch.awaited().end());
        for (size_t left = 0; left < waits.size(); ++left, ++events) {
          std::vector<int64_t> others = waits;
          others.erase(others.begin() + ptrdiff_t(left));
          launch.setWaits(others);
          EXPECT_FALSE(run(*program.module, createValidatePlan())) << seed << ", " << streams;
        }
        launch.setWaits(waits);
      }
    }
  EXPECT_GT(events, 1000u);
}

/// The parts add up to the peak, and the arena holds at least what is alive at once; fragmentation
/// stays small.
TEST_F(PlannerTest, ReportAddsUp) {
  uint64_t arenas = 0, bounds = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomProgram program(context, seed);
    ASSERT_TRUE(run(*program.module, createPlanMemory()));
    package::DevicePlan plan = package::planOf(buildPackage(planOf(*program.module))).front();
    uint64_t alive = 0;
    for (uint64_t bytes : plan.bytesOfKind)
      alive += bytes;
    EXPECT_EQ(alive + plan.unusedBytes, plan.arenaBytes) << seed;
    arenas += plan.arenaBytes;
    bounds += alive;
  }
  EXPECT_LE(double(arenas), 1.05 * double(bounds));
}

/// Two buffers that are both alive in some launch get the same place: the validator has to report
/// it.
TEST_F(PlannerTest, PlantedOverlapsAreCaught) {
  int planted = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomProgram program(context, seed);
    PlanMemoryOptions options;
    options.inPlace = false;
    ASSERT_TRUE(run(*program.module, createPlanMemory(options)));
    exec::ProgramOp entry = *planOf(*program.module).getBody().getOps<exec::ProgramOp>().begin();
    Lifetimes lives(entry);
    std::mt19937 random(seed);
    for (int attempt = 0; attempt < 50; ++attempt) {
      Lifetime &a = lives.buffers[random() % lives.buffers.size()],
               &b = lives.buffers[random() % lives.buffers.size()];
      // b begins while a will still be read later
      if (!(a.from < b.from && b.from < a.to))
        continue;
      b.buffer.setOffsetAttr(a.buffer.getOffsetAttr());
      ++planted;
      EXPECT_FALSE(run(*program.module, createValidatePlan())) << seed;
      break;
    }
  }
  EXPECT_GT(planted, 100);
}

TEST_F(PlannerTest, PackagesOfEqualProgramsAreEqualBytes) {
  RandomProgram first(context, 7), second(context, 7);
  for (mlir::ModuleOp module : {*first.module, *second.module})
    ASSERT_TRUE(run(module, createPlanMemory()));
  EXPECT_EQ(package::serialize(buildPackage(planOf(*first.module))),
            package::serialize(buildPackage(planOf(*second.module))));
}

TEST(Placement, UsesTheMemoryOfTheDead) {
  // 256 + 256 live throughout; 64 ends before 64 and 128 begin.
  std::vector<Block> blocks = {{256, 0, 9}, {64, 0, 2}, {256, 0, 9}, {64, 3, 9}, {128, 3, 9}};
  EXPECT_EQ(placeBlocks(blocks), 704u);
  EXPECT_EQ(placeBlocks(blocks, /*sharing=*/false), 768u);
}

/// Two streams with two blocks each; the first block of a stream is dead when the second begins;
/// the order relative to the other stream is unknown.
TEST(Placement, SharesByTheOrderOfStreams) {
  auto block = [](uint32_t launch, size_t stream, uint32_t known) {
    Block made = {256, launch, launch};
    made.order.known[stream] = known;
    made.order.done[stream] = launch + 1;
    made.order.lastBeside = 3;
    return made;
  };
  std::vector<Block> blocks = {block(0, 0, 0), block(1, 1, 0), block(2, 0, 1), block(3, 1, 2)};
  EXPECT_EQ(placeBlocks(blocks), 512u);
  EXPECT_EQ(blocks[0].offset, blocks[2].offset);
  EXPECT_EQ(blocks[1].offset, blocks[3].offset);
  blocks[2].order.known[0] = 0; // may run beside the first
  EXPECT_EQ(placeBlocks(blocks), 768u);
}

TEST(Placement, LargeProgramsTakeTheFastWay) {
  std::vector<Block> blocks;
  for (uint32_t i = 0; i < 300'000; ++i)
    blocks.push_back({64u + 64u * (i % 7), i, i + 1 + i % 5});
  EXPECT_LT(placeBlocks(blocks), 64u * 64u);
}

} // namespace
} // namespace lstmc::passes

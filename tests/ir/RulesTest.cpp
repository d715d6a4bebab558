// The rules of ops other than shapes: where the batch is, their cost, their scalar form.
#include <gtest/gtest.h>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "ir/sym/OpTable.h"
#include "ir/sym/RuleSupport.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {
namespace {

class RulesTest : public ::testing::Test {
protected:
  RulesTest() { context.loadDialect<SymDialect, mlir::func::FuncDialect>(); }

  /// The last op of a function whose arguments are given.
  mlir::Operation *parse(const std::string &arguments, const std::string &op) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @f(" + arguments + ") {\n" + op + "\nreturn\n}", &context);
    if (!module)
      return nullptr;
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    return function.front().getTerminator()->getPrevNode();
  }

  /// Where the batch is in result 0 if it is at `axis` of operand 0.
  BatchPosition batch(mlir::Operation *op, int axis) {
    std::vector<BatchPosition> operands(op->getNumOperands());
    operands[0] = {axis, 1, shapeOf(op->getOperand(0))[axis], 1};
    return llvm::cast<BatchRule>(op).batchOfResult(0, operands);
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

using P = BatchPosition;

TEST_F(RulesTest, TheBatchMovesWithItsAxis) {
  EXPECT_EQ(
      batch(
          parse(
              "%x: tensor<5x2x8xf32>",
              "%y = sym.swap_axis %x {dim2 = 1 : i64} : (tensor<5x2x8xf32>) -> tensor<2x5x8xf32>"),
          1),
      (P{0, 1, 2, 1}));
  EXPECT_EQ(batch(parse("%x: tensor<5x2x8xf32>", "%y = sym.transpose %x {axes = array<i64: 2, 1, "
                                                 "0>} : (tensor<5x2x8xf32>) -> tensor<8x2x5xf32>"),
                  0),
            (P{2, 1, 5, 1}));
  EXPECT_EQ(
      batch(
          parse("%x: tensor<5x2x8xf32>",
                "%y = sym.mean %x {axis = array<i64: 0>} : (tensor<5x2x8xf32>) -> tensor<2x8xf32>"),
          1),
      (P{0, 1, 2, 1}));
  EXPECT_FALSE(batch(
      parse("%x: tensor<5x2x8xf32>",
            "%y = sym.mean %x {axis = array<i64: 1>} : (tensor<5x2x8xf32>) -> tensor<5x8xf32>"),
      1));
}

/// [T, N, H] to [T*N, H]: row t*N + n belongs to sequence n. And back, by the split.
TEST_F(RulesTest, TheBatchCanBeInsideAnAxis) {
  P inside{0, 5, 2, 1};
  EXPECT_EQ(batch(parse("%x: tensor<5x2x8xf32>", "%y = sym.reshape %x {shape = array<i64: -3, 0>} "
                                                 ": (tensor<5x2x8xf32>) -> tensor<10x8xf32>"),
                  1),
            inside);
  EXPECT_EQ(reshaped(inside, {10, 8}, {5, 2, 8}), (P{1, 1, 2, 1}));
  EXPECT_EQ(reshaped(P{1, 1, 2, 1}, {5, 2, 8}, {5, 16}), (P{1, 1, 2, 8}));
  // If the reshape cuts the batch into two axes, no axis has it.
  EXPECT_FALSE(reshaped(P{0, 1, 6, 1}, {6, 4}, {2, 3, 4}));
}

TEST_F(RulesTest, WhatMixesRowsHasNoBatch) {
  EXPECT_FALSE(
      batch(parse("%x: tensor<4x8xf32>",
                  "%y = sym.softmax %x {axis = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>"),
            0));
  EXPECT_FALSE(batch(parse("%x: tensor<4x8xf32>, %z: tensor<2x8xf32>",
                           "%y = sym.concat %x, %z {dim = 0 : i64} : (tensor<4x8xf32>, "
                           "tensor<2x8xf32>) -> tensor<6x8xf32>"),
                     0));
}

TEST_F(RulesTest, Costs) {
  auto fc = llvm::cast<CostRule>(
      parse("%x: tensor<6x4xf32>, %w: tensor<3x4xf32>, %b: tensor<3xf32>",
            "%y = sym.fully_connected %x, %w, %b {num_hidden = 3 : i64}"
            " : (tensor<6x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<6x3xf32>"));
  EXPECT_EQ(fc.flops(), 6 * 3 * (2 * 4 + 1));
  EXPECT_EQ(fc.movedBytes(), 4 * (6 * 4 + 3 * 4 + 3 + 6 * 3));
  // A tensor that is used twice counts once.
  auto add = llvm::cast<CostRule>(
      parse("%x: tensor<6xf64>",
            "%y = sym.elemwise_add %x, %x : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>"));
  EXPECT_EQ(add.movedBytes(), 8 * 12);
  EXPECT_EQ(add.flops(), 6);
}

/// Every element-wise op emits scalar operations that verify, and a result of its compute type.
TEST_F(RulesTest, ScalarFormsVerify) {
  int seen = 0;
  for (const OpRecord &record : opRecords()) {
    auto name = mlir::OperationName(record.opName, &context);
    if (!name.hasInterface<ScalarRule>() || record.variadic())
      continue;
    for (const char *element : {"f32", "f64", "i32", "f16"}) {
      std::string type = "tensor<2x3x" + std::string(element) + ">", arguments, operands, types;
      for (size_t i = 0; i < record.inputs.size(); ++i) {
        arguments += (i ? ", %x" : "%x") + std::to_string(i) + ": " + type;
        operands += (i ? ", %x" : "%x") + std::to_string(i);
        types += (i ? ", " : "") + type;
      }
      std::string attributes;
      for (const AttributeRecord &attribute : record.attributes)
        if (attribute.required)
          attributes += (attributes.empty() ? "" : ", ") + std::string(attribute.name) + " = " +
                        (attribute.kind == AttributeKind::Float    ? "2.0 : f64"
                         : attribute.kind == AttributeKind::Choice ? "\"softsign\""
                                                                   : "\"float32\"");
      std::string result = record.opName == "sym.cast" ? "tensor<2x3xf32>" : type;
      mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) {});
      mlir::Operation *op =
          parse(arguments, "%y = " + std::string(record.opName) + " " + operands + " {" +
                               attributes + "} : (" + types + ") -> " + result);
      if (!op)
        continue; // an op that wants floats
      ++seen;
      mlir::Block block;
      mlir::OpBuilder builder(&context);
      builder.setInsertionPointToEnd(&block);
      for (mlir::Value operand : op->getOperands())
        block.addArgument(
            computeType(llvm::cast<mlir::TensorType>(operand.getType()).getElementType()),
            op->getLoc());
      mlir::Value value = llvm::cast<ScalarRule>(op).emitScalar(builder, block.getArguments());
      EXPECT_EQ(
          value.getType(),
          computeType(llvm::cast<mlir::TensorType>(op->getResult(0).getType()).getElementType()))
          << record.opName.data();
      for (mlir::Operation &scalar : block)
        EXPECT_TRUE(succeeded(scalar.getName().verifyInvariants(&scalar))) << record.opName.data();
    }
  }
  EXPECT_GT(seen, 350);
}

} // namespace
} // namespace lstmc::sym

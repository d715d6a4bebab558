// Checks the promise of BatchRule with the kernels. If only one operand has rows somewhere, and the
// rule says where the results have them, then changing one row of the operand changes only that row
// of the results, and permuting the rows permutes the results.
#include <cstring>

#include <gtest/gtest.h>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "executor/base/Philox.h"
#include "ir/exec/Exec.h"
#include "ir/sym/SymOps.h"
#include "tests/e2e/Net.h"

namespace lstmc::e2e {
namespace {

using sym::BatchPosition;

/// An op on inputs of these types, as text; `what` is the text between its name and its types.
struct Case {
  std::string op;
  std::vector<std::string> operands, results;
  std::string what = {};
  bool generic = false;
};

std::string list(const std::vector<std::string> &items) {
  std::string text;
  for (const std::string &item : items)
    text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string textOf(const Case &one) {
  std::vector<std::string> arguments, names, results;
  for (size_t i = 0; i < one.operands.size(); ++i) {
    names.push_back("%x" + std::to_string(i));
    arguments.push_back(names.back() + ": tensor<" + one.operands[i] + "> {sym.name = \"x" +
                        std::to_string(i) + "\", sym.role = \"data\"}");
  }
  std::vector<std::string> in, out;
  for (const std::string &type : one.operands)
    in.push_back("tensor<" + type + ">");
  for (size_t i = 0; i < one.results.size(); ++i) {
    out.push_back("tensor<" + one.results[i] + ">");
    results.push_back(one.results.size() == 1 ? "%y" : "%y#" + std::to_string(i));
  }
  std::string count = one.results.size() == 1 ? "" : ":" + std::to_string(one.results.size());
  std::string call = one.generic ? "\"sym." + one.op + "\"(" + list(names) + ") " + one.what
                                 : "sym." + one.op + " " + list(names) + " " + one.what;
  return "func.func @net(" + list(arguments) + ") -> (" + list(out) + ") {\n  %y" + count + " = " +
         call + " : (" + list(in) + ") -> (" + list(out) + ")\n  return " + list(results) + " : " +
         list(out) + "\n}\n";
}

const std::vector<Case> &cases() { // NOLINT(readability-function-size): a table
  static const std::vector<Case> all = {
      {"tanh", {"3x2xf32"}, {"3x2xf32"}},
      {"elemwise_mul", {"3x2xf32", "3x2xf32"}, {"3x2xf32"}},
      {"broadcast_sub", {"3x1xf32", "1x3xf32"}, {"3x3xf32"}},
      {"broadcast_sub", {"3x2xf32", "1x2xf32"}, {"3x2xf32"}},
      {"where", {"3x2xf32", "3x2xf32", "3x2xf32"}, {"3x2xf32"}},
      {"add_n", {"3x2xf32", "3x2xf32", "3x2xf32"}, {"3x2xf32"}},
      {"fully_connected", {"3x4xf32", "3x4xf32", "3xf32"}, {"3x3xf32"}, "{num_hidden = 3 : i64}"},
      {"fully_connected",
       {"2x3x4xf32", "3x4xf32"},
       {"2x3x3xf32"},
       "{num_hidden = 3 : i64, no_bias = true, flatten = false}"},
      {"dot", {"3x3xf32", "3x3xf32"}, {"3x3xf32"}},
      {"dot", {"3x3xf32", "3x3xf32"}, {"3x3xf32"}, "{transpose_a = true}"},
      {"dot", {"3x3xf32", "3x3xf32"}, {"3x3xf32"}, "{transpose_b = true}"},
      {"batch_dot", {"3x3x3xf32", "3x3x3xf32"}, {"3x3x3xf32"}},
      {"batch_dot",
       {"3x3x3xf32", "3x3x3xf32"},
       {"3x3x3xf32"},
       "{transpose_a = true, transpose_b = true}"},
      {"embedding",
       {"2x3xi32", "3x2xf32"},
       {"2x3x2xf32"},
       "{input_dim = 3 : i64, output_dim = 2 : i64}"},
      {"take", {"3x3x3xf32", "3x3xi32"}, {"3x3x3x3xf32"}, "{axis = 1 : i64}"},
      {"take", {"3x3xf32", "3xi32"}, {"3x3xf32"}, "{mode = \"wrap\"}"},
      {"pick", {"3x3x3xf32", "3x3xi32"}, {"3x3xf32"}, "{axis = 1 : i64}"},
      {"pick", {"3x3xf32", "3x1xi32"}, {"3x1xf32"}, "{axis = 1 : i64, keepdims = true}"},
      {"one_hot", {"2x3xi32"}, {"2x3x3xf32"}, "{depth = 3 : i64}"},
      {"softmax", {"3x3x3xf32"}, {"3x3x3xf32"}, "{axis = 1 : i64}"},
      {"softmax", {"3x3xf32", "3xi32"}, {"3x3xf32"}, "{axis = 1 : i64, use_length = true}"},
      {"layer_norm",
       {"3x3x3xf32", "3xf32", "3xf32"},
       {"3x3x3xf32", "3x3xf32", "3x3xf32"},
       "{axis = 1 : i64}"},
      {"sum", {"3x4x2xf32"}, {"3x2xf32"}, "{axis = array<i64: 1>}"},
      {"max", {"3x4x2xf32"}, {"1x4x1xf32"}, "{axis = array<i64: 0, 2>, keepdims = true}"},
      {"argmax", {"3x3xf32"}, {"3xf32"}, "{axis = 0 : i64}"},
      {"sequence_mask",
       {"3x3x3xf32", "3xf32"},
       {"3x3x3xf32"},
       "{use_sequence_length = true, axis = 1 : i64}"},
      {"sequence_last", {"3x3x3xf32", "3xf32"}, {"3x3xf32"}, "{use_sequence_length = true}"},
      {"sequence_last",
       {"3x3x3xf32", "3xf32"},
       {"3x3xf32"},
       "{use_sequence_length = true, axis = 1 : i64}"},
      {"sequence_reverse", {"3x3x3xf32", "3xf32"}, {"3x3x3xf32"}, "{use_sequence_length = true}"},
      {"reshape", {"4x6xf32"}, {"2x4x3xf32"}, "{shape = array<i64: 2, 4, 3>}"},
      {"reshape", {"2x4x3xf32"}, {"8x3xf32"}, "{shape = array<i64: 8, 3>}"},
      {"reshape", {"4x3x2xf32"}, {"24xf32"}, "{shape = array<i64: 24>}"},
      {"flatten", {"3x2x2xf32"}, {"3x4xf32"}},
      {"swap_axis", {"2x3x4xf32"}, {"4x3x2xf32"}, "{dim2 = 2 : i64}"},
      {"transpose", {"2x3x4xf32"}, {"3x4x2xf32"}, "{axes = array<i64: 1, 2, 0>}"},
      {"expand_dims", {"3x2xf32"}, {"3x1x2xf32"}, "{axis = 1 : i64}"},
      {"squeeze", {"3x1x2xf32"}, {"3x2xf32"}},
      {"concat", {"3x2xf32", "3x2xf32"}, {"3x4xf32"}, "{dim = 1 : i64}"},
      {"concat", {"3x2xf32", "3x2xf32"}, {"6x2xf32"}, "{dim = 0 : i64}"},
      {"stack", {"3x2xf32", "3x2xf32"}, {"3x2x2xf32"}, "{axis = 1 : i64}"},
      {"slice_channel", {"4x4xf32"}, {"4x2xf32", "4x2xf32"}, "{num_outputs = 2 : i64}"},
      {"reverse", {"3x2xf32"}, {"3x2xf32"}, "{axis = array<i64: 1>}"},
      {"tile", {"3x2xf32"}, {"6x6xf32"}, "{reps = array<i64: 2, 3>}"},
      {"repeat", {"3x2xf32"}, {"6x2xf32"}, "{repeats = 2 : i64, axis = 0 : i64}"},
      {"repeat", {"3x2xf32"}, {"12xf32"}, "{repeats = 2 : i64}"},
      {"broadcast_to", {"3x1xf32"}, {"3x4xf32"}, "{shape = array<i64: 3, 4>}"},
      {"broadcast_axis", {"3x1xf32"}, {"3x4xf32"}, "{axis = array<i64: 1>, size = array<i64: 4>}"},
      {"slice_axis", {"3x4xf32"}, {"3x2xf32"}, "{axis = 1 : i64, begin = 1 : i64, end = 3 : i64}"},
      {"slice_axis", {"4x4xf32"}, {"2x4xf32"}, "{axis = 0 : i64, begin = 0 : i64, end = 2 : i64}"},
      {"slice",
       {"3x4xf32"},
       {"3x4xf32"},
       "{begin = [2, unit], end = [unit, unit], step = [-1, 1]}"},
      {"softmax_gradient",
       {"3x3xf32", "3x3xf32", "3xi32"},
       {"3x3xf32"},
       "<{axis = 1 : i64, log = false, temperature = 1.0 : f64}>",
       true},
      {"layer_norm_gradient",
       {"3x3x3xf32", "3xf32", "3x3xf32", "3x3xf32", "3x3x3xf32"},
       {"3x3x3xf32", "3x3x3xf32"},
       "{axis = 1 : i64}"},
      {"pick_gradient", {"3x3xf32", "3x3xi32"}, {"3x3x3xf32"}, "{axis = 1 : i64, wrap = false}"},
      {"sequence_last_gradient", {"3x3xf32", "3xf32"}, {"3x3x3xf32"}, "{axis = 1 : i64}"},
      {"softmax_output_gradient",
       {"3x3x3xf32", "3x3xi32"},
       {"3x3x3xf32"},
       "{axis = 1 : i64, use_ignore = false, normalization = \"null\", multi = true, "
       "ignore_label = -1.0, grad_scale = 1.0, smooth_alpha = 0.0}"},
      {"softmax_output_gradient",
       {"3x3xf32", "3xi32"},
       {"3x3xf32"},
       "{axis = 1 : i64, use_ignore = true, normalization = \"valid\", multi = false, "
       "ignore_label = 1.0, grad_scale = 1.0, smooth_alpha = 0.0}"},
      {"place", {"3x2xf32"}, {"3x4xf32"}, "{begin = array<i64: 0, 1>, step = array<i64: 1, 1>}"},
      {"place", {"3x2xf32"}, {"3x2xf32"}, "{begin = array<i64: 2, 0>, step = array<i64: -1, 1>}"},
      {"reduce_to", {"3x4xf32"}, {"3x1xf32"}},
      {"cut", {"8x2xf32"}, {"4x2xf32", "4x2xf32"}, "{sizes = array<i64: 4, 4>}"},
      {"cut", {"4x2xf32"}, {"3x2xf32", "1x2xf32"}, "{sizes = array<i64: 3, 1>}"},
      {"rnn_layer",
       {"2x3x2xf32", "12x2xf32", "12x3xf32", "12xf32", "12xf32", "3x3xf32", "3x3xf32", "3xf32"},
       {"2x3x3xf32", "3x3xf32", "3x3xf32"},
       "<{mode = \"lstm\", operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1>, "
       "resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}>",
       true},
      {"rnn_layer_gradient",
       {"2x3x12xf32", "2x3x3xf32", "2x3x3xf32", "3x3xf32", "3x3xf32", "12x2xf32", "12x3xf32",
        "2x3x3xf32", "3x3xf32", "3x3xf32"},
       {"2x3x12xf32", "2x3x2xf32", "3x3xf32", "3x3xf32"},
       "<{mode = \"lstm\", operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1>, "
       "resultSegmentSizes = array<i32: 1, 0, 1, 1, 1>}>",
       true},
  };
  return all;
}

using Bytes = std::vector<uint8_t>;

/// Elements before and after a row, given by BatchPosition.
struct RowIndex {
  int64_t stride, batch;
  RowIndex(mlir::Type type, BatchPosition at) : stride(at.inner), batch(at.batch) {
    auto shape = llvm::cast<mlir::RankedTensorType>(type).getShape();
    for (int64_t extent : shape.drop_front(size_t(at.axis) + 1))
      stride *= extent;
  }
  int64_t of(int64_t element) const { return element / stride % batch; }
  /// The distance to the same element of the next row.
  int64_t next(int64_t element) const {
    return of(element) + 1 < batch ? element + stride : element - stride * (batch - 1);
  }
};

class Rows : public ::testing::TestWithParam<size_t> {
protected:
  void SetUp() override {
    text = textOf(cases()[GetParam()]);
    context.loadDialect<mlir::func::FuncDialect, sym::SymDialect, exec::ExecDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    op = &(*module->getOps<mlir::func::FuncOp>().begin()).front().front();
    passes::CompileOptions options;
    options.entries = {"forward"};
    session = openSession(compileSym(text, options).package, 1);
    for (size_t i = 0; i < op->getNumOperands(); ++i) {
      Tensor to = input(i);
      Bytes &bytes = inputs.emplace_back(size_t(to.elements()) * dtypeBytes(to.dtype));
      for (int64_t e = 0; e < to.elements(); ++e)
        draw(to.dtype, bytes, e, uint32_t(i));
    }
  }

  Tensor input(size_t i) { return *session->input("forward", "x" + std::to_string(i)); }

  /// Indices and lengths below 3, other numbers in [-1, 1); lengths of sequences are floats.
  void draw(DType dtype, Bytes &bytes, int64_t element, uint32_t salt) {
    double u = randomUniform(5, uint64_t(element), salt, 0);
    bool length = cases()[GetParam()].op.starts_with("sequence") && salt == 1;
    bool last = cases()[GetParam()].op == "rnn_layer" && salt == 7;
    if (dtype == DType::F32)
      reinterpret_cast<float *>(bytes.data())[element] =
          length || last ? float(1 + int(u * 2.99)) : float(2 * u - 1);
    else
      reinterpret_cast<int32_t *>(bytes.data())[element] = int32_t(u * 2.99);
  }

  std::vector<Bytes> run(const std::vector<Bytes> &with) {
    for (size_t i = 0; i < with.size(); ++i)
      std::memcpy(input(i).data, with[i].data(), with[i].size());
    EXPECT_TRUE(session->run("forward").ok());
    std::vector<Bytes> results;
    const package::PackageData &data = session->package().data();
    for (const package::Binding &output :
         data.entries[*session->package().findEntry("forward")].outputs) {
      Tensor value = *session->output("forward", output.name);
      const auto *begin = value.as<uint8_t>();
      results.emplace_back(begin, begin + size_t(value.elements()) * dtypeBytes(value.dtype));
    }
    return results;
  }

  /// Positions in which an operand could have rows: on one axis, or merged with axes before or
  /// after it.
  std::vector<BatchPosition> positionsIn(mlir::Value operand) {
    std::vector<BatchPosition> positions;
    auto shape = llvm::cast<mlir::RankedTensorType>(operand.getType()).getShape();
    for (auto [axis, extent] : llvm::enumerate(shape)) {
      if (extent > 1)
        positions.push_back({int(axis), 1, extent, 1});
      if (extent % 2 == 0 && extent > 2) {
        positions.push_back({int(axis), 2, extent / 2, 1});
        positions.push_back({int(axis), 1, extent / 2, 2});
      }
    }
    return positions;
  }

  /// Where the results have rows if only one operand has them.
  std::vector<BatchPosition> ruleFor(size_t operand, BatchPosition at) {
    std::vector<BatchPosition> operands(op->getNumOperands()), results;
    operands[operand] = at;
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      results.push_back(llvm::cast<sym::BatchRule>(op).batchOfResult(i, operands));
    return results;
  }

  /// The input with each row moved to the next.
  Bytes turn(size_t operand, BatchPosition at) {
    Bytes turned = inputs[operand];
    RowIndex in(op->getOperand(unsigned(operand)).getType(), at);
    for (int64_t e = 0; e < int64_t(turned.size() / 4); ++e)
      std::memcpy(&turned[size_t(in.next(e)) * 4], &inputs[operand][size_t(e) * 4], 4);
    return turned;
  }

  void expect(size_t operand, BatchPosition at) {
    std::vector<BatchPosition> results = ruleFor(operand, at);
    RowIndex in(op->getOperand(unsigned(operand)).getType(), at);
    std::vector<Bytes> base = run(inputs), other = inputs, turned = inputs;
    for (int64_t e = 0; e < int64_t(other[operand].size() / 4); ++e)
      if (in.of(e) == 1)
        std::memcpy(&other[operand][size_t(e) * 4], &inputs[operand][size_t(in.next(e)) * 4], 4);
    // All operands that could have the same rows, together with this one.
    turned[operand] = turn(operand, at);
    for (size_t i = 0; i < op->getNumOperands(); ++i)
      for (BatchPosition also : positionsIn(op->getOperand(unsigned(i))))
        if (i != operand && also.batch == at.batch && ruleFor(i, also) == results) {
          turned[i] = turn(i, also);
          break;
        }
    std::vector<Bytes> changed = run(other), rolled = run(turned);
    for (mlir::OpResult result : op->getResults()) {
      unsigned number = result.getResultNumber();
      BatchPosition to = results[number];
      if (!to)
        continue;
      ++promises;
      ASSERT_EQ(to.batch, at.batch);
      RowIndex out(result.getType(), to);
      for (int64_t e = 0; e < int64_t(base[number].size() / 4); ++e) {
        auto same = [&](const Bytes &one, int64_t i, const Bytes &two, int64_t j) {
          return std::memcmp(&one[size_t(i) * 4], &two[size_t(j) * 4], 4) == 0;
        };
        if (out.of(e) != 1) {
          ASSERT_TRUE(same(base[number], e, changed[number], e))
              << "row 1 of operand " << operand << " on axis " << at.axis << " changes row "
              << out.of(e) << " of result " << number << "\n"
              << text;
        }
        ASSERT_TRUE(same(base[number], e, rolled[number], out.next(e)))
            << "rows of operand " << operand << " on axis " << at.axis
            << " are not alike in result " << number << "\n"
            << text;
      }
    }
  }

  std::string text;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation *op = nullptr;
  std::unique_ptr<Session> session;
  std::vector<Bytes> inputs;
  int promises = 0;
};

INSTANTIATE_TEST_SUITE_P(Ops, Rows, ::testing::Range(size_t(0), cases().size()),
                         [](const auto &info) {
                           return cases()[info.param].op + "_" + std::to_string(info.param);
                         });

TEST_P(Rows, AreMadeOfRows) {
  for (size_t operand = 0; operand < op->getNumOperands(); ++operand)
    for (BatchPosition at : positionsIn(op->getOperand(unsigned(operand))))
      expect(operand, at);
}

} // namespace
} // namespace lstmc::e2e

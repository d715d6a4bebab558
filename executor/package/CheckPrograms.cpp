#include "executor/package/Check.h"

#include <algorithm>
#include <cmath>

#include "executor/abi/LogicalOps.h"
#include "executor/base/Numeric.h"

namespace lstmc::package {

namespace {

bool computes(DType type) {
  return type == DType::F32 || type == DType::F64 || type == DType::I32 || type == DType::I64 ||
         type == DType::Bool;
}

class ProgramCheck {
public:
  ProgramCheck(const FusedProgram &program, const Path &path) : program(program), path(path) {}

  Status run() {
    LSTMC_TRY(counts());
    LSTMC_TRY(operands());
    for (size_t i = 0; i < program.instructions.size(); ++i)
      LSTMC_TRY(instruction(program.instructions[i], Path(path, "instructions", int64_t(i))));
    LSTMC_TRY(results());
    if (int live = liveValues(program); live > kMaxFusedLive)
      return refuse(Path(path, "instructions"), ErrorCode::E0604,
                    "found {} values alive at once, want at most {}", live, kMaxFusedLive);
    return {};
  }

private:
  const FusedProgram &program;
  const Path &path;
  std::vector<DType> types; ///< of the values made so far, operands first

  Status counts() {
    if (program.types.empty() || program.types.size() > size_t(kMaxFusedOperands))
      return refuse(Path(path, "types"), ErrorCode::E0604, "found {} operands, want 1 to {}",
                    program.types.size(), kMaxFusedOperands);
    if (program.instructions.size() > size_t(kMaxFusedInstructions))
      return refuse(Path(path, "instructions"), ErrorCode::E0604, "found {}, want at most {}",
                    program.instructions.size(), kMaxFusedInstructions);
    if (program.results.size() != program.types.size())
      return refuse(Path(path, "results"), ErrorCode::E0605, "found {}, want {}, one per operand",
                    program.results.size(), program.types.size());
    return {};
  }

  Status operands() {
    for (size_t i = 0; i < program.types.size(); ++i) {
      if (uint8_t(program.types[i]) >= kDTypeCount)
        return refuse(Path(path, "types", int64_t(i)), ErrorCode::E0604, "found {}, want below {}",
                      uint8_t(program.types[i]), kDTypeCount);
      types.push_back(widenedType(program.types[i]));
    }
    return {};
  }

  /// A value that an instruction or result reads: made earlier, and no operand that is only
  /// written.
  Status value(const Path &at, int64_t number) const {
    if (number < 0 || number >= int64_t(types.size()))
      return refuse(at, ErrorCode::E0604, "found value {}, want one made earlier, below {}", number,
                    types.size());
    if (number < int64_t(program.results.size()) && program.results[size_t(number)] >= 0)
      return refuse(at, ErrorCode::E0604,
                    "found operand {}, which is written, want one that is read", number);
    return {};
  }

  Status instruction(const FusedInstruction &instruction, const Path &at) {
    if (int(instruction.op) >= kScalarOpCount)
      return refuse(Path(at, "op"), ErrorCode::E0604, "found {}, want below {}",
                    int(instruction.op), kScalarOpCount);
    Path typePath(at, "type");
    if (!computes(instruction.type))
      return refuse(typePath, ErrorCode::E0604, "found {}, want f32, f64, i32, i64 or bool",
                    uint8_t(instruction.type) < kDTypeCount
                        ? std::string(dtypeName(instruction.type))
                        : std::to_string(int(instruction.type)));
    const ScalarRecord &record = kScalarRecords[int(instruction.op)];
    const uint16_t numbers[] = {instruction.a, instruction.b, instruction.c};
    constexpr std::string_view kNames[] = {"a", "b", "c"};
    for (int i = 0; i < record.operands; ++i)
      LSTMC_TRY(value(Path(at, kNames[i]), numbers[i]));

    DType wanted = instruction.type;
    if (record.result == ScalarResult::Bool) {
      if (instruction.type != DType::Bool)
        return refuse(typePath, ErrorCode::E0605, "found {}, want bool for {}",
                      dtypeName(instruction.type), record.name);
      wanted = types[numbers[0]];
    } else if (record.result == ScalarResult::From) {
      if (instruction.op == ScalarOp::Uniform) {
        if (!isFloat(instruction.type))
          return refuse(typePath, ErrorCode::E0605, "found {}, want f32 or f64 for uniform",
                        dtypeName(instruction.type));
        if (!(instruction.immediate >= 0 && instruction.immediate < 4294967296.0))
          return refuse(Path(at, "immediate"), ErrorCode::E0604,
                        "found {}, want an op's number, 0 to 4294967295", instruction.immediate);
        wanted = DType::I64;
      } else if (instruction.op == ScalarOp::Cast) {
        wanted = types[numbers[0]];
      }
    } else if (!mayBe(instruction.op, instruction.type == DType::Bool)) {
      return refuse(typePath, ErrorCode::E0605, "found {}, want {} for {}",
                    dtypeName(instruction.type), isLogical(instruction.op) ? "bool" : "a number",
                    record.name);
    }
    for (int i = 0; i < record.operands; ++i) {
      DType want = instruction.op == ScalarOp::Select && i == 0 ? DType::Bool : wanted;
      if (types[numbers[i]] != want)
        return refuse(Path(at, kNames[i]), ErrorCode::E0605,
                      "found value {} of type {}, want {} for {}", numbers[i],
                      dtypeName(types[numbers[i]]), dtypeName(want), record.name);
    }
    types.push_back(instruction.type);
    return {};
  }

  Status results() {
    bool any = false;
    for (size_t i = 0; i < program.results.size(); ++i) {
      Path at(path, "results", int64_t(i));
      int32_t number = program.results[i];
      if (number == -1)
        continue;
      any = true;
      LSTMC_TRY(value(at, number));
      if (types[size_t(number)] != widenedType(program.types[i]))
        return refuse(at, ErrorCode::E0605,
                      "found value {} of type {}, want {} for an operand of {}", number,
                      dtypeName(types[size_t(number)]), dtypeName(widenedType(program.types[i])),
                      dtypeName(program.types[i]));
    }
    if (!any)
      return refuse(Path(path, "results"), ErrorCode::E0604, "found nothing stored, want a result");
    return {};
  }
};

} // namespace

int liveValues(const FusedProgram &program) {
  int64_t operands = int64_t(program.types.size()), made = int64_t(program.instructions.size());
  std::vector<int64_t> lastUse(size_t(made), -1);
  auto use = [&](int64_t number, int64_t at) {
    if (number >= operands && number < operands + made)
      lastUse[size_t(number - operands)] = std::max(lastUse[size_t(number - operands)], at);
  };
  for (int64_t i = 0; i < made; ++i) {
    const FusedInstruction &instruction = program.instructions[size_t(i)];
    const uint16_t numbers[] = {instruction.a, instruction.b, instruction.c};
    for (int k = 0; k < kScalarRecords[int(instruction.op)].operands; ++k)
      use(numbers[k], i);
  }
  for (int32_t result : program.results)
    use(result, made);
  std::vector<int> change(size_t(made) + 2);
  for (int64_t i = 0; i < made; ++i) {
    ++change[size_t(i)];
    --change[size_t(std::max(lastUse[size_t(i)], i)) + 1];
  }
  int live = 0, most = 0;
  for (int64_t i = 0; i <= made; ++i)
    most = std::max(most, live += change[size_t(i)]);
  return most;
}

Status checkPrograms(const PackageData &data) {
  for (size_t i = 0; i < data.programs.size(); ++i)
    LSTMC_TRY(ProgramCheck(data.programs[i], Path("programs", int64_t(i))).run());
  return {};
}

} // namespace lstmc::package

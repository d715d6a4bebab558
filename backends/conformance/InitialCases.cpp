#include "backends/conformance/Cases.h"

namespace lstmc::conformance {

void addInitialCases(std::vector<Case> &cases) {
  constexpr std::string_view kNames[] = {"constant", "uniform", "normal", "orthogonal",
                                         "lstm_bias"};
  auto add = [&](InitKind kind, OrthogonalStart variant, DType type, Shape shape) {
    conformance::add(
        cases, KernelId::Initialise,
        fmt::format("{} {} {}{}", kNames[int(kind)], dtypeName(type), fmt::join(shape, "x"),
                    variant == OrthogonalStart::Normal ? ", normal" : ""),
        [=] {
          Array w(type, shape), scratch;
          const InitialiseArguments arguments{
              .kind = kind, .ordinal = 7, .variant = variant, .a = 0.75, .b = 1.5};
          if (kind == InitKind::Orthogonal) {
            auto parts = scratchOf<int64_t>(arguments, shape[0], w.tensor.elements() / shape[0],
                                            int64_t(dtypeBytes(type)));
            scratch = Array(DType::U8, {parts.bytes});
          }
          return makeLaunch(arguments,
                            {Array(DType::I64, {1}, constant(-123456789012.0)), w, scratch});
        });
  };
  for (InitKind kind :
       {InitKind::Constant, InitKind::Uniform, InitKind::Normal, InitKind::LstmBias})
    for (Shape shape :
         {Shape{1}, Shape{4}, Shape{68}, Shape{37, 19}, Shape{2, 3, 5}, Shape{20000}, Shape{0}})
      for (DType type : {DType::F32, DType::F64})
        add(kind, OrthogonalStart::Uniform, type, shape);
  for (InitKind kind : {InitKind::Uniform, InitKind::Normal})
    conformance::add(
        cases, KernelId::Initialise, fmt::format("{} f64 about denormals", kNames[int(kind)]), [=] {
          return makeLaunch(
              InitialiseArguments{.kind = kind, .ordinal = 7, .a = -0x1p-1021, .b = 0x1p-1021},
              {Array(DType::I64, {1}, constant(5)), Array(DType::F64, {500}), Array()});
        });
  for (OrthogonalStart variant : {OrthogonalStart::Uniform, OrthogonalStart::Normal})
    for (Shape shape : {Shape{1, 1}, Shape{5, 3}, Shape{3, 5}, Shape{16, 16}, Shape{4, 3, 2},
                        Shape{9}, Shape{70, 131}, Shape{131, 70}, Shape{67, 1100}, Shape{80, 80}})
      for (DType type : {DType::F32, DType::F64})
        add(InitKind::Orthogonal, variant, type, shape);
}

} // namespace lstmc::conformance

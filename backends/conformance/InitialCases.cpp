#include "backends/conformance/Cases.h"

namespace lstmc::conformance {

void addInitialCases(std::vector<Case> &cases) {
  constexpr std::string_view kNames[] = {"constant", "uniform", "normal", "orthogonal",
                                         "lstm_bias"};
  auto add = [&](InitKind kind, int64_t variant, DType type, Shape shape) {
    conformance::add(
        cases, KernelId::Initialise,
        fmt::format("{} {} {}{}", kNames[int(kind)], dtypeName(type), fmt::join(shape, "x"),
                    variant ? ", normal" : ""),
        [=] {
          Array w(type, shape), scratch;
          if (kind == InitKind::Orthogonal) {
            auto parts = orthogonalScratch<int64_t>(shape[0], w.tensor.elements() / shape[0],
                                                    int64_t(dtypeBytes(type)));
            scratch = Array(DType::U8, {parts.bytes});
          }
          return makeLaunch(KernelId::Initialise,
                            {Array(DType::I64, {1}, constant(-123456789012.0)), w, scratch},
                            {int64_t(kind), 7, variant}, {0.75, 1.5});
        });
  };
  for (InitKind kind :
       {InitKind::Constant, InitKind::Uniform, InitKind::Normal, InitKind::LstmBias})
    for (Shape shape :
         {Shape{1}, Shape{4}, Shape{68}, Shape{37, 19}, Shape{2, 3, 5}, Shape{20000}, Shape{0}})
      for (DType type : {DType::F32, DType::F64})
        add(kind, 0, type, shape);
  for (int64_t variant : {0, 1})
    for (Shape shape : {Shape{1, 1}, Shape{5, 3}, Shape{3, 5}, Shape{16, 16}, Shape{4, 3, 2},
                        Shape{9}, Shape{70, 131}, Shape{131, 70}, Shape{67, 1100}, Shape{80, 80}})
      for (DType type : {DType::F32, DType::F64})
        add(InitKind::Orthogonal, variant, type, shape);
}

} // namespace lstmc::conformance

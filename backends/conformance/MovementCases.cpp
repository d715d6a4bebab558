#include "backends/conformance/Cases.h"

#include <cmath>

namespace lstmc::conformance {

namespace {

constexpr DType kTypes[] = {DType::F32, DType::F64, DType::F16, DType::BF16, DType::I8,
                            DType::U8,  DType::I32, DType::I64, DType::Bool};

/// Numbers that every type holds.
Values small(uint64_t salt = 0) { return integers(0, 1, salt); }

void addFill(std::vector<Case> &cases) {
  for (DType type : kTypes)
    for (Layout layout : kAnyLayout)
      add(cases, KernelId::Fill, fmt::format("{},{}", dtypeName(type), layoutName(layout)), [=] {
        return makeLaunch(FillArguments{.value = type == DType::Bool ? 1.0 : 7.0},
                          {Array(type, {3, 37}, layout)});
      });
  add(cases, KernelId::Fill, "rank 0",
      [] { return makeLaunch(FillArguments{.value = -0.0}, {Array(DType::F32, {})}); });
  add(cases, KernelId::Fill, "no elements",
      [] { return makeLaunch(FillArguments{.value = 1}, {Array(DType::F32, {4, 0})}); });
  add(cases, KernelId::Fill, "large",
      [] { return makeLaunch(FillArguments{.value = 0.1}, {Array(DType::F32, {70001})}); });
  add(cases, KernelId::Fill, "saturates",
      [] { return makeLaunch(FillArguments{.value = 300}, {Array(DType::I8, {9})}); });
}

void addCopy(std::vector<Case> &cases) {
  for (DType type : kTypes)
    for (Layout from : kAnyLayout)
      for (Layout to : kAnyLayout)
        if (type == DType::F32 || from == to || (from == Layout::Dense && to == Layout::Transposed))
          add(cases, KernelId::Copy,
              fmt::format("{},{}->{}", dtypeName(type), layoutName(from), layoutName(to)), [=] {
                return makeLaunch(KernelId::Copy, {Array(type, {3, 17, 19}, small(), from),
                                                   Array(type, {3, 17, 19}, to)});
              });
  add(cases, KernelId::Copy, "bits are kept", [] {
    return makeLaunch(KernelId::Copy,
                      {Array(DType::F32, {99}, anything()), Array(DType::F32, {99})});
  });
  add(cases, KernelId::Copy, "broadcast", [] {
    return makeLaunch(KernelId::Copy,
                      {Array(DType::F32, {5, 1, 9}, uniform(-1, 1)).broadcast(1, 13),
                       Array(DType::F32, {5, 13, 9}, Layout::Rows)});
  });
  add(cases, KernelId::Copy, "permuted", [] {
    return makeLaunch(KernelId::Copy,
                      {Array(DType::F32, {33, 7, 65}, uniform(-1, 1)).permuted({2, 0, 1}),
                       Array(DType::F32, {65, 33, 7})});
  });
  add(cases, KernelId::Copy, "part of a row", [] {
    return makeLaunch(KernelId::Copy, {Array(DType::F32, {6, 40}, uniform(-1, 1)).slice(1, 3, 21),
                                       Array(DType::F32, {6, 50}).slice(1, 17, 21)});
  });
  add(cases, KernelId::Copy, "large", [] {
    return makeLaunch(KernelId::Copy,
                      {Array(DType::F32, {300, 257}, uniform(-1, 1)).permuted({1, 0}),
                       Array(DType::F32, {257, 300})});
  });
  add(cases, KernelId::Copy, "rank 0", [] {
    return makeLaunch(KernelId::Copy, {Array(DType::F64, {}, constant(3)), Array(DType::F64, {})});
  });
  add(cases, KernelId::Copy, "rank 16", [] {
    Shape shape(16, 1);
    shape[0] = shape[5] = shape[15] = 3;
    return makeLaunch(KernelId::Copy, {Array(DType::I32, shape, integers(-9, 9)),
                                       Array(DType::I32, shape, Layout::Reversed)});
  });
  add(cases, KernelId::Copy, "no elements", [] {
    return makeLaunch(KernelId::Copy, {Array(DType::F32, {0, 3}), Array(DType::F32, {0, 3})});
  });
}

void addIndexed(std::vector<Case> &cases) {
  for (DType type : {DType::F32, DType::F64, DType::I32, DType::I64, DType::U8})
    add(cases, KernelId::Arange, dtypeName(type), [=] {
      return makeLaunch(ArangeArguments{.repeat = 3, .start = 2, .step = 0.7}, {Array(type, {61})});
    });
  add(cases, KernelId::Arange, "f64 about denormals", [] {
    return makeLaunch(ArangeArguments{.repeat = 1, .start = 0x1.8p-1022, .step = -0x1p-1022},
                      {Array(DType::F64, {61})});
  });

  for (DType index : {DType::F32, DType::I32, DType::I64, DType::U8, DType::F64})
    for (auto [mode, name] : {std::pair(IndexMode::Clip, ""),
                              {IndexMode::Wrap, ", wrap"},
                              {IndexMode::Raise, ", raise"}})
      add(cases, KernelId::Gather, fmt::format("{} indices{}", dtypeName(index), name), [=] {
        int64_t low = index == DType::U8 ? 0 : -25;
        return makeLaunch(GatherArguments{.mode = mode},
                          {Array(DType::F32, {1, 11, 33}, uniform(-1, 1)),
                           Array(index, {4, 9}, integers(low, 25)),
                           Array(DType::F32, {1, 36, 33})});
      });
  for (Layout layout : kAnyLayout)
    add(cases, KernelId::Gather, fmt::format("in the middle, {}", layoutName(layout)), [=] {
      return makeLaunch(GatherArguments{.mode = IndexMode::Clip},
                        {Array(DType::F64, {3, 5, 7}, uniform(-1, 1), layout),
                         Array(DType::I32, {8}, integers(0, 4)),
                         Array(DType::F64, {3, 8, 7}, layout)});
    });
  add(cases, KernelId::Gather, "halves truncated", [] {
    return makeLaunch(GatherArguments{.mode = IndexMode::Clip},
                      {Array(DType::F32, {1, 6, 4}, uniform(-1, 1)),
                       Array(DType::F32, {12}, uniform(-2, 8)), Array(DType::F32, {1, 12, 4})});
  });
  add(cases, KernelId::Gather, "indices that are no numbers", [] {
    return makeLaunch(GatherArguments{.mode = IndexMode::Clip},
                      {Array(DType::F32, {1, 6, 4}, uniform(-1, 1)),
                       Array(DType::F32, {40}, anything()), Array(DType::F32, {1, 40, 4})});
  });
  add(cases, KernelId::Gather, "many", [] {
    return makeLaunch(GatherArguments{.mode = IndexMode::Clip},
                      {Array(DType::F32, {1, 65, 256}, uniform(-1, 1)),
                       Array(DType::I32, {300}, integers(0, 64)),
                       Array(DType::F32, {1, 300, 256})});
  });

  for (DType type : kTypes)
    add(cases, KernelId::OneHot, dtypeName(type), [=] {
      return makeLaunch(OneHotArguments{.on = 1, .off = 0},
                        {Array(DType::F32, {23}, integers(-2, 9)), Array(type, {23, 8})});
    });
  add(cases, KernelId::OneHot, "on and off, transposed", [] {
    return makeLaunch(
        OneHotArguments{.on = 0.9, .off = 0.1},
        {Array(DType::I64, {23}, integers(-2, 9)), Array(DType::F32, {23, 8}, Layout::Transposed)});
  });

  for (Layout layout : kAnyLayout)
    for (bool wrap : {false, true}) {
      std::string what = fmt::format("{}{}", layoutName(layout), wrap ? ", wrap" : "");
      add(cases, KernelId::Pick, what, [=] {
        return makeLaunch(PickArguments{.wrap = wrap},
                          {Array(DType::F32, {9, 5, 7}, uniform(-1, 1), layout),
                           Array(DType::F32, {9, 7}, integers(-7, 12), layout),
                           Array(DType::F32, {9, 7}, layout)});
      });
      add(cases, KernelId::PickGradient, what, [=] {
        return makeLaunch(PickGradientArguments{.wrap = wrap},
                          {Array(DType::F32, {9, 7}, uniform(-1, 1), layout),
                           Array(DType::I32, {9, 7}, integers(-7, 12), layout),
                           Array(DType::F32, {9, 5, 7}, layout)});
      });
    }
}

/// Lengths below 0 and beyond the sequence, down to the least number.
Array extremeLengths() {
  return Array(DType::F64, {5}, [](uint64_t i) {
    constexpr double kLengths[] = {-HUGE_VAL, HUGE_VAL, -1, 0, 6};
    return kLengths[i];
  });
}

void addSequences(std::vector<Case> &cases) {
  add(cases, KernelId::SequenceLast, "lengths beyond both ends", [] {
    return makeLaunch(KernelId::SequenceLast, {Array(DType::F32, {6, 5, 19}, uniform(-1, 1)),
                                               extremeLengths(), Array(DType::F32, {5, 19})});
  });
  add(cases, KernelId::SequenceLastGradient, "lengths beyond both ends", [] {
    return makeLaunch(KernelId::SequenceLastGradient,
                      {Array(DType::F32, {5, 19}, uniform(-1, 1)), extremeLengths(),
                       Array(DType::F32, {6, 5, 19})});
  });
  for (DType length : {DType::F32, DType::I32, DType::I64})
    for (Layout layout : kAnyLayout) {
      std::string what = fmt::format("{} lengths, {}", dtypeName(length), layoutName(layout));
      auto x = [=] { return Array(DType::F32, {6, 5, 19}, uniform(-1, 1), layout); };
      auto lengths = [=] { return Array(length, {5}, integers(0, 7)); };
      add(cases, KernelId::SequenceMask, what, [=] {
        return makeLaunch(SequenceMaskArguments{.value = -3},
                          {x(), lengths(), Array(DType::F32, {6, 5, 19}, layout)});
      });
      add(cases, KernelId::SequenceMask, what + ", in place", [=] {
        Array same = x();
        return makeLaunch(SequenceMaskArguments{.value = 0}, {same, lengths(), same});
      });
      add(cases, KernelId::SequenceLast, what, [=] {
        return makeLaunch(KernelId::SequenceLast,
                          {x(), lengths(), Array(DType::F32, {5, 19}, layout)});
      });
      add(cases, KernelId::SequenceLastGradient, what, [=] {
        return makeLaunch(KernelId::SequenceLastGradient,
                          {Array(DType::F32, {5, 19}, uniform(-1, 1), layout), lengths(),
                           Array(DType::F32, {6, 5, 19}, layout)});
      });
      add(cases, KernelId::SequenceReverse, what, [=] {
        return makeLaunch(KernelId::SequenceReverse,
                          {x(), lengths(), Array(DType::F32, {6, 5, 19}, layout)});
      });
    }
}

} // namespace

void addMovementCases(std::vector<Case> &cases) {
  addFill(cases);
  addCopy(cases);
  addIndexed(cases);
  addSequences(cases);
}

} // namespace lstmc::conformance

#include "executor/package/Rule.h"

#include <cmath>

#include "executor/abi/Packing.h"
#include "executor/base/ParseNumber.h"

namespace lstmc::package {

namespace {

/// The next word of `text`, taken off its front.
std::string_view takeWord(std::string_view &text) {
  std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

} // namespace

std::string shapeText(const CheckedView &view) {
  std::string text = "[";
  for (int i = 0; i < view.rank; ++i)
    text += fmt::format("{}{}", i ? ", " : "", view.shape[size_t(i)]);
  return text + "]";
}

std::string Rule::ofOperand(size_t operand) const {
  const OperandRecord &of =
      operand < record.operands.size()
          ? record.operands[operand]
          : record.repeated[(operand - record.operands.size()) % record.repeated.size()];
  return fmt::format(" for {} of {}", of.name, record.name);
}

const Rule::Extent *Rule::find(std::string_view name) const {
  for (const Extent &extent : extents)
    if (extent.name == name)
      return &extent;
  return nullptr;
}

int64_t Rule::extent(std::string_view name) const {
  const Extent *found = find(name);
  return ok() && found ? found->extent : 1;
}

void Rule::shape(size_t operand, std::string_view axes) {
  const CheckedView &v = views[operand];
  if (!ok() || !v.present)
    return;
  bool holds = true;
  int axis = 0;
  std::string want;
  std::vector<Extent> fresh;
  for (std::string_view rest = axes; !rest.empty(); ++axis) {
    std::string_view word = takeWord(rest);
    std::optional<int64_t> known = parseNumber<int64_t>(word);
    if (const Extent *bound = find(word); bound && !known)
      known = bound->extent;
    int64_t found = axis < v.rank ? v.shape[size_t(axis)] : 0;
    if (known)
      holds &= found == *known;
    else
      fresh.push_back({word, found});
    want += (axis ? ", " : "") + (known ? std::to_string(*known) : std::string(word));
  }
  if (!holds || axis != v.rank)
    return refuseOperand(operand, "shape", "found {}, want [{}]", shapeText(v), want);
  extents.insert(extents.end(), fresh.begin(), fresh.end());
}

void Rule::sameShape(std::string_view operand, std::string_view as) {
  const CheckedView &v = view(operand), &w = view(as);
  if (ok() && v.present && w.present && (v.rank != w.rank || v.shape != w.shape))
    refuseOperand(position(operand), "shape", "found {}, want {}", shapeText(v), shapeText(w));
}

void Rule::reals(std::initializer_list<std::string_view> operands) {
  std::optional<DType> as;
  for (std::string_view name : operands)
    if (has(name)) {
      real(position(name), as);
      as = view(name).dtype;
    }
}

void Rule::real(size_t operand, std::optional<DType> as) {
  const CheckedView &v = views[operand];
  if (!ok() || !v.present)
    return;
  if (as ? v.dtype != *as : v.dtype != DType::F32 && v.dtype != DType::F64)
    refuseOperand(operand, "buffer", "found {}, want {}", dtypeName(v.dtype),
                  as ? dtypeName(*as) : "f32 or f64");
}

void Rule::sameType(std::string_view operand, std::string_view as) {
  if (has(operand) && has(as))
    type(operand, view(as).dtype);
}

void Rule::type(std::string_view operand, DType want) {
  const CheckedView &v = view(operand);
  if (ok() && v.present && v.dtype != want)
    refuseOperand(position(operand), "buffer", "found {}, want {}", dtypeName(v.dtype),
                  dtypeName(want));
}

void Rule::dense(std::string_view operand) {
  const CheckedView &v = view(operand);
  if (!ok() || !v.present)
    return;
  int64_t step = 1;
  for (size_t i = size_t(v.rank); i-- > 0; step *= v.shape[i])
    if (v.shape[i] != 1 && v.strides[i] != step)
      return refuseOperand(position(operand), "strides", "found {} on axis {}, want {}: dense",
                           v.strides[i], i, step);
}

void Rule::rows(size_t operand) {
  const CheckedView &v = views[operand];
  if (!ok() || !v.present || v.rank == 0)
    return;
  size_t last = size_t(v.rank) - 1;
  if (v.shape[last] != 1 && v.strides[last] != 1)
    refuseOperand(operand, "strides", "found {} on the last axis, want 1", v.strides[last]);
}

void Rule::vectorOf(std::string_view operand, SafeSize elements, std::string_view what) {
  const CheckedView &v = view(operand);
  if (!ok() || !v.present)
    return;
  std::optional<uint64_t> want = elements.value();
  if (v.rank != 1 || !want || uint64_t(v.shape[0]) != *want)
    return refuseOperand(position(operand), "shape", "found {}, want [{}], {}", shapeText(v),
                         want ? std::to_string(*want) : "more than 63 bits", what);
  dense(operand);
  aligned(operand);
}

void Rule::aligned(std::string_view operand) {
  const CheckedView &v = view(operand);
  if (ok() && v.offset % (kAlignment / int64_t(dtypeBytes(v.dtype))) != 0)
    refuseOperand(position(operand), "offset", "found {}, want a multiple of {} bytes", v.offset,
                  kAlignment);
}

void Rule::bytesAtLeast(std::string_view operand, SafeSize bytes) {
  const CheckedView &v = view(operand);
  if (!ok() || !v.present)
    return;
  dense(operand);
  aligned(operand);
  uint64_t found = uint64_t(v.elements) * dtypeBytes(v.dtype);
  if (!bytes.within(found))
    refuseOperand(position(operand), "shape", "found {} bytes, want at least {}", found,
                  bytes.value() ? std::to_string(*bytes.value()) : "more than 63 bits count");
}

void Rule::packed(std::string_view operand, int64_t matrices, int64_t n, int64_t k, int64_t gates) {
  if (!ok())
    return;
  vectorOf(operand,
           SafeSize(uint64_t(matrices)) *
               packedElements(SafeSize(uint64_t(n)), SafeSize(uint64_t(k)), gates),
           fmt::format("the elements of {} packed [{}, {}]", matrices, n, k));
}

void Rule::present(std::string_view operand, std::string_view when) {
  if (ok() && !has(operand))
    refuseOperand(position(operand), "buffer", "found none, want one {}", when);
}

void Rule::absent(std::string_view operand, std::string_view when) {
  if (ok() && has(operand))
    refuseOperand(position(operand), "buffer", "found one, want none {}", when);
}

int64_t Rule::integer(std::string_view name, int64_t low, int64_t high) {
  int at = record.integer(name);
  int64_t value = launch.ints[size_t(at)];
  if (ok() && (value < low || value > high))
    error = refuse(Path(path, "ints", at), ErrorCode::E0604, "found {}, want {} to {} for {} of {}",
                   value, low, high, name, record.name);
  return ok() ? value : low;
}

void Rule::window(int64_t elements) {
  auto list = std::span(launch.ints).subspan(record.ints.size());
  if (!ok() || list.empty())
    return;
  Path at(path, "ints");
  if (list.size() < 3 || list.size() % 2 == 0 || list.size() > 1 + 2 * size_t(kMaxRank)) {
    error = refuse(at, ErrorCode::E0605,
                   "found {} for {} of {}, want none or an offset and 1 to {} pairs", list.size(),
                   record.intList, record.name, kMaxRank);
    return;
  }
  std::optional<ElementWindow::Size> size = ElementWindow::of(list).size(kMaxElements);
  if (!size)
    error = refuse(at, ErrorCode::E0604, "found a {} of {} that reaches below 0 or above {}",
                   record.intList, record.name, kMaxElements);
  else if (size->elements != elements)
    error = refuse(at, ErrorCode::E0605,
                   "found a {} of {} elements, want {}, those of the operands of {}",
                   record.intList, size->elements, elements, record.name);
}

double Rule::finite(std::string_view name) {
  int at = record.floating(name);
  double value = launch.floats[size_t(at)];
  if (ok() && !std::isfinite(value))
    error = refuse(Path(path, "floats", at), ErrorCode::E0604,
                   "found {}, want a finite number for {} of {}", value, name, record.name);
  return value;
}

void Rule::positive(std::string_view name) {
  if (double value = finite(name); ok() && !(value > 0))
    error = refuse(Path(path, "floats", record.floating(name)), ErrorCode::E0604,
                   "found {}, want a number above 0 for {} of {}", value, name, record.name);
}

} // namespace lstmc::package

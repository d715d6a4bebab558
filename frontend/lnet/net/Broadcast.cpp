#include "frontend/lnet/net/Broadcast.h"

#include <algorithm>

#include <fmt/ranges.h>

namespace lstmc::lnet {

namespace {

using Extents = std::vector<int64_t>; ///< symbol::kUnknown where one is not known

/// Nullopt while the rank is not known.
std::optional<Extents> extentsOf(const Value &tensor) {
  symbol::Shape shape = tensor.as<TensorObject>().symbol.shape();
  if (!shape.ranked)
    return std::nullopt;
  Extents extents;
  for (const symbol::Dim &dim : shape.dims)
    extents.push_back(dim.extent);
  return extents;
}

Extents lifted(const Extents &extents, size_t rank) {
  Extents all(rank - extents.size(), 1);
  all.insert(all.end(), extents.begin(), extents.end());
  return all;
}

bool differ(int64_t a, int64_t b) {
  return a != b && a != symbol::kUnknown && b != symbol::kUnknown;
}

std::string text(const Extents &extents) {
  std::vector<std::string> words;
  for (int64_t extent : extents)
    words.push_back(extent == symbol::kUnknown ? "_" : std::to_string(extent));
  return fmt::format("[{}]", fmt::join(words, ", "));
}

/// Help text if the shorter shape would fit with its axes first instead of last.
std::string columnHelp(const Extents &shorter, const Extents &longer) {
  for (size_t i = 0; i < shorter.size(); ++i)
    if (shorter[i] != 1 && differ(shorter[i], longer[i]))
      return {};
  return fmt::format("expand_dims(x, axis=-1) makes {} a column", text(shorter));
}

void refuse(Run &run, const TensorPair &pair, const Extents &left, const Extents &right,
            size_t axisFromEnd) {
  const Extents &shorter = left.size() < right.size() ? left : right;
  const Extents &longer = left.size() < right.size() ? right : left;
  run.report(run.makeError(
      ErrorCode::E0207, pair.span,
      fmt::format("\"{}\" of {} and {}: axes are matched from the last one, and there {} meets {}",
                  pair.sign, text(left), text(right), left[left.size() - 1 - axisFromEnd],
                  right[right.size() - 1 - axisFromEnd]),
      columnHelp(shorter, longer)));
}

void warn(Run &run, const TensorPair &pair, const Extents &left, const Extents &right,
          const Extents &result) {
  Diagnostic diagnostic = run.makeError(
      ErrorCode::E0207, pair.span,
      fmt::format("\"{}\" of {} and {} gives {}", pair.sign, text(left), text(right), text(result)),
      "expand_dims(x, axis=-1) of the vector puts row to row");
  diagnostic.severity = Severity::Warning;
  run.report(std::move(diagnostic));
}

/// `x[None]`, applied `count` times.
Value withLeadingAxes(Nodes &nodes, Value tensor, size_t count, const TensorPair &pair,
                      const Expr *place) {
  for (; count > 0 && tensor.is(ValueKind::Tensor); --count)
    tensor = nodes.applyOne("expand_dims", {tensor}, {{"axis", int64_t(0)}}, pair.span, {place});
  return tensor;
}

} // namespace

std::optional<bool> alignRanks(Run &run, Nodes &nodes, TensorPair &pair) {
  std::optional<Extents> left = extentsOf(pair.left), right = extentsOf(pair.right);
  if (!left || !right)
    return false;
  size_t rank = std::max(left->size(), right->size());
  Extents a = lifted(*left, rank), b = lifted(*right, rank), result = a;
  bool stretchesLeft = false, stretchesRight = false;
  for (size_t i = 0; i < rank; ++i) {
    if (!differ(a[i], b[i]))
      continue;
    if (a[i] != 1 && b[i] != 1) {
      if (left->size() == right->size())
        return false; // reported by the op
      refuse(run, pair, *left, *right, rank - 1 - i);
      return std::nullopt;
    }
    (a[i] == 1 ? stretchesLeft : stretchesRight) = true;
    result[i] = std::max(a[i], b[i]);
  }
  if (stretchesLeft && stretchesRight && left->size() != right->size())
    warn(run, pair, *left, *right, result);
  pair.left = withLeadingAxes(nodes, pair.left, rank - left->size(), pair, pair.leftPlace);
  pair.right = withLeadingAxes(nodes, pair.right, rank - right->size(), pair, pair.rightPlace);
  if (!pair.left.is(ValueKind::Tensor) || !pair.right.is(ValueKind::Tensor))
    return std::nullopt;
  return stretchesLeft || stretchesRight;
}

} // namespace lstmc::lnet

#include "frontend/lnet/net/Extents.h"

namespace lstmc::lnet {

bool checkExtent(Run &run, int64_t extent, Span span) {
  if (extent >= 1)
    return true;
  run.error(ErrorCode::E0206, span, "dimension {} (write _ for one to infer)", extent);
  return false;
}

bool checkRank(Run &run, size_t rank, Span span) {
  if (rank <= run.limits().rank)
    return true;
  run.limitError(ErrorCode::E0319, span,
                 fmt::format("tensor of {} dimensions, the limit is {}", rank, run.limits().rank),
                 "rank");
  return false;
}

std::optional<symbol::Shape> shapeArgument(Run &run, const DimNames &names, const Value &value,
                                           const Expr *place) {
  std::vector<symbol::Dim> dims;
  auto add = [&](const Value &item) {
    if (item.is(ValueKind::Infer) || item.is(ValueKind::None)) {
      dims.push_back({});
      return true;
    }
    if (item.isUnknown())
      return false;
    if (!item.is(ValueKind::Integer)) {
      run.error(ErrorCode::E0204, place->span, "shape is a tuple of integers, got {}",
                reprOf(value));
      return false;
    }
    dims.push_back({item.integer(), names.name(item.dim())});
    return checkExtent(run, item.integer(), place->span);
  };
  if (!value.isSequence()) {
    if (!add(value))
      return std::nullopt;
  } else {
    for (const Value &item : value.items())
      if (!add(item))
        return std::nullopt;
  }
  if (!checkRank(run, dims.size(), place->span))
    return std::nullopt;
  return symbol::Shape(std::move(dims));
}

} // namespace lstmc::lnet

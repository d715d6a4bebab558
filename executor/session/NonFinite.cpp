#include "executor/session/NonFinite.h"

#include <cmath>
#include <limits>

#include "executor/abi/ElementWindow.h"
#include "executor/base/NumberText.h"
#include "executor/base/Numeric.h"
#include "executor/base/Quote.h"
#include "executor/session/Elements.h"
#include "executor/session/FusedFault.h"

namespace lstmc::session {

namespace {

/// Calls f(value, index) for every element of a float tensor, row-major, until it returns false.
template <typename F> void forEachReal(const Tensor &tensor, F f) {
  forEachElement(tensor, [&](int64_t offset, const auto &index) {
    return f(readElement<double>(tensor.data, tensor.dtype, offset), index);
  });
}

std::string indexText(const NonFinite &where) {
  std::string text = "[";
  for (size_t i = 0; i < size_t(where.rank); ++i)
    text += fmt::format("{}{}", i ? ", " : "", where.index[i]);
  return text + "]";
}

std::string_view operandName(const package::Launch &launch, size_t operand) {
  const KernelRecord &record = kernelRecord(launch.kernel);
  if (launch.kernel == KernelId::Fused || operand >= record.operands.size())
    return "output";
  std::string_view name = record.operands[operand].name;
  return name == "y" ? "output" : name;
}

/// "x in [-0.98, 0.97]", the range of the finite elements; "x not finite" if there are none; empty
/// for integers.
std::string rangeText(std::string_view name, const Tensor &tensor) {
  if (!tensor || !isFloat(tensor.dtype))
    return {};
  double low = std::numeric_limits<double>::infinity(), high = -low;
  forEachReal(tensor, [&](double value, const auto &) {
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
    return true;
  });
  return low <= high ? fmt::format("{} in [{:.3g}, {:.3g}]", name, low, high)
                     : fmt::format("{} not finite", name);
}

/// The index in the whole tensor of an element of the operand, which is a slice of it.
void moveToWhole(NonFinite &where, const Tensor &operand, const package::Piece &piece) {
  int64_t element = 0;
  for (size_t axis = 0; axis < size_t(where.rank); ++axis)
    element = element * operand.shape[axis] + where.index[axis];
  int64_t left = ElementWindow::of(piece.window).at(element);
  for (size_t axis = size_t(where.rank); axis-- > 0; left /= piece.shape[axis])
    where.index[axis] = left % piece.shape[axis];
}

} // namespace

std::optional<NonFinite> firstNonFinite(const Tensor &tensor) {
  std::optional<NonFinite> found;
  if (tensor && isFloat(tensor.dtype))
    forEachReal(tensor, [&](double value, const auto &index) {
      if (!std::isfinite(value))
        found = NonFinite{std::isnan(value), tensor.rank, index};
      return !found;
    });
  return found;
}

std::optional<NonFinite> firstNonFinite(const DeviceTensor &tensor,
                                        std::vector<std::byte> &scratch) {
  if (!isFloat(tensor.layout.dtype)) // needs no copy
    return std::nullopt;
  return firstNonFinite(tensor.forHost(scratch));
}

std::optional<Finding> findIn(const package::PackageData &data, const package::Launch &launch,
                              std::span<const DeviceTensor> operands, const FusedInputs &inputs,
                              std::vector<std::byte> &scratch) {
  if (launch.kernel == KernelId::Fill)
    return std::nullopt;
  for (size_t i = 0; i < operands.size(); ++i) {
    uint32_t buffer = launch.operands[i].buffer;
    if (buffer == package::kNoBuffer || !package::writes(data, launch, i) ||
        data.buffers[buffer].kind == package::Kind::Workspace)
      continue;
    if (std::optional<NonFinite> where = firstNonFinite(operands[i], scratch)) {
      const auto origin = inputs.originOf(data, launch, *where);
      if (origin)
        where->nan = origin->nan;
      for (const package::Piece &piece : launch.pieces)
        if (piece.operand == i)
          moveToWhole(*where, operands[i].layout, piece);
      return Finding{i, *where, origin ? origin->location : launch.location};
    }
  }
  return std::nullopt;
}

std::string opText(const package::PackageData &data, const package::Launch &launch) {
  return opText(data.locations[launch.location], launch.kernel);
}

std::string opText(const package::Location &location, KernelId kernel) {
  std::string text = location.name.empty() ? std::string(kernelRecord(kernel).name) : location.name;
  if (!location.op.empty())
    text += fmt::format(" ({})", location.op);
  return text;
}

Place placeOf(const package::Location &location) {
  Place place;
  if (location.line > 0)
    place = {location.file, int(location.line), int(location.column)};
  return place;
}

Diagnostic describe(const package::PackageData &data, const package::Launch &launch,
                    std::span<const DeviceTensor> operands, const Finding &finding,
                    std::string_view when, std::string_view device) {
  const package::Location &location = data.locations[finding.location];
  const KernelRecord &record = kernelRecord(launch.kernel);
  Diagnostic diagnostic;
  diagnostic.code = ErrorCode::E0701;
  diagnostic.place = rangeOf(location);
  bool recurrent = launch.kernel == KernelId::RnnForward || launch.kernel == KernelId::RnnBackward;
  std::string step = recurrent && finding.where.rank == 3
                         ? fmt::format("t = {}, ", finding.where.index[0])
                         : std::string();
  diagnostic.message =
      fmt::format("first {} {}: {}, {}{}{}", finding.where.nan ? "NaN" : "infinity", when,
                  opText(location, launch.kernel), step, operandName(launch, finding.operand),
                  indexText(finding.where));
  std::string reason(device);
  for (const std::string &note : location.notes)
    reason += ", " + note;
  std::string_view separator = "; ";
  std::vector<std::byte> scratch;
  for (size_t i = 0; i < operands.size() && i < record.operands.size(); ++i)
    if (std::string range = rangeText(record.operands[i].name, operands[i].forHost(scratch));
        !range.empty() && !package::writes(data, launch, i)) {
      reason += std::string(separator) + range;
      separator = ", ";
    }
  diagnostic.reasons.push_back({std::move(reason), {}});
  return diagnostic;
}

Diagnostic describeGiven(const package::Location *location, std::string_view what,
                         std::string_view name, const NonFinite &where, std::string_view when) {
  Diagnostic diagnostic;
  diagnostic.code = ErrorCode::E0701;
  if (location)
    diagnostic.place = rangeOf(*location);
  diagnostic.message = fmt::format("first {} {}: {} {}, element {}", where.nan ? "NaN" : "infinity",
                                   when, what, inQuotes(name), indexText(where));
  return diagnostic;
}

Error asError(const Diagnostic &diagnostic) {
  Place place;
  place.file = diagnostic.place.line > 0 ? diagnostic.place.file : std::string();
  place.line = diagnostic.place.line;
  place.column = diagnostic.place.column;
  return Error{diagnostic.code, diagnostic.message, std::move(place)};
}

} // namespace lstmc::session

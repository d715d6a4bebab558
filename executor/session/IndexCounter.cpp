#include "executor/session/IndexCounter.h"

#include <algorithm>
#include <array>
#include <set>

#include "executor/base/NumberText.h"
#include "executor/base/Numeric.h"
#include "executor/session/Binding.h"
#include "executor/session/NonFinite.h"
#include "executor/session/RemoteDevice.h"

namespace lstmc::session {

namespace {

/// An operand with indices, and the extent of what they index.
struct Indexing {
  const package::Operand *indices;
  int64_t extent;
};

std::optional<Indexing> indexingOf(const package::Launch &launch) {
  switch (launch.kernel) {
  case KernelId::Gather:
    if (argumentsOf<GatherArguments>(launch).wrap)
      return std::nullopt;
    return Indexing{&launch.operands[GatherOperand::indices],
                    launch.operands[GatherOperand::w].shape[1]};
  case KernelId::Pick:
    if (argumentsOf<PickArguments>(launch).wrap)
      return std::nullopt;
    return Indexing{&launch.operands[PickOperand::indices],
                    launch.operands[PickOperand::x].shape[1]};
  case KernelId::OneHot:
    return Indexing{&launch.operands[OneHotOperand::indices],
                    launch.operands[OneHotOperand::y].shape[1]};
  default:
    return std::nullopt;
  }
}

/// Equal for launches that compute the same rows of the same op.
std::vector<int64_t> identityOf(const package::Launch &launch) {
  std::vector<int64_t> identity = {int64_t(launch.location), int64_t(launch.kernel)};
  for (const package::Piece &piece : launch.pieces) {
    identity.push_back(piece.operand);
    identity.insert(identity.end(), piece.window.begin(), piece.window.end());
    identity.insert(identity.end(), piece.shape.begin(), piece.shape.end());
  }
  return identity;
}

uint64_t outsideOf(const Tensor &indices, int64_t extent) {
  uint64_t outside = 0;
  std::array<int64_t, kMaxRank> at{};
  for (int64_t left = indices.elements(); left > 0; --left) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < size_t(indices.rank); ++axis)
      offset += at[axis] * indices.strides[axis];
    const auto index = readElement<int64_t>(indices.data, indices.dtype, offset);
    outside += index < 0 || index >= extent;
    for (size_t axis = size_t(indices.rank); axis-- > 0;) {
      if (++at[axis] < indices.shape[axis])
        break;
      at[axis] = 0;
    }
  }
  return outside;
}

} // namespace

std::vector<std::vector<size_t>> countedLaunches(const package::PackageData &data,
                                                 const package::Entry &entry) {
  std::vector<std::vector<size_t>> counted(entry.programs.size());
  std::set<std::vector<int64_t>> seen;
  for (size_t program = 0; program < entry.programs.size(); ++program) {
    const std::vector<package::Launch> &launches = entry.programs[program].launches;
    for (size_t i = 0; i < launches.size(); ++i) {
      std::optional<Indexing> indexing = indexingOf(launches[i]);
      // Inputs were checked when they were set.
      if (indexing && data.buffers[indexing->indices->buffer].kind != package::Kind::Input &&
          seen.insert(identityOf(launches[i])).second)
        counted[program].push_back(i);
    }
  }
  return counted;
}

IndexCounter::IndexCounter(const package::PackageData &data, const package::DeviceProgram &program,
                           std::span<const size_t> launches, Device &device) {
  for (size_t launch : launches) {
    const package::Launch &source = program.launches[launch];
    const Indexing indexing = *indexingOf(source);
    counts_.push_back({launch, &source, view(data, *indexing.indices, device), indexing.extent});
    if (!isRemote(device))
      (void)counts_.back().indices.forHost(scratch_); // allocates now
  }
}

void IndexCounter::count(Device &device, size_t launch, uint32_t stream) {
  auto found = std::ranges::lower_bound(counts_, launch, {}, &Count::launch);
  if (found == counts_.end() || found->launch != launch)
    return;
  device.synchronize(stream);
  found->outside += outsideOf(found->indices.forHost(scratch_), found->extent);
}

Diagnostics describe(const package::PackageData &data,
                     std::span<const IndexCounter::Count *const> counts,
                     std::span<const uint64_t> totals) {
  struct Op {
    const IndexCounter::Count *count;
    uint64_t outside;
  };
  std::vector<Op> ops; // an entry and another have launches of the same op
  for (size_t i = 0; i < counts.size(); ++i) {
    if (totals[i] == 0)
      continue;
    auto same = std::ranges::find_if(ops, [&](const Op &op) {
      return op.count->source->location == counts[i]->source->location &&
             op.count->source->kernel == counts[i]->source->kernel;
    });
    if (same == ops.end())
      ops.push_back({counts[i], totals[i]});
    else
      same->outside += totals[i];
  }
  if (ops.empty())
    return {};
  auto text = [&](const Op &op) {
    return fmt::format("{} computed {} outside 0 to {}: {}", grouped(int64_t(op.outside)),
                       op.outside == 1 ? "index was" : "indices were", op.count->extent - 1,
                       op.count->source->kernel == KernelId::OneHot ? "such a row has no one"
                                                                    : "the nearest is read");
  };
  auto placeOf = [&](const Op &op) { return rangeOf(data.locations[op.count->source->location]); };
  Diagnostic warning;
  warning.code = ErrorCode::E0703;
  warning.severity = Severity::Warning;
  warning.message = opText(data, *ops[0].count->source) + ": " + text(ops[0]);
  warning.place = placeOf(ops[0]);
  for (size_t i = 1; i < std::min<size_t>(ops.size(), 5); ++i) {
    const SourceRange place = placeOf(ops[i]);
    warning.reasons.push_back({fmt::format("{}{}: {}", opText(data, *ops[i].count->source),
                                           place.line > 0 ? fmt::format(" at {}:{}:{}", place.file,
                                                                        place.line, place.column)
                                                          : "",
                                           text(ops[i])),
                               {}});
  }
  if (ops.size() > 5)
    warning.reasons.push_back({fmt::format("and {} more ops", ops.size() - 5), {}});
  return {std::move(warning)};
}

} // namespace lstmc::session

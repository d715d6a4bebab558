#include "executor/package/Check.h"

#include "executor/abi/ElementWindow.h"
#include "executor/abi/Hull.h"
#include "executor/base/SafeSize.h"
#include "executor/package/Plan.h"

namespace lstmc::package {

namespace {

/// The part of the record that operand `index` is; null when there are more operands than the
/// record has.
const OperandRecord *operandRecord(const KernelRecord &record, size_t index) {
  if (index < record.operands.size())
    return &record.operands[index];
  if (record.repeated.empty())
    return nullptr;
  return &record.repeated[(index - record.operands.size()) % record.repeated.size()];
}

/// Fills in the least and greatest element that a view touches; false when they leave 63 bits.
bool reach(CheckedView &view) {
  std::optional<Hull> hull = hullOf(std::span(view.shape).first(size_t(view.rank)),
                                    std::span(view.strides).first(size_t(view.rank)));
  return hull && !__builtin_add_overflow(view.offset, hull->low, &view.low) &&
         !__builtin_add_overflow(view.offset, hull->high, &view.high);
}

Status checkOperand(const PackageData &data, const Operand &operand, const OperandRecord &record,
                    const Path &path, CheckedView &view) {
  if (operand.buffer == kNoBuffer) {
    if (!record.optional)
      return refuse(Path(path, "buffer"), ErrorCode::E0611, "found none, want one: {} is required",
                    record.name);
    return {};
  }
  LSTMC_TRY(checkIndex(Path(path, "buffer"), operand.buffer, data.buffers.size(), "buffers"));
  const Buffer &buffer = data.buffers[operand.buffer];
  size_t rank = operand.shape.size();
  Path shape(path, "shape"), strides(path, "strides");
  if (rank > size_t(kMaxRank))
    return refuse(shape, ErrorCode::E0604, "found {} axes, want at most {}", rank, kMaxRank);
  if (!operand.strides.empty() && operand.strides.size() != rank)
    return refuse(strides, ErrorCode::E0605, "found {}, want {}, one per axis",
                  operand.strides.size(), rank);
  view.present = true;
  view.dtype = buffer.dtype;
  view.rank = int(rank);
  view.buffer = operand.buffer;
  view.offset = operand.offset;
  SafeSize elements(1);
  for (size_t i = rank; i-- > 0;) {
    view.shape[i] = operand.shape[i];
    if (operand.shape[i] < 1)
      return refuse(Path(path, "shape", int64_t(i)), ErrorCode::E0604, "found {}, want at least 1",
                    operand.shape[i]);
    view.strides[i] = operand.strides.empty() ? int64_t(*elements.value()) : operand.strides[i];
    elements = elements * SafeSize::fromSigned(operand.shape[i]);
    if (!elements.within(kMaxElements))
      return refuse(shape, ErrorCode::E0604, "found more than {} elements", kMaxElements);
  }
  view.elements = int64_t(*elements.value());
  uint64_t most = std::max(kMaxRepeated, data.devices[buffer.device].arenaBytes);
  if (uint64_t(view.elements) > most)
    return refuse(shape, ErrorCode::E0604, "found {} elements, want at most {}", view.elements,
                  most);
  uint64_t held = buffer.bytes / dtypeBytes(buffer.dtype);
  bool known = reach(view);
  if (!known || view.low < 0 || uint64_t(view.high) >= held)
    return refuse(Path(path, operand.strides.empty() ? "shape" : "strides"), ErrorCode::E0604,
                  "found a view of elements {}, want 0 to {}, those of buffers[{}]",
                  known ? fmt::format("{} to {}", view.low, view.high) : "beyond 63 bits", held - 1,
                  operand.buffer);
  // Of an axis of one element too, whose stride may go beyond the buffer: kernels reckon with whole
  // vectors of elements that they do not touch, and what they reckon stays within 63 bits.
  for (size_t i = 0; i < operand.strides.size(); ++i)
    if (operand.strides[i] > kMaxElements || operand.strides[i] < -kMaxElements)
      return refuse(Path(path, "strides", int64_t(i)), ErrorCode::E0604,
                    "found {}, want at most {} in either direction", operand.strides[i],
                    kMaxElements);
  return {};
}

/// Launch `index` of an entry's program, in its place among the others.
class ProgramWalk {
public:
  ProgramWalk(const PackageData &data, uint32_t entry, uint32_t device)
      : data(data), entry(entry), device(device), written(data.buffers.size()) {}

  Status step(const Launch &launch, uint32_t index, bool beforeCommit, const Path &path) {
    LSTMC_TRY(checkLaunch(data, launch, path, views));
    for (size_t i = 0; i < views.size(); ++i)
      if (views[i].present && !writes(data, launch, i))
        LSTMC_TRY(read(views[i].buffer, index, Path(Path(path, "operands", int64_t(i)), "buffer")));
    for (size_t i = 0; i < views.size(); ++i)
      if (views[i].present && writes(data, launch, i))
        LSTMC_TRY(write(views[i].buffer, index, beforeCommit,
                        Path(Path(path, "operands", int64_t(i)), "buffer")));
    return {};
  }

  bool wrote(uint32_t buffer) const { return written[buffer]; }

private:
  const PackageData &data;
  uint32_t entry, device;
  std::vector<bool> written;
  std::vector<CheckedView> views;

  Status alive(uint32_t index, uint32_t launch, const Path &path) const {
    const Buffer &buffer = data.buffers[index];
    if (buffer.device != device)
      return refuse(path, ErrorCode::E0611, "found buffers[{}] of device {}, want one of device {}",
                    index, buffer.device, device);
    if (holdsTables(buffer))
      return refuse(path, ErrorCode::E0611, "found buffers[{}], which is a device's own", index);
    if (buffer.nextOf != kNoBuffer)
      return refuse(path, ErrorCode::E0611,
                    "found buffers[{}], where the caller puts the next value of an input", index);
    if (buffer.entry == kPersistent)
      return {};
    if (uint32_t(buffer.entry) != entry)
      return refuse(path, ErrorCode::E0611, "found buffers[{}] of entry {}, want one of entry {}",
                    index, buffer.entry, entry);
    if (launch < buffer.from || launch > buffer.to)
      return refuse(path, ErrorCode::E0611,
                    "found buffers[{}], which lives from launch {} to {}, want one alive at {}",
                    index, buffer.from, buffer.to, launch);
    return {};
  }

  Status read(uint32_t index, uint32_t launch, const Path &path) const {
    LSTMC_TRY(alive(index, launch, path));
    const Buffer &buffer = data.buffers[index];
    bool given = buffer.kind == Kind::Input || buffer.kind == Kind::Scalar;
    if (buffer.entry != kPersistent && !given && !written[index])
      return refuse(path, ErrorCode::E0611, "found buffers[{}], which no launch before wrote",
                    index);
    return {};
  }

  Status write(uint32_t index, uint32_t launch, bool beforeCommit, const Path &path) {
    LSTMC_TRY(alive(index, launch, path));
    Kind kind = data.buffers[index].kind;
    if (kind == Kind::Input || kind == Kind::Scalar)
      return refuse(path, ErrorCode::E0611,
                    "found buffers[{}] of kind {} written, want one that launches may write", index,
                    kKindNames[size_t(kind)]);
    bool committed = kind == Kind::Parameter || kind == Kind::Auxiliary ||
                     kind == Kind::Optimizer || kind == Kind::State;
    if (committed && beforeCommit)
      return refuse(path, ErrorCode::E0611,
                    "found buffers[{}] of kind {} written before `commit`, want it from there on",
                    index, kKindNames[size_t(kind)]);
    written[index] = true;
    return {};
  }
};

/// An output that lives in the entry has been written there, or was given.
Status checkOutput(const PackageData &data, uint32_t index, size_t entry, uint32_t device,
                   const ProgramWalk &walk, const Path &path) {
  if (index >= data.buffers.size() || data.buffers[index].device != device ||
      data.buffers[index].entry != int32_t(entry) || walk.wrote(index))
    return {};
  Kind kind = data.buffers[index].kind;
  if (kind == Kind::Input || kind == Kind::Scalar)
    return {};
  return refuse(Path(path, "buffer"), ErrorCode::E0611, "found buffers[{}], which no launch writes",
                index);
}

} // namespace

bool writes(const PackageData &data, const Launch &launch, size_t operand) {
  if (launch.kernel == KernelId::Fused)
    return programOf(data, launch).results[operand] >= 0;
  return operandRecord(kernelRecord(launch.kernel), operand)->mode != OperandMode::In;
}

ByteRange bytesOf(const PackageData &data, const Operand &operand) {
  const Hull hull = *hullOf(operand.shape, stridesOf(operand));
  const Buffer &buffer = data.buffers[operand.buffer];
  const uint64_t width = dtypeBytes(buffer.dtype);
  return {buffer.offset + uint64_t(operand.offset + hull.low) * width,
          buffer.offset + uint64_t(operand.offset + hull.high + 1) * width};
}

std::vector<int64_t> stridesOf(const Operand &operand) {
  if (!operand.strides.empty())
    return operand.strides;
  std::vector<int64_t> strides(operand.shape.size());
  int64_t step = 1;
  for (size_t i = strides.size(); i-- > 0; step *= operand.shape[i])
    strides[i] = step;
  return strides;
}

/// The elements of a written operand are elements of a whole of its rank, in bounds.
static Status checkPiece(const PackageData &data, const Launch &launch, const Piece &piece,
                         std::span<const CheckedView> views, const Path &path) {
  LSTMC_TRY(checkIndex(Path(path, "operand"), piece.operand, launch.operands.size(), "operands"));
  const CheckedView &view = views[piece.operand];
  if (!view.present || !writes(data, launch, piece.operand))
    return refuse(Path(path, "operand"), ErrorCode::E0604, "found {}, want one that is written",
                  piece.operand);
  if (piece.shape.size() != size_t(view.rank))
    return refuse(Path(path, "shape"), ErrorCode::E0604, "found rank {}, want {}, the operand's",
                  piece.shape.size(), view.rank);
  int64_t elements = 1;
  for (int64_t extent : piece.shape) {
    if (extent < 1 || extent > kMaxElements / elements)
      return refuse(Path(path, "shape"), ErrorCode::E0604,
                    "found extent {}, want at least 1 and at most {} elements", extent,
                    kMaxElements);
    elements *= extent;
  }
  auto size = ElementWindow::of(piece.window).size(kMaxElements);
  if (piece.window.size() < 3 || piece.window.size() % 2 == 0 || !size ||
      size->elements != view.elements || size->last >= elements)
    return refuse(Path(path, "window"), ErrorCode::E0604,
                  "found numbers that are no window of {} elements on {}", view.elements, elements);
  return {};
}

Status checkLaunch(const PackageData &data, const Launch &launch, const Path &path,
                   std::vector<CheckedView> &views) {
  LSTMC_TRY(
      checkIndex(Path(path, "kernel"), uint64_t(launch.kernel), kernelRecords().size(), "kernels"));
  LSTMC_TRY(
      checkIndex(Path(path, "location"), launch.location, data.locations.size(), "locations"));
  for (size_t i = 0; i < launch.instructions.size(); ++i)
    LSTMC_TRY(checkIndex(Path(path, "instructions", int64_t(i)), launch.instructions[i],
                         data.locations.size(), "locations"));
  if (launch.kernel != KernelId::Fused && !launch.instructions.empty())
    return refuse(Path(path, "instructions"), ErrorCode::E0605, "found {}, want none of {}",
                  launch.instructions.size(), kernelRecord(launch.kernel).name);
  const KernelRecord &record = kernelRecord(launch.kernel);
  size_t fixed = record.operands.size(), group = record.repeated.size();
  size_t count = launch.operands.size();
  if (!record.takesOperands(count))
    return refuse(Path(path, "operands"), ErrorCode::E0605, "found {}, want {}{} for {}", count,
                  std::min(fixed, std::max(count, record.leastOperands())),
                  group == 0 ? "" : fmt::format(" and a multiple of {}", group), record.name);
  if (!record.takesInts(launch.ints.size()))
    return refuse(Path(path, "ints"), ErrorCode::E0605, "found {}, want {}{} for {}",
                  launch.ints.size(), record.intList.empty() ? "" : "at least ", record.ints.size(),
                  record.name);
  if (launch.floats.size() != record.floats.size())
    return refuse(Path(path, "floats"), ErrorCode::E0605, "found {}, want {} for {}",
                  launch.floats.size(), record.floats.size(), record.name);
  views.assign(std::max(count, fixed), {});
  for (size_t i = 0; i < count; ++i)
    LSTMC_TRY(checkOperand(data, launch.operands[i], *operandRecord(record, i),
                           Path(path, "operands", int64_t(i)), views[i]));
  LSTMC_TRY(checkKernelRule(data, launch, path, views));

  for (size_t out = 0; out < count; ++out) {
    const CheckedView &to = views[out];
    if (!to.present || !writes(data, launch, out))
      continue;
    Path at(path, "operands", int64_t(out));
    if (!injective(to))
      return refuse(Path(at, "strides"), ErrorCode::E0604,
                    "found a written view that holds an element twice, want each once");
    uint64_t toByte = data.buffers[to.buffer].offset;
    for (size_t in = 0; in < count; ++in) {
      const CheckedView &from = views[in];
      if (in == out || !from.present ||
          data.buffers[from.buffer].device != data.buffers[to.buffer].device)
        continue;
      uint64_t fromByte = data.buffers[from.buffer].offset;
      if (!overlap(to, toByte, from, fromByte))
        continue;
      bool mayBeItself = launch.kernel == KernelId::Fused
                             ? !writes(data, launch, in)
                             : out < fixed && record.operands[out].itself == int(in);
      uint64_t toFirst = toByte + uint64_t(to.offset) * dtypeBytes(to.dtype);
      uint64_t fromFirst = fromByte + uint64_t(from.offset) * dtypeBytes(from.dtype);
      if (!mayBeItself || toFirst != fromFirst || !sameView(to, from))
        return refuse(Path(at, "buffer"), ErrorCode::E0611,
                      "found bytes that operands[{}] has too, want others for {} of {}", in,
                      operandRecord(record, out)->name, record.name);
    }
  }
  for (size_t i = 0; i < launch.pieces.size(); ++i)
    LSTMC_TRY(checkPiece(data, launch, launch.pieces[i], views, Path(path, "pieces", int64_t(i))));
  if (launch.chunk < -1)
    return refuse(Path(path, "chunk"), ErrorCode::E0604, "found {}, want at least -1",
                  launch.chunk);
  return {};
}

Status checkEntries(const PackageData &data) {
  for (size_t e = 0; e < data.entries.size(); ++e) {
    const Entry &entry = data.entries[e];
    Path entryPath("entries", int64_t(e));
    std::vector<bool> seen(data.devices.size());
    for (size_t p = 0; p < entry.programs.size(); ++p) {
      const DeviceProgram &program = entry.programs[p];
      Path path(entryPath, "programs", int64_t(p));
      LSTMC_TRY(checkIndex(Path(path, "device"), program.device, data.devices.size(), "devices"));
      if (seen[program.device])
        return refuse(Path(path, "device"), ErrorCode::E0612, "found {} again, want it once",
                      program.device);
      seen[program.device] = true;
      if (program.commit > program.launches.size())
        return refuse(Path(path, "commit"), ErrorCode::E0604, "found {}, want at most {}",
                      program.commit, program.launches.size());
      ProgramWalk walk(data, uint32_t(e), program.device);
      for (size_t i = 0; i < program.launches.size(); ++i)
        LSTMC_TRY(walk.step(program.launches[i], uint32_t(i), i < program.commit,
                            Path(path, "launches", int64_t(i))));
      for (size_t b = 0; b < entry.outputs.size(); ++b)
        LSTMC_TRY(checkOutput(data, entry.outputs[b].buffer, e, program.device, walk,
                              Path(entryPath, "outputs", int64_t(b))));
    }
  }
  return {};
}

} // namespace lstmc::package

#include "executor/package/PackageData.h"

#include <cstring>
#include <string_view>
#include <unordered_map>

#include "executor/abi/Package_generated.h"
#include "executor/abi/Version.h"
#include "executor/package/Locate.h"

namespace lstmc::package {

namespace fb = abi::fb;

namespace {

static_assert(int(Kind::Packed) == int(fb::Kind::Packed) && kKindCount == int(fb::Kind::MAX) + 1);

/// Of the fields that depend on all others: not the default, so that they have a place.
constexpr uint64_t kUnknownYet = 1;

class Writer {
public:
  Bytes write(const PackageData &data);

private:
  flatbuffers::FlatBufferBuilder b{1 << 16};
  /// What is written already, each once. The builder's own pool is a tree, which is slow where
  /// there are hundreds of thousands.
  std::unordered_map<std::string_view, flatbuffers::Offset<flatbuffers::String>> written_;

  using Text = flatbuffers::Offset<flatbuffers::String>;
  template <typename T> using Vec = flatbuffers::Offset<flatbuffers::Vector<T>>;
  template <typename T> using Tables = Vec<flatbuffers::Offset<T>>;

  Text text(const std::string &value) {
    if (value.empty())
      return {};
    Text &known = written_[value];
    return known.IsNull() ? known = b.CreateString(value) : known;
  }
  template <typename T> Vec<T> numbers(const std::vector<T> &values) {
    return values.empty() ? Vec<T>() : b.CreateVector(values);
  }
  Vec<uint8_t> dtypes(const std::vector<DType> &values) {
    return values.empty()
               ? Vec<uint8_t>()
               : b.CreateVector(reinterpret_cast<const uint8_t *>(values.data()), values.size());
  }
  template <typename Table, typename Data, typename Write>
  Tables<Table> tables(const std::vector<Data> &values, Write write) {
    if (values.empty())
      return {};
    std::vector<flatbuffers::Offset<Table>> offsets;
    offsets.reserve(values.size());
    for (const Data &value : values)
      offsets.push_back(write(value));
    return b.CreateVector(offsets);
  }
  Tables<fb::Word> words(const std::vector<std::string> &values) {
    return tables<fb::Word>(values, [&](const std::string &word) {
      Text value = text(word);
      return fb::CreateWord(b, value);
    });
  }
  Tables<fb::Setting> settings(const std::vector<Setting> &values) {
    return tables<fb::Setting>(values, [&](const Setting &s) {
      Text name = text(s.name), value = text(s.value);
      return fb::CreateSetting(b, name, value);
    });
  }
  Tables<fb::Binding> bindings(const std::vector<Binding> &values) {
    return tables<fb::Binding>(values, [&](const Binding &binding) {
      Text name = text(binding.name), role = text(binding.role);
      auto dims = words(binding.dims);
      flatbuffers::Offset<fb::Range> range;
      if (binding.range)
        range =
            fb::CreateRange(b, binding.range->low, binding.range->high,
                            binding.range->ignored.has_value(), binding.range->ignored.value_or(0));
      return fb::CreateBinding(b, name, binding.buffer, role, dims, range);
    });
  }
  flatbuffers::Offset<fb::Launch> launch(const Launch &value);
  flatbuffers::Offset<fb::Program> program(const FusedProgram &value);
  flatbuffers::Offset<fb::Entry> entry(const Entry &value);
  flatbuffers::Offset<fb::Parameter> parameter(const Parameter &value);
};

flatbuffers::Offset<fb::Launch> Writer::launch(const Launch &value) {
  auto operands = tables<fb::Operand>(value.operands, [&](const Operand &operand) {
    auto shape = numbers(operand.shape), strides = numbers(operand.strides);
    return fb::CreateOperand(b, operand.buffer, operand.offset, shape, strides);
  });
  auto ints = numbers(value.ints);
  auto floats = numbers(value.floats);
  auto pieces = tables<fb::Piece>(value.pieces, [&](const Piece &piece) {
    auto window = numbers(piece.window), shape = numbers(piece.shape);
    return fb::CreatePiece(b, piece.operand, window, shape);
  });
  auto waits = numbers(value.waits), instructions = numbers(value.instructions);
  return fb::CreateLaunch(b, uint16_t(value.kernel), operands, ints, floats, value.location, pieces,
                          value.chunk, value.firstStep, value.stream, value.event, waits,
                          instructions);
}

flatbuffers::Offset<fb::Program> Writer::program(const FusedProgram &value) {
  auto types = dtypes(value.types);
  std::vector<fb::Instruction> list;
  list.reserve(value.instructions.size());
  for (const FusedInstruction &i : value.instructions)
    list.emplace_back(uint8_t(i.op), uint8_t(i.type), i.a, i.b, i.c, i.immediate);
  Vec<const fb::Instruction *> instructions;
  if (!list.empty())
    instructions = b.CreateVectorOfStructs(list);
  auto results = numbers(value.results);
  return fb::CreateProgram(b, types, instructions, results);
}

flatbuffers::Offset<fb::Entry> Writer::entry(const Entry &value) {
  Text name = text(value.name);
  auto inputs = bindings(value.inputs), outputs = bindings(value.outputs);
  auto programs = tables<fb::DeviceProgram>(value.programs, [&](const DeviceProgram &program) {
    auto launches =
        tables<fb::Launch>(program.launches, [&](const Launch &l) { return launch(l); });
    return fb::CreateDeviceProgram(b, program.device, launches, program.commit);
  });
  return fb::CreateEntry(b, name, inputs, outputs, programs);
}

flatbuffers::Offset<fb::Parameter> Writer::parameter(const Parameter &value) {
  Text name = text(value.name), init = text(value.init), group = text(value.group);
  auto buffers = numbers(value.buffers), gradients = numbers(value.gradients);
  auto slots = tables<fb::Slot>(value.slots, [&](const Slot &slot) {
    Text slotName = text(slot.name);
    auto held = numbers(slot.buffers);
    return fb::CreateSlot(b, slotName, held);
  });
  auto initialise = launch(value.initialise);
  auto values = numbers(value.values);
  return fb::CreateParameter(b, name, buffers, gradients, slots, initialise, init, value.lrMult,
                             value.wdMult, value.auxiliary, group, value.location, values);
}

Bytes Writer::write(const PackageData &data) {
  written_.reserve(data.buffers.size() + 2 * data.locations.size());
  Text producer = text(data.producer), net = text(data.net), graphHash = text(data.graphHash),
       numerics = text(data.numerics);
  auto settingList = settings(data.settings), fit = settings(data.fit),
       source = settings(data.data);
  auto devices = tables<fb::Device>(data.devices, [&](const Device &device) {
    Text name = text(device.name);
    return fb::CreateDevice(b, name, device.arenaBytes);
  });
  auto locations = tables<fb::Location>(data.locations, [&](const Location &l) {
    Text file = text(l.file), line = text(l.text), op = text(l.op), name = text(l.name);
    auto notes = words(l.notes);
    return fb::CreateLocation(b, file, l.line, l.column, l.length, line, op, name, notes);
  });
  auto buffers = tables<fb::Buffer>(data.buffers, [&](const Buffer &buffer) {
    auto shape = numbers(buffer.shape);
    Text name = text(buffer.name);
    return fb::CreateBuffer(b, buffer.device, buffer.offset, buffer.bytes, uint8_t(buffer.dtype),
                            shape, fb::Kind(buffer.kind), name, buffer.location, buffer.entry,
                            buffer.from, buffer.to, buffer.nextOf);
  });
  auto programs =
      tables<fb::Program>(data.programs, [&](const FusedProgram &p) { return program(p); });
  auto parameters =
      tables<fb::Parameter>(data.parameters, [&](const Parameter &p) { return parameter(p); });
  auto states = tables<fb::State>(data.states, [&](const State &state) {
    Text name = text(state.name);
    auto held = numbers(state.buffers);
    return fb::CreateState(b, name, held, state.location);
  });
  auto packed = tables<fb::Packed>(data.packed, [&](const Packed &value) {
    Text name = text(value.name);
    auto parts = words(value.parts);
    return fb::CreatePacked(b, name, parts);
  });
  auto entries = tables<fb::Entry>(data.entries, [&](const Entry &e) { return entry(e); });
  auto metrics = tables<fb::Metric>(data.metrics, [&](const Metric &metric) {
    Text name = text(metric.name), head = text(metric.head), scores = text(metric.scores);
    return fb::CreateMetric(b, name, head, metric.classes, scores);
  });
  b.Finish(fb::CreatePackage(b, data.abi ? data.abi : kPackageAbi, producer, net, graphHash,
                             numerics, data.shards, settingList, fit, source, devices, locations,
                             buffers, programs, parameters, states, packed, entries, metrics,
                             kUnknownYet, kUnknownYet),
           fb::PackageIdentifier());
  Bytes bytes(b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize());
  auto fill = [&](std::string_view field, uint64_t value) {
    std::memcpy(bytes.data() + locate(bytes, field), &value, sizeof(value));
  };
  fill("bytes", bytes.size());
  fill("digest", contentDigest(bytes));
  return bytes;
}

} // namespace

Bytes serialize(const PackageData &data) { return Writer().write(data); }

} // namespace lstmc::package

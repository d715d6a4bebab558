#include "executor/package/PackageData.h"

#include <bit>
#include <cstring>

#include "executor/abi/Package_generated.h"
#include "executor/abi/Version.h"
#include "executor/base/Quote.h"
#include "executor/package/Locate.h"

namespace lstmc::package {

namespace fb = abi::fb;

namespace {

/// A table takes at least this much of a file that shares none: its offset in a vector and its own.
constexpr size_t kTableBytes = 8;
constexpr size_t kFloorBytes = size_t(64) << 20;

/// Copies tables into structs. Tables and vectors of a file may share their bytes, so what is
/// copied is counted: at most 64 MiB and 3 times the file.
class Reader {
public:
  explicit Reader(size_t fileBytes) : budget(kFloorBytes + 3 * fileBytes) {}

  PackageData read(const fb::Package &from);
  bool tooMuch() const { return spent > budget; }

private:
  size_t budget;
  size_t spent = 0;

  bool charge(size_t count, size_t bytesEach) {
    spent += count * bytesEach; // count and bytesEach are below 2^31
    return !tooMuch();
  }
  std::string text(const flatbuffers::String *from) {
    return from && charge(from->size(), 1) ? from->str() : std::string();
  }
  /// By memcpy: the verifier lets elements of eight bytes begin at any multiple of four.
  template <typename To, typename From>
  std::vector<To> numbers(const flatbuffers::Vector<From> *from) {
    static_assert(sizeof(To) == sizeof(From) && std::endian::native == std::endian::little);
    std::vector<To> to;
    if (from && from->size() > 0 && charge(from->size(), sizeof(To))) {
      to.resize(from->size());
      std::memcpy(to.data(), from->Data(), from->size() * sizeof(To));
    }
    return to;
  }
  template <typename To, typename From, typename Read>
  std::vector<To> tables(const flatbuffers::Vector<From> *from, Read readOne) {
    std::vector<To> to;
    if (from && charge(from->size(), sizeof(To))) {
      to.reserve(from->size());
      for (const auto *table : *from) {
        if (tooMuch())
          break;
        to.push_back(readOne(*table));
      }
    }
    return to;
  }
  std::vector<std::string> words(const flatbuffers::Vector<flatbuffers::Offset<fb::Word>> *from) {
    return tables<std::string>(from, [&](const fb::Word &word) { return text(word.text()); });
  }
  std::vector<Setting> settings(const flatbuffers::Vector<flatbuffers::Offset<fb::Setting>> *from) {
    return tables<Setting>(
        from, [&](const fb::Setting &s) { return Setting{text(s.name()), text(s.value())}; });
  }
  std::vector<Binding> bindings(const flatbuffers::Vector<flatbuffers::Offset<fb::Binding>> *from) {
    return tables<Binding>(from, [&](const fb::Binding &binding) {
      return Binding{text(binding.name()), binding.buffer(), text(binding.role()),
                     words(binding.dims()), range(binding.range())};
    });
  }
  static std::optional<ValueRange> range(const fb::Range *from) {
    if (!from)
      return std::nullopt;
    return ValueRange{from->low(), from->high(),
                      from->has_ignored() ? std::optional(from->ignored()) : std::nullopt};
  }
  Launch launch(const fb::Launch &from);
  Buffer buffer(const fb::Buffer &from);
  FusedProgram program(const fb::Program &from);
  Entry entry(const fb::Entry &from);
  Parameter parameter(const fb::Parameter &from);
};

Launch Reader::launch(const fb::Launch &from) {
  Launch to;
  to.kernel = KernelId(from.kernel());
  to.operands = tables<Operand>(from.operands(), [&](const fb::Operand &operand) {
    return Operand{operand.buffer(), operand.offset(), numbers<int64_t>(operand.shape()),
                   numbers<int64_t>(operand.strides())};
  });
  to.ints = numbers<int64_t>(from.ints());
  to.floats = numbers<double>(from.floats());
  to.location = from.location();
  to.pieces = tables<Piece>(from.pieces(), [&](const fb::Piece &piece) {
    return Piece{piece.operand(), numbers<int64_t>(piece.window()),
                 numbers<int64_t>(piece.shape())};
  });
  to.chunk = from.chunk();
  to.firstStep = from.first_step();
  to.stream = from.stream();
  to.event = from.event();
  to.waits = numbers<uint32_t>(from.waits());
  to.instructions = numbers<uint32_t>(from.instructions());
  return to;
}

Buffer Reader::buffer(const fb::Buffer &from) {
  Buffer to;
  to.device = from.device();
  to.offset = from.offset();
  to.bytes = from.bytes();
  to.dtype = DType(from.dtype());
  to.shape = numbers<int64_t>(from.shape());
  to.kind = Kind(from.kind());
  to.name = text(from.name());
  to.location = from.location();
  to.entry = from.entry();
  to.from = from.from();
  to.to = from.to();
  to.nextOf = from.next_of();
  return to;
}

FusedProgram Reader::program(const fb::Program &from) {
  FusedProgram to;
  to.types = numbers<DType>(from.types());
  if (from.instructions() && charge(from.instructions()->size(), sizeof(FusedInstruction))) {
    to.instructions.reserve(from.instructions()->size());
    for (size_t k = 0; k < from.instructions()->size(); ++k) {
      fb::Instruction i;
      std::memcpy(&i, from.instructions()->Data() + k * sizeof(i), sizeof(i));
      to.instructions.push_back(
          {ScalarOp(i.op()), DType(i.type()), i.a(), i.b(), i.c(), i.immediate()});
    }
  }
  to.results = numbers<int32_t>(from.results());
  return to;
}

Entry Reader::entry(const fb::Entry &from) {
  Entry to;
  to.name = text(from.name());
  to.inputs = bindings(from.inputs());
  to.outputs = bindings(from.outputs());
  to.programs = tables<DeviceProgram>(from.programs(), [&](const fb::DeviceProgram &program) {
    return DeviceProgram{
        program.device(),
        tables<Launch>(program.launches(), [&](const fb::Launch &l) { return launch(l); }),
        program.commit()};
  });
  return to;
}

Parameter Reader::parameter(const fb::Parameter &from) {
  Parameter to;
  to.name = text(from.name());
  to.buffers = numbers<uint32_t>(from.buffers());
  to.gradients = numbers<uint32_t>(from.gradients());
  to.slots = tables<Slot>(from.slots(), [&](const fb::Slot &slot) {
    return Slot{text(slot.name()), numbers<uint32_t>(slot.buffers())};
  });
  if (from.initialise())
    to.initialise = launch(*from.initialise());
  to.init = text(from.init());
  to.lrMult = from.lr_mult();
  to.wdMult = from.wd_mult();
  to.auxiliary = from.auxiliary();
  to.group = text(from.group());
  to.location = from.location();
  to.values = numbers<uint8_t>(from.values());
  return to;
}

PackageData Reader::read(const fb::Package &from) {
  PackageData to;
  to.abi = from.abi();
  to.producer = text(from.producer());
  to.net = text(from.net());
  to.graphHash = text(from.graph_hash());
  to.numerics = text(from.numerics());
  to.shards = from.shards();
  to.settings = settings(from.settings());
  to.fit = settings(from.fit());
  to.data = settings(from.data());
  to.devices = tables<Device>(from.devices(), [&](const fb::Device &device) {
    return Device{text(device.name()), device.arena_bytes()};
  });
  to.locations = tables<Location>(from.locations(), [&](const fb::Location &l) {
    return Location{text(l.file()), l.line(),     l.column(),     l.length(),
                    text(l.text()), text(l.op()), text(l.name()), words(l.notes())};
  });
  to.buffers = tables<Buffer>(from.buffers(), [&](const fb::Buffer &b) { return buffer(b); });
  to.programs =
      tables<FusedProgram>(from.programs(), [&](const fb::Program &p) { return program(p); });
  to.parameters =
      tables<Parameter>(from.parameters(), [&](const fb::Parameter &p) { return parameter(p); });
  to.states = tables<State>(from.states(), [&](const fb::State &state) {
    return State{text(state.name()), numbers<uint32_t>(state.buffers()), state.location()};
  });
  to.packed = tables<Packed>(from.packed(), [&](const fb::Packed &packed) {
    return Packed{text(packed.name()), words(packed.parts())};
  });
  to.entries = tables<Entry>(from.entries(), [&](const fb::Entry &e) { return entry(e); });
  to.metrics = tables<Metric>(from.metrics(), [&](const fb::Metric &metric) {
    return Metric{text(metric.name()), text(metric.head()), metric.classes(),
                  text(metric.scores())};
  });
  return to;
}

Place at(int64_t byte) {
  Place place;
  place.byte = byte;
  return place;
}

} // namespace

Result<PackageData> parse(std::span<const uint8_t> bytes) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(double) != 0)
    return parse(Bytes(bytes.begin(), bytes.end()));
  if (bytes.size() < 8)
    return failAt(at(int64_t(bytes.size())), ErrorCode::E0602,
                  "package: found {} bytes, want at least 8", bytes.size());
  if (bytes.size() > FLATBUFFERS_MAX_BUFFER_SIZE)
    return fail(ErrorCode::E0606, "package: found {} bytes, want at most {}", bytes.size(),
                FLATBUFFERS_MAX_BUFFER_SIZE);
  if (!fb::PackageBufferHasIdentifier(bytes.data()))
    return failAt(at(4), ErrorCode::E0603, "identifier: found {}, want \"{}\"",
                  inQuotes({reinterpret_cast<const char *>(bytes.data()) + 4, 4}),
                  fb::PackageIdentifier());
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), /*max depth*/ 16,
                                 /*max tables*/ bytes.size() / kTableBytes + 1);
  if (!fb::VerifyPackageBuffer(verifier))
    return explainMalformed(bytes);
  const fb::Package &package = *fb::GetPackage(bytes.data());
  if (package.abi() != kPackageAbi)
    return failAt(at(locate(bytes, "abi")), ErrorCode::E0603,
                  "abi: package needs abi {}, this runtime has {}; compile its source again: lstmc "
                  "compile NET.lnet -o NEW.lstmc; weights stay good, those of a checkpoint too: "
                  "--params CHECKPOINT",
                  package.abi(), kPackageAbi);
  if (package.bytes() != bytes.size())
    return failAt(at(locate(bytes, "bytes")), ErrorCode::E0602,
                  "bytes: found {}, want {}, the size of the file", package.bytes(), bytes.size());
  Reader reader(bytes.size());
  PackageData data = reader.read(package);
  if (reader.tooMuch())
    return fail(ErrorCode::E0606,
                "package: its tables share bytes and unfold to more than 64 MiB "
                "and 3 times its {} bytes",
                bytes.size());
  return data;
}

} // namespace lstmc::package

// A small valid package for several devices, made by hand: rows of x are sent, products come back.
#pragma once

#include "executor/abi/Packing.h"
#include "executor/package/PackageData.h"

namespace lstmc::package {

namespace transfers {
inline constexpr int64_t kRows = 2, kColumns = 3; ///< of w, and of each device's part of x
enum LocationIndex : uint32_t { kNowhere, kScale, kSum, kUpdate, kMove };
/// Launches of a device other than the first.
enum LaunchIndex : size_t { kReceiveX, kReceiveW, kProduct, kSendProduct, kClear, kReceiveNewW };
/// The first device's launch that multiplies its own part.
inline size_t firstProduct(uint32_t devices) { return 2 * (devices - 1); }
/// Messages to and from device 1 and later ones; numbers ascend in time.
inline int64_t xTo(uint32_t device) { return 2 * int64_t(device); }
inline int64_t wTo(uint32_t device) { return 2 * int64_t(device) + 1; }
inline int64_t productOf(uint32_t device) { return 100 + int64_t(device); }
inline int64_t newWTo(uint32_t device) { return 200 + int64_t(device); }
/// Messages of the entry init.
inline int64_t copyOf(int64_t value, uint32_t device) { return 100 * value + int64_t(device); }
} // namespace transfers

/// Entry step, with x f32[3, 2 * devices] on the first device and part d the transpose of columns
/// 2 d and 2 d + 1:
///   every device   product = w * part; those that have sent theirs overwrite it
///   the first      total = sum of the products in order; gradient_norm; commit; w = w - rate *
///   total every other    commit; its copy of w = w
/// Besides, parameter v f32[4] belongs to the last device, and slot "momentum" of w to the first;
/// the others have copies of both, which only entry init writes.
class TransferPackage {
public:
  explicit TransferPackage(uint32_t devices) : devices(devices), ends(devices) {
    using namespace transfers;
    data.producer = "test";
    data.net = "transfers";
    data.locations = {{},
                      {"net.lnet", 2, 5, 5, "x * w", "elemwise_mul", "scale", {}},
                      {"net.lnet", 3, 5, 5, "sum(y)", "add_n", "total", {}},
                      {"net.lnet", 4, 1, 3, "fit()", "sgd_update", "update", {}},
                      {"net.lnet", 1, 1, 3, "net()", "", "move", {}}};
    data.programs = {
        {{DType::F32, DType::F32, DType::F32},
         {{ScalarOp::Mul, DType::F32, 0, 1, 0, 0}},
         {-1, -1, 3}},
        {{DType::F32, DType::F32, DType::F32},
         {{ScalarOp::Add, DType::F32, 0, 1, 0, 0}},
         {-1, -1, 3}},
        {{DType::F32, DType::F32, DType::F32, DType::F32},
         {{ScalarOp::Mul, DType::F32, 1, 2, 0, 0}, {ScalarOp::Sub, DType::F32, 0, 4, 0, 0}},
         {-1, -1, -1, 5}}};
    data.entries.resize(1);
    data.entries[0].name = "step";
    programs().resize(devices);
    for (uint32_t d = 0; d < devices; ++d)
      programs()[d].device = d;
    fill();
    for (uint32_t d = 0; d < devices; ++d)
      data.devices.push_back({"cpu:" + std::to_string(d), ends[d]});
    for (Buffer &buffer : data.buffers)
      if (buffer.entry == 0)
        buffer.to = uint32_t(programs()[buffer.device].launches.size() - 1);
  }

  PackageData data;

private:
  const uint32_t devices;
  std::vector<uint64_t> ends; ///< of the arenas

  std::vector<DeviceProgram> &programs() { return data.entries[0].programs; }

  uint32_t add(uint32_t device, Kind kind, DType dtype, std::vector<int64_t> shape,
               std::string name) {
    uint64_t bytes = dtypeBytes(dtype), offset = ends[device];
    for (int64_t extent : shape)
      bytes *= uint64_t(extent);
    ends[device] = uint64_t(roundUp(int64_t(offset + bytes), kAlignment));
    bool persists = kind == Kind::Parameter || kind == Kind::Optimizer || kind == Kind::Scalar;
    int32_t entry = persists ? kPersistent : 0;
    data.buffers.push_back(
        {device, offset, bytes, dtype, std::move(shape), kind, std::move(name), 0, entry, 0, 0});
    return uint32_t(data.buffers.size() - 1);
  }
  uint32_t part(uint32_t device, Kind kind, std::string name) {
    return add(device, kind, DType::F32, {transfers::kRows, transfers::kColumns}, std::move(name));
  }
  static Operand whole(uint32_t buffer) {
    return {buffer, 0, {transfers::kRows, transfers::kColumns}, {}};
  }
  template <typename Arguments>
  void launch(uint32_t device, const Arguments &arguments, std::vector<Operand> operands,
              uint32_t location) {
    Launch &launch = programs()[device].launches.emplace_back();
    launch.kernel = Arguments::kKernel;
    launch.operands = std::move(operands);
    launch.location = location;
    setArguments(launch, arguments);
  }
  void send(uint32_t from, uint32_t to, Operand x, int64_t message) {
    launch(from, SendArguments{.peer = to, .message = message}, {std::move(x)}, transfers::kMove);
  }
  void receive(uint32_t by, uint32_t from, uint32_t y, int64_t message) {
    launch(by, ReceiveArguments{.peer = from, .message = message}, {whole(y)}, transfers::kMove);
  }

  void fill() {
    using namespace transfers;
    uint32_t w = part(0, Kind::Parameter, "w");
    uint32_t x = add(0, Kind::Input, DType::F32, {kColumns, kRows * devices}, "x");
    uint32_t rate = add(0, Kind::Scalar, DType::F32, {1}, "learning_rate");
    uint32_t update = add(0, Kind::Scalar, DType::I64, {1}, "update");
    uint32_t seed = add(0, Kind::Scalar, DType::I64, {1}, "seed");
    uint32_t norm = add(0, Kind::Output, DType::F64, {1}, "gradient_norm");
    uint32_t total = part(0, Kind::Activation, "total");
    auto partOfX = [&](uint32_t device) {
      return Operand{x, kRows * device, {kRows, kColumns}, {1, kRows * devices}};
    };

    Parameter weight;
    weight.name = "w";
    weight.buffers = {w};
    weight.initialise = {
        KernelId::Initialise, {{seed, 0, {1}, {}}, whole(w), {}}, {1, 7, 0}, {-0.5, 0.5}, kScale};
    for (uint32_t d = 1; d < devices; ++d) {
      send(0, d, partOfX(d), xTo(d));
      send(0, d, whole(w), wTo(d));
    }
    launch(0, FusedArguments{.program = 0, .window = {}}, {partOfX(0), whole(w), whole(total)},
           kScale);
    for (uint32_t d = 1; d < devices; ++d) {
      uint32_t itsX = part(d, Kind::Activation, "x"), itsW = part(d, Kind::Activation, "w");
      uint32_t product = part(d, Kind::Activation, "product");
      receive(d, 0, itsX, xTo(d));
      receive(d, 0, itsW, wTo(d));
      launch(d, FusedArguments{.program = 0, .window = {}},
             {whole(itsX), whole(itsW), whole(product)}, kScale);
      send(d, 0, whole(product), productOf(d));
      // A device that receives only now is too late.
      launch(d, FillArguments{.value = -1}, {whole(product)}, kScale);
      uint32_t arrived = part(0, Kind::Activation, "arrived");
      receive(0, d, arrived, productOf(d));
      launch(0, FusedArguments{.program = 1, .window = {}},
             {whole(total), whole(arrived), whole(total)}, kSum);
    }
    launch(0, NormSquaredArguments{}, {{norm, 0, {1}, {}}, {}, whole(total)}, kSum);
    for (DeviceProgram &program : programs())
      program.commit = uint32_t(program.launches.size());
    Operand rates{rate, 0, {kRows, kColumns}, {0, 0}};
    launch(0, FusedArguments{.program = 2, .window = {}}, {whole(w), rates, whole(total), whole(w)},
           kUpdate);
    for (uint32_t d = 1; d < devices; ++d) {
      weight.buffers.push_back(part(d, Kind::Parameter, "w"));
      send(0, d, whole(w), newWTo(d));
      receive(d, 0, weight.buffers.back(), newWTo(d));
    }

    uint32_t last = devices - 1;
    Parameter other;
    other.name = "v";
    other.buffers = {add(last, Kind::Parameter, DType::F32, {4}, "v")};
    uint32_t lastSeed = last == 0 ? seed : add(last, Kind::Scalar, DType::I64, {1}, "seed");
    other.initialise = {KernelId::Initialise,
                        {{lastSeed, 0, {1}, {}}, {other.buffers[0], 0, {4}, {}}, {}},
                        {1, 8, 0},
                        {-0.5, 0.5},
                        kScale};
    weight.slots = {{"momentum", {part(0, Kind::Optimizer, "momentum")}}};
    for (uint32_t d = 0; d < devices; ++d) {
      if (d != last)
        other.buffers.push_back(add(d, Kind::Parameter, DType::F32, {4}, "v"));
      if (d != 0)
        weight.slots[0].buffers.push_back(part(d, Kind::Optimizer, "momentum"));
    }
    data.parameters = {weight, other};
    if (devices > 1)
      fillInit();
    data.entries[0].inputs = {{"x", x, "data", {}},
                              {"learning_rate", rate, "scalar", {}},
                              {"update", update, "scalar", {}}};
    data.entries[0].outputs = {{"gradient_norm", norm, "output", {}}};
  }

  void fillInit() {
    Entry init;
    init.name = kInitEntry;
    for (uint32_t d = 0; d < devices; ++d)
      init.programs.push_back({d, {}, 0});
    int64_t value = 0;
    auto copy = [&](const std::vector<uint32_t> &buffers) {
      const Buffer &from = data.buffers[buffers[0]];
      for (size_t i = 1; i < buffers.size(); ++i) {
        const Buffer &to = data.buffers[buffers[i]];
        int64_t message = transfers::copyOf(value, to.device);
        auto end = [&](KernelId kernel, uint32_t buffer, uint32_t peer) {
          return Launch{
              kernel, {{buffer, 0, from.shape, {}}}, {peer, message}, {}, transfers::kMove};
        };
        init.programs[from.device].launches.push_back(end(KernelId::Send, buffers[0], to.device));
        init.programs[to.device].launches.push_back(
            end(KernelId::Receive, buffers[i], from.device));
      }
      ++value;
    };
    for (const Parameter &parameter : data.parameters) {
      copy(parameter.buffers);
      for (const Slot &slot : parameter.slots)
        copy(slot.buffers);
    }
    data.entries.push_back(std::move(init));
  }
};

inline PackageData transferPackage(uint32_t devices) { return TransferPackage(devices).data; }

} // namespace lstmc::package

#include "executor/data/ForeignFile.h"

#include <algorithm>

namespace lstmc::data {

using namespace std::string_view_literals;

namespace {

constexpr size_t kLooked = 4096; ///< the first names of an archive are within

struct Kind {
  std::string_view begin; ///< the first bytes
  std::string_view text;
};

constexpr Kind kKinds[] = {
    {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file, as Keras writes. In Python: "
                            "safetensors.numpy.save_file({v.path: v.numpy() for v in "
                            "model.weights}, \"F.safetensors\")"},
    {"\x12\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv,
     "MXNet's .params: weights for --params, and for lstmc.nd.load in Python"},
    {"\x93NUMPY"sv, "one array of NumPy (npy): want several with names, in an npz or safetensors"},
    {"GGUF"sv, "a GGUF file, which lstmc does not read: want safetensors"},
};

constexpr std::string_view kTorch =
    "a PyTorch file of torch.save (.pt, .pth). In Python: "
    "safetensors.torch.save_file(torch.load(F, "
    "map_location=\"cpu\", weights_only=True), \"F.safetensors\"), of a state_dict";

constexpr std::string_view kNpz = "an npz of NumPy, which --params reads";
constexpr std::string_view kZip = "a zip archive, which lstmc does not read: want safetensors";

/// Recognises an archive by the names at its beginning.
std::string_view zipKind(std::string_view bytes) {
  if (bytes.find("data.pkl") != bytes.npos || bytes.find(".data/serialization_id") != bytes.npos)
    return kTorch;
  if (bytes.find(".npy") != bytes.npos)
    return kNpz;
  if (bytes.find("model.weights.h5") != bytes.npos || bytes.find("metadata.json") != bytes.npos)
    return "a .keras archive. In Python: safetensors.numpy.save_file({v.path: v.numpy() for v in "
           "model.weights}, \"F.safetensors\")";
  return kZip;
}

/// A model of ONNX begins with its IR version (field 1), then comes one of the fields to 8.
bool isOnnx(std::span<const uint8_t> bytes) {
  constexpr uint8_t kNext[] = {0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42};
  return bytes.size() > 8 && bytes[0] == 0x08 && bytes[1] > 0 && bytes[1] < 32 &&
         std::ranges::find(kNext, bytes[2]) != std::end(kNext) && bytes[8] != '{';
}

} // namespace

std::string_view foreignKind(std::span<const uint8_t> bytes) {
  std::string_view text(reinterpret_cast<const char *>(bytes.data()),
                        std::min(bytes.size(), kLooked));
  for (const Kind &kind : kKinds)
    if (text.starts_with(kind.begin))
      return kind.text;
  if (text.starts_with("PK\x03\x04"sv) || text.starts_with("PK\x05\x06"sv))
    return zipKind(text);
  if (text.size() > 8 && uint8_t(text[0]) == 0x80 && text[1] >= 2 && text[1] <= 5 && text[8] != '{')
    return kTorch; // a pickle, as torch.save wrote until 1.6
  if (isOnnx(bytes))
    return "an ONNX model, which lstmc does not read. In Python: "
           "safetensors.numpy.save_file({i.name: "
           "onnx.numpy_helper.to_array(i) for i in onnx.load(F).graph.initializer}, "
           "\"F.safetensors\")";
  return {};
}

bool beginsAsNpz(std::span<const uint8_t> bytes) { return foreignKind(bytes) == kNpz; }

std::string_view foreignToNpz(std::span<const uint8_t> bytes) {
  std::string_view kind = foreignKind(bytes);
  return kind == kNpz || kind == kZip ? std::string_view() : kind;
}

} // namespace lstmc::data

// Files of weights that other programs write, known by their first bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lstmc::data {

/// What the file is and what to do, to follow "this is ": an HDF5 file, a PyTorch archive, a
/// pickle, an ONNX model, MXNet's arrays, an npz or npy. Empty: nothing of these.
std::string_view foreignKind(std::span<const uint8_t> bytes);

/// Whether it is an npz, by the names at its beginning.
bool beginsAsNpz(std::span<const uint8_t> bytes);

/// The same as foreignKind for who wants an npz; empty for a zip archive, whose entries say more.
std::string_view foreignToNpz(std::span<const uint8_t> bytes);

} // namespace lstmc::data

// Files of named arrays in any format: safetensors, npz of NumPy, .params of MXNet.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "executor/base/Limits.h"
#include "executor/data/Array.h"

namespace lstmc::data {

/// A checked file of named arrays in memory. Its format is known by the first bytes; a file that
/// no format recognises is read as its suffix says, else as safetensors, so that the message is
/// about the format that the user means.
class ArrayFile {
public:
  using Pointer = std::unique_ptr<const ArrayFile>;

  /// Errors are those of SafeTensors.h, Npz.h and MxnetParams.h; E0603 for a file of another
  /// program that is known (ForeignFile.h).
  static Result<Pointer> parse(Bytes bytes, const std::string &file, const Limits &limits = {});
  static Result<Pointer> load(const std::string &path, const Limits &limits = {});

  /// Whether the first bytes of a file, or else its suffix, are those of a format.
  static bool isFormat(std::span<const uint8_t> begin, std::string_view path);
  /// The same for a file that is not read yet; of one that cannot be read, by its suffix.
  static bool isFormat(const std::string &path);

  virtual ~ArrayFile() = default;

  /// "safetensors", "npz", "params".
  std::string_view format() const { return format_; }
  /// As messages name it.
  const std::string &file() const { return file_; }
  virtual size_t size() const = 0;
  virtual std::string name(size_t number) const = 0;
  /// A copy; nullopt where the file has a name without an array.
  virtual std::optional<Array> array(size_t number) const = 0;
  /// The array of that name; of MXNet's files also one that is there in pieces (PackedWeights.h).
  virtual std::optional<Array> find(std::string_view name) const {
    std::optional<size_t> number = numberOf(name);
    return number ? array(*number) : std::nullopt;
  }

protected:
  virtual std::optional<size_t> numberOf(std::string_view name) const = 0;

private:
  std::string_view format_;
  std::string file_;
};

} // namespace lstmc::data

#include "frontend/python/MxnetFiles.h"

#include <algorithm>

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "executor/base/InputFile.h"
#include "executor/base/Quote.h"
#include "executor/data/ForeignFile.h"
#include "executor/data/MxnetParams.h"
#include "frontend/importers/mxnet/AttributeText.h"
#include "frontend/importers/mxnet/ParamsWriter.h"
#include "frontend/importers/mxnet/SymbolFile.h"
#include "frontend/importers/mxnet/SymbolWriter.h"
#include "frontend/python/Drawing.h"
#include "frontend/python/Failure.h"
#include "frontend/python/Values.h"

namespace nb = nanobind;

namespace lstmc::python {

namespace mxnet = importers::mxnet;

//===---- symbol.json -------------------------------------------------------------------------===//

static std::pair<std::string, std::vector<std::string>>
symbolText(Drawing &drawing, std::map<std::string, mxnet::NodeMarks> marks,
           const std::map<std::string, std::pair<std::string, std::string>> &vectors) {
  mxnet::SymbolMarks all;
  all.nodes = std::move(marks);
  for (const auto &[layer, vector] : vectors)
    all.vectors[layer] = {vector.first, vector.second};
  mxnet::SymbolText written = valueOf(mxnet::writeSymbol(symbol::view(drawing.graph()), all));
  return {std::move(written.text), std::move(written.warnings)};
}

static nb::list entriesOf(std::span<const mxnet::Edge> edges) {
  nb::list entries;
  for (const mxnet::Edge &edge : edges)
    entries.append(nb::make_tuple(edge.node, edge.output));
  return entries;
}

/// The place of a node as lstmc/place.py has places; None for a text that is no file's.
static nb::object placeOfNode(const mxnet::SymbolFile &file, size_t node) {
  if (file.file().empty())
    return nb::none();
  const SourceRange place = file.place(node);
  const int64_t begin = place.column - 1;
  return nb::make_tuple(place.file, place.line, place.text, begin, begin + place.bytes);
}

static nb::tuple readSymbol(const nb::bytes &text, const std::string &path) {
  const std::string_view bytes(text.c_str(), text.size());
  const auto *data = reinterpret_cast<const uint8_t *>(bytes.data());
  if (std::string_view kind = data::foreignKind(std::span(data, bytes.size())); !kind.empty())
    throw Failure(failAt({.file = path}, ErrorCode::E0603, "this is {}", kind));
  const mxnet::SymbolFile file = valueOf(mxnet::SymbolFile::parse(std::string(bytes), path));
  nb::list nodes;
  for (size_t i = 0; i < file.size(); ++i) {
    nb::list attributes;
    for (auto [key, value] : file.attributes(i))
      attributes.append(nb::make_tuple(std::string(key), std::string(value)));
    nodes.append(nb::make_tuple(std::string(file.op(i)), std::string(file.name(i)),
                                entriesOf(file.inputs(i)), attributes, placeOfNode(file, i)));
  }
  return nb::make_tuple(nodes, entriesOf(file.heads()), file.unknownFields());
}

static nb::object asObject(const symbol::AttributeValue &value) {
  if (const auto *tuple = std::get_if<symbol::Tuple>(&value))
    return nb::tuple(nb::cast(*tuple));
  if (std::holds_alternative<std::monostate>(value))
    return nb::none();
  return std::visit(
      [](const auto &each) -> nb::object {
        if constexpr (std::is_same_v<std::decay_t<decltype(each)>, std::monostate>)
          return nb::none();
        else
          return nb::cast(each);
      },
      value);
}

/// An attribute's text by the op's record; as it is where that has no such attribute, which the
/// call refuses.
static nb::object readAttribute(const std::string &op, const std::string &node,
                                const std::string &key, const std::string &text, nb::handle place) {
  const symbol::OpSignature *signature = symbol::findOp(op);
  if (!signature)
    return nb::cast(text);
  for (const symbol::OpAttribute &attribute : signature->attributes) {
    if (attribute.name != key &&
        std::ranges::find(attribute.aliases, key) == attribute.aliases.end())
      continue;
    if (std::optional<symbol::AttributeValue> value = mxnet::attributeValue(text, attribute.kind))
      return asObject(*value);
    const SourceRange at = placeOf(place);
    throw Failure(failAt({at.file, at.line, at.column}, ErrorCode::E0605,
                         "{} {}: {} is {}, found {}", op, inQuotes(node), key,
                         symbol::wantedText(attribute), inQuotes(text)));
  }
  return nb::cast(text);
}

//===---- .params -----------------------------------------------------------------------------===//

static nb::object arrayOf(const data::MxnetParams &params, size_t number) {
  std::optional<data::Array> array = params.array(number);
  if (!array)
    return nb::none();
  if (array->dtype == DType::BF16)
    throw Failure(failAt({.file = params.file()}, ErrorCode::E0613,
                         "array {}: found bfloat16, which NumPy does not have", number));
  auto *owned = new data::Array(std::move(*array));
  nb::capsule owner(owned,
                    [](void *pointer) noexcept { delete static_cast<data::Array *>(pointer); });
  return viewOf(owned->tensor(), owner);
}

/// [(name as it is written, array or None)]; names are empty where the file has none.
static nb::list readParams(const std::string &path) {
  const data::MxnetParams params = valueOf(data::MxnetParams::parse(valueOf(readFile(path)), path));
  nb::list arrays;
  for (size_t i = 0; i < params.size(); ++i)
    arrays.append(nb::make_tuple(params.writtenName(i), arrayOf(params, i)));
  return arrays;
}

static void writeParams(const std::string &path,
                        const std::vector<std::pair<std::string, HostArray>> &arrays, bool named) {
  std::vector<data::Array> copies;
  std::vector<data::NamedTensor> tensors;
  copies.reserve(arrays.size());
  for (const auto &[name, array] : arrays) {
    Tensor tensor = tensorOf(array);
    if (!tensor.dense())
      tensor = copies.emplace_back(copyOf(array)).tensor();
    tensors.push_back({name, tensor});
  }
  check(mxnet::writeParams(path, tensors, OutputFile::Existing::Replace, named));
}

void addMxnetFiles(nb::module_ &module) {
  module.def("symbol_text", &symbolText, nb::arg("drawing"), nb::arg("marks"), nb::arg("vectors"),
             "symbol.json of a drawing, and warnings.");
  module.def("read_symbol", &readSymbol, nb::arg("text"), nb::arg("path"),
             "([(op, name, [(node, output)], [(key, text)], place)], heads, unknown fields)");
  module.def("read_attribute", &readAttribute, nb::arg("op"), nb::arg("node"), nb::arg("key"),
             nb::arg("text"), nb::arg("place").none());
  module.def("read_params", &readParams, nb::arg("path"));
  module.def("write_params", &writeParams, nb::arg("path"), nb::arg("arrays"), nb::arg("named"));
}

} // namespace lstmc::python

#include "tests/nets/Pool.h"

#include <stdexcept>

#include "frontend/symbol/Render.h"

namespace lstmc::nets {

using symbol::Symbol;

/// Most elements of a value that other calls may read.
static constexpr int64_t kMostElements = 1500;

bool isFloating(DType dtype) { return dtype == DType::F32 || dtype == DType::F64; }

Pool::Pool(uint64_t seed) : graph("net"), draw(seed) {
  sizes.batch = draw.oneOf<int64_t>({3, 5, 6, 7, 9, 10, 11, 13, 14});
  sizes.steps = draw.between(2, 5);
  for (int i = 0; i < 3; ++i)
    sizes.features.push_back(draw.oneOf<int64_t>({1, 2, 3, 4, 4, 5, 8, 12, 16, 17, 20, 33}));
  if (draw.chance(0.15)) // the batch is then not the only axis with its extent
    sizes.features.back() = sizes.batch;
}

std::optional<Item> Pool::take(Symbol symbol) {
  symbol::Shape shape = symbol.shape();
  if (!symbol.dtype() || !shape.known())
    return std::nullopt;
  Item item{symbol, {}, *symbol.dtype()};
  int64_t elements = 1;
  for (const symbol::Dim &dim : shape.dims) {
    item.extents.push_back(dim.extent);
    elements *= dim.extent;
    if (elements > kMostElements)
      return std::nullopt;
  }
  items.push_back(item);
  return item;
}

std::optional<std::vector<Item>> Pool::put(symbol::Call call) {
  if (call.name.empty())
    call.name = newName("n");
  Checked<std::vector<Symbol>> made = graph.apply(call);
  if (!made.ok()) {
    for (const Diagnostic &diagnostic : made.diagnostics())
      if (diagnostic.code == ErrorCode::E0099)
        throw Finding{"graph", symbol::render(made.diagnostics())};
    return std::nullopt;
  }
  ++calls;
  if (record)
    record->push_back({call, *made});
  auto read = [&](const Symbol &symbol) {
    for (Item &item : items)
      item.reads += item.symbol == symbol;
  };
  for (const Symbol &symbol : call.positional)
    read(symbol);
  for (const auto &[name, symbol] : call.named)
    read(symbol);
  std::vector<Item> results;
  for (const Symbol &symbol : *made)
    if (std::optional<Item> item = take(symbol))
      results.push_back(*item);
    else
      return std::nullopt;
  return results;
}

symbol::Shape Pool::shapeOf(const Extents &extents) const {
  std::vector<symbol::Dim> dims;
  bool batch = false;
  for (int64_t extent : extents) {
    bool rows = extent == sizes.batch && !batch;
    batch |= rows;
    dims.push_back({extent, rows ? "batch" : ""});
  }
  return dims;
}

static Item made(Checked<Symbol> symbol, const Extents &extents, DType dtype) {
  if (!symbol.ok())
    throw Finding{"graph", symbol::render(symbol.diagnostics())};
  return {*symbol, extents, dtype};
}

Item Pool::parameter(const Extents &extents) {
  symbol::VariableOptions options;
  std::vector<symbol::Dim> dims;
  for (int64_t extent : extents)
    dims.push_back({extent, ""});
  options.shape = dims;
  options.dtype = DType::F32;
  options.init = {"uniform", {{"scale", 0.7}}, {}, {}};
  if (draw.chance(0.1))
    options.lrMult = draw.oneOf({0.0, 0.5, 2.0});
  if (draw.chance(0.1))
    options.wdMult = draw.oneOf({0.0, 2.0});
  options.shareIsMeant = true;
  return made(graph.variable(newName("v"), options), extents, DType::F32);
}

Item Pool::input(const char *stem, const Extents &extents, DType dtype, bool label) {
  std::string name = newName(stem) + (label ? "_label" : "");
  auto role = label ? symbol::Role::Label : symbol::Role::Data;
  return made(graph.input(name, dtype, shapeOf(extents), role), extents, dtype);
}

} // namespace lstmc::nets

#include "frontend/symbol/Rehearsal.h"

#include "frontend/symbol/Impl.h"

namespace lstmc::symbol {

namespace {

/// Appends a value to a key such that different lists of values have different keys.
class Key {
public:
  void add(std::string_view text) {
    add(int64_t(text.size()));
    text_ += text;
  }
  void add(int64_t number) { text_.append(reinterpret_cast<const char *>(&number), sizeof number); }
  void add(const Symbol &symbol) {
    const void *type =
        symbol ? Graph::Impl::valueOf(symbol).getType().getAsOpaquePointer() : nullptr;
    add(reinterpret_cast<intptr_t>(type));
  }
  void add(const AttributeValue &value, bool floats) {
    add(int64_t(value.index()));
    if (auto flag = std::get_if<bool>(&value))
      add(int64_t(*flag));
    else if (auto number = std::get_if<int64_t>(&value))
      add(*number);
    else if (auto text = std::get_if<std::string>(&value))
      add(*text);
    else if (auto tuple = std::get_if<Tuple>(&value))
      for (std::optional<int64_t> entry : *tuple) {
        add(int64_t(entry.has_value()));
        add(entry.value_or(0));
      }
    else if (auto real = std::get_if<double>(&value); real && floats)
      add(std::bit_cast<int64_t>(*real));
  }

  std::string take() { return std::move(text_); }

private:
  std::string text_;
};

} // namespace

std::string Rehearsal::keyOf(const Call &call) {
  Key key;
  key.add(call.op);
  key.add(int64_t(call.positional.size()));
  for (const Symbol &symbol : call.positional)
    key.add(symbol);
  for (const auto &[name, symbol] : call.named) {
    key.add(name);
    key.add(symbol);
  }
  bool floats = call.positional.empty() && call.named.empty();
  for (const NamedAttribute &attribute : call.attributes) {
    key.add(attribute.name);
    key.add(attribute.value, floats);
  }
  return key.take();
}

std::string Rehearsal::keyOf(std::string_view kind, std::optional<DType> dtype, const Shape &shape,
                             const Initialiser &init, const Origin &origin) {
  Key key;
  key.add(kind);
  key.add(dtype ? int64_t(*dtype) : -1);
  key.add(int64_t(shape.ranked));
  for (const Dim &dim : shape.dims)
    key.add(dim.extent);
  key.add(init.name);
  key.add(origin.file);
  key.add(origin.byte);
  for (const std::string &call : origin.calls)
    key.add(call);
  return key.take();
}

} // namespace lstmc::symbol

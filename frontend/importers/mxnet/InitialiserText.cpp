#include "frontend/importers/mxnet/InitialiserText.h"

#include <algorithm>

#include <fmt/format.h>

#include "executor/base/LowerCase.h"
#include "executor/data/StrictJson.h"
#include "frontend/importers/mxnet/JsonText.h"
#include "frontend/symbol/Initialisers.h"
#include "frontend/symbol/ValueText.h"
#include "ir/sym/Pattern.h"

namespace lstmc::importers::mxnet {

using nlohmann::json;

namespace {

constexpr std::string_view kFused = "fusedrnn";

/// Name in lower case, and arguments; nullopt if the text has another form.
struct Parsed {
  std::string name;
  json arguments = json::object();
};
std::optional<Parsed> parse(std::string_view text) {
  if (!text.starts_with('['))
    return Parsed{lowerCase(text)};
  constexpr Limits kFew{.depth = 8, .nodes = 100};
  Result<data::JsonTree> tree = data::parseJson(text, "", kFew);
  if (!tree.ok())
    return std::nullopt;
  const json &list = **tree;
  if (!list.is_array() || list.size() != 2 || !list[0].is_string() || !list[1].is_object())
    return std::nullopt;
  return Parsed{lowerCase(list[0].get<std::string>()), list[1]};
}

std::optional<symbol::AttributeValue> valueOf(const json &value) {
  if (value.is_number())
    return symbol::AttributeValue(value.get<double>());
  if (value.is_string())
    return symbol::AttributeValue(value.get<std::string>());
  return std::nullopt;
}

/// An argument that is null has its default.
bool addArgument(const std::string &key, const json &value, const symbol::InitialiserRow &row,
                 symbol::Initialiser &to) {
  if (value.is_null())
    return true;
  std::optional<symbol::AttributeValue> read = valueOf(value);
  if (key.empty() || !read || std::ranges::find(row.parameters, key) == row.parameters.end())
    return false;
  to.arguments.push_back({key, std::move(*read)});
  return true;
}

} // namespace

bool isFusedRnn(std::string_view text) {
  std::optional<Parsed> parsed = parse(text);
  return parsed && parsed->name == kFused;
}

std::optional<symbol::Initialiser> initialiserOf(std::string_view text) {
  std::optional<Parsed> parsed = parse(text);
  if (!parsed)
    return std::nullopt;
  if (parsed->name == kFused) {
    const json inner = parsed->arguments.value("init", json());
    if (inner.is_null())
      return symbol::Initialiser();
    const std::string innerText = inner.is_string() ? inner.get<std::string>() : "";
    return innerText.empty() || isFusedRnn(innerText) ? std::nullopt : initialiserOf(innerText);
  }
  const auto *row = std::ranges::find_if(symbol::kInitialisers, [&](const auto &known) {
    return known.name == parsed->name ||
           (!known.otherName.empty() && known.otherName == parsed->name);
  });
  if (row == std::end(symbol::kInitialisers))
    return std::nullopt;
  symbol::Initialiser init{.name = std::string(row->name)};
  for (const auto &[key, value] : parsed->arguments.items())
    if (!addArgument(key, value, *row, init))
      return std::nullopt;
  if (row->required && init.arguments.empty())
    return std::nullopt;
  return init;
}

static std::string jsonOf(const symbol::AttributeValue &value) {
  if (const auto *text = std::get_if<std::string>(&value))
    return jsonQuoted(*text);
  if (const auto *flag = std::get_if<bool>(&value))
    return *flag ? "true" : "false";
  if (std::holds_alternative<std::monostate>(value))
    return "null";
  const auto *tuple = std::get_if<symbol::Tuple>(&value);
  if (!tuple)
    return symbol::valueText(value);
  std::string list;
  for (std::optional<int64_t> entry : *tuple)
    list += (list.empty() ? "" : ", ") + (entry ? std::to_string(*entry) : "null");
  return "[" + list + "]";
}

std::string textOfInitialiser(const symbol::Initialiser &init, std::string_view name) {
  if (init.name.empty())
    return {};
  for (size_t i = 0; i < init.patterns.size(); ++i)
    if (sym::Pattern(init.patterns[i]).matchesBegin(name))
      return textOfInitialiser(init.initialisers[i], name);
  if (!init.patterns.empty())
    return {};
  std::string arguments;
  for (const symbol::NamedAttribute &argument : init.arguments)
    arguments +=
        (arguments.empty() ? "" : ", ") + jsonQuoted(argument.name) + ": " + jsonOf(argument.value);
  return fmt::format("[{}, {{{}}}]", jsonQuoted(init.name), arguments);
}

} // namespace lstmc::importers::mxnet

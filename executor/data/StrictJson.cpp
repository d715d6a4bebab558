#include "executor/data/StrictJson.h"

#include <vector>

#include "executor/base/Quote.h"

namespace lstmc::data {
namespace {

using nlohmann::json;

/// Builds the tree from parser events and stops at the first error.
class Builder : public nlohmann::json_sax<json> {
public:
  Builder(const char *begin, const char *const *position, const std::string &file,
          const Limits &limits)
      : begin_(begin), position_(position), file_(file), limits_(limits) {}

  std::optional<Error> error;
  JsonTree tree;

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t &) override { return put(value); }
  bool string(string_t &value) override {
    if (value.size() > limits_.jsonString)
      return refuse(ErrorCode::E0606, "string: found {} bytes, want at most {} (limit json-string)",
                    value.size(), limits_.jsonString);
    return put(std::move(value));
  }
  bool binary(binary_t &) override { return false; }
  bool key(string_t &name) override {
    if (name.size() > limits_.name)
      return refuse(ErrorCode::E0606, "key: found {} bytes, want at most {} (limit name)",
                    name.size(), limits_.name);
    if (open_.back()->contains(name))
      return refuse(ErrorCode::E0612, "{}: found the key twice in one object", inQuotes(name));
    slot_ = &(*open_.back())[name];
    return true;
  }
  bool start_object(std::size_t) override { return enter(json::object()); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(json::array()); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t byte, const std::string &, const json::exception &fault) override {
    std::string_view what = fault.what();
    size_t colon = what.rfind("; ");
    error = failAt({file_, 0, 0, int64_t(byte == 0 ? 0 : byte - 1)}, ErrorCode::E0603,
                   "is no JSON: {}", colon == what.npos ? what : what.substr(colon + 2));
    return false;
  }

private:
  template <typename... Args>
  bool refuse(ErrorCode code, fmt::format_string<Args...> format, Args &&...args) {
    error = failAt({file_, 0, 0, int64_t(*position_ - begin_)}, code, format,
                   std::forward<Args>(args)...);
    return false;
  }
  template <typename Value> bool put(Value &&value) {
    if (++values_ > limits_.nodes)
      return refuse(ErrorCode::E0606, "values: found more than {} (limit nodes)", limits_.nodes);
    place(std::forward<Value>(value));
    return true;
  }
  template <typename Value> json *place(Value &&value) {
    if (open_.empty())
      return &(tree.root = std::forward<Value>(value));
    if (open_.back()->is_array())
      return &open_.back()->emplace_back(std::forward<Value>(value));
    return &(*slot_ = std::forward<Value>(value));
  }
  bool enter(json container) {
    if (open_.size() >= limits_.depth)
      return refuse(ErrorCode::E0606, "nesting: found more than {} levels (limit depth)",
                    limits_.depth);
    if (++values_ > limits_.nodes)
      return refuse(ErrorCode::E0606, "values: found more than {} (limit nodes)", limits_.nodes);
    // Pointers into the tree stay valid, because only the innermost open container grows.
    open_.push_back(place(std::move(container)));
    return true;
  }
  bool leave() {
    open_.pop_back();
    return true;
  }

  const char *begin_;
  const char *const *position_;
  const std::string &file_;
  const Limits &limits_;
  std::vector<json *> open_;
  json *slot_ = nullptr;
  uint64_t values_ = 0;
};

} // namespace

void JsonTree::empty(json &value) {
  if (auto *array = value.get_ptr<json::array_t *>()) {
    for (json &element : *array)
      empty(element);
    array->clear();
  } else if (auto *object = value.get_ptr<json::object_t *>()) {
    for (auto &[key, element] : *object)
      empty(element);
    object->clear();
  }
}

Result<JsonTree> parseJson(std::string_view text, const std::string &file, const Limits &limits) {
  const char *position = text.data();
  Builder builder(text.data(), &position, file, limits);
  CountingIterator begin{text.data(), &position};
  CountingIterator end{text.data() + text.size(), &position};
  bool parsed = json::sax_parse(begin, end, &builder);
  if (builder.error)
    return *builder.error;
  if (!parsed)
    return failAt({file, 0, 0, 0}, ErrorCode::E0603, "is no JSON");
  return std::move(builder.tree);
}

} // namespace lstmc::data

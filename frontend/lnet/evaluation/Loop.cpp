#include "frontend/lnet/evaluation/Loop.h"

#include "frontend/lnet/evaluation/Collections.h"

namespace lstmc::lnet {

bool Loop::forEach(const Value &iterable, const std::function<bool(Value)> &body) {
  auto each = [&](uint64_t index, uint64_t count, Value item) {
    if (!run_.step(source_->span))
      return false;
    run_.beginIteration(item, index, count);
    return body(std::move(item)) && !run_.aborted();
  };
  switch (iterable.kind()) {
  case ValueKind::Unknown:
    return false;
  case ValueKind::Tuple:
  case ValueKind::List:
    for (size_t i = 0; i < iterable.items().size(); ++i) // a list may grow meanwhile
      if (!each(i, iterable.items().size(), iterable.items()[i]))
        break;
    return true;
  case ValueKind::Range: {
    auto &range = iterable.as<RangeObject>();
    uint64_t count = range.size();
    for (uint64_t i = 0; i < count; ++i)
      if (!each(i, count, Value::integer(range.at(i))))
        break;
    return true;
  }
  case ValueKind::String: {
    const std::string &text = iterable.string();
    size_t at = 0, index = 0;
    while (at < text.size()) {
      size_t end = characterEnd(text, at);
      if (!each(index++, text.size(), run_.heap.make<StringObject>(text.substr(at, end - at))))
        break;
      at = end;
    }
    return true;
  }
  case ValueKind::Dict: {
    auto &entries = iterable.as<DictObject>().entries;
    for (size_t i = 0; i < entries.size(); ++i)
      if (!each(i, entries.size(), entries[i].first))
        break;
    return true;
  }
  default:
    run_.report(
        run_.makeError(ErrorCode::E0317, source_->span,
                       fmt::format("{} has no elements to go over", kindName(iterable.kind())),
                       elementsHelp(iterable)));
    return false;
  }
}

} // namespace lstmc::lnet

#include "frontend/builders/OpCall.h"

namespace lstmc::build {

OpCall::OpCall(const char *op, const std::string &name, const Net::Place &place) {
  call_.op = op;
  call_.name = name;
  call_.origin = Net::origin(place);
}

OpCall &OpCall::in(const Net &net) {
  net_ = net;
  return *this;
}

void OpCall::meet(const Value &value) {
  if (!net_)
    net_ = Net(value);
  failed_ = failed_ || Net::isFailed(value);
}

OpCall &OpCall::input(const char *name, const Value &value) {
  meet(value);
  if (value)
    call_.named.emplace_back(name, value.symbol());
  return *this;
}

OpCall &OpCall::inputs(const Values &values) {
  for (const Value &value : values) {
    meet(value);
    call_.positional.push_back(value.symbol());
  }
  return *this;
}

OpCall &OpCall::add(const char *name, symbol::AttributeValue value) {
  call_.attributes.push_back({name, std::move(value)});
  return *this;
}

OpCall &OpCall::attribute(const char *name, const std::optional<int64_t> &value) {
  return value ? add(name, *value) : *this;
}
OpCall &OpCall::attribute(const char *name, const std::optional<double> &value) {
  return value ? add(name, *value) : *this;
}
OpCall &OpCall::attribute(const char *name, const std::optional<bool> &value) {
  return value ? add(name, *value) : *this;
}
OpCall &OpCall::attribute(const char *name, const std::optional<std::string> &value) {
  return value ? add(name, *value) : *this;
}
OpCall &OpCall::attribute(const char *name, const std::optional<DType> &value) {
  return value ? add(name, std::string(dtypeLongName(*value))) : *this;
}
OpCall &OpCall::attribute(const char *name, const Integers &value) {
  if (value.values().empty())
    return *this;
  return add(name, symbol::Tuple(value.values().begin(), value.values().end()));
}
OpCall &OpCall::attribute(const char *name, const Entries &value) {
  return value.values().empty() ? *this : add(name, symbol::Tuple(value.values()));
}

Values OpCall::all() { return !net_ || failed_ ? Values() : net_.apply(std::move(call_)); }

Value OpCall::one() {
  Values made = all();
  if (!made.empty())
    return made.front();
  return net_ ? net_.value({}) : Value();
}

} // namespace lstmc::build

#include "frontend/lnet/net/NetChoice.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "executor/base/Suggest.h"
#include "frontend/lnet/evaluation/Resolve.h"

namespace lstmc::lnet {

bool isNet(const FunctionObject &function) {
  if (!function.def)
    return false;
  bool typed = false;
  for (size_t i = 0; i < function.types.size(); ++i) {
    if (!function.types[i] && function.defaults[i].is(ValueKind::Unset))
      return false;
    typed |= function.types[i] != nullptr;
  }
  return typed;
}

std::vector<FunctionObject *> netsOf(Module &module) {
  std::vector<FunctionObject *> nets;
  for (const Value &value : module.globals.as<FrameObject>().slots)
    if (value.is(ValueKind::Function) && value.as<FunctionObject>().module == &module &&
        isNet(value.as<FunctionObject>()))
      nets.push_back(&value.as<FunctionObject>());
  std::sort(nets.begin(), nets.end(), [](FunctionObject *a, FunctionObject *b) {
    return a->def->span.begin < b->def->span.begin;
  });
  nets.erase(std::unique(nets.begin(), nets.end()), nets.end());
  return nets;
}

/// A parameter without a type or default, in a function of which others have types; null if there
/// is none.
static const Parameter *nearlyTyped(Module &module) {
  for (const Value &value : module.globals.as<FrameObject>().slots) {
    const FunctionObject *function =
        value.is(ValueKind::Function) ? &value.as<FunctionObject>() : nullptr;
    if (!function || !function->def || function->module != &module ||
        std::ranges::none_of(function->types, [](const auto &type) { return bool(type); }))
      continue;
    for (size_t i = 0; i < function->types.size(); ++i)
      if (!function->types[i] && function->defaults[i].is(ValueKind::Unset))
        return &function->def->parameters[i];
  }
  return nullptr;
}

FunctionObject *NetChoice::named(std::string_view name) const {
  auto at = module_.tree->scope->slots.find(name);
  if (at == module_.tree->scope->slots.end())
    return nullptr;
  const Value &value = module_.globals.as<FrameObject>().slots[at->second];
  bool net = value.is(ValueKind::Function) && isNet(value.as<FunctionObject>());
  return net ? &value.as<FunctionObject>() : nullptr;
}

FunctionObject *NetChoice::net() const {
  if (!asked_.empty())
    return named(asked_);
  if (!fitted_.empty())
    return named(fitted_);
  return nets_.size() == 1 ? nets_[0] : nullptr;
}

void NetChoice::explain(Problems &problems) const {
  if (asked_.empty() && (!fitted_.empty() || (nets_.empty() && problems.any())))
    return;
  std::vector<std::string_view> names;
  for (FunctionObject *net : nets_)
    names.push_back(net->name());
  Diagnostic diagnostic;
  diagnostic.code = ErrorCode::E0318;
  Span span;
  if (!asked_.empty()) {
    diagnostic.message = fmt::format("no net is named \"{}\"", asked_);
    diagnostic.help = didYouMean(asked_, names);
  } else if (nets_.empty()) {
    diagnostic.message = "the file has no net: a function whose parameters have types";
    diagnostic.help = "def net(data: float32[32, 10]):";
    if (const Parameter *untyped = nearlyTyped(module_)) {
      diagnostic.message += fmt::format("; \"{}\" has none", untyped->name->name);
      span = untyped->name->span;
    }
  } else {
    diagnostic.message =
        fmt::format("the file has {} nets, {}: which?", nets_.size(), fmt::join(names, ", "));
    diagnostic.help = "--net NAME";
    span = nets_[1]->def->name->span;
  }
  diagnostic.place = module_.file->range(span);
  for (FunctionObject *net : nets_)
    if (diagnostic.reasons.size() < 5) // as many as are shown
      diagnostic.reasons.push_back(
          {fmt::format("net \"{}\" is at {}", net->name(),
                       module_.file->placeText(net->def->name->span.begin)),
           module_.file->range(net->def->name->span)});
  problems.add(std::move(diagnostic));
}

} // namespace lstmc::lnet

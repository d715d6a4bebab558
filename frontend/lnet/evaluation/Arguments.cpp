#include "frontend/lnet/evaluation/Arguments.h"

#include <fmt/ranges.h>

namespace lstmc::lnet {

bool bindArguments(Run &run, std::string_view callee, std::string_view what, Arguments &arguments,
                   const std::vector<std::string_view> &names, std::vector<Value> &values,
                   std::vector<const Expr *> *places) {
  values.assign(names.size(), Value());
  if (places)
    places->assign(names.size(), nullptr);
  bool good = true;
  if (arguments.positional.size() > names.size()) {
    run.error(ErrorCode::E0205, arguments.places[names.size()]->span,
              "{} takes {} argument{}, got {}", callee, names.size(), names.size() == 1 ? "" : "s",
              arguments.positional.size());
    good = false;
  }
  for (size_t i = 0; i < arguments.positional.size() && i < names.size(); ++i) {
    values[i] = arguments.positional[i];
    if (places)
      (*places)[i] = arguments.places[i];
  }
  for (auto &named : arguments.named) {
    auto at = std::find(names.begin(), names.end(), named.argument->name);
    if (at == names.end()) {
      run.unknownName(ErrorCode::E0202, named.argument->nameSpan,
                      fmt::format("{} has no {} \"{}\"", callee, what, named.argument->name),
                      NameKind::Attribute, named.argument->name, names);
      good = false;
      continue;
    }
    size_t i = at - names.begin();
    if (!values[i].is(ValueKind::Unset)) {
      run.error(ErrorCode::E0202, named.argument->nameSpan, "{} has {} twice", callee,
                named.argument->name);
      good = false;
      continue;
    }
    values[i] = named.value;
    if (places)
      (*places)[i] = named.argument->value;
  }
  return good;
}

bool bindBuiltin(Run &run, std::string_view callee, Arguments &arguments,
                 std::initializer_list<BuiltinParameter> parameters, std::vector<Value> &values,
                 std::vector<const Expr *> *places) {
  if (arguments.unknown)
    return false;
  std::vector<std::string_view> names;
  for (const BuiltinParameter &parameter : parameters)
    names.push_back(parameter.name);
  if (!bindArguments(run, callee, "attribute", arguments, names, values, places))
    return false;
  size_t i = 0;
  for (const BuiltinParameter &parameter : parameters)
    if (values[i++].is(ValueKind::Unset) && parameter.required) {
      run.report(run.makeError(ErrorCode::E0203, calleeSpan(arguments.call),
                               fmt::format("{} needs {}", callee, parameter.name),
                               fmt::format("it takes {}", fmt::join(names, ", "))));
      return false;
    }
  return true;
}

} // namespace lstmc::lnet

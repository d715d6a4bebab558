// Selection of the net among the functions of a file.
#pragma once

#include "frontend/lnet/evaluation/Module.h"
#include "frontend/lnet/text/Problems.h"

namespace lstmc::lnet {

/// All parameters have a type or a default, at least one a type.
bool isNet(const FunctionObject &function);

/// Nets that the file itself defines, in its order.
std::vector<FunctionObject *> netsOf(Module &module);

/// The net named by `--net`, else the only one with a fit(..), else the only one.
class NetChoice {
public:
  NetChoice(Module &module, std::string_view asked, std::string_view fitted)
      : module_(module), asked_(asked), fitted_(fitted), nets_(netsOf(module)) {}

  /// Null if none is meant clearly.
  FunctionObject *net() const;
  /// Reports why there is none (E0318), unless another error has explained it.
  void explain(Problems &problems) const;

private:
  FunctionObject *named(std::string_view name) const;

  Module &module_;
  std::string_view asked_;  ///< empty without `--net`
  std::string_view fitted_; ///< the net of the only fit(..); empty if there is none or several
  std::vector<FunctionObject *> nets_;
};

} // namespace lstmc::lnet

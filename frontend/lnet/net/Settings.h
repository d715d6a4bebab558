// setting(..) and dim(..): values that the command line may replace.
#pragma once

#include "frontend/lnet/Load.h"
#include "frontend/lnet/evaluation/Builtins.h"
#include "frontend/lnet/net/Extents.h"

namespace lstmc::lnet {

class Settings {
public:
  Settings(Run &run, const LoadOptions &options, DimNames &dims)
      : run_(run), options_(options), dims_(dims) {}
  static std::span<const BuiltinRow<Settings>> functions();

  /// Values of dims that follow from `--shape`, by name.
  void giveDims(std::map<std::string, int64_t> dims) { shapeDims_ = std::move(dims); }
  /// E0001 for every `--set` of an unknown name.
  void checkUsed();
  const std::vector<SettingInForce> &inForce() const { return inForce_; }

private:
  Value setting(Arguments &arguments), dim(Arguments &arguments);
  Value declare(SettingInForce record, const Value &fallback, Span span);
  /// The value declared before, if this is the same declaration; E0210 if it is another.
  std::optional<Value> declaredBefore(const SettingInForce &record, Span span);
  /// The value in force; sets the origin in `record`.
  Value choose(SettingInForce &record, const Value &fallback, Span span);
  Value chooseDim(SettingInForce &record, const Value &value, bool set, Span span);
  /// Parses the text of `--set` as a value of the default's type; nullopt after an error.
  std::optional<Value> parse(const std::string &name, const std::string &text, const Value &like,
                             Span span);
  /// The last `--set` of a name; null if there is none.
  const std::string *textOfSet(const std::string &name) const;

  Run &run_;
  const LoadOptions &options_;
  DimNames &dims_;
  std::vector<SettingInForce> inForce_; ///< in the order of their declarations
  std::map<std::string, Value> values_;
  std::map<std::string, int64_t> shapeDims_;
};

} // namespace lstmc::lnet

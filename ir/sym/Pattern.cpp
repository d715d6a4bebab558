#include "ir/sym/Pattern.h"

#include <re2/re2.h>

namespace lstmc::sym {

static std::unique_ptr<re2::RE2> compiled(std::string_view text) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_never_capture(true);
  return std::make_unique<re2::RE2>(re2::StringPiece(text.data(), text.size()), options);
}

std::optional<std::string> Pattern::problemOf(std::string_view text) {
  const std::unique_ptr<re2::RE2> machine = compiled(text);
  return machine->ok() ? std::nullopt : std::optional(machine->error());
}

Pattern::Pattern(std::string_view text) : machine_(compiled(text)) {}
Pattern::~Pattern() = default;
Pattern::Pattern(Pattern &&) noexcept = default;
Pattern &Pattern::operator=(Pattern &&) noexcept = default;

bool Pattern::matchesBegin(std::string_view name) const {
  return machine_->ok() && machine_->Match(re2::StringPiece(name.data(), name.size()), 0,
                                           name.size(), re2::RE2::ANCHOR_START, nullptr, 0);
}

} // namespace lstmc::sym

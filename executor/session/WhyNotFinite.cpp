#include "executor/session/WhyNotFinite.h"

#include <algorithm>

#include "executor/session/Findings.h"
#include "executor/session/FusedFault.h"
#include "executor/session/NonFinite.h"

namespace lstmc::session {

namespace {

/// Looks at what each launch writes, until one is found.
class Finder : public SessionObserver {
public:
  Finder(const package::PackageData &data, std::string_view when) : data_(data), when_(when) {}

  void before(const LaunchView &view) override {
    if (!found_)
      inputs_.keep(data_, view.launch, view.operands);
  }
  void after(const LaunchView &view) override {
    if (found_)
      return;
    if (auto finding = findIn(data_, view.launch, view.operands, inputs_, scratch_))
      found_ = Found{int64_t(view.index),
                     describe(data_, view.launch, view.operands, *finding, when_, view.device)};
  }

  std::optional<Found> found() && { return std::move(found_); }

private:
  const package::PackageData &data_;
  std::string_view when_;
  FusedInputs inputs_;
  std::vector<std::byte> scratch_;
  std::optional<Found> found_;
};

std::optional<Diagnostic> givenNotFinite(Session &session, const package::Entry &entry,
                                         std::string_view when) {
  const package::Package &package = session.package();
  for (const package::Binding &input : entry.inputs)
    if (Result<Tensor> value = session.input(entry.name, input.name); value.ok())
      if (auto where = firstNonFinite(*value))
        return describeGiven(nullptr, "input", input.name, *where, when);
  for (const package::Parameter &parameter : package.data().parameters)
    if (Result<Tensor> value = session.parameter(parameter.name); value.ok())
      if (auto where = firstNonFinite(*value))
        return describeGiven(&package.location(parameter.location), "parameter", parameter.name,
                             *where, when);
  return std::nullopt;
}

} // namespace

Result<bool> hasNonFinite(const Session &session, std::string_view entry, std::string_view output) {
  LSTMC_ASSIGN(Tensor value, session.output(entry, output));
  return firstNonFinite(value).has_value();
}

Result<Diagnostic> whyNotFinite(Session &session, std::string_view name, std::string_view when) {
  const package::PackageData &data = session.package().data();
  const package::Entry &entry = data.entries[*session.package().findEntry(name)];
  std::optional<Found> found;
  if (auto given = givenNotFinite(session, entry, when))
    found = Found{-1, std::move(*given)};
  if (!found || session.peers()) { // in a job others wait for what this rank sends
    Finder finder(data, when);
    session.setObserver(&finder);
    Status status = session.run(name);
    session.setObserver(nullptr);
    LSTMC_TRY(std::move(status));
    if (!found)
      found = std::move(finder).found();
  }
  if (session.peers()) {
    LSTMC_ASSIGN(auto first, earliest(*session.peers(), found));
    if (first)
      return std::move(*first);
  } else if (found) {
    return std::move(found->diagnostic);
  }
  Diagnostic diagnostic;
  diagnostic.code = ErrorCode::E0701;
  diagnostic.message = fmt::format("an output is not finite {}", when);
  return diagnostic;
}

} // namespace lstmc::session

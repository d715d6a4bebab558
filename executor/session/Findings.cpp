#include "executor/session/Findings.h"

#include <cstdlib>

namespace lstmc::session {

namespace {

constexpr char kEnd = '\x1f'; ///< of a field

std::string pack(const Found &found) {
  const Diagnostic &d = found.diagnostic;
  const std::string reason = d.reasons.empty() ? "" : d.reasons[0].text;
  std::string text;
  for (const std::string &field :
       {std::to_string(found.order), d.message, d.place.file, std::to_string(d.place.line),
        std::to_string(d.place.column), std::to_string(d.place.length), d.place.text, reason})
    text += field + kEnd;
  return text;
}

std::optional<Found> unpack(std::string_view text) {
  std::vector<std::string> fields;
  for (size_t end; (end = text.find(kEnd)) != std::string_view::npos; text.remove_prefix(end + 1))
    fields.emplace_back(text.substr(0, end));
  if (fields.size() != 8)
    return std::nullopt;
  auto number = [&](size_t field) { return std::atoi(fields[field].c_str()); };
  Found found{std::atoll(fields[0].c_str()), {}};
  Diagnostic &d = found.diagnostic;
  d.code = ErrorCode::E0701;
  d.message = fields[1];
  d.place.file = fields[2];
  d.place.line = number(3);
  d.place.column = number(4);
  d.place.length = number(5);
  d.place.text = fields[6];
  if (!fields[7].empty())
    d.reasons.push_back({fields[7], {}});
  return found;
}

} // namespace

Result<std::optional<Diagnostic>> earliest(Peers &peers, const std::optional<Found> &mine) {
  LSTMC_ASSIGN(std::vector<std::string> all, peers.gather(mine ? pack(*mine) : ""));
  std::optional<Found> first;
  for (const std::string &text : all)
    if (std::optional<Found> found = unpack(text); found && (!first || found->order < first->order))
      first = std::move(found);
  if (!first)
    return std::optional<Diagnostic>();
  return std::optional(std::move(first->diagnostic));
}

} // namespace lstmc::session

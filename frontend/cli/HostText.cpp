#include "frontend/cli/HostText.h"

#include <algorithm>

#include <fmt/format.h>

#include "executor/base/Escape.h"
#include "executor/base/NumberText.h"

namespace lstmc::cli {

std::string hostsTable(const std::vector<planning::HostForecast> &hosts,
                       const std::vector<std::string> &names) {
  if (hosts.empty())
    return "";
  auto name = [&](size_t i) { return escaped(names[size_t(hosts[i].host)]); };
  auto percent = [](double part) { return fmt::format("{:.0f} %", 100 * part); };
  std::vector<std::vector<std::string>> rows = {
      {"host", "devices", "computing", "sent", "sending", "received", "receiving", "bound by"}};
  for (size_t first = 0, end = 0; first < hosts.size(); first = end) {
    const planning::HostForecast &host = hosts[first];
    end = first + 1;
    int64_t count = host.count;
    for (; end < hosts.size() && hosts[end].isLike(host); ++end)
      count += hosts[end].count;
    const bool listed = count == int64_t(end - first); // each by itself
    rows.push_back({count == 1 ? name(first)
                    : listed   ? fmt::format("{} .. {}", name(first), name(end - 1))
                               : fmt::format("{} and {} like it", name(first), count - 1),
                    fmt::format("{}", count * int64_t(host.devices.size())),
                    percent(host.computing), bytesText(uint64_t(host.times.sentBytes)),
                    percent(host.sending), bytesText(uint64_t(host.times.receivedBytes)),
                    percent(host.receiving), std::string(wordOf(host.bound))});
  }
  std::vector<size_t> widths(rows[0].size());
  for (const std::vector<std::string> &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const std::vector<std::string> &row : rows) {
    text += text.empty() ? "" : "\n";
    for (size_t i = 0; i + 1 < row.size(); ++i)
      text += i == 0 ? fmt::format("{:<{}}  ", row[i], widths[i])
                     : fmt::format("{:>{}}  ", row[i], widths[i]);
    text += row.back();
  }
  return text;
}

nlohmann::ordered_json hostsJson(const std::vector<planning::HostForecast> &hosts,
                                 const std::vector<std::string> &names) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const planning::HostForecast &host : hosts)
    list.push_back({{"host", names[size_t(host.host)]},
                    {"count", host.count},
                    {"devices", host.devices},
                    {"sent_bytes", host.times.sentBytes},
                    {"received_bytes", host.times.receivedBytes},
                    {"computing_fraction", host.computing},
                    {"sending_fraction", host.sending},
                    {"receiving_fraction", host.receiving},
                    {"bound_by", wordOf(host.bound)}});
  return list;
}

} // namespace lstmc::cli

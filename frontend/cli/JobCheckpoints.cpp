#include "frontend/cli/JobCheckpoints.h"

#include <filesystem>
#include <string_view>
#include <vector>

#include "frontend/cli/SyncedFiles.h"
#include "frontend/launch/Ssh.h"

namespace lstmc::cli {

namespace {

/// The folder of checkpoints, as hosts have it.
std::string folderOf(const std::string &output, const launch::Start &start) {
  return (std::filesystem::path(start.folder) / output).string();
}

/// Where ranks run in copies of files, rank 0 may be on any host. Elsewhere what is here counts.
std::vector<std::string> hostsWithCheckpoints(const launch::Start &start) {
  return start.folder.empty() ? std::vector<std::string>{"localhost"} : hostsOf(start);
}

std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  for (size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
    lines.emplace_back(text.substr(0, end));
  return lines;
}

/// A line for each checkpoint: its name, and what no other folder has.
Result<std::vector<std::string>> listOn(const std::vector<std::string> &hosts,
                                        const std::string &output, const launch::Start &start) {
  std::vector<std::string> all;
  for (const Result<std::string> &said : launch::outputsOn(
           hosts, start.sshPort,
           {"sh", "-c",
            "[ ! -d \"$1\" ] || find \"$1\"/ -maxdepth 1 -type d -name 'update-[0-9]*' "
            "-printf '%f %i %T@\\n'",
            "sh", folderOf(output, start)})) {
    if (!said.ok())
      return said.error();
    for (std::string &line : linesOf(*said))
      all.push_back(std::move(line));
  }
  return all;
}

} // namespace

Result<JobCheckpoints> JobCheckpoints::before(const Options &command, const launch::Start &start) {
  JobCheckpoints job;
  if (command.command != CommandId::Train || !command.output)
    return job;
  job.output_ = *command.output;
  LSTMC_ASSIGN(std::vector<std::string> lines,
               listOn(hostsWithCheckpoints(start), job.output_, start));
  job.earlier_.insert(lines.begin(), lines.end());
  return job;
}

Result<bool> JobCheckpoints::canGoOn(const launch::Start &start) const {
  if (output_.empty())
    return false;
  const std::string first = hostsWithCheckpoints(start)[0];
  LSTMC_ASSIGN(std::vector<std::string> lines, listOn({first}, output_, start));
  std::vector<std::string> remove = {"rm", "-rf", "--"};
  size_t own = 0;
  for (const std::string &line : lines) {
    if (!earlier_.contains(line))
      ++own;
    else
      remove.push_back(folderOf(output_, start) + "/" + line.substr(0, line.find(' ')));
  }
  if (own > 0 && own < lines.size()) {
    const Result<std::string> removed = launch::outputsOn({first}, start.sshPort, remove)[0];
    if (!removed.ok())
      return removed.error();
  }
  return own > 0;
}

} // namespace lstmc::cli

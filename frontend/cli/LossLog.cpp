#include "frontend/cli/LossLog.h"

#include <nlohmann/json.hpp>

#include "executor/base/InputFile.h"
#include "executor/base/Limits.h"
#include "executor/data/StrictJson.h"

namespace lstmc::cli {

static void add(viz::Losses &losses, const nlohmann::json &line) {
  if (!line.is_object() || line.value("schema", "") != "lstmc.train/1")
    return;
  const std::string event = line.value("event", "");
  auto loss = line.find("loss"), update = line.find("update");
  if (loss == line.end() || !loss->is_number() || update == line.end() || !update->is_number())
    return;
  if (event == "update")
    losses.training.push_back({update->get<double>(), loss->get<double>()});
  else if (event == "valid")
    losses.validation.push_back({update->get<double>(), loss->get<double>()});
}

Result<viz::Losses> readLosses(const std::string &path) {
  LSTMC_ASSIGN(Bytes bytes, readFile(path));
  const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  viz::Losses losses;
  int number = 0;
  for (size_t begin = 0; begin < text.size();) {
    ++number;
    const size_t end = text.find('\n', begin);
    if (end == text.npos)
      break;
    Result<data::JsonTree> line = data::parseJson(text.substr(begin, end - begin), path, {});
    if (!line.ok())
      return failAt({path, number, 1}, line.error().code, "{}", line.error().message);
    add(losses, **line);
    begin = end + 1;
  }
  if (losses.empty())
    return failAt({path}, ErrorCode::E0610,
                  "found no losses, want what train --format jsonl wrote");
  return losses;
}

} // namespace lstmc::cli

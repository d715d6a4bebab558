#include "frontend/cli/Operand.h"

#include "frontend/cli/IdleFlags.h"

namespace lstmc::cli {

Status checkOneModel(const Options &options) {
  if (options.operands.size() != 1)
    return fail(ErrorCode::E0001, "lstmc {} takes one MODEL, got {}", options.commandName(),
                options.operands.size());
  return {};
}

Checked<Model> loadModel(const Options &options, const ModelRequest &request) {
  LSTMC_CHECKED_TRY(checkOneModel(options));
  ModelRequest own = request;
  own.findings = idleFlagsIn(options);
  return driver::loadModel(options.operands[0], options, own);
}

Checked<NamedModel> readNamedModel(const Options &options, const ModelRequest &request) {
  LSTMC_CHECKED_TRY(checkOneModel(options));
  ModelRequest own = request;
  own.findings = idleFlagsIn(options);
  return driver::readNamedModel(options.operands[0], options, own);
}

} // namespace lstmc::cli

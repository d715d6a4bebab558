#include "frontend/cli/Operand.h"

namespace lstmc::cli {

Status checkOneModel(const Options &options) {
  if (options.operands.size() != 1)
    return fail(ErrorCode::E0001, "lstmc {} takes one MODEL, got {}", options.commandName(),
                options.operands.size());
  return {};
}

Checked<Model> loadModel(const Options &options, const ModelRequest &request) {
  LSTMC_CHECKED_TRY(checkOneModel(options));
  return driver::loadModel(options.operands[0], options, request);
}

Checked<NamedModel> readNamedModel(const Options &options, const ModelRequest &request) {
  LSTMC_CHECKED_TRY(checkOneModel(options));
  return driver::readNamedModel(options.operands[0], options, request);
}

} // namespace lstmc::cli

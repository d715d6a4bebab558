#include "executor/c/Guard.h"
#include "executor/c/Handles.h"

using namespace lstmc;

extern "C" {

lstmc_status lstmc_vocabulary_open(const char *path, lstmc_vocabulary **vocabulary) {
  if (!path || !vocabulary)
    return c::nullArgument();
  *vocabulary = nullptr;
  return c::guarded([&]() -> Status {
    LSTMC_ASSIGN(data::Vocabulary loaded, data::Vocabulary::load(path));
    const bool words = loaded.find(data::kEndOfLine).has_value();
    *vocabulary = new lstmc_vocabulary{std::move(loaded),
                                       words ? data::TextUnit::Word : data::TextUnit::Char};
    return {};
  });
}

void lstmc_vocabulary_close(lstmc_vocabulary *vocabulary) { delete vocabulary; }

size_t lstmc_vocabulary_size(const lstmc_vocabulary *vocabulary) {
  return vocabulary ? vocabulary->vocabulary.size() : 0;
}

int32_t lstmc_vocabulary_find(const lstmc_vocabulary *vocabulary, const char *symbol, size_t size) {
  if (!vocabulary || !symbol)
    return -1;
  return vocabulary->vocabulary.find({symbol, size}).value_or(-1);
}

const char *lstmc_vocabulary_symbol(const lstmc_vocabulary *vocabulary, int32_t id, size_t *size) {
  if (!vocabulary || !size || id < 0 || size_t(id) >= vocabulary->vocabulary.size())
    return nullptr;
  std::string_view symbol = vocabulary->vocabulary.symbol(size_t(id));
  *size = symbol.size();
  return symbol.data();
}
}

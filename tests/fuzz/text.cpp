// Feeds bytes to the readers of texts and vocabularies.
#include "executor/data/TokenText.h"

using namespace lstmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  std::string_view text = asText({bytes, size});
  for (data::TextUnit unit : {data::TextUnit::Char, data::TextUnit::Word, data::TextUnit::Byte}) {
    auto vocabulary = data::makeVocabulary(text, unit, "f");
    if (!vocabulary.ok())
      continue;
    // A text consists of its own symbols, and a vocabulary reads back what it writes.
    auto tokens = data::tokenise(text, unit, *vocabulary, "f");
    auto again = data::Vocabulary::parse(vocabulary->text(), "v");
    if (!tokens.ok() || !again.ok() || again->text() != vocabulary->text())
      __builtin_trap();
  }
  (void)data::Vocabulary::parse(text, "f").ok();
  return 0;
}

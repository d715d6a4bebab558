// Feeds bytes to the reader of MXNet's symbol.json, which has to refuse or read them and do nothing
// else; so have those of attributes' texts.
#include "frontend/importers/mxnet/AttributeText.h"
#include "frontend/importers/mxnet/InitialiserText.h"
#include "frontend/importers/mxnet/SymbolFile.h"

using namespace lstmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  using namespace importers::mxnet;
  Limits limits;
  limits.depth = 16;
  Result<SymbolFile> file =
      SymbolFile::parse(std::string(reinterpret_cast<const char *>(bytes), size), "f", limits);
  for (size_t node = 0; file.ok() && node < file->size(); ++node) {
    (void)file->place(node);
    for (auto [key, text] : file->attributes(node)) {
      (void)tupleOf(text);
      (void)typeOf(text);
      (void)initialiserOf(text);
      (void)attributeValue(text, symbol::OpAttribute::Kind::Float);
    }
  }
  return 0;
}

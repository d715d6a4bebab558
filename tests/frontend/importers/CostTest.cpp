// Memory to read a symbol.json is at most 64 MiB and 4 times its size, whatever it contains.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "frontend/importers/mxnet/SymbolFile.h"
#include "tests/executor/loaders/Allocations.h"

namespace lstmc::importers::mxnet {
namespace {

constexpr size_t kBytes = 8 << 20;

/// `begin`, as many different pieces as fit, `end`.
template <typename Piece>
std::string filled(const std::string &begin, Piece &&piece, const std::string &end) {
  std::string text = begin;
  text.reserve(kBytes + 100);
  for (size_t i = 0; text.size() < kBytes; ++i) {
    text += i ? "," : "";
    text += piece(i);
  }
  return text + end;
}

TEST(SymbolFileCost, MemoryIsBoundedByTheText) {
  const std::string tail = "],\"heads\":[[0,0]]}";
  const std::pair<std::string, std::string> texts[] = {
      {"nodes",
       filled(
           "{\"nodes\":[", [](size_t) { return R"({"op":"a","name":"","inputs":[]})"; }, tail)},
      {"variables",
       filled(
           "{\"nodes\":[",
           [](size_t i) { return fmt::format(R"({{"op":"null","name":"{}","inputs":[]}})", i); },
           tail)},
      {"attributes", filled(
                         R"({"nodes":[{"op":"a","name":"b","inputs":[],"attrs":{)",
                         [](size_t i) { return fmt::format(R"("{}":"{}")", i, i); }, "}}" + tail)},
      {"edges", filled(
                    R"({"nodes":[{"op":"a","name":"b","inputs":[)", [](size_t) { return "[0,0]"; },
                    "]}" + tail)},
      {"graphs in a node",
       filled(
           R"({"nodes":[{"op":"a","name":"b","inputs":[],"subgraphs":[)",
           [](size_t) {
             return R"({"nodes":[{"op":"null","name":"","inputs":[]}],"heads":[[0,0]]})";
           },
           "]}" + tail)},
      {"heads", filled(
                    "{\"nodes\":[],\"heads\":[", [](size_t) { return "[0,0]"; }, "]}")},
      {"arg_nodes", filled(
                        "{\"arg_nodes\":[", [](size_t) { return "0"; }, "]}")},
      {"node_row_ptr", filled(
                           "{\"node_row_ptr\":[", [](size_t) { return "0"; }, "]}")},
      {"unknown field", filled(
                            "{\"mood\":[", [](size_t) { return "[[],{}]"; }, "]}")},
      {"brackets", std::string(kBytes, '[')},
      {"one string", "{\"nodes\":[{\"op\":\"" + std::string(kBytes, 'a') + "\"}]}"},
  };
  for (const auto &[what, text] : texts) {
    std::string copy = text;
    test::resetPeak();
    const int64_t before = test::allocated().bytes;
    Result<SymbolFile> file = SymbolFile::parse(std::move(copy), "f");
    const int64_t took = test::allocated().peak - before + int64_t(text.size());
    EXPECT_LE(took, (int64_t(64) << 20) + 4 * int64_t(text.size()))
        << what << ": " << (file.ok() ? "read" : file.error().text());
  }
}

} // namespace
} // namespace lstmc::importers::mxnet

// Checks that every variant of a training gives the same bits: all of tests/e2e/Variants.h, for
// every model.
//   --as ranks: devices of several ranks, which are threads of this process
//   --updates 200  --every 1: only each so-many-th variant,  --from 0: starting with that one
//   --cases DIR: for every .lnet file of a folder instead, and only variants that divide rows,
//   layers and sums in another way; variants that are refused because the batch cannot be divided
//   (E0402) are listed
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string_view>

#include "tests/e2e/Variants.h"

using namespace lstmc;

namespace {

/// Variants by the hash that they end with, and those refused by their message.
struct Table {
  std::map<uint64_t, std::vector<std::string>> trained;
  std::map<std::string, std::vector<std::string>> refused;

  void add(const e2e::Model &model, const e2e::Variant &variant, int64_t updates) {
    try {
      trained[e2e::trainAs(model, variant, updates)].push_back(variant.text());
    } catch (const std::runtime_error &error) {
      std::string said = error.what();
      if (said.find("E0402") == std::string::npos)
        throw;
      refused[said.substr(0, said.find('\n'))].push_back(variant.text());
    }
  }

  void print(const e2e::Model &model, size_t ways, int64_t updates) const {
    for (const auto &[hash, of] : trained) {
      std::printf("| %s | %zu | %zu | %lld | %016llx |\n", model.name.c_str(), of.size(), ways,
                  (long long)updates, (unsigned long long)hash);
      if (trained.size() > 1)
        std::printf("  such as %s\n", of.front().c_str());
    }
    for (const auto &[said, of] : refused)
      std::printf("| %s | %zu | %zu | %lld | refused |\n  such as %s: %s\n", model.name.c_str(),
                  of.size(), ways, (long long)updates, of.front().c_str(), said.c_str());
    std::fflush(stdout);
  }
};

} // namespace

int main(int argc, char **argv) {
  int64_t updates = 200;
  size_t every = 1, from = 0;
  std::string cases;
  bool ranks = false;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    const char *value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (value && flag == "--updates") {
      updates = std::atoll(value);
    } else if (value && flag == "--every") {
      every = size_t(std::max(1, std::atoi(value)));
    } else if (value && flag == "--from") {
      from = size_t(std::max(0, std::atoi(value)));
    } else if (value && flag == "--cases") {
      cases = std::filesystem::absolute(value);
    } else if (value && flag == "--as" && std::string_view(value) == "ranks") {
      ranks = true;
    } else {
      std::fputs(
          "usage: sameness [--as ranks] [--updates N] [--every N] [--from N] [--cases DIR]\n",
          stderr);
      return 2;
    }
  }
  bool same = true;
  std::printf("| model | ways | of | updates | weights |\n|---|---|---|---|---|\n");
  for (const e2e::Model &model : cases.empty() ? e2e::models() : e2e::modelsOf(cases)) {
    Table table;
    std::vector<e2e::Variant> variants = ranks           ? e2e::rankVariants(model)
                                         : cases.empty() ? e2e::allVariants(model)
                                                         : e2e::sharingVariants(model);
    for (size_t i = from; i < variants.size(); i += every)
      table.add(model, variants[i], updates);
    table.print(model, variants.size(), updates);
    same &= table.trained.size() == 1;
  }
  return same ? 0 : 1;
}

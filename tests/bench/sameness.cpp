// Whether every way to carry a training out gives the same bits: all of tests/e2e/Variants.h, for
// every model.
//   --updates 200  --every 1: each so many-th way only,  --from 0: beginning with that one
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "tests/e2e/Variants.h"

using namespace lstmc;

int main(int argc, char **argv) {
  int64_t updates = 200;
  size_t every = 1, from = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--updates") == 0)
      updates = std::atoll(argv[i + 1]);
    else if (std::strcmp(argv[i], "--every") == 0)
      every = size_t(std::max(1, std::atoi(argv[i + 1])));
    else if (std::strcmp(argv[i], "--from") == 0)
      from = size_t(std::max(0, std::atoi(argv[i + 1])));
  }
  bool same = true;
  std::printf("| model | ways | of | updates | weights |\n|---|---|---|---|---|\n");
  for (const e2e::Model &model : e2e::models()) {
    std::map<uint64_t, std::vector<std::string>> ways;
    std::vector<e2e::Variant> variants = e2e::allVariants(model);
    for (size_t i = from; i < variants.size(); i += every)
      ways[e2e::trainAs(model, variants[i], updates)].push_back(variants[i].text());
    for (const auto &[hash, of] : ways) {
      std::printf("| %s | %zu | %zu | %lld | %016llx |\n", model.name.c_str(), of.size(),
                  variants.size(), (long long)updates, (unsigned long long)hash);
      if (ways.size() > 1)
        std::printf("  such as %s\n", of.front().c_str());
    }
    std::fflush(stdout);
    same &= ways.size() == 1;
  }
  return same ? 0 : 1;
}

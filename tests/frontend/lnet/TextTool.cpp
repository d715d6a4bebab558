// Reads programs, each as a line with its length in bytes and the bytes, and answers each with one
// line of JSON: {"ok": true, "formatted": TEXT} or {"ok": false, "errors": ["E0106: ..."]}.
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "frontend/lnet/format/Format.h"

int main() {
  std::ios::sync_with_stdio(false);
  std::string header;
  while (std::getline(std::cin, header)) {
    std::string text(std::stoul(header), '\0');
    std::cin.read(text.data(), std::streamsize(text.size()));
    nlohmann::json answer;
    auto formatted = lstmc::lnet::format("x.lnet", text);
    answer["ok"] = formatted.ok();
    if (formatted.ok()) {
      answer["formatted"] = *formatted;
    } else {
      for (const lstmc::Diagnostic &d : formatted.diagnostics())
        answer["errors"].push_back(std::string(lstmc::errorRecord(d.code).name) + ": " + d.message);
    }
    std::cout << answer.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) << std::endl;
  }
}

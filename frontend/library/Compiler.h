// The compiler for other programs: a network into the bytes of a package, which
// lstmc_package_open_memory (lstmc.h) opens. Target lstmc::compiler.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "executor/base/Diagnostic.h"
#include "frontend/builders/Net.h"
#include "frontend/symbol/Symbol.h"

namespace lstmc {

/// A package and what the compiler warns of, or the errors, at the user's lines
/// (symbol::render draws them). `flags` are those of the command `lstmc compile`: {"--batch=8"}.
using CompiledPackage = Checked<std::vector<uint8_t>>;

/// A finished graph, which is used up. E0001 for a flag that is none.
CompiledPackage compileGraph(std::unique_ptr<symbol::Graph> graph,
                             const std::vector<std::string> &flags = {});
/// A network of builders, as often as wanted: its values stay valid. Its errors, if it has any;
/// E0099 before `finish`.
CompiledPackage compile(const build::Net &net, const std::vector<std::string> &flags = {});
/// A file in .lnet: the same bytes as `lstmc compile FILE FLAGS -o F.lstmc` writes. E0601 if it
/// cannot be read.
CompiledPackage compileFile(const std::string &path, const std::vector<std::string> &flags = {});

} // namespace lstmc

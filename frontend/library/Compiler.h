// The compiler for other programs: a network into the bytes of a package, which
// lstmc_package_open_memory (lstmc.h) opens. Target lstmc::compiler.
//
// Threads: a symbol::Graph with its Symbols, and a build::Net with its Values, are used by one
// thread at a time, different ones at the same time. The functions here may be called from any
// thread; calls wait for one another, because the compiler changes what the whole process does
// where there is no memory.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "executor/base/Diagnostic.h"
#include "frontend/builders/Net.h"
#include "frontend/library/CompileOptions.h"
#include "frontend/symbol/Symbol.h"

namespace lstmc {

/// A package with the compiler's warnings, or the errors, at the user's lines (symbol::render draws
/// them). Access the bytes only if ok(): otherwise std::logic_error is thrown with the first error,
/// or, without exceptions, the program is aborted with it.
class CompiledPackage : public Checked<std::vector<uint8_t>> {
public:
  using Bytes = std::vector<uint8_t>;
  using Base = Checked<Bytes>;
  using Base::Base;
  CompiledPackage(Base made) : Base(std::move(made)) {}
  Bytes &operator*() { return check(), Base::operator*(); }
  const Bytes &operator*() const { return check(), Base::operator*(); }
  Bytes *operator->() { return &**this; }
  const Bytes *operator->() const { return &**this; }

private:
  void check() const {
    if (!ok())
      failWith(diagnostics());
  }
  [[noreturn]] static void failWith(const Diagnostics &errors) {
    const std::string message = "a package that was not compiled: " + errors.front().message;
#ifdef __cpp_exceptions
    throw std::logic_error(message);
#else
    std::fprintf(stderr, "%s\n", message.c_str());
    std::abort();
#endif
  }
};

/// Compiles a finished graph, which is consumed, with the training settings of setFit and setData.
/// E0214 for an unknown key or an invalid value; E0001 for an invalid option, and for one that sets
/// the shapes of a file.
CompiledPackage compileGraph(std::unique_ptr<symbol::Graph> graph,
                             const CompileOptions &options = {});
/// Compiles a network of builders, as often as wanted: its values stay valid. Its errors, if it has
/// any; E0318 before `finish`.
CompiledPackage compile(const build::Net &net, const CompileOptions &options = {});
/// Compiles a file in .lnet to the bytes that `lstmc compile FILE -o F.lstmc` writes with these
/// flags. E0601 if it cannot be read.
CompiledPackage compileFile(const std::string &path, const CompileOptions &options = {});

} // namespace lstmc

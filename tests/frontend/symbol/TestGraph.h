// Short calls for tests. Places are invented: an argument's place is that of its text in a source
// line.
#pragma once

#include <gtest/gtest.h>

#include "frontend/symbol/Render.h"
#include "frontend/symbol/Symbol.h"

namespace lstmc::symbol {

/// The place of a piece of a line; the line has to contain it.
inline SourceRange placeIn(const std::string &file, int line, const std::string &text,
                           const std::string &piece) {
  SourceRange range;
  range.file = file;
  range.line = line;
  range.text = text;
  size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece << " in " << text;
  range.column = int(at) + 1;
  range.byte = int64_t(at);
  range.length = int(piece.size());
  range.bytes = int64_t(piece.size());
  return range;
}

inline Call callOf(std::string op, std::vector<Symbol> inputs,
                   std::vector<NamedAttribute> attributes = {}, std::string name = "") {
  Call call;
  call.op = std::move(op);
  call.positional = std::move(inputs);
  call.attributes = std::move(attributes);
  call.name = std::move(name);
  return call;
}

/// The only output of a call that has to succeed.
inline Symbol make(Graph &graph, const Call &call) {
  Checked<std::vector<Symbol>> made = graph.apply(call);
  EXPECT_TRUE(made.ok()) << render(made.diagnostics());
  return made.ok() ? made->front() : Symbol();
}
inline Symbol make(Graph &graph, std::string op, std::vector<Symbol> inputs,
                   std::vector<NamedAttribute> attributes = {}, std::string name = "") {
  return make(graph,
              callOf(std::move(op), std::move(inputs), std::move(attributes), std::move(name)));
}

/// The message for a call that has to fail.
inline std::string refusal(Graph &graph, const Call &call) {
  Checked<std::vector<Symbol>> made = graph.apply(call);
  EXPECT_FALSE(made.ok());
  return render(made.diagnostics());
}

inline Symbol input(Graph &graph, std::string name, Shape shape, DType dtype = DType::F32) {
  return *graph.input(std::move(name), dtype, std::move(shape), Role::Data);
}

inline VariableOptions shaped(Shape shape) {
  VariableOptions options;
  options.shape = std::move(shape);
  return options;
}

inline std::vector<int64_t> extents(const Symbol &symbol) {
  std::vector<int64_t> result;
  for (const Dim &dim : symbol.shape().dims)
    result.push_back(dim.extent);
  return result;
}

using Extents = std::vector<int64_t>;
using Names = std::vector<std::string>;

} // namespace lstmc::symbol

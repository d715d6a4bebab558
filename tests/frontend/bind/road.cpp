// The C++ API as a way of training, for tests/frontend/python/test_roads.py.
//   cpp_road bind VALUES DROPOUT OPTIMIZER WD [KEY=NUMBER...]  trains by symbol::bind; its hash
//   cpp_road compile FILE.lstmc DROPOUT OPTIMIZER [KEY=VALUE...]  compiled by the library;
//     accumulate and dtype are options, all other keys are of fit(..)
// A line of VALUES: "parameter NAME VALUE...", or "update RATE VALUE..." with data, then labels.
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "frontend/bind/Bind.h"
#include "frontend/symbol/Render.h"

using namespace lstmc;

int compilePackage(const std::vector<std::string> &words); // roadCompile.cpp

static symbol::Symbol call(symbol::Graph &graph, std::string op, std::vector<symbol::Symbol> inputs,
                           std::vector<symbol::NamedAttribute> attributes, std::string name = {}) {
  symbol::Call call;
  call.op = std::move(op);
  call.positional = std::move(inputs);
  call.attributes = std::move(attributes);
  call.name = std::move(name);
  return graph.apply(call)->front();
}

/// The network of roadCompile.cpp.
static void draw(symbol::Graph &graph, double dropout) {
  const auto input = [&](const char *name, int64_t extent, symbol::Role role) {
    return *graph.input(name, DType::F32, symbol::Shape({{4, "batch"}, {extent, ""}}), role);
  };
  const symbol::Symbol data = input("data", 3, symbol::Role::Data),
                       label = input("label", 2, symbol::Role::Label);
  symbol::Symbol x = call(graph, "FullyConnected", {data}, {{"num_hidden", int64_t(5)}}, "one");
  x = call(graph, "Activation", {x}, {{"act_type", std::string("tanh")}});
  x = call(graph, "Dropout", {x}, {{"p", dropout}});
  x = call(graph, "FullyConnected", {x}, {{"num_hidden", int64_t(2)}}, "fc");
  graph.finish({call(graph, "LinearRegressionOutput", {x, label}, {}, "out")});
}

static int failed(const Diagnostics &errors) {
  std::cout << symbol::render(errors);
  return 1;
}

static void fill(Tensor &tensor, std::istringstream &values) {
  std::string value; // a stream reads no hexadecimal number
  for (int64_t i = 0; i < tensor.elements() && values >> value; ++i)
    tensor.as<float>()[i] = std::stof(value);
}

static int train(const std::vector<std::string> &words) {
  symbol::BindOptions options;
  options.optimizer = words[3];
  options.wd = std::stod(words[4]);
  for (size_t i = 5; i < words.size(); ++i)
    options.optimizerKeys[words[i].substr(0, words[i].find('='))] =
        std::stod(words[i].substr(words[i].find('=') + 1));
  symbol::Graph graph("net");
  draw(graph, std::stod(words[2]));
  auto session = symbol::bind(graph, options);
  if (!session.ok())
    return failed(session.diagnostics());
  std::ifstream file(words[1]);
  int64_t update = 0;
  for (std::string line, kind, name; std::getline(file, line);) {
    std::istringstream values(line);
    values >> kind >> name;
    if (kind == "parameter") {
      fill(*(*session)->parameter(name), values);
      (*session)->parametersChanged();
      continue;
    }
    (*session)->setScalar("learning_rate", std::stod(name));
    (*session)->setScalar("update", ++update);
    for (const char *input : {"data", "label"})
      fill(*(*session)->input("step", input), values);
    if (Status status = (*session)->run("step"); !status.ok())
      std::cout << status.error().message << "\n";
  }
  std::cout << std::hex << (*session)->weightsHash() << "\n";
  return 0;
}

int main(int argc, char **argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  return words.at(0) == "bind" ? train(words) : compilePackage(words);
}

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
#include "frontend/builders/Ops.h"
#include "frontend/library/Compiler.h"
#include "frontend/symbol/Render.h"

using namespace lstmc;
namespace lb = lstmc::build;

static lb::Net makeNet(double dropout) {
  lb::Net net("net");
  auto data = net.data("data", DType::F32, symbol::Shape({{4, "batch"}, {3, ""}}));
  auto label = net.label("label", DType::F32, symbol::Shape({{4, "batch"}, {2, ""}}));
  auto x = lb::fullyConnected(data, {.num_hidden = 5, .name = "one"});
  x = lb::dropout(lb::activation(x, {.act_type = "tanh"}), {.p = dropout});
  x = lb::fullyConnected(x, {.num_hidden = 2, .name = "fc"});
  net.finish({lb::linearRegressionOutput(x, label, {.name = "out"})});
  return net;
}

static int failed(const Diagnostics &errors) {
  std::cout << symbol::render(errors);
  return 1;
}

static int compilePackage(const std::vector<std::string> &words) {
  CompileOptions options{.optimizer = words[3]};
  for (size_t i = 4; i < words.size(); ++i) {
    const std::string key = words[i].substr(0, words[i].find('=')),
                      value = words[i].substr(words[i].find('=') + 1);
    if (key == "accumulate")
      options.accumulate = std::stoll(value);
    else if (key == "dtype")
      options.dtype = value == "f64" ? DType::F64 : DType::F32;
    else
      options.fit.emplace_back(key, value);
  }
  const CompiledPackage package = compile(makeNet(std::stod(words[2])), options);
  if (!package.ok())
    return failed(package.diagnostics());
  std::ofstream(words[1], std::ios::binary)
      .write(reinterpret_cast<const char *>(package->data()), std::streamsize(package->size()));
  return 0;
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
  const lb::Net net = makeNet(std::stod(words[2]));
  auto session = symbol::bind(net.graph(), options);
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

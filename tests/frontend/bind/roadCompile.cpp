// The way of road.cpp by the headers that are installed.
#include <fstream>
#include <iostream>
#include <lstmc/compile.hpp>

using namespace lstmc;

static Network makeNet(double dropout) {
  build::Net net("net");
  const auto data = net.data("data", DType::F32, {{4, "batch"}, 3});
  const auto label = net.label("label", DType::F32, {{4, "batch"}, 2});
  auto x = build::fullyConnected(data, {.num_hidden = 5, .name = "one"});
  x = build::dropout(build::activation(x, {.act_type = "tanh"}), {.p = dropout});
  x = build::fullyConnected(x, {.num_hidden = 2, .name = "fc"});
  return net.finish({build::linearRegressionOutput(x, label, {.name = "out"})});
}

int compilePackage(const std::vector<std::string> &words) try {
  CompileOptions options;
  options.fit.emplace_back("optimizer", words[3]);
  for (std::size_t i = 4; i < words.size(); ++i) {
    const std::string key = words[i].substr(0, words[i].find('=')),
                      value = words[i].substr(words[i].find('=') + 1);
    if (key == "accumulate")
      options.accumulate = std::stoll(value);
    else if (key == "dtype")
      options.dtype = value == "f64" ? DType::F64 : DType::F32;
    else
      options.fit.emplace_back(key, value);
  }
  const std::vector<std::byte> package = compile_bytes(makeNet(std::stod(words[2])), options);
  std::ofstream(words[1], std::ios::binary)
      .write(reinterpret_cast<const char *>(package.data()), std::streamsize(package.size()));
  return 0;
} catch (const Error &error) {
  std::cout << error.what() << "\n";
  return 1;
}

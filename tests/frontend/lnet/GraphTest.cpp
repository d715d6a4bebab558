// From text to graph: order, names, shapes, settings, files.
#include <clocale>

#include <sys/resource.h>

#include "cmake/SourceFolder.h"
#include "frontend/lnet/Emit.h"
#include "frontend/lnet/format/Format.h"
#include "frontend/symbol/Layers.h"
#include "tests/frontend/lnet/Programs.h"

namespace lstmc::lnet {
namespace {

const std::string kSource = LSTMC_SOURCE_DIR;

symbol::Network loaded(const std::string &path, const LoadOptions &options = {}) {
  Checked<symbol::Network> net = load(path, options);
  EXPECT_TRUE(net.ok()) << symbol::render(net.diagnostics());
  return net.ok() ? std::move(*net) : symbol::Network();
}

TEST(Graph, SamplesLoad) {
  for (const auto &entry : std::filesystem::directory_iterator(kSource + "/samples"))
    if (entry.path().extension() == ".lnet") {
      Checked<symbol::Network> net = load(entry.path().string());
      EXPECT_TRUE(net.ok()) << symbol::render(net.diagnostics());
      EXPECT_TRUE(net.diagnostics().empty());
    }
}

TEST(Graph, IsTheSameElsewhere) {
  std::string text = readText(kSource + "/samples/char_lm.lnet");
  Folder folder;
  std::string here = loaded(kSource + "/samples/char_lm.lnet").graph->hash();
  EXPECT_EQ(loaded(folder.write("other/name.lnet", text)).graph->hash(), here);
  std::string before = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "de_DE.UTF-8");
  EXPECT_EQ(loadText("x", text)->graph->hash(), here);
  std::setlocale(LC_ALL, before.c_str());
  Checked<std::string> again = format("x", text);
  EXPECT_EQ(loadText("x", *again)->graph->hash(), here);
  LoadOptions options;
  options.settings = {{"hidden", "128"}};
  EXPECT_NE(loadText("x", text, options)->graph->hash(), here);
}

TEST(Graph, NodesComeInTheOrderOfTheCalls) {
  std::string text = graphOf(R"(def net(data: float32[2, 4]):
    b = tanh(data)
    a = sigmoid(data)
    return a * b - 1
)");
  size_t tanh = text.find("sym.tanh"), sigmoid = text.find("sym.sigmoid"),
         product = text.find("sym.elemwise_mul"), minus = text.find("sym.minus_scalar");
  EXPECT_LT(tanh, sigmoid);
  EXPECT_LT(sigmoid, product);
  EXPECT_LT(product, minus);
  EXPECT_NE(minus, std::string::npos);
}

/// Extents keep the dim that they were written with; a range keeps it if it has one number per row.
TEST(Graph, ExtentsKnowTheirDim) {
  std::string text = graphOf(R"(N, n = dim("batch", 4), 3
def net(data: float32[N, n]):
    x = data + zeros((N, n)) + full(value=2, shape=[N, n])
    x = x + Reshape(data, shape=(N, -1)) + ones((4, n))
    x = broadcast_add(x, Reshape(arange(0, N, dtype="float32"), shape=(data.shape[0], 1)))
    x = broadcast_add(x, Reshape(arange(1, N + 1), shape=(4, 1)))
    return broadcast_add(x, Reshape(Concat(arange(2, stop=N), arange(2), dim=0), shape=(4, 1)))
)");
  auto lineOf = [&](std::string_view op, int which = 0) {
    size_t at = text.find(op);
    for (; which > 0; --which)
      at = text.find(op, at + 1);
    return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_NE(lineOf("sym.zeros").find(R"(sym.dims = ["batch", ""])"), std::string::npos) << text;
  EXPECT_NE(lineOf("sym.full").find(R"(sym.dims = ["batch", ""])"), std::string::npos) << text;
  EXPECT_NE(lineOf("sym.reshape", 0).find(R"(sym.dims = ["batch", ""])"), std::string::npos)
      << text;
  EXPECT_NE(lineOf("sym.arange", 0).find(R"(sym.dims = ["batch"])"), std::string::npos) << text;
  EXPECT_NE(lineOf("sym.reshape", 1).find(R"(sym.dims = ["batch", ""])"), std::string::npos)
      << text;
  EXPECT_EQ(lineOf("sym.ones").find("sym.dims"), std::string::npos) << text;
  EXPECT_EQ(lineOf("sym.arange", 1).find("sym.dims"), std::string::npos) << text;
  EXPECT_EQ(lineOf("sym.arange", 2).find("sym.dims"), std::string::npos) << text;
}

TEST(Graph, OperatorsAreOps) {
  std::string text = graphOf(R"(def net(data: float32[4, 4], other: float32[4, 4]):
    a = 2 - data + 2 / other
    b = a ** 2 + 2 ** a - data % 3
    c = (data > 0) * b + (1 <= data) + (data == other)
    d = data @ other
    e = data[0] + data[1:3][0] + data[..., -1]
    f = data[:, ::2][0, 1]
    g = concatenate([data, other], axis=0)
    return where(c, d, d), -data, abs(data), max(data, axis=1), sum(data), e, f, maximum(data, 0), g
)");
  for (const char *op :
       {"rminus_scalar", "rdiv_scalar", "power_scalar", "rpower_scalar", "mod_scalar",
        "greater_scalar", "greater_equal_scalar", "sym.equal", "sym.dot", "slice_axis",
        "sym.slice ", "squeeze", "sym.where", "mul_scalar", "sym.abs", "sym.max", "sym.sum",
        "maximum_scalar", "sym.concat"})
    EXPECT_NE(text.find(op), std::string::npos) << op << "\n" << text;
}

TEST(Graph, LayersAreThoseOfTheSymbolApi) {
  for (bool bidirectional : {false, true})
    for (int64_t layers : {1, 2})
      for (bool batchMajor : {false, true}) {
        std::string text =
            "def net(data: float32[5, 3, 8]):\n    y, h, c = LSTM(data, num_hidden=4, num_layers=" +
            std::to_string(layers) + ", bidirectional=" + (bidirectional ? "True" : "False") +
            ", p=0.5, layout=\"" + (batchMajor ? "NTC" : "TNC") +
            "\", name=\"l\")\n    return y, h, c\n";
        Checked<symbol::Network> net = loadText("t", text);
        ASSERT_TRUE(net.ok()) << symbol::render(net.diagnostics());
        symbol::Graph twin("net");
        Checked<symbol::Symbol> x = twin.input("data", DType::F32, {5, 3, 8}, symbol::Role::Data);
        symbol::LayerOptions options;
        options.layers = layers;
        options.bidirectional = bidirectional;
        options.dropout = 0.5;
        options.batchMajor = batchMajor;
        auto made = symbol::lstm(twin, *x, 4, "l", options);
        ASSERT_TRUE(made.ok()) << symbol::render(made.diagnostics());
        for (const Diagnostic &each : twin.finish({made->output, made->h, made->c}))
          EXPECT_EQ(each.code, ErrorCode::E0319) << each.message; // p= of one layer has no effect
        EXPECT_EQ(net->graph->text(), twin.text());
        EXPECT_EQ(net->graph->hash(), twin.hash());
      }
}

TEST(Graph, NamesAndScopes) {
  std::string text = graphOf(R"(def net(data: float32[5, 3, 8]):
    with name_scope("enc"), ctx_group("a"):
        with name_scope("deep"):
            x, h, c = LSTM(data, num_hidden=4, name="l")
        y, h2 = GRU(x, num_hidden=4)
        z, h3 = RNNLayer(y, num_hidden=4, activation="relu")
        v = Variable("free", shape=(2, 4))
        w = FullyConnected(z, weight=v, num_hidden=2, flatten=False)
    return w
)");
  for (const char *name :
       {"\"enc_deep_l_i2h_weight\"", "\"enc_deep_l\"", "\"enc_gru0_h2h_bias\"", "\"enc_gru0\"",
        "\"enc_rnn0\"", "\"free\"", "\"enc_fullyconnected0\"", "\"enc_fullyconnected0_bias\""})
    EXPECT_NE(text.find(name), std::string::npos) << name << "\n" << text;
  EXPECT_EQ(text.find("enc_enc"), std::string::npos);
  EXPECT_EQ(text.find("enc_free"), std::string::npos);
}

TEST(Graph, SettingsAndDims) {
  std::string text =
      R"(n, on, word = setting("n", 4, help="width"), setting("on", True), setting("word", "tanh")
scale, vocab = setting("scale", 0.5), setting("vocab", 10)
N = dim("batch", 2)
def net(data: float32[N, 8]):
    assert vocab == 77
    assert n == 6 and on == False and word == "relu" and scale == 2.0 and N == 5
    return Activation(FullyConnected(data, num_hidden=n), act_type=word)
)";
  LoadOptions options;
  options.settings = {{"n", "6"}, {"on", "False"}, {"word", "relu"}, {"scale", "2"}};
  options.offeredVocab = 77;
  options.shapes = {{"data", {5, 8}, {}}};
  Checked<symbol::Network> net = loadText("t", text, options);
  ASSERT_TRUE(net.ok()) << symbol::render(net.diagnostics());
  EXPECT_EQ(net->settings.size(), 6u);
  std::map<std::string, std::string> origins;
  for (const SettingInForce &setting : net->settings)
    origins[setting.name] = setting.origin;
  EXPECT_EQ(origins["n"], "--set");
  EXPECT_EQ(origins["vocab"], "data");
  EXPECT_EQ(origins["batch"], "--shape");
  options.settings.emplace_back("vocab", "5");
  EXPECT_NE(refusal(text, options).find("assertion failed"), std::string::npos)
      << "--set stands above the data";
}

TEST(Graph, FitAndData) {
  symbol::Network net = loaded(kSource + "/samples/pollution.lnet");
  std::map<std::string, symbol::Setting> fit, data;
  for (const symbol::Setting &setting : net.fit)
    fit[setting.key] = setting;
  for (const symbol::Setting &setting : net.data)
    data[setting.key] = setting;
  EXPECT_EQ(std::get<std::string>(fit["optimizer"].value), "adam");
  EXPECT_EQ(fit["initializer"].initialiser->name, "xavier");
  EXPECT_EQ(std::get<std::string>(fit["eval_metric"].value), "mse,mae");
  EXPECT_EQ(std::get<std::string>(data["inputs"].value), "pm2.5|DEWP|TEMP|PRES|cbwd|Iws|Is|Ir");
  EXPECT_EQ(std::get<int64_t>(data["window"].value), 24);
  symbol::Network words = loaded(kSource + "/samples/word_lm.lnet");
  for (const symbol::Setting &setting : words.fit)
    if (setting.key == "lr_scheduler") {
      EXPECT_EQ(std::get<std::string>(setting.value), "multifactor");
      EXPECT_EQ(setting.arguments.size(), 2u);
    }
}

TEST(Graph, Imports) {
  Folder folder;
  folder.write(
      "cells/gates.lnet",
      "from common import twice\nn = 4\ndef cell(x, k=n):\n    return tanh(x) * twice(k)\n");
  folder.write("lib/common.lnet", "def twice(k): return k * 2\n");
  folder.write("lib/unused.lnet", "assert False\n");
  std::string main = folder.write("main.lnet", R"(from cells.gates import cell as c, n
def net(data: float32[2, 4]):
    return c(data) + c(data, 1) + n
)");
  LoadOptions options;
  options.includeDirs = {(folder.path() / "lib").string()};
  symbol::Network net = loaded(main, options);
  ASSERT_EQ(net.files.size(), 3u);
  // A link that leads out of its folder is refused.
  Folder outside;
  outside.write("secret.lnet", "x = 1\n");
  std::filesystem::create_symlink(outside.path() / "secret.lnet", folder.path() / "link.lnet");
  std::string linking = folder.write("linking.lnet", "from link import x\n");
  Checked<symbol::Network> refused = load(linking);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.diagnostics()[0].code, ErrorCode::E0307);
  EXPECT_EQ(refused.diagnostics()[0].message, "\"link.lnet\" is outside the folders of imports");
}

TEST(Graph, SymbolsAtFileLevelAreANet) {
  LoadOptions options;
  options.shapes = {{"x", {2, 3}, {}}};
  std::string text = graphOf(R"(x = Variable("x")
y = Variable("y")
w = Variable("w_weight", shape=(2, 3))
z = x + y * w
m = z / 100
)",
                             options);
  std::string net = graphOf(R"(def net(x: float32[2, 3], y: float32[2, 3]):
    w = Variable("w_weight", shape=(2, 3))
    return (x + y * w) / 100
)");
  EXPECT_EQ(text, net);
  // With a net of its own, a file has no symbols at file level.
  EXPECT_NE(refusal("x = Variable(\"x\")\ndef f(data: float32[2]):\n    return data\n")
                .find("tensors are made in a net only"),
            std::string::npos);
  // A net of the file is trained as any other.
  Checked<symbol::Network> fitted = loadText("t.lnet", R"(data = Variable("data", shape=(8, 4))
net = LinearRegressionOutput(FullyConnected(data, num_hidden=1), name="out")
fit(net, optimizer="adam")
)");
  ASSERT_TRUE(fitted.ok()) << symbol::render(fitted.diagnostics());
  EXPECT_EQ(fitted->net, "net");
  EXPECT_EQ(fitted->fit.size(), 1u);
}

TEST(Graph, NetsAreChosenAndCalled) {
  std::string text = R"(def encoder(data: float32[2, 4]):
    return FullyConnected(data, num_hidden=3, name="fc")
def whole(data: float32[2, 4], scale=2):
    return encoder(data) * scale
fit(whole, optimizer="sgd")
)";
  EXPECT_EQ(loadText("t", text)->net, "whole");
  EXPECT_EQ(loadText("t", text)->nets, (std::vector<std::string>{"encoder", "whole"}));
  LoadOptions options;
  options.net = "encoder";
  EXPECT_EQ(loadText("t", text, options)->net, "encoder");
}

void emitsItself(const symbol::Network &net) {
  std::string text = emitLnet(*net.graph, net.fit, net.data, net.place);
  Checked<symbol::Network> again = loadText("emitted", text);
  ASSERT_TRUE(again.ok()) << symbol::render(again.diagnostics()) << text;
  EXPECT_EQ(again->graph->hash(), net.graph->hash())
      << text << net.graph->text() << again->graph->text();
  EXPECT_EQ(emitLnet(*again->graph, again->fit, again->data, again->place), text);
  ASSERT_EQ(again->fit.size(), net.fit.size());
  for (size_t i = 0; i < net.fit.size(); ++i)
    EXPECT_EQ(again->fit[i].key, net.fit[i].key);
  ASSERT_EQ(again->place.size(), net.place.size());
  for (size_t i = 0; i < net.place.size(); ++i) {
    EXPECT_EQ(again->place[i].key, net.place[i].key);
    EXPECT_EQ(again->place[i].value, net.place[i].value);
  }
}

TEST(Graph, EmittedTextGivesTheGraphAgain) {
  for (const auto &entry : std::filesystem::directory_iterator(kSource + "/samples"))
    if (entry.path().extension() == ".lnet")
      emitsItself(loaded(entry.path().string()));
  Checked<symbol::Network> odd = loadText("t", R"(N = dim("batch", 3)
def odd(data: float32[5, N, 8], length: float32[N], softmax_label: int32[5, N]):
    init = Mixed(["a.*", ".*"], [One(), Normal(0.5)])
    w = Variable("shared weight", shape=(6, _), init=init, lr_mult=2, wd_mult=0.0)
    with ctx_group("a b"), recompute():
        y, h = GRU(data, num_hidden=4, num_layers=2, bidirectional=True, length=length,
                   name="zeros")
        with dtype("bf16"):
            z = FullyConnected(y, weight=w, num_hidden=6, flatten=False, no_bias=True)
    z = z[1:, ..., 0:4:2] + 0.1 - reverse(z[1:, ..., 0:4:2], axis=(0, 2))
    with ctx_group("low"):
        a, b = SliceChannel(z, num_outputs=2, axis=2)
    v = Variable("v", shape=(N, 4), init=Mixed([".*"], [Constant(1.5)]))
    s = clip(slice(data, begin=(None, 1), end=(2, None)), a_min="-inf", a_max=1.5)
    return concatenate([a, b], axis=2), h, sum(dot(v, v, transpose_b=True)), s

place(odd, low="cpu:1", top="cpu")
)");
  ASSERT_TRUE(odd.ok()) << symbol::render(odd.diagnostics());
  ASSERT_EQ(odd->place.size(), 2u);
  emitsItself(*odd);
}

TEST(Graph, AQuarterOfAMillionNodesTakesAboutASecond) {
  std::string text = "def net(data: float32[4, 4]):\n    x = data\n    for i in range(250000):\n   "
                     "     x = x + data\n    return x\n";
  Checked<symbol::Network> net = loadText("t", text);
  ASSERT_TRUE(net.ok()) << symbol::render(net.diagnostics());
  EXPECT_EQ(net->graph->nodeCount(), 250001);
}

//===---- large nets --------------------------------------------------------------------------===//

/// A net with x = x + 1, `count` times, and `statement` after each.
std::string longNet(int64_t count, const std::string &statement) {
  return fmt::format("def net(data: float32[2, 4]):\n"
                     "    x = data\n"
                     "    for t in range({}):\n"
                     "        x = x + 1\n"
                     "        {}\n"
                     "    return x\n",
                     count, statement);
}

TEST(LargeNet, BelowTheLimitIsMadeAfterItsRehearsal) {
  Checked<symbol::Network> net = loadText("t.lnet", longNet(30'000, "pass"));
  ASSERT_TRUE(net.ok()) << symbol::render(net.diagnostics());
  EXPECT_EQ(net->graph->nodeCount(), 30'001);
  EXPECT_FALSE(net->graph->rehearsing());
}

TEST(LargeNet, WhatIsWrongLateIsSaidOfItsOwnNode) {
  std::string text =
      refusal(longNet(30'000, "x = x + Variable(\"w\", shape=(2, 3)) if t == 29000 else x"));
  EXPECT_NE(text.find("error[E0207]"), std::string::npos) << text;
  EXPECT_NE(text.find("for t = 29000"), std::string::npos) << text;
}

TEST(LargeNet, BeyondTheLimitIsRefusedWithoutBeingMade) {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  std::string text = refusal(longNet(1'000'000'000, "pass"));
  getrusage(RUSAGE_SELF, &after);
  EXPECT_NE(text.find("error[E0311]"), std::string::npos) << text;
  EXPECT_NE(text.find("at t = 999,999 of 1,000,000,000"), std::string::npos) << text;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT((after.ru_maxrss - before.ru_maxrss) >> 10, 128); // if it were built, it would take
                                                              // about 800 MiB
#endif
}

} // namespace
} // namespace lstmc::lnet

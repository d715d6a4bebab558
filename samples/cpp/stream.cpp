// stream CHECKPOINT TEXT...: continues texts in turn, a character each, with one session, as `lstmc
// sample CHECKPOINT --prime TEXT --length 60 --temperature 0` does each (ASCII;
// samples/char_lm.lnet)
#include <algorithm>
#include <cstdio>
#include <lstmc/lstmc.hpp>
struct Stream {
  std::string text;
  lstmc::State state;
  std::int32_t next = 0;
};
int main(int argc, char **argv) try {
  const std::string folder = argc > 1 ? argv[1] : "ck/last";
  const lstmc::Package package = lstmc::Package::open(folder);
  const auto vocabulary = lstmc::Vocabulary::open(folder + "/vocab.txt");
  lstmc::Session session = package.session({.dims = {{"batch", 1}, {"seq", 1}}});
  const auto data = session.input<std::int32_t>(session.inputs().at(0).name);
  const std::string output = session.outputs().at(0).name;
  auto read = [&](Stream &stream, std::int32_t id) {
    session.restore(stream.state);
    data.at(0, 0) = id;
    session.run();
    stream.state = session.state();
    const auto p = session.output<float>(output);
    stream.next = std::int32_t(std::max_element(p.begin(), p.end()) - p.begin());
    stream.text += vocabulary.symbol(id);
  };
  std::vector<Stream> streams(std::size_t(std::max(argc - 2, 0)), {"", session.state()});
  for (std::size_t i = 0; i < streams.size(); ++i)
    for (const char symbol : std::string_view(argv[i + 2]))
      read(streams[i], vocabulary.find({&symbol, 1}).value_or(0));
  for (int turn = 0; turn < 60; ++turn)
    for (Stream &stream : streams)
      read(stream, stream.next);
  for (const Stream &stream : streams)
    std::printf("%s\n", stream.text.c_str());
} catch (const lstmc::Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return int(error.status());
}

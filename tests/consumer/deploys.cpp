// deploys PACKAGE: what main.c does, in C++, and the same again by a pool of sessions.
#include <lstmc/pool.hpp>

#include <cstdio>
#include <vector>

int main(int argc, char **argv) try {
  if (argc != 2)
    return 2;
  const lstmc::Package package = lstmc::Package::open(argv[1]);
  lstmc::Session session = package.session();
  session.initialise(3);
  auto fill = [](lstmc::Session &any) {
    for (const lstmc::TensorInfo &info : any.inputs())
      if (info.dtype == lstmc::DType::F32)
        for (float &value : any.input<float>(info.name))
          value = 1;
  };
  fill(session);
  session.run();
  const std::string output = package.outputs().at(0).name;
  const float first = *session.output<float>(output).begin();

  lstmc::Pool pool(package, {.sessions = 2, .session = {.weights = session.weights()}});
  const float again = pool.submit([&](lstmc::Session &own) {
                            fill(own);
                            own.run();
                            return *own.output<float>(output).begin();
                          })
                          .get();
  std::printf("lstmc %s: %.9g\n", lstmc_version(), static_cast<double>(first));
  return first == again ? 0 : 3;
} catch (const lstmc::Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.status());
}

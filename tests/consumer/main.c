/* consumer PACKAGE: runs `forward` on f32 inputs of 1 and prints the first output's first value. */
#include <lstmc/lstmc.h>
#include <stdio.h>

int main(int argc, char **argv) {
  lstmc_package *package;
  lstmc_session *session;
  if (argc != 2 || lstmc_package_open(argv[1], &package) ||
      lstmc_session_create(package, NULL, &session) || lstmc_session_initialise(session, 3)) {
    fprintf(stderr, "%s\n", lstmc_message());
    return 1;
  }
  lstmc_tensor tensor;
  const char *name;
  for (size_t i = 0; (name = lstmc_package_input(package, "forward", i)); ++i)
    if (lstmc_session_input(session, "forward", name, &tensor) == LSTMC_OK &&
        tensor.dtype == LSTMC_F32)
      for (int64_t k = 0; k < lstmc_tensor_elements(&tensor); ++k)
        ((float *)tensor.data)[k] = 1;
  if (lstmc_session_run(session, "forward") ||
      lstmc_session_output(session, "forward", lstmc_package_output(package, "forward", 0),
                           &tensor)) {
    fprintf(stderr, "%s\n", lstmc_message());
    return 1;
  }
  printf("lstmc %s: %.9g\n", lstmc_version(), (double)*(const float *)tensor.data);
  lstmc_session_close(session);
  lstmc_package_close(package);
  return 0;
}

/* Continues a text with a character model that `lstmc train` wrote, always with the likeliest
 * character.
 *
 *   char_lm CHECKPOINT [PRIME [LENGTH]]
 *
 * CHECKPOINT is a folder such as ck/last. Built by: cc char_lm.c -llstmc
 */
#include <lstmc/lstmc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(lstmc_status status) {
  if (status != LSTMC_OK) {
    fprintf(stderr, "%s\n", lstmc_message());
    exit(status);
  }
}

int main(int argc, char **argv) {
  const char *folder = argc > 1 ? argv[1] : "ck/last", *prime = argc > 2 ? argv[2] : "T";
  int length = argc > 3 ? atoi(argv[3]) : 200;
  char path[4096];

  lstmc_package *package;
  lstmc_session *session;
  lstmc_vocabulary *vocabulary;
  snprintf(path, sizeof path, "%s/sample.lstmc",
           folder); /* one character at a time; its states are kept between runs */
  check(lstmc_package_open(path, &package));
  check(lstmc_session_create(package, NULL, &session));
  check(lstmc_session_load_weights(session, folder));
  snprintf(path, sizeof path, "%s/vocab.txt", folder);
  check(lstmc_vocabulary_open(path, &vocabulary));

  lstmc_tensor in, out;
  check(lstmc_session_input(session, "forward", lstmc_package_input(package, "forward", 0), &in));
  for (int i = 0, id = 0, primes = (int)strlen(prime); i < primes + length; ++i) {
    if (i < primes && (id = lstmc_vocabulary_find(vocabulary, prime + i, 1)) < 0)
      continue; /* a character that the text did not have */
    *(int32_t *)in.data = id;
    check(lstmc_session_run(session, "forward"));
    check(lstmc_session_output(session, "forward", lstmc_package_output(package, "forward", 0),
                               &out));

    size_t size;
    const char *symbol = lstmc_vocabulary_symbol(vocabulary, id, &size);
    fwrite(symbol, 1, size, stdout);
    const float *p = out.data;
    for (int k = id = 0; k < lstmc_tensor_elements(&out); ++k)
      id = p[k] > p[id] ? k : id;
  }
  putchar('\n');

  lstmc_vocabulary_close(vocabulary);
  lstmc_session_close(session);
  lstmc_package_close(package);
  return 0;
}

/* Continues a text with a character model that `lstmc train` wrote, always with the likeliest
 * character, as `lstmc sample CHECKPOINT --prime PRIME --length LENGTH --temperature 0` does.
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

/* The path of a file of the checkpoint; valid until the next call. */
static const char *in_folder(const char *folder, const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* The number of the text's first character, which has up to 4 bytes; the text then goes on. */
static int32_t first(const lstmc_vocabulary *vocabulary, const char **text) {
  for (size_t size = 1; size <= 4 && size <= strlen(*text); ++size) {
    int32_t id = lstmc_vocabulary_find(vocabulary, *text, size);
    *text += id < 0 ? 0 : size;
    if (id >= 0)
      return id;
  }
  fprintf(stderr, "\"%s\": the vocabulary does not have its first character\n", *text);
  exit(LSTMC_USAGE);
}

static int32_t likeliest(const lstmc_tensor *probabilities) {
  const float *p = probabilities->data;
  int32_t best = 0;
  for (int32_t id = 1; id < lstmc_tensor_elements(probabilities); ++id)
    best = p[id] > p[best] ? id : best;
  return best;
}

static int32_t print(const lstmc_vocabulary *vocabulary, int32_t id) {
  size_t size;
  const char *symbol = lstmc_vocabulary_symbol(vocabulary, id, &size);
  fwrite(symbol, 1, size, stdout);
  return id;
}

int main(int argc, char **argv) {
  const char *folder = argc > 1 ? argv[1] : "ck/last", *text = argc > 2 && *argv[2] ? argv[2] : "T";
  lstmc_package *package; /* reads one character at a time; its states are kept between runs */
  lstmc_session *session;
  lstmc_vocabulary *vocabulary;
  lstmc_tensor in, out;
  check(lstmc_package_open(in_folder(folder, "sample.lstmc"), &package));
  check(lstmc_session_create(package, NULL, &session));
  check(lstmc_session_load_weights(session, folder));
  check(lstmc_vocabulary_open(in_folder(folder, "vocab.txt"), &vocabulary));
  check(lstmc_session_input(session, "forward", lstmc_package_input(package, "forward", 0), &in));
  const char *output = lstmc_package_output(package, "forward", 0);
  for (int left = argc > 3 ? atoi(argv[3]) : 200; *text || left-- > 0;) {
    *(int32_t *)in.data = print(vocabulary, *text ? first(vocabulary, &text) : likeliest(&out));
    check(lstmc_session_run(session, "forward"));
    check(lstmc_session_output(session, "forward", output, &out));
  }
  putchar('\n');
  lstmc_vocabulary_close(vocabulary);
  lstmc_session_close(session);
  lstmc_package_close(package);
}

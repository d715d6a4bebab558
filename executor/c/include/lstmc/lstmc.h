/* lstmc.h: runs compiled networks from C. It needs the runtime only.
 *
 * A package (F.lstmc) is opened once and shared by any number of sessions. A session has its own
 * memory, weights (unless they are shared) and states. A call needs less than 256 KiB of stack.
 * Inputs and outputs are views of a session's memory. They are copied only for a device whose
 * memory the host cannot see. A run allocates nothing.
 *
 * Threads: packages and vocabularies do not change, so any number of threads may use one until it
 * is closed. A session is used by one thread at a time, from writing its inputs to reading its
 * outputs: threads that share one need a lock of their own, or a session each. A run while another
 * one of the session goes on is refused (LSTMC_USAGE); other calls are not checked. Different
 * sessions may be used at the same time, also those that share weights. Messages are a thread's.
 *
 * Where a limit of file sizes is set (RLIMIT_FSIZE), a program should ignore SIGXFSZ, as Python
 * does: then a write beyond the limit fails (LSTMC_BAD_FILE) instead of ending the process.
 *
 *   lstmc_package *package;
 *   lstmc_session *session;
 *   lstmc_tensor x, y;
 *   check(lstmc_package_open("net.lstmc", &package));
 *   check(lstmc_session_create(package, NULL, &session));
 *   check(lstmc_session_load_weights(session, "net.safetensors"));
 *   check(lstmc_session_input(session, "forward", "data", &x));
 *   memcpy(x.data, samples, lstmc_tensor_bytes(&x));
 *   check(lstmc_session_run(session, "forward"));
 *   check(lstmc_session_output(session, "forward", "softmax0_output", &y));
 *
 * where check() prints lstmc_message() and exits if its argument is not LSTMC_OK.
 *
 * No function throws, and none ends the process. Functions may be added in later versions, but are
 * never removed or changed, and structs that a caller fills begin with their size.
 */
#ifndef LSTMC_LSTMC_H
#define LSTMC_LSTMC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LSTMC_API __attribute__((visibility("default")))
#else
#define LSTMC_API
#endif

/* The result of a function; the numbers are the exit codes of the command. */
typedef enum lstmc_status {
  LSTMC_OK = 0,
  LSTMC_USAGE = 2, /* an argument is wrong: an unknown name, a null pointer */
  LSTMC_INVALID_MODEL = 3,
  LSTMC_DOES_NOT_FIT = 4, /* the plan needs more memory than there is */
  LSTMC_NO_DEVICE = 5,    /* a device or library is missing */
  LSTMC_BAD_FILE = 6,     /* missing, damaged or refused */
  LSTMC_BAD_NUMBERS = 7,  /* a value that is not finite; copies that differ */
  LSTMC_JOB_FAILED = 8,   /* a device stopped answering */
  LSTMC_OUT_OF_MEMORY = 9,
  LSTMC_INTERNAL = 70 /* a bug of lstmc */
} lstmc_status;

/* "0.2.0" */
LSTMC_API const char *lstmc_version(void);

/* The whole message of the last call of this thread that failed: code, file, place, what was found
 * and what was wanted. Valid until the next failure in this thread; "" if there was none. */
LSTMC_API const char *lstmc_message(void);

/* The same in parts. Strings are never null, and valid as long as the message. */
typedef struct lstmc_error {
  size_t size;         /* sizeof(lstmc_error), set by the caller */
  lstmc_status status; /* LSTMC_OK if no call of this thread has failed */
  const char *code;    /* "E0604" */
  const char *place;   /* "net.lnet:3:9", "w.safetensors: byte 12", or "" */
  const char *message; /* without code and place */
} lstmc_error;
/* Null is allowed. */
LSTMC_API void lstmc_last_error(lstmc_error *error);

/* ---- tensors ---- */

typedef enum lstmc_dtype {
  LSTMC_F32 = 0,
  LSTMC_F64 = 1,
  LSTMC_F16 = 2,
  LSTMC_BF16 = 3,
  LSTMC_I8 = 4,
  LSTMC_U8 = 5,
  LSTMC_I32 = 6,
  LSTMC_I64 = 7,
  LSTMC_BOOL = 8 /* a byte, 0 or 1 */
} lstmc_dtype;

#define LSTMC_MAX_RANK 16

/* A view of a session's memory, row-major without gaps. */
typedef struct lstmc_tensor {
  void *data;
  lstmc_dtype dtype;
  int32_t rank;
  int64_t shape[LSTMC_MAX_RANK];
} lstmc_tensor;

/* Bytes of one element; 0 for a number that is not a type. */
LSTMC_API size_t lstmc_dtype_bytes(lstmc_dtype dtype);
LSTMC_API int64_t lstmc_tensor_elements(const lstmc_tensor *tensor);
LSTMC_API size_t lstmc_tensor_bytes(const lstmc_tensor *tensor);

/* ---- packages ---- */

/* Any number of threads may use one. */
typedef struct lstmc_package lstmc_package;

/* Reads and checks a package, or those of a checkpoint folder: `model.lstmc`, and for other extents
 * of the same network (see `dims` of a session's options) `sample.lstmc`. */
LSTMC_API lstmc_status lstmc_package_open(const char *path, lstmc_package **package);
/* The same for bytes in memory, which are copied. */
LSTMC_API lstmc_status lstmc_package_open_memory(const void *bytes, size_t size,
                                                 lstmc_package **package);
/* Whether the package has a plan for these extents, "batch=1,seq=9" as `dims` of a session's
 * options: `*found` becomes 1 or 0. LSTMC_USAGE for a text that is none and for unknown names. */
LSTMC_API lstmc_status lstmc_package_find_plan(const lstmc_package *package, const char *dims,
                                               uint32_t *found);
/* Gives it one more: the bytes of a package of the same network that was compiled for these
 * extents, for sessions that ask for them by the same names, in any order. They are copied; a plan
 * that is there already stays. LSTMC_USAGE for other extents and other parameters. */
LSTMC_API lstmc_status lstmc_package_add_plan(lstmc_package *package, const char *dims,
                                              const void *bytes, size_t size);
/* Sessions of the package remain usable. Null is allowed. */
LSTMC_API void lstmc_package_close(lstmc_package *package);

/* Names in the order of the package; null for an index beyond the last. A name is valid as long as
 * the package is open. */
LSTMC_API const char *lstmc_package_entry(const lstmc_package *package, size_t index);
LSTMC_API const char *lstmc_package_input(const lstmc_package *package, const char *entry,
                                          size_t index);
LSTMC_API const char *lstmc_package_output(const lstmc_package *package, const char *entry,
                                           size_t index);
LSTMC_API const char *lstmc_package_state(const lstmc_package *package, size_t index);
LSTMC_API const char *lstmc_package_parameter(const lstmc_package *package, size_t index);
/* "PARAMETER/SLOT": what the optimizer keeps of a parameter, such as "lstm_h2h_weight/mean". */
LSTMC_API const char *lstmc_package_slot(const lstmc_package *package, size_t index);

/* What a tensor of a package is. */
typedef enum lstmc_kind {
  LSTMC_INPUT = 0,  /* of an entry */
  LSTMC_OUTPUT = 1, /* of an entry */
  LSTMC_STATE = 2,
  LSTMC_PARAMETER = 3,
  LSTMC_SLOT = 4 /* "PARAMETER/SLOT" */
} lstmc_kind;

/* What is known of a tensor before there is a session. Strings are valid as long as the package is
 * open, and never null. */
typedef struct lstmc_tensor_info {
  size_t size; /* sizeof(lstmc_tensor_info), set by the caller */
  const char *name;
  const char *role; /* of an input "data", "label" or "scalar"; of an output "output" or "metric";
                       of others "" */
  lstmc_tensor tensor;              /* type and shape; data is null */
  const char *dims[LSTMC_MAX_RANK]; /* names of the extents, such as "batch"; "" without a name */
  uint32_t has_range;   /* not 0: values are positions in something, whole numbers from `low` to
                           `high`; run refuses others (E0604), see clip_indices */
  uint32_t has_ignored; /* not 0: `ignored` is allowed too, and means no position */
  int64_t low;
  int64_t high;
  int64_t ignored;
} lstmc_tensor_info;

/* Describes a tensor by its name; `entry` is null for what does not belong to one. LSTMC_USAGE for
 * a name that there is not, with the nearest and all names. */
LSTMC_API lstmc_status lstmc_package_tensor(const lstmc_package *package, lstmc_kind kind,
                                            const char *entry, const char *name,
                                            lstmc_tensor_info *info);

/* Bytes that a session of the package takes on its devices, weights included. */
LSTMC_API uint64_t lstmc_package_planned_bytes(const lstmc_package *package);

/* ---- sessions ---- */

/* One thread uses it at a time. */
typedef struct lstmc_session lstmc_session;

typedef struct lstmc_session_options {
  size_t size;           /* sizeof(lstmc_session_options) */
  const char *devices;   /* a list as for -d; null: those that the package was compiled for */
  int32_t threads;       /* per device; 0: LSTMC_THREADS, else processors divided evenly */
  uint32_t check_finite; /* not 0: stop at the first value that is not finite (slower) */
  /* Each of these may be null. The program's own allocator, both functions or none, for the
   * session's memory on devices of the host: one piece per device, asked for by create and given
   * back by close. `allocate` gives null where there is none (LSTMC_OUT_OF_MEMORY). */
  void *(*allocate)(void *user, size_t size, size_t alignment);
  void (*release)(void *user, void *memory, size_t size);
  /* The program's own logger gets what is no failure: a launch that takes very long, from a thread
   * of the session, from create what a library carries out, and by close what was clipped
   * (W0703). */
  void (*log)(void *user, const char *message);
  void *user; /* given to these functions */
  /* Not 0: ids, labels and lengths that are out of range are clipped or left out, as documented for
   * each op, and counted for the log (W0703). Else run refuses them and names the input and row. */
  uint32_t clip_indices;
  const char *entries; /* "forward,step": those that the session can run, so that it takes no memory
                          for others; null: all of the package */
  /* "batch=1,seq=1": extents by their names, of a plan that the package has (a checkpoint folder
   * may have two, and see lstmc_package_add_plan); null: those of its first. LSTMC_USAGE, with the
   * extents of each plan, where none has these. */
  const char *dims;
} lstmc_session_options;

/* `options` may be null. Allocates all memory that the session will need; all weights are 0.
 * LSTMC_USAGE for options that this version does not know, if they are not 0. */
LSTMC_API lstmc_status lstmc_session_create(const lstmc_package *package,
                                            const lstmc_session_options *options,
                                            lstmc_session **session);
/* Null is allowed. */
LSTMC_API void lstmc_session_close(lstmc_session *session);

/* The session's package, with the extents that its options have asked for: for names, types and
 * shapes. Valid until the session is closed; not to be closed. Null for a null session. */
LSTMC_API const lstmc_package *lstmc_session_package(const lstmc_session *session);

/* Loads all parameters by name, from a file (safetensors, npz, MXNet's .params) or a checkpoint
 * folder. */
LSTMC_API lstmc_status lstmc_session_load_weights(lstmc_session *session, const char *path);
/* Puts back all that a checkpoint of this network's training has: weights, what the optimizer
 * keeps, and carried states. `updates`, unless null, gets the number of updates that have made it,
 * so that the next is one more. LSTMC_BAD_FILE for one of another network or optimizer. */
LSTMC_API lstmc_status lstmc_session_load_checkpoint(lstmc_session *session, const char *path,
                                                     int64_t *updates);
/* Writes all parameters as safetensors, which load_weights and the command read. A file of this
 * name is replaced once the new one is complete. */
LSTMC_API lstmc_status lstmc_session_save_weights(const lstmc_session *session, const char *path);
/* Copies the weights of another session of the same network, so that many sessions need only one
 * read of the file. */
LSTMC_API lstmc_status lstmc_session_copy_weights(lstmc_session *session,
                                                  const lstmc_session *from);
/* Lets `session` read the weights of `from`, another session of the same network, in place of its
 * own, whose memory is given back: many sessions then hold the weights, packed ones too, once. Of
 * sessions with other extents or entries, pages of memory with equal contents are held once: all of
 * the parameters as a rule, and packed weights where both plans have them at the same place of a
 * page. From now on the weights of both are constant; what would change them is LSTMC_USAGE. The
 * sessions may be closed in any order. `from` must not run during the first of these calls with it;
 * during later ones it may. Not for devices whose memory the host cannot see, nor with `allocate`.
 */
LSTMC_API lstmc_status lstmc_session_share_weights(lstmc_session *session, lstmc_session *from);
/* Sets the initial values that the source asks for, from a seed. */
LSTMC_API lstmc_status lstmc_session_initialise(lstmc_session *session, uint64_t seed);

/* Views of a parameter, and of its gradient after a run of `step`, for reading: a write may be a
 * fault. Valid until an entry runs. LSTMC_BAD_FILE for a gradient that the package does not keep.
 */
LSTMC_API lstmc_status lstmc_session_parameter(const lstmc_session *session, const char *name,
                                               lstmc_tensor *tensor);
LSTMC_API lstmc_status lstmc_session_gradient(const lstmc_session *session, const char *name,
                                              lstmc_tensor *tensor);
/* Sets a parameter; `size` must be its size in bytes. */
LSTMC_API lstmc_status lstmc_session_set_parameter(lstmc_session *session, const char *name,
                                                   const void *from, size_t size);

/* Views of an entry's input and output. An input keeps its contents until another entry runs; an
 * output is valid from one run to the next. A name that there is not is LSTMC_USAGE, with the
 * nearest and all names.
 *
 * The entry `step` is one update of the weights, as `lstmc train` makes it. Its inputs are those of
 * the network and the scalars `learning_rate` (the rate of this update), `update` (its number, from
 * 1) and `seed` (of dropout; that of initialise unless given), which keep their values. What the
 * optimizer makes of them is computed. Inputs that an update needs and that were never given are
 * LSTMC_USAGE, with their names. A view of `learning_rate` is a float unless the weights are
 * doubles; lstmc_session_set_update takes the rate as `lstmc train` has it, and so gives the same
 * bits. */
LSTMC_API lstmc_status lstmc_session_input(lstmc_session *session, const char *entry,
                                           const char *name, lstmc_tensor *tensor);
LSTMC_API lstmc_status lstmc_session_output(const lstmc_session *session, const char *entry,
                                            const char *name, lstmc_tensor *tensor);
/* Makes an input as one that lstmc_session_input was never asked for: a program whose callers give
 * inputs anew for each run so learns of one that was left out. */
LSTMC_API lstmc_status lstmc_session_forget_input(lstmc_session *session, const char *entry,
                                                  const char *name);

/* Gives the scalars of the next update. LSTMC_USAGE where the package has no `step`. */
LSTMC_API lstmc_status lstmc_session_set_update(lstmc_session *session, double learning_rate,
                                                int64_t update, uint64_t seed);
/* Labels of `forward` that lstmc_session_input was never asked for need none: outputs that depend
 * on one are NaN after the run, where some output depends on none and they are floats.
 * LSTMC_USAGE for an entry of whose inputs one was never asked for otherwise;
 * LSTMC_BAD_FILE (E0604) for a value outside of an input's range, with the input, row and place,
 * and nothing has run then. */
LSTMC_API lstmc_status lstmc_session_run(lstmc_session *session, const char *entry);

/* States that a network carries from one run to the next, and what the optimizer keeps, by the
 * names of lstmc_package_slot, which a program that trains saves with the weights. `size` must be
 * the size in bytes. What is written to a view of what the optimizer keeps may be lost: set it. */
LSTMC_API lstmc_status lstmc_session_get_state(const lstmc_session *session, const char *name,
                                               void *to, size_t size);
LSTMC_API lstmc_status lstmc_session_set_state(lstmc_session *session, const char *name,
                                               const void *from, size_t size);
LSTMC_API lstmc_status lstmc_session_state(const lstmc_session *session, const char *name,
                                           lstmc_tensor *tensor);
LSTMC_API void lstmc_session_reset_states(lstmc_session *session);

/* A hash of all weights, as the command prints it. */
LSTMC_API uint64_t lstmc_session_weights_hash(const lstmc_session *session);

/* ---- vocabularies ---- */

/* The symbols of a text and their numbers: `vocab.txt` of a checkpoint. Any number of threads may
 * use one. */
typedef struct lstmc_vocabulary lstmc_vocabulary;

LSTMC_API lstmc_status lstmc_vocabulary_open(const char *path, lstmc_vocabulary **vocabulary);
/* Null is allowed. */
LSTMC_API void lstmc_vocabulary_close(lstmc_vocabulary *vocabulary);
LSTMC_API size_t lstmc_vocabulary_size(const lstmc_vocabulary *vocabulary);
/* The number of a symbol of `size` bytes; -1 if there is none. */
LSTMC_API int32_t lstmc_vocabulary_find(const lstmc_vocabulary *vocabulary, const char *symbol,
                                        size_t size);
/* The symbol with a number, and its size in bytes; it does not end in a 0 byte. Null if there is
 * none. */
LSTMC_API const char *lstmc_vocabulary_symbol(const lstmc_vocabulary *vocabulary, int32_t id,
                                              size_t *size);

#ifdef __cplusplus
}
#endif

#endif

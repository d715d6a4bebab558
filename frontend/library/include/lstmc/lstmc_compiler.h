/* lstmc_compiler.h: builds and compiles networks from C. Bytes of packages come out, which
 * lstmc_package_open_memory of lstmc.h opens. Library liblstmc-compiler.so; compile.hpp and net.hpp
 * are C++ over it.
 *
 * A lstmc_net is a network in the making, used by one thread at a time. A lstmc_network does not
 * change: any number of threads may use one. Compilations of several threads wait for one another.
 * What functions say is a thread's, until the thread calls another function of this header that
 * returns a status.
 *
 * No function throws, prints, or ends the process. Functions may be added in later versions, but
 * are never removed or changed, and structs begin with their size.
 */
#ifndef LSTMC_LSTMC_COMPILER_H
#define LSTMC_LSTMC_COMPILER_H

#include <lstmc/lstmc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what the last call of this thread said ---- */

/* An error or a warning. Strings are never null, and valid until the thread's next call. */
typedef struct lstmc_diagnostic {
  size_t size;         /* sizeof(lstmc_diagnostic), set by the caller */
  lstmc_status status; /* LSTMC_OK: a warning */
  const char *code;    /* "E0214" */
  const char *place;   /* "net.lnet:3:9", "main.cpp:12:20", or "" */
  const char *message; /* without code and place */
  const char *text;    /* as the command draws it: with the line, the reasons and the remedy */
} lstmc_diagnostic;

/* Gives the errors of a call that failed, or the warnings of one that did not, by index.
 * LSTMC_USAGE for an index beyond the last. */
LSTMC_API lstmc_status lstmc_compiler_diagnostic(size_t index, lstmc_diagnostic *diagnostic);
/* A fact that explains a diagnostic; null for an index beyond the last. */
LSTMC_API const char *lstmc_compiler_reason(size_t diagnostic, size_t index);
/* All of them as text; "" if there are none. */
LSTMC_API const char *lstmc_compiler_message(void);
LSTMC_API const char *lstmc_compiler_version(void);

/* ---- places and options ---- */

/* A place in the program that calls: a line that errors without a place of their own are at. */
typedef struct lstmc_place {
  const char *file; /* null: none */
  uint32_t line;    /* from 1 */
  uint32_t column;
} lstmc_place;

/* One of `lstmc help compile --all`, by the name of its field in CompileOptions of compile.hpp,
 * with the text that the flag takes; for a list, as often as it has items. Also "initializer", a
 * call as in fit(..) of the language: "Xavier(magnitude=2.0)". LSTMC_USAGE for an unknown name,
 * with the nearest, and for "shapes", "dims", "batch" and "net" of a network that is no source. */
typedef struct lstmc_option {
  const char *name;
  const char *value;
} lstmc_option;

/* ---- networks ---- */

typedef struct lstmc_network lstmc_network;

/* Opens a source by its kind: .lnet, MXNet's symbol.json, or weights of torch.nn, Keras or
 * TensorFlow (F.safetensors), whose network is what `lstmc import` makes of them. It is read now
 * for its errors, and but for weights again by each compilation. Sources that leave shapes open are
 * read when options give them. */
LSTMC_API lstmc_status lstmc_network_open(const char *path, lstmc_network **network);
/* The same with options "dims" and "shapes", as compilations have them and in force for all of
 * them: all is then known of a source that leaves shapes open. */
LSTMC_API lstmc_status lstmc_network_open_with(const char *path, const lstmc_option *options,
                                               size_t count, const lstmc_place *place,
                                               lstmc_network **network);
/* A text in the language of .lnet. Messages show `name`, and imports are looked for in its folder.
 */
LSTMC_API lstmc_status lstmc_network_parse(const char *name, const char *text, size_t size,
                                           lstmc_network **network);
/* Null is allowed. */
LSTMC_API void lstmc_network_close(lstmc_network *network);

/* Inputs and parameters in the order of the network, with inferred shapes; roles are "data",
 * "label" and "parameter". LSTMC_USAGE for an index beyond the last. */
LSTMC_API lstmc_status lstmc_network_argument(const lstmc_network *network, size_t index,
                                              lstmc_tensor_info *info);
/* Weights that came with the network, by the names of its parameters; `tensor.data` is valid as
 * long as the network. LSTMC_USAGE for an index beyond the last. */
LSTMC_API lstmc_status lstmc_network_weight(const lstmc_network *network, size_t index,
                                            lstmc_tensor_info *info);
/* Null for an index beyond the last, and for a network that leaves shapes open. */
LSTMC_API const char *lstmc_network_output(const lstmc_network *network, size_t index);
/* Equal for equal graphs, whatever made them: 32 hex digits; "" where shapes are open. */
LSTMC_API const char *lstmc_network_hash(const lstmc_network *network);
/* Writes the network as F.lnet, or as MXNet's F-symbol.json; warnings name ops that MXNet does not
 * have. A file of this name is replaced. LSTMC_USAGE for another suffix. */
LSTMC_API lstmc_status lstmc_network_save(const lstmc_network *network, const char *path);

/* ---- compiling ---- */

/* Bytes that a function made. */
typedef struct lstmc_bytes lstmc_bytes;
LSTMC_API const void *lstmc_bytes_data(const lstmc_bytes *bytes);
LSTMC_API size_t lstmc_bytes_size(const lstmc_bytes *bytes);
/* Null is allowed. */
LSTMC_API void lstmc_bytes_free(lstmc_bytes *bytes);

/* The bytes of a package: those that `lstmc compile` writes with these options. `place` may be
 * null. */
LSTMC_API lstmc_status lstmc_network_compile(const lstmc_network *network,
                                             const lstmc_option *options, size_t count,
                                             const lstmc_place *place, lstmc_bytes **package);

/* What a compilation needs, before anything runs. */
typedef struct lstmc_plan lstmc_plan;
LSTMC_API lstmc_status lstmc_network_plan(const lstmc_network *network, const lstmc_option *options,
                                          size_t count, const lstmc_place *place,
                                          lstmc_plan **plan);
/* Null is allowed. */
LSTMC_API void lstmc_plan_close(lstmc_plan *plan);
/* Bytes of the device that needs most. */
LSTMC_API uint64_t lstmc_plan_peak(const lstmc_plan *plan);
/* Seconds of an update, else of a forward, by forecast for this machine. */
LSTMC_API double lstmc_plan_seconds(const lstmc_plan *plan);
/* Valid as long as the plan. */
LSTMC_API const char *lstmc_plan_table(const lstmc_plan *plan); /* as `lstmc plan` prints it */
LSTMC_API const char *lstmc_plan_json(const lstmc_plan *plan);  /* lstmc.plan/1 */

/* A picture: `view` is "layers", "program" (launches over time) or "memory"; `format` is "dot",
 * "svg", "png" or "pdf", or "html", a page with all views. LSTMC_USAGE for a view that does not go
 * with a format, LSTMC_NO_DEVICE where Graphviz is needed and missing. */
LSTMC_API lstmc_status lstmc_network_plot(const lstmc_network *network, const char *view,
                                          const char *format, const lstmc_option *options,
                                          size_t count, const lstmc_place *place,
                                          lstmc_bytes **picture);

/* ---- networks in the making ---- */

typedef struct lstmc_net lstmc_net;

/* A tensor of a net. 0: none, an argument left out. */
typedef int32_t lstmc_value;
#define LSTMC_NO_VALUE 0
#define LSTMC_FAILED_VALUE                                                                         \
  (-1) /* a call that failed gives it; a call that takes it fails silently */
#define LSTMC_FOREIGN_VALUE (-2) /* given for the value of another net: an error at the place */

/* Errors of calls are collected, and lstmc_net_finish gives all of them. */
LSTMC_API lstmc_status lstmc_net_create(const char *name, lstmc_net **net);
/* Null is allowed. Networks that were finished stay. */
LSTMC_API void lstmc_net_close(lstmc_net *net);

typedef struct lstmc_dim {
  int64_t extent;   /* -1: open */
  const char *name; /* null: none */
} lstmc_dim;

/* An input, read by the network or by its losses. */
LSTMC_API lstmc_value lstmc_net_input(lstmc_net *net, const char *name, lstmc_dtype dtype,
                                      const lstmc_dim *dims, size_t rank, uint32_t is_label,
                                      const lstmc_place *place);

typedef struct lstmc_argument {
  const char *name; /* null: by position */
  lstmc_value value;
} lstmc_argument;

#define LSTMC_NONE INT64_MIN /* an entry of a list that is None */

typedef enum lstmc_attribute_kind {
  LSTMC_INTEGER = 0,
  LSTMC_NUMBER = 1,
  LSTMC_BOOLEAN = 2,
  LSTMC_TEXT = 3,
  LSTMC_LIST = 4
} lstmc_attribute_kind;

typedef struct lstmc_attribute {
  const char *name;
  lstmc_attribute_kind kind;
  int64_t integer; /* of a boolean too */
  double number;
  const char *text;
  const int64_t *list;
  size_t count; /* of the list */
} lstmc_attribute;

/* A call of an op by its name in MXNet; of LSTM, GRU and RNNLayer of the language (x, h, c, length;
 * num_hidden, num_layers, bidirectional, p, layout, and activation of the last); or of Variable
 * (shape, dtype, init, lr_mult, wd_mult). What is left out has the op's default. */
typedef struct lstmc_call {
  size_t size;
  const char *op;
  const char *name; /* null: made as MXNet does */
  const lstmc_argument *arguments;
  size_t argument_count;
  const lstmc_attribute *attributes;
  size_t attribute_count;
  lstmc_place place;
} lstmc_call;

/* Gives the number of results, and as many of them as there is room for; 0: it failed. */
LSTMC_API size_t lstmc_net_call(lstmc_net *net, const lstmc_call *call, lstmc_value *results,
                                size_t room);
/* x[index] along the first axis, -1 the last: as the language has it. */
LSTMC_API lstmc_value lstmc_net_index(lstmc_net *net, lstmc_value x, int64_t index,
                                      const lstmc_place *place);

/* What is known of a value so far. */
typedef struct lstmc_value_info {
  size_t size;                   /* set by the caller */
  int32_t rank;                  /* -1: unknown */
  int32_t dtype;                 /* a lstmc_dtype; -1: unknown */
  const char *name;              /* valid until the thread's next call */
  int64_t shape[LSTMC_MAX_RANK]; /* -1: unknown */
} lstmc_value_info;
LSTMC_API lstmc_status lstmc_net_value(lstmc_net *net, lstmc_value value, lstmc_value_info *info);

/* What is made until the scope is left is in a group ("group", `place` names its device), computed
 * again by the backward pass ("recompute"), of a type ("dtype", with "float32" or "float64"), or
 * has a prefix in its names ("prefix"). To leave without having entered is an error of finish. */
LSTMC_API lstmc_status lstmc_net_enter(lstmc_net *net, const char *kind, const char *value);
LSTMC_API void lstmc_net_leave(lstmc_net *net);

/* A key of fit(..) or, where `of_data` is not 0, of data(..), with its value as text, that the
 * network carries: finish refuses unknown keys and wrong values at the place. */
LSTMC_API lstmc_status lstmc_net_set(lstmc_net *net, uint32_t of_data, const char *key,
                                     const char *value, const lstmc_place *place);

/* Ends the net. LSTMC_INVALID_MODEL with all errors of all its calls. */
LSTMC_API lstmc_status lstmc_net_finish(lstmc_net *net, const lstmc_value *outputs, size_t count,
                                        const lstmc_place *place, lstmc_network **network);

#ifdef __cplusplus
}
#endif

#endif

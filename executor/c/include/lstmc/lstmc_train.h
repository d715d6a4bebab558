/* lstmc_train.h: trains compiled networks from C, in the loop of `lstmc train`. It needs the
 * runtime only; the package must have been compiled with an optimizer (entries `step` and, where
 * there is to be a validation, `evaluate`).
 *
 *   lstmc_data *data;
 *   lstmc_trainer *trainer;
 *   lstmc_fit_options options = {sizeof options};
 *   lstmc_end end = {sizeof end};
 *   check(lstmc_data_open("text:input.txt,valid=0.1", NULL, &data));
 *   check(lstmc_trainer_create(session, NULL, &trainer));
 *   options.after = "10e";
 *   options.output = "ck";
 *   check(lstmc_trainer_fit(trainer, data, NULL, &options, NULL, &end));
 *
 * The same data, seed and options end with the weights of the command, to the bit, and a checkpoint
 * of either is resumed by the other. Nothing is printed, no handler of signals is installed unless
 * `signals` asks for it, and nothing is written but what `output` and `tensorboard` name.
 *
 * Metrics. `step` has for each loss head an output of role metric, f64[6]: loss, weight, counted
 * labels, and three that depend on the head: labels ignored, labels hit, sum of -log p (softmax);
 * sums of absolute and of squared differences, 0 (regression); 0 (others). Of `evaluate` it is
 * f64[18], or f64[B, 18] where rows are measured one by one, of which the first six are these. The
 * loss of a batch is the sum over heads of loss / weight. lstmc_trainer_score gives metrics by
 * name.
 *
 * Threads: as for sessions, a trainer and its session are used by one thread at a time. During fit,
 * which calls hooks and sources in its own thread, other calls with the trainer and runs of its
 * session are LSTMC_USAGE. Data of one handle may be used by one fit at a time.
 */
#ifndef LSTMC_LSTMC_TRAIN_H
#define LSTMC_LSTMC_TRAIN_H

#include <lstmc/lstmc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- data ---- */

/* Data that have been read, or a program's own. */
typedef struct lstmc_data lstmc_data;

/* Reads data as --data of the command: "text:FILE,valid=0.1", "csv:FILE,target=COLUMN,window=24",
 * "npz:FILE". `learned_from`, unless null, is the folder of a checkpoint whose vocabulary and
 * scaling the data take, so that they mean the same to its network. LSTMC_USAGE for a spec that
 * makes no sense, LSTMC_BAD_FILE with file, line and column. */
LSTMC_API lstmc_status lstmc_data_open(const char *spec, const char *learned_from,
                                       lstmc_data **data);
/* The same with the vocabulary and scaling of other data: what a training is validated or measured
 * on beside its own. */
LSTMC_API lstmc_status lstmc_data_open_like(const char *spec, const lstmc_data *like,
                                            lstmc_data **data);

/* An array of samples for the input of that name: elements of `tensor.dtype`, dense, with any
 * number of samples on the batch axis of the input. Types are converted to the input's. */
typedef struct lstmc_array {
  const char *name;
  lstmc_tensor tensor;
} lstmc_array;
/* Arrays that are in memory, which are copied. `valid`, from 0 to below 1: the share at the end
 * that is kept to validate on. `shuffle` not 0: training has the samples in a new order in each
 * epoch. */
LSTMC_API lstmc_status lstmc_data_arrays(const lstmc_array *arrays, size_t count, double valid,
                                         uint32_t shuffle, lstmc_data **data);

/* The place of one sample, or of a batch, in the memory that the network reads. */
typedef struct lstmc_place lstmc_place;
/* The memory of an input, to be filled, with its type: of a sample, without the batch axis; of a
 * batch, with it. Valid during the call that it was given to, which is to fill all of it.
 * LSTMC_USAGE for an unknown name. */
LSTMC_API lstmc_status lstmc_place_input(lstmc_place *place, const char *name,
                                         lstmc_tensor *tensor);

/* How many samples there is room for: the batch, or 1. */
LSTMC_API int64_t lstmc_place_rows(const lstmc_place *place);
/* A last batch of an epoch that has samples in its first `rows` rows only: training leaves it out,
 * as samples that fill no batch; what measures and predicts counts these rows. Every epoch ends so.
 * LSTMC_USAGE for a place of one sample and for another number than 1 to lstmc_place_rows. */
LSTMC_API lstmc_status lstmc_place_end(lstmc_place *batch, int64_t rows);

/* Samples that the program makes one at a time, in any order. */
typedef struct lstmc_rows {
  size_t size;   /* sizeof(lstmc_rows) */
  int64_t count; /* of samples */
  /* Fills sample `index` from 0. Not 0: fit ends with that (LSTMC_USAGE unless a hook has said
   * otherwise). One sample has to be the same each time, or a training cannot be resumed. */
  int (*fill)(void *user, int64_t index, lstmc_place *row);
  /* By lstmc_data_close, or where lstmc_data_rows fails; null is allowed. */
  void (*release)(void *user);
  void *user;
  double valid;     /* as for lstmc_data_arrays */
  uint32_t shuffle; /* as for lstmc_data_arrays */
} lstmc_rows;
LSTMC_API lstmc_status lstmc_data_rows(const lstmc_rows *rows, lstmc_data **data);

/* Whole batches that the program makes one after the other. */
typedef struct lstmc_batches {
  size_t size; /* sizeof(lstmc_batches) */
  /* Fills the next batch. 1: filled; 0: the epoch is over, and the next call begins another, which
   * has to have as many batches; below 0: fit ends with that. */
  int (*next)(void *user, lstmc_place *batch);
  /* Where the source is, in words of its own: a string of `*length` bytes, valid until the next
   * call; and back to such a place. Both null: a checkpoint cannot be gone on from. */
  const char *(*mark)(void *user, size_t *length);
  int (*seek)(void *user, const char *mark, size_t length);
  void (*release)(void *user);
  void *user;
  int64_t batches;    /* of an epoch; 0: one epoch is read to count them, from which `seek` goes
                         back, where there is one */
  uint32_t continues; /* not 0: row i of a batch goes on where row i of the one before ended, so
                         that carried states have a meaning */
  int64_t last_rows;  /* where `batches` is given: samples of the last of them, which
                         lstmc_place_end says too; 0: it is whole */
} lstmc_batches;
LSTMC_API lstmc_status lstmc_data_batches(const lstmc_batches *batches, lstmc_data **data);

/* The symbols of a text, which is valid as long as the data; null for data without. Not to be
 * closed. */
LSTMC_API const lstmc_vocabulary *lstmc_data_vocabulary(const lstmc_data *data);
/* Null is allowed. */
LSTMC_API void lstmc_data_close(lstmc_data *data);

/* ---- training ---- */

/* What trains a session. */
typedef struct lstmc_trainer lstmc_trainer;

typedef struct lstmc_trainer_options {
  size_t size; /* sizeof(lstmc_trainer_options) */
  /* Not 0: the weights that the session has now are only initial values, in whose place fit sets
   * those of its seed. In any case it does so where no call has given the session weights. */
  uint32_t initial;
} lstmc_trainer_options;

/* `session` has to outlive the trainer, and to have the entry `step`, without which only score and
 * predict are possible; `options` may be null. LSTMC_USAGE for weights that are shared. */
LSTMC_API lstmc_status lstmc_trainer_create(lstmc_session *session,
                                            const lstmc_trainer_options *options,
                                            lstmc_trainer **trainer);
/* Null is allowed. */
LSTMC_API void lstmc_trainer_close(lstmc_trainer *trainer);

typedef enum lstmc_resume {
  LSTMC_RESUME_NO = 0,       /* LSTMC_BAD_FILE (E0608) where `output` has checkpoints */
  LSTMC_RESUME_YES = 1,      /* LSTMC_BAD_FILE where it has none */
  LSTMC_RESUME_AUTOMATIC = 2 /* where it has any */
} lstmc_resume;

/* A batch of a validation, and what the network makes of it. */
typedef struct lstmc_measured lstmc_measured;
/* An input of `evaluate`, labels too (LSTMC_INPUT), or an output of `forward` (LSTMC_OUTPUT), by
 * its name. To be read, during the call that the batch was given to. */
LSTMC_API lstmc_status lstmc_measured_tensor(const lstmc_measured *batch, lstmc_kind kind,
                                             const char *name, lstmc_tensor *tensor);
/* How many rows of its batch axis are samples that count, from the first: fewer in a last batch
 * that the data do not fill. */
LSTMC_API int64_t lstmc_measured_rows(const lstmc_measured *batch);

/* A metric of the program's own. For it, `forward` runs on each batch of a validation too, which
 * so takes about twice its time. */
typedef struct lstmc_own_metric {
  const char *name;          /* that no other metric has */
  void (*begin)(void *user); /* of a validation; null is allowed */
  /* For each batch, in the order of the data. Not 0: fit or score ends with that. */
  int (*add)(void *user, const lstmc_measured *batch);
  double (*value)(void *user); /* of the batches since begin */
  void *user;
} lstmc_own_metric;

/* Null and 0: what fit(..) of the network says, else the default of the command. Amounts are texts
 * of the command: "10e" epochs, "2500u" updates, "1Gt" labels, "90s". */
typedef struct lstmc_fit_options {
  size_t size;             /* sizeof(lstmc_fit_options) */
  double learning_rate;    /* above 0 */
  const char *schedule;    /* "factor(step=100, factor=0.7)", as lr_scheduler; "constant" */
  const char *after;       /* of the whole training, with what it resumes: "1e" */
  const char *valid_every; /* "1e" */
  const char *save_every;  /* "1e" */
  const char *disp_every;  /* between calls of `line`: "50u" */
  uint32_t has_seed;       /* whether `seed` is given */
  uint64_t seed;           /* of initial weights, dropout and the order of samples */
  const char *output;      /* folder of checkpoints; null: none are written */
  lstmc_resume resume;
  uint32_t overwrite;      /* not 0: checkpoints that are there are replaced */
  int32_t keep;            /* newest checkpoints kept beside the best: 3 */
  int32_t early_stop;      /* validations without a better one after which it ends; 0: never */
  uint32_t restore_best;   /* not 0: at the end the session gets the weights of the best validation;
                              `weights_hash` remains that of the last update */
  const char *metrics;     /* "accuracy,f1": of validations, beside those that are shown unasked */
  const char *tensorboard; /* folder of a log for TensorBoard; null: none */
  uint32_t signals; /* not 0: SIGINT and others end it as they end the command, the second one the
                       process */
  const lstmc_own_metric *own_metrics; /* also of the program: values come with validations */
  size_t own_metric_count;
  /* What makes a validation the best one, for early_stop, restore_best and checkpoints: a metric,
   * or one of the program's own; null: "loss". */
  const char *judge;
  double min_delta; /* by how much it has to be better than the best before; from 0 */
  /* Of an own metric: whether the larger of two values is better. Of others it is known. */
  uint32_t larger_is_better;
} lstmc_fit_options;

/* What hooks are told. Names are valid during the call. */
typedef struct lstmc_metric {
  const char *name;
  double value;
} lstmc_metric;
typedef struct lstmc_update_event {
  size_t size;
  int64_t update; /* from 1 */
  double epoch;   /* epochs done, parts included */
  double loss;    /* of this update, before it; NaN where it has counted no label */
  double learning_rate;
  double labels_per_second;
  double gradient_norm; /* before clipping; NaN where the step does not measure it */
} lstmc_update_event;
typedef struct lstmc_line_event {
  size_t size;
  int64_t update;
  double epoch;
  double loss; /* the mean since the last line */
  double learning_rate;
  double labels_per_second;
  double seconds_left;
  const lstmc_metric *metrics; /* those of the options that updates measure */
  size_t metric_count;
} lstmc_line_event;
typedef struct lstmc_validation_event {
  size_t size;
  int64_t update;
  double loss; /* NaN: nothing was counted */
  uint32_t best;
  const lstmc_metric *metrics;
  size_t metric_count;
} lstmc_validation_event;
typedef struct lstmc_epoch_event {
  size_t size;
  int64_t number; /* from 1 */
  int64_t update; /* the last one of it */
  double loss;    /* of its updates in this run */
} lstmc_epoch_event;
typedef struct lstmc_save_event {
  size_t size;
  int64_t update;
  const char *folder;
  uint32_t best;
} lstmc_save_event;

/* Each may be null. Called in the thread of fit. Not 0 from one that returns something: the
 * training ends after this update, with a checkpoint, and its reason is LSTMC_STOPPED. A hook may
 * read parameters, gradients and outputs of `step`, and set parameters. */
typedef struct lstmc_fit_hooks {
  size_t size; /* sizeof(lstmc_fit_hooks) */
  void *user;
  int (*update)(void *user, const lstmc_update_event *event); /* after each */
  int (*line)(void *user, const lstmc_line_event *event);     /* every `disp_every` */
  int (*validation)(void *user, const lstmc_validation_event *event);
  int (*epoch)(void *user, const lstmc_epoch_event *event);
  int (*save)(void *user, const lstmc_save_event *event); /* once a checkpoint is complete */
  void (*warning)(void *user, const char *message); /* a failed save, a checkpoint passed over */
  int (*stop)(void *user); /* asked before each update, and before each batch of validations that
                              nothing hangs on; not 0: as above */
} lstmc_fit_hooks;

typedef enum lstmc_reason {
  LSTMC_FINISHED = 0,
  LSTMC_EARLY_STOP = 1,
  LSTMC_STOPPED = 2, /* by a hook */
  LSTMC_SIGNALLED = 3
} lstmc_reason;
typedef struct lstmc_end {
  size_t size; /* sizeof(lstmc_end), set by the caller */
  lstmc_reason reason;
  int32_t signal;   /* of LSTMC_SIGNALLED */
  int64_t update;   /* number of updates that have made the weights */
  double loss;      /* of the last validation; of the last epoch where there was none */
  double best_loss; /* of the best validation; NaN where there was none */
  int64_t best_update;
  uint64_t weights_hash; /* as the command prints it */
} lstmc_end;

/* Trains until `after`, an early stop, a hook or a signal. `valid` may be null: then the part of
 * `data` that its spec keeps back. `options`, `hooks` and `end` may be null. Updates count from 1,
 * and what the optimizer keeps and carried states are 0 at first, unless it resumes; weights are
 * those of the session (see lstmc_trainer_options). LSTMC_BAD_NUMBERS (E0701) for a value that is
 * not finite; LSTMC_BAD_FILE for data that do not fit the network and checkpoints of another one;
 * after an error nothing is saved. */
LSTMC_API lstmc_status lstmc_trainer_fit(lstmc_trainer *trainer, const lstmc_data *data,
                                         const lstmc_data *valid, const lstmc_fit_options *options,
                                         const lstmc_fit_hooks *hooks, lstmc_end *end);

/* Measures the network on data (the part kept for validation, if there is one, else all), as
 * `lstmc eval`: calls `take` for each of `metrics` ("accuracy,f1"; null: those shown unasked). */
LSTMC_API lstmc_status lstmc_trainer_score(lstmc_trainer *trainer, const lstmc_data *data,
                                           const char *metrics,
                                           void (*take)(void *user, const lstmc_metric *metric),
                                           void *user);
/* The same with metrics of the program's own, which come last. */
LSTMC_API lstmc_status lstmc_trainer_score_own(lstmc_trainer *trainer, const lstmc_data *data,
                                               const char *metrics,
                                               const lstmc_own_metric *own_metrics,
                                               size_t own_metric_count,
                                               void (*take)(void *user, const lstmc_metric *metric),
                                               void *user);

/* Outputs of `forward` for every sample of some data, in their order. */
typedef struct lstmc_predictions lstmc_predictions;
/* As `lstmc predict`. Labels need not be there: outputs that depend on one are then left out. */
LSTMC_API lstmc_status lstmc_trainer_predict(lstmc_trainer *trainer, const lstmc_data *data,
                                             lstmc_predictions **predictions);
/* An output by its name, "softmax" or "softmax_output"; null: the first. The extent of its batch
 * axis is the number of samples. Valid until close. LSTMC_USAGE for an unknown name, with the
 * others. */
LSTMC_API lstmc_status lstmc_predictions_output(const lstmc_predictions *predictions,
                                                const char *name, lstmc_tensor *tensor);
/* Null is allowed. */
LSTMC_API void lstmc_predictions_close(lstmc_predictions *predictions);

/* One update of a loop of one's own, with what was written to the inputs of `step`
 * (lstmc_session_input): the number of the update, what the optimizer makes of it and the seed of
 * dropout are supplied. `learning_rate` of 0: that of fit(..) for this update. `loss` may be null;
 * it gets the loss before the update. LSTMC_USAGE, with their names, for inputs that were never
 * given; LSTMC_BAD_FILE (E0604) for values out of range: nothing has changed then. */
LSTMC_API lstmc_status lstmc_trainer_update(lstmc_trainer *trainer, double learning_rate,
                                            double *loss);
/* Number of updates that have made the weights. */
LSTMC_API int64_t lstmc_trainer_updates(const lstmc_trainer *trainer);
/* Sets it, for a program that has put back by itself what training keeps: parameters, slots
 * (lstmc_session_set_state) and carried states. The weights are then no initial ones. LSTMC_USAGE
 * for a number below 0. */
LSTMC_API lstmc_status lstmc_trainer_set_updates(lstmc_trainer *trainer, int64_t updates);

/* Writes a checkpoint of weights, what the optimizer keeps, carried states and the number of
 * updates beneath `folder`, which the command reads too; after fit also the order of data, so that
 * fit and the command go on from it. Checkpoints that were there are replaced. */
LSTMC_API lstmc_status lstmc_trainer_save(lstmc_trainer *trainer, const char *folder);
/* Puts all of it back, from the newest checkpoint beneath `folder`, or from a checkpoint. */
LSTMC_API lstmc_status lstmc_trainer_load(lstmc_trainer *trainer, const char *folder);

/* The rate of a schedule ("factor(step=100, factor=0.7)") in update `update`, from 1, of `base`. */
LSTMC_API lstmc_status lstmc_schedule_rate(const char *schedule, double base, int64_t update,
                                           double *rate);

/* ---- writing texts ---- */

typedef struct lstmc_sample_options {
  size_t size;        /* sizeof(lstmc_sample_options) */
  const char *prime;  /* text to begin with; null: "" */
  int64_t length;     /* symbols to draw */
  double temperature; /* 0: always the likeliest symbol */
  int64_t top_k;      /* of the likeliest symbols only; 0: of all */
  double top_p;       /* of the fewest that have this probability together; 0: of all */
  uint64_t seed;
} lstmc_sample_options;
/* Draws symbols from a language model, as `lstmc sample`, with states from 0: `take` gets the text
 * piece by piece, the prime first; not 0 from it ends it. A session of one symbol (`dims` of a
 * checkpoint) is fast; one of windows computes a whole window for each symbol, with the same
 * result where all states are carried. LSTMC_BAD_FILE for a network that is no language model of
 * this vocabulary. Its states are left as they were. */
LSTMC_API lstmc_status lstmc_sample(lstmc_session *session, const lstmc_vocabulary *vocabulary,
                                    const lstmc_sample_options *options,
                                    int (*take)(void *user, const char *text, size_t size),
                                    void *user);

#ifdef __cplusplus
}
#endif

#endif

// The passes. The record documents its pass: what it does, the IR before and after, its cost, when it leaves the IR unchanged,
// and which passes must run before and after it. Pipelines.cpp defines the order.

#ifndef LSTMC_PASSES
#define LSTMC_PASSES

include "mlir/Pass/PassBase.td"

//===---- on the net -------------------------------------------------------------------------------===//

def InferShapes : Pass<"infer-shapes", "::mlir::func::FuncOp"> {
  let summary = "infer all shapes and element types";
  let description = [{
    Propagates the relations of each op (ShapeRule) forward and backward until nothing changes;
    types are updated in place. Element types that remain open become float32. Contradictions are
    E0207 and E0208, with the locations of the conflicting facts; types that remain open are E0211.
    A graph built by frontend/symbol has all types already and is unchanged.

        %w = sym.variable {name = "w"} : tensor<*x!sym.open>
        %y = sym.fully_connected %x, %w {no_bias = true, num_hidden = 3 : i64}
           : (tensor<2x4xf32>, tensor<*x!sym.open>) -> tensor<*x!sym.open>
      becomes
        %w = sym.variable {name = "w"} : tensor<3x4xf32>
        %y = sym.fully_connected %x, %w {no_bias = true, num_hidden = 3 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>

    Each op is visited once, and again whenever another op changes one of its values: linear in the
    size of the graph. Runs first, because all other passes need static shapes.
  }];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def ConvertDType : Pass<"convert-dtype", "::mlir::ModuleOp"> {
  let summary = "convert all floats of the net to one type";
  let description = [{
    Replaces the element type of every float tensor, inputs and parameters included, and the `dtype` of every op that names a float
    type. Integers stay.

        %w = sym.variable {name = "w"} : tensor<3x4xf32>
        %z = sym.zeros {dtype = "float32", shape = [2, 3]} : tensor<2x3xf32>
      becomes (dtype=float64)
        %w = sym.variable {name = "w"} : tensor<3x4xf64>
        %z = sym.zeros {dtype = "float64", shape = [2, 3]} : tensor<2x3xf64>

    Runs first, only where a type is asked for: no later pass chooses a float type. Linear in the module.
  }];
  let options = [
    Option<"dtype", "dtype", "std::string", "\"float32\"", "float32 or float64">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def UnrollForeach : Pass<"unroll-foreach", "::mlir::ModuleOp"> {
  let summary = "write out the steps of loops with a body";
  let description = [{
    Replaces each `sym.foreach` by its steps: slices of the data, a copy of the body, and the
    outputs of all steps stacked. Loops in a body come first.

        %ys, %h = sym.foreach data(%x) states(%s) { ^bb0(%a, %b): %n = sym.tanh %a ; sym.next %n, %n }
      becomes, for two steps,
        %x0 = sym.slice_axis %x {begin = 0, end = 1} ; %a0 = sym.squeeze %x0 ; %n0 = sym.tanh %a0
        %x1 = sym.slice_axis %x {begin = 1, end = 2} ; %a1 = sym.squeeze %x1 ; %n1 = sym.tanh %a1
        %ys = sym.stack %n0, %n1

    These are the nodes that `foreach` of the language draws, with the same bits, and roll-recurrence
    finds their cells. Refuses (E0311) a loop of more nodes than a graph may have. Runs before all
    other passes, which look at the ops of one block.
  }];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def ExpandShorthands : Pass<"expand-shorthands", "::mlir::ModuleOp"> {
  let summary = "replace shorthand ops by the ops that they stand for";
  let description = [{
    Replaces each op with a ShorthandRule (ir/sym/Shorthand.td) by the ops that it stands for, until none is left. The new ops inherit its
    discardable attributes and, in `sym.called`, the name that the user wrote; its node name goes to the op whose result it named.

        %y = sym.slice_like %a, %b {axes = array<i64: 0>} : (tensor<5x4xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
      becomes
        %y = sym.slice_axis %a {axis = 0 : i64, begin = 0 : i64, end = 3 : i64, sym.called = "slice_like"} : (tensor<5x4xf32>) -> tensor<3x4xf32>

    Runs before all passes that ask an op about batch positions, gradients or kernels: a shorthand has none. Linear in ops.
  }];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def FixParameters : Pass<"fix-parameters", "::mlir::ModuleOp"> {
  let summary = "exclude parameters from training";
  let description = [{
    Marks every parameter whose name matches one of `patterns` as auxiliary: it gets no gradient, no update and no slots. E0001 for a
    pattern that matches none.

        %w = sym.variable {name = "embed_weight"} : tensor<65x128xf32>
      becomes (patterns=embed*)
        %w = sym.variable {auxiliary, name = "embed_weight"} : tensor<65x128xf32>

    Runs before make-entries, which makes gradients for the parameters that are not auxiliary. Linear in ops.
  }];
  let options = [
    ListOption<"patterns", "patterns", "std::string", "names of parameters, with * for any text">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def ReportNorms : Pass<"report-norms", "::mlir::ModuleOp"> {
  let summary = "make training report the norm of each parameter's gradient";
  let description = [{
    Marks every parameter with `report_norm` if the net has at least `from` weights (parameters whose names end in "weight");
    apply-optimizer then makes `gradient_norm:NAME` an output of `step`.

        %w = sym.variable {name = "w"} : tensor<3x4xf32>
      becomes
        %w = sym.variable {name = "w", report_norm} : tensor<3x4xf32>

    Runs before make-entries, which copies the mark into the entries. Linear in ops.
  }];
  let options = [
    Option<"from", "from", "int64_t", "0", "weights from which norms are reported">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def RecordPackedVectors : Pass<"record-packed-vectors", "::mlir::ModuleOp"> {
  let summary = "record the parameters in each vector packed for RNN";
  let description = [{
    MXNet's files hold one vector per `RNN`, packed from weights and biases. Notes the name of each such vector and the names of its parts
    on the module, from which lower-to-package makes a table: parameters can then be read from and written to such files.

        %p = sym.rnn_param_concat %w, %r, %b, %c {sym.name = "lstm0_parameters"}
      adds to the module
        sym.packed = [["lstm0_parameters", "lstm0_i2h_weight", "lstm0_h2h_weight", "lstm0_i2h_bias", "lstm0_h2h_bias"]]

    A vector with a part that is no parameter is left out. Runs before unpack-rnn, which removes the concatenations. Linear in ops.
  }];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def RecordInputRanges : Pass<"record-input-ranges", "::mlir::ModuleOp"> {
  let summary = "record the valid value ranges of the inputs";
  let description = [{
    An input all of whose elements are read as positions (IndexRule), directly or after ops that only move elements (MovementRule), may hold
    only positions that exist. Notes the range of each such input on the module; lower-to-package puts it into the package, and the
    runtime checks inputs against it. Where several ops read an input, the range is what all of them accept; where they read different parts of
    it, what any of them accepts.

        %y = sym.embedding %data, %w {input_dim = 65, output_dim = 128} : (tensor<2x3xi32>, tensor<65x128xf32>) -> tensor<2x3x128xf32>
      adds to the module
        sym.input_ranges = {data = array<i64: 0, 64>}

    A third number is one more accepted value, which means "no position". A parameter without `init` that is read as positions, or as a label
    where an entry reads labels, in the same ways, is an input that was not given: E0203. Runs on the net, before its ops are split between
    devices. Linear in ops.
  }];
  let options = [
    Option<"labels", "labels", "bool", "true", "whether a parameter that is read as a label is refused">,
    Option<"positions", "positions", "bool", "true", "whether one that is read as positions is">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def RollRecurrence : Pass<"roll-recurrence", "::mlir::ModuleOp"> {
  let summary = "replace unrolled recurrent layers by loops";
  let description = [{
    Finds the steps of LSTM, GRU and RNN (tanh, relu) layers that the source has unrolled cell by
    cell, and replaces all steps of a layer by one `sym.rnn`. Works from the bottom layer up, so
    that a stack is rolled whole.

        %x:2 = sym.slice_channel %data {axis = 1, num_outputs = 2, squeeze_axis = true}
        %a0 = sym.fully_connected %x#0, %w, %b ; %b0 = sym.fully_connected %zeros, %r, %c ; %z0 = sym.elemwise_add %a0, %b0
        %g0:4 = sym.slice_channel %z0 ; ... ; %h0 = sym.elemwise_mul %o0, %t0
        %a1 = sym.fully_connected %x#1, %w, %b ; %b1 = sym.fully_connected %h0, %r, %c ; %z1 = sym.elemwise_add %a1, %b1
        %g1:4 = sym.slice_channel %z1 ; ... ; %h1 = sym.elemwise_mul %o1, %t1
        %y = sym.stack %h0, %h1
      becomes
        %s = sym.swap_axis %data {dim1 = 0, dim2 = 1}
        %p = sym.rnn_param_concat %w, %r, %b, %c
        %y, %h, %c = sym.rnn %s, %p {mode = "lstm", num_layers = 1, state_outputs = true, state_size = 128}

    A step consists of two FullyConnected ops, of the input and of h, whose sum is cut into gates
    (SliceChannel or slice_axis; gru: before the sum), and of the activations, products and sums of
    the cell, with operands of commutative ops in either order. The inputs are slices of one tensor,
    forward or backward in time, which then becomes the input of the layer, or any values, which are
    stacked. Begin states of zeros are omitted. Readers of h read slices of the output; a concat or
    stack of all steps is replaced by the output itself.

    Outputs keep their bits: the layer executes exactly these operations (docs/numerics.md rule 2),
    and ops keep their ordinals in the net as written (rule 10; `sym.ordinal`), which matters for
    dropout between layers. Gates may be in any order: blocks of rows of the weights change places.
    In a net that trains, gradients keep their bits too (rule 4), but for the sign of zeros, which
    no sum shows, and for sums that are those of the layer's own order: over gates in another order,
    of weights whose products are not in the order of the steps, and of gru's h with a reader after
    it. `rounding` in `sym.rolled` names these.

    A layer is cut after steps whose c is read outside of the cells, into up to eight layers of two
    steps or more. A layer stays unrolled, with a reason in `sym.rolled` on the module, if steps use
    different weights, another c or a gate is read, a step's input depends on earlier steps, or
    its ops are in several ctx_groups or recompute groups. In a net that trains it also stays if
    other gradients would be summed in another order: weights that other ops use between the steps,
    an h with several readers before the next step, or steps without rows of the batch. Any other
    loop that the source has written out (ops of one kind that read one parameter, one after the
    other) is in `sym.rolled` too, with the mode "loop".

    Layers that contain an op named in `keep` stay unrolled, because the user recomputes that op.

    Runs before all other passes, so that they see an unrolled import as a loop. Linear in ops, n
    log n in the ops to move.
  }];
  let options = [
    ListOption<"keep", "keep", "std::string", "names of ops whose layers stay unrolled">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

//===---- on several devices ------------------------------------------------------------------------===//

def Replicate : Pass<"replicate", "::mlir::ModuleOp"> {
  let summary = "copy the net for each part of the batch";
  let description = [{
    With two replicas or more, adds a function per replica after the net: its inputs hold the rows
    of some whole shards of the batch (BatchPositions.h), and so do all values derived from them row
    by row. Shards are distributed to replicas in order, evenly or in proportion to `loads`, the
    first replicas getting more; a replica without rows gets no function. With `accumulate`, the
    shards of a replica are divided again into parts that it processes one after the other: less
    memory for the same sums.

        func.func @net(%data: tensor<32x64xi32>)
      adds
        func.func @"net@0"(%data: tensor<16x64xi32>) attributes {sym.part = [0, 0], sym.share = [32, 8, 0, 4]}
        func.func @"net@1"(%data: tensor<16x64xi32>) attributes {sym.part = [1, 1], sym.share = [32, 8, 4, 4]}

    An op runs in a part only if row r of its results provably depends on row r of its operands
    alone (BatchRule, for each operand separately), and if it verifies with the types of every part.
    Any other op runs on the whole batch: `sym.all_rows` gathers the rows of all parts for it
    (RowMarks.h), and `sym.own_rows` extracts the part's rows from results that have rows again. The
    original net, which is kept, gets both too, as no-ops.

        %a = sym.slice_axis %z {axis = 0, begin = 3, end = 4} : (tensor<6x5xf32>) -> tensor<1x5xf32>
      becomes, in a part with 3 rows,
        %g = sym.all_rows %z {axis = 0, batch = 6, ..} : (tensor<3x5xf32>) -> tensor<6x5xf32>
        %a = sym.slice_axis %g {axis = 0, begin = 3, end = 4} : (tensor<6x5xf32>) -> tensor<1x5xf32>

    Runs after infer-shapes and before make-entries, so that all later passes up to gradient work on
    the rows of a replica. Without parts, nothing changes.
  }];
  let options = [
    Option<"shards", "shards", "int64_t", "8", "virtual shards of the batch">,
    Option<"replicas", "replicas", "int64_t", "1", "replicas that the batch is split over, evenly">,
    ListOption<"loads", "loads", "int64_t", "loads of the replicas, to split in their proportion instead">,
    Option<"accumulate", "accumulate", "int64_t", "1", "parts that each replica processes one after the other">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def PlaceDevices : Pass<"place-devices", "::mlir::ModuleOp"> {
  let summary = "assign the ops of split layers to pipeline stages";
  let description = [{
    With two stages or more, sets `sym.stage` on every op of an entry. Ops of a ctx_group in
    `groups` get that group's stage. Without groups, the ops with parameters are cut, in program
    order, into one run per stage such that the largest cost of a run is minimal; costs are taken
    from `costs`, else the op's flops (CostRule). Other ops get the latest stage of their operands,
    ops before all of these the stage of their readers, and a parameter the stage with most of the
    computation on it.

        %y0, .. = sym.rnn_layer lstm x(%x) ...   {sym.group = "layer0"}       sym.stage = 0
        %m = sym.elemwise_mul %y0, %mask                                      sym.stage = 0
        %y1, .. = sym.rnn_layer lstm x(%m) ...   {sym.group = "layer1"}       sym.stage = 1

    All entries are placed alike, by the ordinals of ops in the net as written, so that a parameter
    has one stage. E0402 if a group has no op, or if there are fewer ops with parameters than
    stages. Runs after unpack-rnn, which creates the layers of a stack, and before gradient, so that
    backward ops get the stage of their forward op. Linear in ops; the cut is quadratic in the ops
    with parameters.
  }];
  let options = [
    Option<"stages", "stages", "int64_t", "1", "devices that share the layers">,
    ListOption<"groups", "groups", "std::string", "NAME=STAGE of ctx_groups; empty: placed by cost">,
    ListOption<"costs", "costs", "std::string", "NAME=A/B/..: cost of the op NAME on each stage; empty: its flops">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def SplitLayers : Pass<"split-layers", "::mlir::func::FuncOp"> {
  let summary = "cut the steps of layers into chunks, as a wavefront over devices or as recompute segments";
  let description = [{
    If recurrent layers are on several stages, cuts their steps into chunks: chunk c of a layer
    begins with the final states of chunk c-1, and a layer of the next stage can start chunk c as
    soon as it is available. Ops between and after the layers that process steps independently
    (BatchRule, applied to the time axis) are cut too, except in training if they broadcast a value
    over the steps, because its gradient is one sum over all steps. Other ops wait for all chunks.
    In the function the chunks follow one another, each through all layers; gradient, which runs
    later, orders backward accordingly.

        %y0, %h0 = sym.rnn_layer .. x(%x)              %x0, %x1 = sym.cut %x
        %y1, %h1 = sym.rnn_layer .. x(%y0)   becomes   %a0, %s = sym.rnn_layer .. x(%x0) {sym.stage = 0}
                                                       %b0, %t = sym.rnn_layer .. x(%a0) {sym.stage = 1}
                                                       %a1, .. = sym.rnn_layer .. x(%x1) state(%s) {sym.stage = 0}
                                                       %b1, .. = sym.rnn_layer .. x(%a1) state(%t) {sym.stage = 1}
                                                       %y1 = sym.concat %b0, %b1

    Results have the bits of the whole layer: a step does not depend on its chunk, and gradient
    joins the chunks again for the weights. A layer that runs from the last step to the first (one
    of two directions) is one chunk, and so are the ops after it up to the next layer. In training,
    leaves alone what would change the order of a gradient's sum: values with three readers or more,
    of which only some are in chunks or which would be in another order, and parameters that two
    chunked ops read. Without `chunks`, up to 16 chunks of at least 4 steps. Linear in ops times
    chunks.

    With `segments`, an entry that trains is cut on a single stage too, into that many chunks, and
    every chunk but the last becomes a recompute group (`sym.recompute`) for rematerialise: between
    chunks only the states are kept. E0402 if nothing can be cut.
  }];
  let options = [
    Option<"chunks", "chunks", "int64_t", "0", "chunks of steps; 0: chosen by the pass">,
    Option<"segments", "segments", "int64_t", "0", "recompute segments of an entry that trains; -1: about the square root of the steps; 0: none">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def SyncParameters : Pass<"sync-parameters", "::mlir::ModuleOp"> {
  let summary = "join the parts of each entry and add its sums over the batch across devices";
  let description = [{
    Joins the functions that replicate created for one entry into one function, in which every op
    has a device: that of its stage in its replica. From here on all devices share one graph, until
    insert-transfers cuts it.

    * Parameters: each device that reads a parameter has a copy. One of them is the owner (the first
      in `sym.devices`): it holds the initial value, which the entry `init` sends to the others.
      With store `local` the first device owns all parameters; with `device` ownership is divided
      evenly by bytes.
    * Sums: a sum over the batch (ShardSum: weight gradients, metrics) becomes one op per maximal
      complete subtree of a part's shards. The owner of the parameter adds them as the tree over all
      shards does (metrics: the first device), so the bits do not depend on the number of parts or
      devices.
    * Gradients stay where they were added: the update runs there, and its result is sent to all
      copies. Without `update-on-store`, gradients are sent to all copies and each is updated.
    * Large and small arrays: with store `device`, a parameter of at least `big-array-bound`
      elements is cut into slices at tile boundaries of the norm, one per device with a copy; each
      device adds and updates its slice. Sums of fewer than `bucket-bytes` bytes with the same
      source and destination devices are concatenated, sent and added as one array; a bucket is
      closed when it is full, or when an op needs one of its sums.
    * Compression: with `threshold`, each process (`workers`) adds the gradients of its rows by the
      tree, adds its residual (a slot `residualW` of the parameter, W the process), sends t, -t or 0
      for every element and keeps the difference as the new residual. The sent values are added by a
      tree over processes. A gradient that is complete in one process is not compressed.
    * Inputs are whole on the first device, which slices their rows and concatenates the outputs; a
      carried state is on the first device that reads it.
    * Sharding is derived and verified op by op (PartValues.h has the kinds): a part's value is
      replicated, a slice of rows, or a partial sum. An op with another result (a mean over the
      batch, a scalar loss, the gradient of a state that all rows share), or a sum that the parts
      read, is computed once, on the first part's device, from the joined rows of all parts; the
      other parts get its result, or their rows of it. A value that depends on inputs alone is
      recomputed for the whole batch instead of joined, so that no device waits for it.

        func.func @step            { ... %dw = sym.weight_gradient ... sym.gradient @w, %dw }
        func.func @"step@1"        { ... %dw = sym.weight_gradient ... sym.gradient @w, %dw }
      becomes
        sym.parameter @w {sym.devices = [0, 1]}
        func.func @step            { ... %a = sym.weight_gradient ... {first = 0, count = 4, sym.device = 0}
                                     ... %b = sym.weight_gradient ... {first = 4, count = 4, sym.device = 1}
                                     %dw = sym.elemwise_add %a, %b {sym.device = 0} ; sym.gradient @w, %dw {sym.device = 0} }
        func.func @init            { %w = sym.read @w {sym.device = 0} ; sym.write @w, %w {sym.device = 1} }

    E0402 at an op that needs all rows and whose result cannot be divided by rows. Runs after
    gradient and before apply-optimizer, which needs complete gradients. Linear in ops.
  }];
  let options = [
    Option<"stages", "stages", "int64_t", "1", "devices of a replica">,
    Option<"local", "local", "bool", "false", "add all gradients on the first device">,
    Option<"updateOnStore", "update-on-store", "bool", "true", "update where gradients are added, instead of on every copy">,
    Option<"bigArrayBound", "big-array-bound", "int64_t", "0", "minimum elements for cutting a parameter into slices; 0: never cut">,
    Option<"bucketBytes", "bucket-bytes", "int64_t", "0", "bucket size; smaller sums are sent together; 0: no buckets">,
    ListOption<"workers", "workers", "int64_t", "process of each device; empty: one process">,
    Option<"threshold", "threshold", "Real", "0", "2-bit compression of gradients between processes to 0 or plus or minus this value; 0: no compression">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def InsertTransfers : Pass<"insert-transfers", "::mlir::ModuleOp"> {
  let summary = "make a function per device, with transfers between them";
  let description = [{
    Cuts a function whose ops have devices (sync-parameters) into one function per device. A value
    is sent once to each other device that reads it, as soon as it is computed; a value that is only
    added to other sums, or written, is received right before that, so that the receive does not
    block independent work. Ops without operands (zeros, say) are recreated on each device instead.
    Arguments and results belong to the first device.

    Transfers are numbered in the order of the original function, of which every program is a
    subsequence. A value that is only added up or written elsewhere is sent before the program waits
    for other devices, unless it depends on what they send: the numbers of sends ascend, and those
    of receives, so no deadlock is possible (docs/package.md). Transfers that only feed a write (new
    weights, initial values), directly or joined with others (states of the parts of a batch), are
    numbered last and marked, as is the join: they are received after the commit, so that no device
    waits for another's states between its own layers.

        func.func @step { %a = sym.tanh %x {sym.device = 0} ; %b = sym.tanh %a {sym.device = 1} ; ... }
      becomes
        func.func @step     { %a = sym.tanh %x ; sym.send %a {peer = 1, message = 0} }
        func.func @"step@1" { %a = sym.receive {peer = 0, message = 0} ; %b = sym.tanh %a }

    Runs after apply-optimizer, which still adds sums over devices, and before fuse, so that no
    fused region spans devices. Linear in ops.
  }];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

//===---- entries -------------------------------------------------------------------------------===//

def MakeEntries : Pass<"make-entries", "::mlir::ModuleOp"> {
  let summary = "create the entry points from the net";
  let description = [{
    `forward` returns the net's outputs, `evaluate` the measures of its loss heads, and `step` the
    same with dropout enabled; `step` is marked `sym.training` and its heads `sym.head`, where
    `gradient` starts. Parameters become module-level declarations shared by all entries. Begin
    states that match a pattern in `carry` become states, read at the start of a call and written at
    its end. Ops keep their ordinal in the net as written, which selects random numbers and
    placement.

        func.func @net(%data, %label) { %w = sym.variable {name = "w"} ; %h = sym.begin_state {name = "lstm0_begin_state_0"} ... }
      becomes
        sym.parameter @w ...
        sym.state @lstm0_begin_state_0 ...
        func.func @forward(%data) { %w = sym.read @w ; %h = sym.read @lstm0_begin_state_0 ... sym.write @lstm0_begin_state_0, %hN }
        func.func @evaluate(%data, %label) ...
        func.func @step(%data, %label, %learning_rate, %update, %seed) attributes {sym.training} ...

    In `forward`, loss heads are replaced by their value without a label (LossHead::buildValue): a
    softmax, a sigmoid, or the head's input. Inputs that an entry does not read are removed, so
    forward needs no labels. All later passes work on entries.

    With `scores`, `evaluate` also returns the scores of two-class heads (LossHead::buildScores).

    Ops named in `recompute` get `sym.recompute` for rematerialise; the names must be resolved here,
    because later passes replace the ops. E0402 if a name matches no op.

    With replicas, each of them gets its own functions, `step`, `step@1` .. and `step@whole`; their
    carried states are arguments and results, because the state itself is stored whole on one device
    (sync-parameters).
  }];
  let options = [
    ListOption<"entries", "entries", "std::string", "entry points to make; all that the net allows if empty">,
    ListOption<"carry", "carry", "std::string", "patterns of layers or begin states that persist between calls">,
    ListOption<"recompute", "recompute", "std::string", "ctx_groups and op names that become recompute groups">,
    Option<"shards", "shards", "int64_t", "8", "virtual shards of the batch, for metrics">,
    Option<"scores", "scores", "bool", "false", "evaluate also returns the scores of two-class heads">,
    Option<"placed", "placed", "bool", "true", "set the ordinal on all ops, for placement; false: only on ops that draw random numbers">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def UnpackRnn : Pass<"unpack-rnn", "::mlir::func::FuncOp"> {
  let summary = "expand stacks into one op per recurrent layer and direction";
  let description = [{
    MXNet's fused `sym.rnn` becomes a `sym.rnn_layer` for each layer and direction, with dropout
    between layers in an entry that trains. If the packed parameters come from
    `sym.rnn_param_concat`, the layers read its operands and nothing is packed; else they read
    slices of the vector.

        %p = sym.rnn_param_concat %w, %r, %bi, %bh ; %y = sym.rnn %x, %p {mode = "lstm"}
      becomes
        %y, %h, %c = sym.rnn_layer lstm %x, %w, %r, %bi, %bh

    The time loop stays inside the op, except for an lstm with `projection_size` or a range for c:
    it is unrolled to the ops of every step (RnnSteps), which have gradients of their own.

        %y = sym.rnn %x, %p {lstm_state_clip_min = -1.0, lstm_state_clip_max = 1.0, mode = "lstm"}
      becomes
        %z = sym.fully_connected %x, %w, %bi ; %z0, %z1 = sym.slice_channel %z
        %a0 = sym.fully_connected %h, %r, %bh ; %g0 = sym.elemwise_add %z0, %a0 ; .. %c0 = sym.clip .. ; %h0 = ..
        ..
        %y = sym.concat %h0, %h1

    In an entry that trains, if only some of the layer's data and states have rows of the batch (the
    others are parameters), `sym.own_rows` marks rows of the others: replicate does the same for
    parts, and gradients must sum rows in one order. Not if the layer mixes rows, e.g. if its steps
    are the rows: a part then runs it on the whole batch.

    Runs before gradient, which differentiates layers.
  }];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def Gradient : Pass<"gradient", "::mlir::func::FuncOp"> {
  let summary = "append the backward ops (reverse-mode differentiation)";
  let description = [{
    In an entry marked `sym.training`, visits the ops in reverse program order from the loss heads;
    each contributes gradients to its operands. The complete gradient of a parameter is left as
    `sym.gradient @parameter, %g`. This pass fixes the order of every sum (docs/numerics.md rules 4
    and 8): contributions to a value are added in order of arrival, last consumer first; all uses of
    a weight become one `sym.weight_gradient`, in that order too, summed by shard and then over the
    tree. Uses by the chunks of an op are joined to one use by the whole op; with recompute segments
    (split-layers) they stay separate for chain-sums, except those of embeddings.

        %y = sym.fully_connected %x, %w, %b        %dx = sym.dot %dy, %w
                                              adds %dw = sym.weight_gradient (%dy), (%x)
                                                   %db = sym.bias_gradient %dy

    Removes the `sym.own_rows` and `sym.all_rows` of a net for all rows (unpack-rnn), which are no
    longer needed.

    E0403 at an op that has no gradient, if a parameter trains through it.
  }];
  let options = [Option<"shards", "shards", "int64_t", "8", "virtual shards of the batch">,
    Option<"meanLoss", "mean-loss", "bool", "false",
           "if heads have different gradient divisors (HeadMeasure.h), divide each gradient here; else apply-optimizer divides">];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def Rematerialise : Pass<"rematerialise", "::mlir::ModuleOp"> {
  let summary = "recompute the values of recompute groups in backward";
  let description = [{
    In an entry that trains, a forward value that is read in forward only by ops of its own
    recompute group (`sym.recompute`) is not kept for backward. Its ops are repeated right before
    the first backward op that reads it, from the inputs of the group. For a recurrent layer these
    values are gates, cells and `before`, which the forward layer then does not store.

        %y, %h, %c, %gates, %cells = sym.rnn_layer lstm x(%x) .. {sym.recompute = "lstm0"}
        ...
        %dg, %dx = sym.rnn_layer_gradient lstm gates(%gates) cells(%cells) y(%y) .. dy(%dy)
      becomes
        %y, %h, %c, %0, %1 = sym.rnn_layer lstm x(%x) ..
        ...
        %2, %3, %4, %gates, %cells = sym.rnn_layer lstm x(%x) .. {sym.recompute = "lstm0"}
        %dg, %dx = sym.rnn_layer_gradient lstm gates(%gates) cells(%cells) y(%y) .. dy(%dy)

    Still kept: inputs and outputs of groups, outputs of recurrent layers, and values of loss heads.
    Ops of one name in different ctx_groups or stages form separate groups. A segment of steps
    (split-layers) is one group through all layers of a stage; outputs of its recurrent layers that
    only the segment reads are recomputed too. A value that only a sum over chunks reads
    (`sym.use_chunks`) is recomputed where the sum's other operands of that chunk are. After the
    pass only recomputed ops have the attribute; fuse does not move them.

    A scope `recompute()` of which no op is repeated is named (W0319).

    Costs at most a second forward of the group. Not applied if the inputs of a group would be kept
    only for it and are at least as large as what it saves. Results keep their bits: the same ops
    read the same operands, and random numbers depend on an op's ordinal. Runs right after gradient,
    on all parts of the batch alike. Linear in ops and operands, n log n for large groups.
  }];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def ChainSums : Pass<"chain-sums", "::mlir::func::FuncOp"> {
  let summary = "accumulate a weight's gradient chunk by chunk";
  let description = [{
    With recompute segments, a sum of one shard over uses in several chunks (`sym.use_chunks`)
    becomes one op per chunk, right after its operands are computed; each continues with the sum of
    the previous one (`begin`). The operands of a chunk therefore need not be kept until the last
    chunk has been differentiated.

        %dw = sym.weight_gradient (%dy1, %dy0), (%x1, %x0)         %a = sym.weight_gradient (%dy1), (%x1)
          {sym.use_chunks = array<i64: 1, 0>}             becomes   ...
                                                                   %dw = sym.weight_gradient (%dy0), (%x0) from %a

    E0402 at a sum over several shards, because each shard would need a separate sum. Results keep
    their bits: inside a shard the uses are one chain in their order (docs/numerics.md rule 4). Runs
    after sync-parameters, which determines the shards of each sum. Linear in uses.
  }];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def MergeEqualOps : Pass<"merge-equal-ops", "::mlir::ModuleOp"> {
  let summary = "eliminate common subexpressions";
  let description = [{
    In each entry, of two pure ops with equal name, attributes, types and operands keeps the first;
    readers of both read its results.

        %a = sym.tanh %x ; %b = sym.tanh %x ; %s = sym.elemwise_mul %a, %b
      becomes
        %a = sym.tanh %x ; %s = sym.elemwise_mul %a, %a

    Not merged: ops on different devices, and a forward op with a backward op, because the value
    would have to be kept until backward. Recomputed ops (rematerialise) stay. Dropout masks are
    merged only if they are the same mask: equal ordinal, seed, update and elements.

    Results keep their bits, because an op is a function of its operands. Runs after gradient,
    because contributions to a gradient are added last reader first, and fewer readers would change
    that sum; after sync-parameters, which needs the same ops in all parts and sets devices; and
    before insert-transfers, so that a merged value is sent once. Linear in ops.
  }];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def ApplyOptimizer : Pass<"apply-optimizer", "::mlir::ModuleOp"> {
  let summary = "turn gradients into parameter updates";
  let description = [{
    Each `sym.gradient` becomes one `sym.fused` that computes the new parameter and optimizer state,
    and writes of both. With clipping by global norm, `sym.norm_squared` adds all gradients in
    declaration order and one factor scales them; the norm before clipping is an output,
    `gradient_norm`. A parameter marked `report_norm` has an output `gradient_norm:NAME`. The
    formulas and slots of an optimizer are a row of executor/abi/Optimizers.def; one that needs
    parameter norms (lamb) becomes two fused ops around `sym.norm_squared`. `none` returns the
    gradients as outputs. The update and its slots are on the device of the gradient
    (sync-parameters); for a slice they cover that slice, and a norm continues the sum of the
    previous slice. All devices finish their updates before any sends its results. An `lr_mult` or
    `wd_mult` other than 0 and 1 that changes nothing is a warning (W0214): no gradient reaches the
    parameter, the optimizer does not read `lr` or `wd`, or wd is 0.

        sym.gradient @w, %dw
      becomes
        sym.slot @w.momentum of @w "momentum"
        %new:2 = sym.fused %w, %dw, %learning_rate, %m { ... }
        sym.write @w, %new#0 ; sym.write @w.momentum, %new#1

    Runs after gradient and before fuse, which may fuse the last element-wise op of a gradient with
    the update.
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "\"sgd\"", "a row of executor/abi/Optimizers.def, or none">,
    ListOption<"keys", "key", "std::string", "hyperparameters, as in key=beta1=0.8,epsilon=1e-6; others keep their defaults">,
    Option<"wd", "wd", "Real", "0", "weight decay, for names that end in _weight or _gamma">,
    Option<"rescaleGrad", "rescale-grad", "Real", "0", "factor on gradients; 0: 1/batch, or 1 if the heads' gradients are means">,
    Option<"clipGradient", "clip-gradient", "Real", "0", "bound on each element; 0: none">,
    Option<"clipNorm", "clip-norm", "Real", "0", "bound on the global norm; 0: none">,
    Option<"reportNorm", "report-norm", "bool", "true", "output the global norm even without clipping">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def HoistProjection : Pass<"hoist-projection", "::mlir::ModuleOp"> {
  let summary = "project the inputs of several steps in one product";
  let description = [{
    Sets `chunk` on each `sym.rnn_layer` and `sym.rnn_layer_gradient`: the number of steps whose
    input projection `W x + b` (backward: `dgates W`) is computed as one product before these steps,
    instead of one small product per step.

        %y, %h, %c = sym.rnn_layer lstm x(%x) w(%w) r(%r) ...               x: [64, 32, 256]
      becomes
        %y, %h, %c = sym.rnn_layer lstm x(%x) w(%w) r(%r) ... {chunk = 6}   6 * 32 = 192 rows

    On a CPU about 200 rows give an efficient product while the projection remains a small part of
    the cache. On a GPU one product covers as many steps as fit, up to all, and R h of a step takes
    the place of one more; where the gates are kept, it is 1. The target of each device decides.
    Costs `chunk * B * G * H` elements of workspace: a chunk that would need more than `max-bytes`
    is shortened, down to 1 if two steps need more. Layers without the attribute use 1. Sums keep
    their order (one chain per element, ascending), so the bits do not depend on the chunk. Linear
    in ops.
  }];
  let options = [Option<"maxBytes", "max-bytes", "uint64_t", "uint64_t(64) << 20",
                        "largest projection to materialise, in bytes">,
                 ListOption<"devices", "devices", "std::string", "names of the devices; empty: cpu:0">];
}

def Fuse : Pass<"fuse", "::mlir::ModuleOp"> {
  let summary = "fuse chains of element-wise ops";
  let description = [{
    Moves ops that have a ScalarRule into `sym.fused` regions, each of which runs as one fused
    program whose intermediate values stay in a tile.

        %0 = sym.sigmoid %f            %c2 = sym.fused(%f, %c, %i) {
        %1 = sym.elemwise_mul %0, %c     ^bb0(...): ... sym.yield
        %c2 = sym.elemwise_add %1, %i  }

    A producer is fused with its consumers if its result has their shape, so that nothing is
    computed twice; operands may be broadcast. An op is not fused if that would create a cycle, i.e.
    if the region would need a value that depends on the region: every op has a height above the end
    of the program, ops of a region share one height, and all other edges lead downwards. Ops that
    do not feed one another are not grouped. A sum over the first parts of the batch is kept apart
    from the addition of later parts, so that it can be computed, and its operands freed, before
    those exist. A region stays within the limits of abi/ScalarOps.h (`max-ops` and `max-operands`
    bound it before instructions are counted; a region that is too long is lowered op by op). The
    order of transfers counts as edges. Results keep their bits, because the scalar operations and
    their order do not change. Linear in ops. Runs before lower-to-exec.
  }];
  let options = [Option<"maxOps", "max-ops", "unsigned", "48", "ops in one region">,
                 Option<"maxOperands", "max-operands", "unsigned", "40", "operands and results of one region">];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def LowerToExec : Pass<"lower-to-exec", "::mlir::ModuleOp"> {
  let summary = "lower each entry to a program of kernel launches";
  let description = [{
    Replaces parameters, slots, states and entry functions by one `exec.plan`. Ops define their
    launches (KernelRule, ScalarRule, sym.fused); the pass only knows reads, writes and regions by
    name.

        func.func @forward(%x: tensor<8x4xf32> ...) -> (tensor<8x2xf32> ...) {
          %w = sym.read @w : tensor<2x4xf32>
          %y = sym.fully_connected %x, %w ...
          return %y
      becomes
        exec.program "prepare:forward" on 0 { exec.launch "pack"(%w, %packed) ... }
        exec.program "forward" on 0 { exec.launch "product"(%x, %packed, _, %y) ... }

    * A value is a buffer, or a strided view of one if the op only changes indices (reshape, slice,
      transpose).
    * Values that depend only on parameters, in an entry that does not change them, are computed in
      `prepare:ENTRY` and kept: mostly packed weights. A value much larger than its operands is not
      kept.
    * A value that is only written to a parameter, slot or state is computed after the commit,
      directly into its place if nothing reads the old value any more; else it is copied there.
    * On a device whose memory the host cannot access, an input has a second buffer for the next
      value while a program reads the current one.
    Linear in ops. Ops with neither rule must be gone before.
  }];
  let options = [ListOption<"devices", "devices", "std::string", "names of the devices; empty: cpu:0">,
                 Option<"fast", "fast", "std::string", "std::string()", "rules of --fast, joined by +, which determine the scratch memory of libraries">,
                 Option<"nextInputs", "next-inputs", "bool", "true", "double-buffer inputs">];
  let dependentDialects = ["::lstmc::exec::ExecDialect"];
}

def Schedule : Pass<"schedule", "::mlir::ModuleOp"> {
  let summary = "reorder launches for shorter buffer lifetimes and less waiting";
  let description = [{
    Moves launches of a program within the order of their reads and writes, never across the commit.
    A launch that frees more bytes than it allocates moves right after its last dependency; so do
    several launches that together are the last readers of a buffer. A launch that allocates more
    than it frees moves right before the first launch that depends on it. The new order is used only
    if it lowers the peak of live bytes.

    Weight gradients thereby run as soon as their operands exist, and the gradients of the gates are
    freed with them. On several devices transfers keep their order, and no send is moved after a
    launch that it preceded. In a pipeline stage whose layers work in chunks, launches without
    dependencies run before the first receive of a value that its sender has to compute: weights are
    packed while a chunk is in transit, those for backward too. A launch that would raise the peak
    of live bytes is not moved.

    On devices with several streams, independent launches are then assigned to different streams,
    with a minimal set of events between streams: none is implied by the others. Transfers stay on
    stream 0, in their order. The number of streams is `streams`, or chosen by the device's target.

    Results do not depend on this pass. Linear in launches and operands; in pipeline stages, times
    the number of launches without dependencies.
  }];
  let options = [Option<"streams", "streams", "unsigned", "0", "streams per device, at most 8; 0: chosen by the target">];
  let dependentDialects = ["::lstmc::exec::ExecDialect"];
}

def PlanMemory : Pass<"plan-memory", "::mlir::ModuleOp"> {
  let summary = "assign an offset to every buffer";
  let description = [{
    Places the persistent buffers one after the other at the start of each device's arena, and after
    them one region for all other buffers, which the entries share; it has the size of the largest
    entry.

    * In place: an output uses the memory of an input whose last use is this launch, if the kernel's
      record allows it (`out=x`; element-wise in fused programs) and both have the same view and
      element size.
    * Sharing: buffers that are never live at once may overlap (Placement.h).
    * Parameters, auxiliaries, optimizer slots and states come first among persistent buffers, so
      that the plans of one net for several sequence lengths have them at the same offsets and can
      take turns on one arena (buckets, design note 020).
    * Packed weights that are read only by entries that change no parameters come last among
      persistent buffers: other entries may overwrite them, because their prepare programs run again
      after a change.
    * The values that prepare:ENTRY needs are placed after the inputs of ENTRY, which may be set
      before it runs.
    A buffer is live from the first to the last launch that touches it. With several streams two
    buffers share memory only if all launches that touch one run after all that touch the other, by
    streams and events; the scratch of all launches of a stream is therefore one piece of memory.
    Every offset is a multiple of abi/Packing.h's kAlignment; sizes are those of the dtype. n log n,
    and n^2 up to 3,000 buffers of a program, which gives smaller plans.
  }];
  let options = [Option<"inPlace", "in-place", "bool", "true", "let outputs reuse their inputs' memory">,
                 Option<"sharing", "sharing", "bool", "true", "let buffers overlap that are never live at once">];
  let dependentDialects = ["::lstmc::exec::ExecDialect"];
}

def ValidatePlan : Pass<"validate-plan", "::mlir::ModuleOp"> {
  let summary = "verify the memory plan independently of plan-memory";
  let description = [{
    Simulates every program on a model of the arena that records which buffer last wrote each byte.
    Fails if a launch reads bytes that do not belong to its buffer (never written, or overwritten by
    another), overwrites another operand although the kernel's record does not allow it, writes a
    parameter, optimizer slot or state before the commit, or writes caller memory; if a persistent
    buffer is incomplete when a program ends; if two launches on different streams touch the same
    byte, one writing, and no events order them; or if an offset is unaligned or outside of the
    arena. Shares no code with plan-memory. n log n.
  }];
  let dependentDialects = ["::lstmc::exec::ExecDialect"];
}

def LowerToPackage : Pass<"lower-to-package", "::mlir::ModuleOp"> {
  let summary = "convert the plan to package data";
  let description = [{
    Converts an `exec.plan` with offsets to the tables of executor/abi/Package.fbs: locations,
    buffers, launches, fused programs, and parameters with their initialisation launches. Also
    stores the contents of the module's attributes `sym.package`, `sym.packed` and
    `sym.input_ranges`, and removes these. The bytes depend on the module alone. On the command line
    the package's size and SHA-256 are left on the plan as `package_bytes` and `package_sha256`.

        module attributes {sym.package = {net = "lm", shards = 8 : i64, ...}} { exec.plan devices ["cpu:0"] arena [4096] { ... } }
      becomes
        module { exec.plan devices ["cpu:0"] arena [4096] attributes {package_bytes = 18600 : i64, package_sha256 = "..."} { ... } }
  }];
  let options = [
    Option<"file", "file", "std::string", "\"\"", "a new file that the package is written to">,
  ];
  let dependentDialects = ["::lstmc::exec::ExecDialect"];
}

#endif // LSTMC_PASSES

// The passes. A record is a pass's front page: what it does, before and after, what it costs, when it holds back,
// what has to come before or after it. Pipelines.cpp says in which order they run.

#ifndef LSTMC_PASSES
#define LSTMC_PASSES

include "mlir/Pass/PassBase.td"

//===---- on the net -------------------------------------------------------------------------------===//

def InferShapes : Pass<"infer-shapes", "::mlir::func::FuncOp"> {
  let summary = "find every shape and element type";
  let description = [{
    Lets each op state its relations (ShapeRule), forward and backward, until nothing changes; types are set in place. An element type that
    nothing fixes is float32. Contradictions are E0207 and E0208, with the places that the facts came from; what stays open is
    E0211. A graph made by frontend/symbol is closed already and passes unchanged.

        %w = sym.variable {name = "w"} : tensor<*x!sym.open>
        %y = sym.fully_connected %x, %w {no_bias = true, num_hidden = 3 : i64}
           : (tensor<2x4xf32>, tensor<*x!sym.open>) -> tensor<*x!sym.open>
      becomes
        %w = sym.variable {name = "w"} : tensor<3x4xf32>
        %y = sym.fully_connected %x, %w {no_bias = true, num_hidden = 3 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>

    Each op is visited once, and again for each of its values that another op changed: the cost is linear in the graph. First
    of all passes: everything later needs static shapes.
  }];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def ConvertDType : Pass<"convert-dtype", "::mlir::ModuleOp"> {
  let summary = "every float of the net in one type";
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

def ExpandShorthands : Pass<"expand-shorthands", "::mlir::ModuleOp"> {
  let summary = "replace ops that stand for others";
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
  let summary = "parameters that training leaves as they are";
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
  let summary = "training reports the norm of each parameter's gradient";
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
  let summary = "note which parameters make up the vectors that RNN packs";
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
  let summary = "note which values the inputs of a net may hold";
  let description = [{
    An input all of whose elements are read as positions (IndexRule), directly or after ops that only move elements (MovementRule), may hold
    only positions that exist. Notes the range of each such input on the module; lower-to-package puts it into the package, and the
    runtime checks inputs against it. Where several ops read an input, the range is what all of them accept; where they read different parts of
    it, what any of them accepts.

        %y = sym.embedding %data, %w {input_dim = 65, output_dim = 128} : (tensor<2x3xi32>, tensor<65x128xf32>) -> tensor<2x3x128xf32>
      adds to the module
        sym.input_ranges = {data = array<i64: 0, 64>}

    A third number is one more accepted value, which means "no position". Runs on the net, before its ops are split between devices. Linear in ops.
  }];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def RollRecurrence : Pass<"roll-recurrence", "::mlir::ModuleOp"> {
  let summary = "recurrent layers that are written out step by step become loops";
  let description = [{
    Finds the steps of LSTM, GRU and RNN (tanh, relu) layers that a script has unrolled, cell by cell, and puts one `sym.rnn` in the place of
    all steps of a layer, layer by layer from the bottom, so that a stack is rolled whole.

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

    A step is two FullyConnected, of the input and of h, whose sum is cut into gates (SliceChannel or slice_axis; gru's before the sum), and the activations, products
    and sums of the cell, in any order in which operands may be written. The input is slices of one tensor, forward or backward in time, and then the tensor; or any
    values, which are stacked. Zeros to begin with are no operand. Readers of h get slices of the output, and a concat or stack of all steps the output itself.

    Same bits, outputs and training alike: a cell is these very operations (docs/numerics.md rule 2), uses of a weight are one sum last step first (rule 4), and ops keep
    the ordinals that they had in the net as written (rule 10; `sym.ordinal`), dropout between layers above all. A layer stays as it is, with a reason in `sym.rolled` on the module, where its
    gates are anything else or in another order than i, f, g, o, steps have several weights, c or a gate is read outside, a step's input depends on steps before, ops are in several
    ctx_groups or recompute groups, or, in a net that trains, gradients would be added in another order: weights that others use between the steps, h with several readers before
    the next step, gru's h with a reader after it, steps without the rows of the batch. Gradients of 0 may have another sign, which no sum shows.

    Layers with an op that `keep` names stay, since somebody means to recompute this op.

    Runs first, so that an unrolled import is a loop before anything looks at it. Linear in ops, n log n in what has to move.
  }];
  let options = [
    ListOption<"keep", "keep", "std::string", "names of ops that stay, with the layers that they are of">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

//===---- on several devices ------------------------------------------------------------------------===//

def Replicate : Pass<"replicate", "::mlir::ModuleOp"> {
  let summary = "the net once per part of the batch, each over its own rows";
  let description = [{
    With two replicas or more, adds a function per replica after the net: its inputs have the rows of some whole shards of the
    batch (BatchPositions.h), and so has every value that follows from them row by row. Shards go to replicas in order, as evenly (or as `loads` has them)
    as they go, the first ones getting more; a replica for which no row is left gets no function. With `accumulate`, the
    shards of a replica are cut again, into parts that it carries out one after the other: less memory for the same sums.

        func.func @net(%data: tensor<32x64xi32>)
      adds
        func.func @"net@0"(%data: tensor<16x64xi32>) attributes {sym.part = [0, 0], sym.share = [32, 8, 0, 4]}
        func.func @"net@1"(%data: tensor<16x64xi32>) attributes {sym.part = [1, 1], sym.share = [32, 8, 4, 4]}

    An op stays with a part only where it is proved that row r of its results is made of row r of its operands (BatchRule, each operand
    by itself), and where it verifies on the rows of every part. Any other is done on the whole batch, on the rows of all parts, which
    `sym.all_rows` stands for (RowMarks.h); what then has rows again is cut by `sym.own_rows`. The whole net, which is kept, gets both
    too, and there they change nothing.

        %a = sym.slice_axis %z {axis = 0, begin = 3, end = 4} : (tensor<6x5xf32>) -> tensor<1x5xf32>
      becomes, where the part has 3 rows,
        %g = sym.all_rows %z {axis = 0, batch = 6, ..} : (tensor<3x5xf32>) -> tensor<6x5xf32>
        %a = sym.slice_axis %g {axis = 0, begin = 3, end = 4} : (tensor<6x5xf32>) -> tensor<1x5xf32>

    Runs after infer-shapes and before make-entries, so that everything up to gradients is made for the rows that a replica has. One part: nothing changes.
  }];
  let options = [
    Option<"shards", "shards", "int64_t", "8", "virtual shards of the batch">,
    Option<"replicas", "replicas", "int64_t", "1", "replicas to share the batch out to, evenly">,
    ListOption<"loads", "loads", "int64_t", "instead: one number per replica, in whose proportion">,
    Option<"accumulate", "accumulate", "int64_t", "1", "parts that each replica takes one after the other">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def PlaceDevices : Pass<"place-devices", "::mlir::ModuleOp"> {
  let summary = "which of the devices that share a net's layers has which op";
  let description = [{
    With two stages or more, gives every op of an entry its `sym.stage`. Ops of a ctx_group that `groups` names are where it says; without
    groups, the ops that compute with parameters are cut, in program order, into as many runs as there are stages, so that the
    most that one costs is least: what `costs` say of its ops on that stage, else their flops (CostRule). Other ops follow the latest of their operands, and what stands before all of these its
    readers; a parameter is where most is computed with it.

        %y0, .. = sym.rnn_layer lstm x(%x) ...   {sym.group = "layer0"}       sym.stage = 0
        %m = sym.elemwise_mul %y0, %mask                                      sym.stage = 0
        %y1, .. = sym.rnn_layer lstm x(%m) ...   {sym.group = "layer1"}       sym.stage = 1

    All entries are placed alike, by the ordinals of ops in the net as written, so a parameter has one place. E0402 where a group
    has no op, or where there are fewer ops with parameters than stages. Runs after unpack-rnn, which makes layers of a stack; before
    gradient, so that backward ops get the stage of their forward op. Linear in ops; the cut is quadratic in ops with parameters.
  }];
  let options = [
    Option<"stages", "stages", "int64_t", "1", "devices that share the layers">,
    ListOption<"groups", "groups", "std::string", "NAME=STAGE of ctx_groups; none: by cost">,
    ListOption<"costs", "costs", "std::string", "NAME=A/B/..: what an op of that name costs on each stage; none: its flops on all">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def SplitLayers : Pass<"split-layers", "::mlir::func::FuncOp"> {
  let summary = "the steps of layers in chunks: a wavefront over devices, or segments that backward computes again";
  let description = [{
    Where recurrent layers are on several stages, their steps are cut into chunks: chunk c of a layer begins with the states that chunk c-1
    ended with, and a layer of the next stage can work on chunk c as soon as it is there. Ops between layers and after them that work
    on steps one by one (BatchRule, asked about steps) are cut too, unless in training they stretch a value over the steps, whose gradient
    is one sum of all; others wait for all chunks. Chunks follow one another in the function, each through
    all layers; gradient, after this pass, makes backward the same way round.

        %y0, %h0 = sym.rnn_layer .. x(%x)              %x0, %x1 = sym.cut %x
        %y1, %h1 = sym.rnn_layer .. x(%y0)   becomes   %a0, %s = sym.rnn_layer .. x(%x0) {sym.stage = 0}
                                                       %b0, %t = sym.rnn_layer .. x(%a0) {sym.stage = 1}
                                                       %a1, .. = sym.rnn_layer .. x(%x1) state(%s) {sym.stage = 0}
                                                       %b1, .. = sym.rnn_layer .. x(%a1) state(%t) {sym.stage = 1}
                                                       %y1 = sym.concat %b0, %b1

    The bits are those of the whole layer: a step does not know of the chunk around it, and gradient joins the chunks again for the weights.
    A layer that runs from the last step to the first (one of two directions) is one chunk, and so is what follows it up to the next layer.
    Holds back in training where a sum of gradients would have another order: of a value with three readers or more, some of them in chunks and
    some not or in another order than before, and of a parameter that two ops in chunks read.
    Without `chunks`, up to 16 of at least 4 steps. Linear in ops x chunks.

    With `segments`, an entry that trains is cut on one stage too, into so many chunks, and every chunk but the last is a recompute
    group of its own (`sym.recompute`) for rematerialise: of the steps, the states between chunks are kept. E0402 where nothing can be cut.
  }];
  let options = [
    Option<"chunks", "chunks", "int64_t", "0", "chunks of steps; 0: chosen">,
    Option<"segments", "segments", "int64_t", "0", "chunks of an entry that trains, each a recompute group; -1: about the root of the steps; 0: none">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def SyncParameters : Pass<"sync-parameters", "::mlir::ModuleOp"> {
  let summary = "one function of all devices: who has which parameter, and every sum over the batch";
  let description = [{
    Joins the functions that replicate made of one entry into one, in which every op says its device: that of its stage in its
    replica. From here on devices are one graph; insert-transfers cuts it.

    * A parameter has a copy on each device that reads it. One of them decides (`sym.devices`, first): it has the initial value, which the
      entry `init` brings to the others. With store `local` that is the first device, with `device` each gets some, evenly by bytes.
    * A sum over the batch (ShardSum: weight gradients, metrics) becomes one op per maximal complete subtree of a part's shards; the
      device that decides over the parameter adds them as the tree over all shards does (metrics: the first device). So the bits do not
      depend on the number of parts or devices.
    * The gradient is left where it was added, for an update there whose result goes to all copies; without `update-on-store`, it
      goes to all copies, for an update on each.
    * With store `device`, a parameter of `big-array-bound` elements or more is cut into slices, one per device that has it, between tiles of the
      norm: each device adds and updates its own. Sums of fewer than `bucket-bytes` bytes that take the same ways are set side by side,
      sent and added as one array; such a bucket is closed when it is full, or when an op needs what is in it.
    * With `threshold`, a process (`workers`) adds the gradients of its rows by the tree, adds them to what it has kept back (a slot
      `residualW` of the parameter, W the process), gives t, -t or 0 of every element, and keeps the rest; what they give is added by
      a tree over processes. A gradient that one process has all parts of is left as it is.
    * Inputs are whole on the first device, which cuts rows out of them and joins the outputs; carried states on the first that reads them.
    * What every value of a part is of the whole's is proved op by op (PartValues.h has the kinds): alike, its rows, or a sum. An op that would
      give something else (a mean over the batch, a loss of one number, what a state shared by all rows gets back), or a sum that
      parts go on with, is done once, where the first part has it, on the rows of all, joined; others get its result, or their rows of it.
      What is made of inputs alone is made again for the whole rather than joined, so that nobody waits for it.

        func.func @step            { ... %dw = sym.weight_gradient ... sym.gradient @w, %dw }
        func.func @"step@1"        { ... %dw = sym.weight_gradient ... sym.gradient @w, %dw }
      becomes
        sym.parameter @w {sym.devices = [0, 1]}
        func.func @step            { ... %a = sym.weight_gradient ... {first = 0, count = 4, sym.device = 0}
                                     ... %b = sym.weight_gradient ... {first = 4, count = 4, sym.device = 1}
                                     %dw = sym.elemwise_add %a, %b {sym.device = 0} ; sym.gradient @w, %dw {sym.device = 0} }
        func.func @init            { %w = sym.read @w {sym.device = 0} ; sym.write @w, %w {sym.device = 1} }

    E0402 at an op that needs the rows of all and whose result cannot be told apart by rows. Runs after gradient and before apply-optimizer, which sees whole gradients.
    Linear in ops.
  }];
  let options = [
    Option<"stages", "stages", "int64_t", "1", "devices of a replica">,
    Option<"local", "local", "bool", "false", "add all gradients on the first device">,
    Option<"updateOnStore", "update-on-store", "bool", "true", "update where gradients are added, not on every copy">,
    Option<"bigArrayBound", "big-array-bound", "int64_t", "0", "elements from which a parameter is cut into slices; 0: none is">,
    Option<"bucketBytes", "bucket-bytes", "int64_t", "0", "sums of fewer bytes are sent together, so many at once">,
    ListOption<"workers", "workers", "int64_t", "the process of each device; none: all are in one">,
    Option<"threshold", "threshold", "Real", "0", "what of a gradient processes send: 0 or plus or minus so much an element; 0: all of it">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def InsertTransfers : Pass<"insert-transfers", "::mlir::ModuleOp"> {
  let summary = "a function per device, and a copy wherever a value crosses between two";
  let description = [{
    Cuts a function whose ops say their devices (sync-parameters) into one per device. A value goes to each other device that reads it
    once, as soon as it is there, or, where it is only added to other sums or written, when it is: what is received stands in the
    program, and should not stand before work that does not need it. What needs no operands (zeros, say) is made there instead.
    Arguments and results are the first device's.
    Transfers are numbered in the order of the one function that they come from, of which every program is a part. What is only added
    up or written elsewhere is sent before the program waits for what others send, where it does not depend on that: numbers of sends ascend, and those
    of receives, and no circle of waits can close (docs/package.md). Those that only feed a write (new weights,
    initial values), by themselves or joined with others (states of the parts of a batch), are numbered after all others and marked, and so is what joins them: they are received in their
    place, after the commit, so that no device waits for another's states in the midst of its own layers.

        func.func @step { %a = sym.tanh %x {sym.device = 0} ; %b = sym.tanh %a {sym.device = 1} ; ... }
      becomes
        func.func @step     { %a = sym.tanh %x ; sym.send %a {peer = 1, message = 0} }
        func.func @"step@1" { %a = sym.receive {peer = 0, message = 0} ; %b = sym.tanh %a }

    Runs after apply-optimizer, which still adds sums over devices; before fuse, so that no region crosses one. Linear in ops.
  }];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

//===---- entries -------------------------------------------------------------------------------===//

def MakeEntries : Pass<"make-entries", "::mlir::ModuleOp"> {
  let summary = "make the entry points out of the one net";
  let description = [{
    `forward` returns the net's outputs, `evaluate` the measures of its loss heads, `step` the same with dropout on; the last is
    marked `sym.training` and its heads `sym.head`, where `gradient` begins. Parameters become module-level declarations that
    all entries read; begin states that match a pattern of `carry` become states, read at the start of a call and written
    at its end. Ops keep their ordinal in the net as written: random numbers are drawn by it, and layers are placed by it.

        func.func @net(%data, %label) { %w = sym.variable {name = "w"} ; %h = sym.begin_state {name = "lstm0_begin_state_0"} ... }
      becomes
        sym.parameter @w ...
        sym.state @lstm0_begin_state_0 ...
        func.func @forward(%data) { %w = sym.read @w ; %h = sym.read @lstm0_begin_state_0 ... sym.write @lstm0_begin_state_0, %hN }
        func.func @evaluate(%data, %label) ...
        func.func @step(%data, %label, %learning_rate, %update, %seed) attributes {sym.training} ...

    Loss heads of `forward` give way to their value without a label (LossHead::buildValue): a softmax, a sigmoid, or what
    they were given. Inputs that an entry does not read are left out, so forward asks for no labels. Everything later works
    on entries.

    With `scores`, `evaluate` also returns what heads that tell two classes apart say of each label (LossHead::buildScores).

    Ops that `recompute` names, as only the net as written has them, get `sym.recompute` for rematerialise; E0402 where there is none.

    Of a net with replicas each becomes functions of its own, `step`, `step@1` .. and `step@whole`; their carried states are arguments and results,
    since the state itself is whole on one device (sync-parameters).
  }];
  let options = [
    ListOption<"entries", "entries", "std::string", "entry points to make; all that the net allows if empty">,
    ListOption<"carry", "carry", "std::string", "patterns of layers or begin states that are kept between calls">,
    ListOption<"recompute", "recompute", "std::string", "ctx_groups and names of ops that become recompute groups">,
    Option<"shards", "shards", "int64_t", "8", "virtual shards of the batch, for metrics">,
    Option<"scores", "scores", "bool", "false", "evaluate returns what heads of two classes say of each label, too">,
    Option<"placed", "placed", "bool", "true", "ops go to several devices; else only those that draw random numbers get their ordinal">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def UnpackRnn : Pass<"unpack-rnn", "::mlir::func::FuncOp"> {
  let summary = "one op per recurrent layer and direction";
  let description = [{
    MXNet's fused `sym.rnn` becomes a `sym.rnn_layer` for each layer and direction, with dropout between layers in an
    entry that trains. Where the packed parameters were joined by `sym.rnn_param_concat`, layers read the tensors that went in and nothing is packed; else
    slices of the vector.

        %p = sym.rnn_param_concat %w, %r, %bi, %bh ; %y = sym.rnn %x, %p {mode = "lstm"}
      becomes
        %y, %h, %c = sym.rnn_layer lstm %x, %w, %r, %bi, %bh

    Time stays a loop inside the op, but for an lstm with `projection_size` or a range for c: it becomes the ops of every step
    (RnnSteps), whose gradients are their own.

        %y = sym.rnn %x, %p {lstm_state_clip_min = -1.0, lstm_state_clip_max = 1.0, mode = "lstm"}
      becomes
        %z = sym.fully_connected %x, %w, %bi ; %z0, %z1 = sym.slice_channel %z
        %a0 = sym.fully_connected %h, %r, %bh ; %g0 = sym.elemwise_add %z0, %a0 ; .. %c0 = sym.clip .. ; %h0 = ..
        ..
        %y = sym.concat %h0, %h1

    Where only some of its data and states have rows of the batch (the others are parameters), `sym.own_rows` marks those of the others
    in an entry that trains: replicate does so for parts, and gradients have to sum rows in one order. Not where the layer mixes rows,
    as one whose steps are the rows: a part does that for the whole batch.

    Before gradient, which differentiates layers.
  }];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def Gradient : Pass<"gradient", "::mlir::func::FuncOp"> {
  let summary = "reverse mode, after the forward ops";
  let description = [{
    In an entry marked `sym.training`, walks the ops in reverse program order from the loss heads and lets each add what flows to
    its operands; a parameter's complete gradient is left as `sym.gradient @parameter, %g`. The order of every sum is fixed here
    (docs/numerics.md rules 4 and 8): contributions to a value are added in the order in which they arrive, last consumer
    first; all uses of a weight are one `sym.weight_gradient`, in that order too, summed by shard and then over the tree. Uses by the chunks of
    an op are joined to one use by the whole op; where steps are segments (split-layers) they stay apart for chain-sums, but those of embeddings.

        %y = sym.fully_connected %x, %w, %b        %dx = sym.dot %dy, %w
                                              adds %dw = sym.weight_gradient (%dy), (%x)
                                                   %db = sym.bias_gradient %dy

    `sym.own_rows` and `sym.all_rows` of a net for all rows (unpack-rnn) have said their rows then, and go.

    E0403 at the op through which a parameter trains and which has no gradient.
  }];
  let options = [Option<"shards", "shards", "int64_t", "8", "virtual shards of the batch">,
    Option<"meanLoss", "mean-loss", "bool", "false",
           "where heads differ in what their gradients are divided by (HeadMeasure.h), divide each here; else apply-optimizer divides all">];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def Rematerialise : Pass<"rematerialise", "::mlir::ModuleOp"> {
  let summary = "make again in backward what a recompute group need not keep";
  let description = [{
    In an entry that trains, a forward value that only ops of its own recompute group (`sym.recompute`) read in forward is not kept for
    backward: right before the first op of backward that reads it, what makes it is done once more, from what came into the
    group. Of a recurrent layer these are gates, cells and `before`, which the layer itself then need not store.

        %y, %h, %c, %gates, %cells = sym.rnn_layer lstm x(%x) .. {sym.recompute = "lstm0"}
        ...
        %dg, %dx = sym.rnn_layer_gradient lstm gates(%gates) cells(%cells) y(%y) .. dy(%dy)
      becomes
        %y, %h, %c, %0, %1 = sym.rnn_layer lstm x(%x) ..
        ...
        %2, %3, %4, %gates, %cells = sym.rnn_layer lstm x(%x) .. {sym.recompute = "lstm0"}
        %dg, %dx = sym.rnn_layer_gradient lstm gates(%gates) cells(%cells) y(%y) .. dy(%dy)

    Kept as ever: what comes into a group and what leaves it, outputs of recurrent layers, and values of loss heads. Ops of several
    ctx_groups or stages are groups of their own. A segment of steps (split-layers) is a group through all layers of a stage, and of its recurrent layers
    the outputs that only it reads are made again too. What only a sum over chunks reads (`sym.use_chunks`) is made where the sum's other operands of
    that chunk are. After the pass only what is made again has the attribute; fuse leaves it where it stands.

    Costs at most a second forward of the group. Holds back where a group's inputs are kept for it alone and are no less than what it saves.
    Same bits: the same ops read the same operands, and random numbers belong to an op's ordinal. Right after
    gradient, in all parts of the batch alike. Linear in ops and operands, n log n where a group is large.
  }];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def ChainSums : Pass<"chain-sums", "::mlir::func::FuncOp"> {
  let summary = "sum what the chunks of steps add to a weight's gradient chunk by chunk";
  let description = [{
    Where steps are segments that backward computes again, a sum of one shard over uses by several chunks (`sym.use_chunks`) becomes one op
    per chunk, right after what it adds has been made; each goes on with the sum of the one before (`begin`). So what a chunk gave the sum need
    not be kept until the last one has been differentiated.

        %dw = sym.weight_gradient (%dy1, %dy0), (%x1, %x0)         %a = sym.weight_gradient (%dy1), (%x1)
          {sym.use_chunks = array<i64: 1, 0>}             becomes   ...
                                                                   %dw = sym.weight_gradient (%dy0), (%x0) from %a

    E0402 at a sum over several shards, because each shard would need a sum of its own. Same bits: inside a shard the uses are
    one chain in their order (docs/numerics.md rule 4). Runs after sync-parameters, which says which shards an op sums. Linear in uses.
  }];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def MergeEqualOps : Pass<"merge-equal-ops", "::mlir::ModuleOp"> {
  let summary = "compute once what equal ops make of equal operands";
  let description = [{
    In each entry, of two pure ops that are the same in name, attributes, types and operands the first remains, and the readers of both
    read its results.

        %a = sym.tanh %x ; %b = sym.tanh %x ; %s = sym.elemwise_mul %a, %b
      becomes
        %a = sym.tanh %x ; %s = sym.elemwise_mul %a, %a

    Ops that run on different devices are no pair, nor are an op of forward and one of backward: the value would have to be kept from
    one to the other. What rematerialise makes again stays. Masks of dropout are pairs only if they are one mask: the same ordinal,
    seed, update and elements.

    Same bits: an op is a function of its operands. Runs after gradient, since the gradients of one value are added last reader first, and with one reader
    less that would be another sum; after sync-parameters, which needs the same ops in all parts and says where each runs.
    Before insert-transfers, so that what is made once is sent once. Linear in ops.
  }];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def ApplyOptimizer : Pass<"apply-optimizer", "::mlir::ModuleOp"> {
  let summary = "turn gradients into updates of parameters";
  let description = [{
    Each `sym.gradient` becomes one `sym.fused` that makes the new parameter and the optimizer's state from the old ones, and writes of them. With
    clipping by global norm, `sym.norm_squared` adds all gradients in declared order and one factor scales them; the
    norm before clipping is an output, `gradient_norm`; the norm of a parameter that is marked `report_norm` is one too, `gradient_norm:NAME`. What an update is and keeps is a row of executor/abi/Optimizers.def; where it asks for norms of whole
    parameters, one `sym.fused` makes what they are of, `sym.norm_squared` adds, and a second one makes the parameter. `none` returns the gradients as outputs. Where a gradient is on a device (sync-parameters), so are its update and
    its slots; of a slice, they are of that slice, and the norm goes on from the one before it. All devices update before one gives another what it made.

        sym.gradient @w, %dw
      becomes
        sym.slot @w.momentum of @w "momentum"
        %new:2 = sym.fused %w, %dw, %learning_rate, %m { ... }
        sym.write @w, %new#0 ; sym.write @w.momentum, %new#1

    Runs after gradient and before fuse, which may draw a gradient's last element-wise op in.
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "\"sgd\"", "a row of executor/abi/Optimizers.def, or none">,
    ListOption<"keys", "key", "std::string", "its keys, as in key=beta1=0.8,epsilon=1e-6; the others have their defaults">,
    Option<"wd", "wd", "Real", "0", "weight decay, for names that end in _weight or _gamma">,
    Option<"rescaleGrad", "rescale-grad", "Real", "0", "factor on gradients; 0: 1/batch, or 1 where the heads' gradients are means">,
    Option<"clipGradient", "clip-gradient", "Real", "0", "bound on each element; 0: none">,
    Option<"clipNorm", "clip-norm", "Real", "0", "bound on the global norm; 0: none">,
    Option<"reportNorm", "report-norm", "bool", "true", "make the global norm an output without clipping too">,
  ];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def HoistProjection : Pass<"hoist-projection", "::mlir::ModuleOp"> {
  let summary = "project the inputs of many steps in one product";
  let description = [{
    Gives each `sym.rnn_layer` and `sym.rnn_layer_gradient` its `chunk`: the number of steps whose input projection
    `W x + b` (backward: `dgates W`) is one product before those steps, rather than one small product a step.

        %y, %h, %c = sym.rnn_layer lstm x(%x) w(%w) r(%r) ...               x: [64, 32, 256]
      becomes
        %y, %h, %c = sym.rnn_layer lstm x(%x) w(%w) r(%r) ... {chunk = 6}   6 * 32 = 192 rows

    On a CPU about 200 rows keep a product busy while the projection stays a small part of the cache. On a GPU it is
    all steps, and one for the place of R h where the weights fit on no chip (the target of each device says how many). Costs `chunk * B * G * H` elements of workspace; a chunk that would need more than `max-bytes` is made shorter, and
    left at 1 where even two steps need more. Layers without a chunk run with 1. Sums keep their order (one
    chain per element, ascending), so results have the same bits for every chunk. Linear in ops.
  }];
  let options = [Option<"maxBytes", "max-bytes", "uint64_t", "uint64_t(64) << 20",
                        "largest projection to materialise, in bytes">,
                 ListOption<"devices", "devices", "std::string", "names of the devices; cpu:0 if none is given">];
}

def Fuse : Pass<"fuse", "::mlir::ModuleOp"> {
  let summary = "gather element-wise chains into fused regions";
  let description = [{
    Moves ops that have a ScalarRule into `sym.fused` regions, each of which is carried out as one fused program: every
    intermediate value stays in a tile.

        %0 = sym.sigmoid %f            %c2 = sym.fused(%f, %c, %i) {
        %1 = sym.elemwise_mul %0, %c     ^bb0(...): ... sym.yield
        %c2 = sym.elemwise_add %1, %i  }

    A producer joins its consumers if its result has their shape, so that nothing is computed more than once;
    operands may be broadcast. An op is kept out where a value would have to exist before the rest of the region can run: every op has a
    height above the end of the program, ops of a region share one, and all other edges go down, so that no cycle can arise. Ops
    that do not feed one another are not grouped. A sum of the batch's first parts stays apart from the addition of later ones, so that
    it can be made, and its operands forgotten, before those are there. A region stays below the limits of abi/ScalarOps.h (`max-ops`,
    `max-operands` bound it before instructions are counted; what is too long after all is lowered op by op).
    Transfers keep their order, which counts as one more edge. Same bits with and without: scalar operations do not change, nor does their order. Linear in ops. Runs before lower-to-exec.
  }];
  let options = [Option<"maxOps", "max-ops", "unsigned", "48", "ops in one region">,
                 Option<"maxOperands", "max-operands", "unsigned", "40", "operands and results of one region">];
  let dependentDialects = ["::lstmc::sym::SymDialect"];
}

def LowerToExec : Pass<"lower-to-exec", "::mlir::ModuleOp"> {
  let summary = "one program of kernel launches per entry";
  let description = [{
    Replaces parameters, slots, states and entry functions by one `exec.plan`. Ops say themselves what they launch
    (KernelRule, ScalarRule, sym.fused); the pass knows none of them by name but reads, writes and regions.

        func.func @forward(%x: tensor<8x4xf32> ...) -> (tensor<8x2xf32> ...) {
          %w = sym.read @w : tensor<2x4xf32>
          %y = sym.fully_connected %x, %w ...
          return %y
      becomes
        exec.program "prepare:forward" on 0 { exec.launch "pack"(%w, %packed) ... }
        exec.program "forward" on 0 { exec.launch "product"(%x, %packed, _, %y) ... }

    * A value is a buffer, or a strided view of one where an op only moves an index (reshape, slice, transposition).
    * What depends on parameters alone, in an entry that does not change them, is computed in `prepare:ENTRY` and
      kept: packed weights above all. A value that is much larger than what it is made of is not kept.
    * A value that is only written to a parameter, slot or state is computed after the commit, right into its
      place where nothing reads the old value any more; else it is copied there.
    * On a device whose memory the host does not see an input has a second place, where the caller may put its next value
      while a program reads the present one.
    Linear in ops. Ops with neither rule must be gone.
  }];
  let options = [ListOption<"devices", "devices", "std::string", "names of the devices; cpu:0 if none is given">,
                 Option<"fast", "fast", "std::string", "std::string()", "rules of --fast, joined by +, for the scratch of devices' libraries">,
                 Option<"nextInputs", "next-inputs", "bool", "true", "let inputs have a second place">];
  let dependentDialects = ["::lstmc::exec::ExecDialect"];
}

def Schedule : Pass<"schedule", "::mlir::ModuleOp"> {
  let summary = "order launches so that buffers live for a shorter time, and devices wait less";
  let description = [{
    Moves launches of a program within what their reads and writes allow, and never across the commit: one that
    ends the life of more bytes than it begins goes right after the last launch that it waits for, as do several that do so together because they are
    all that still read a buffer; and one that begins more than it ends goes right before the first that waits for it. The new order stays only if the most bytes that are alive at
    once become fewer.

    Weight gradients so run as soon as their operands are there, and the gradients of the gates die with them. On several devices transfers
    keep their order, and no send waits for a launch that stood after it. In a stage of several, where layers work in chunks, what waits for
    nothing stands before the first receive of a value that its sender has to make: weights are packed while a chunk is on its way, those for backward too. A launch that would
    make the most bytes alive at once more stays where it was.

    On devices of several streams launches that do not wait for one another are then put on different streams of their device, and events say
    which of another stream a launch waits for: as few as there can be, so that none follows from the others. Transfers stay on stream 0, in their order.
    The target of a device says how many streams it has, unless `streams` does.

    Results do not depend on it. Linear in launches and operands; in such a stage, times the launches that wait for nothing.
  }];
  let options = [Option<"streams", "streams", "unsigned", "0", "streams of each device, at most 8; 0: as its target chooses">];
  let dependentDialects = ["::lstmc::exec::ExecDialect"];
}

def PlanMemory : Pass<"plan-memory", "::mlir::ModuleOp"> {
  let summary = "give every buffer its offset";
  let description = [{
    Lays the buffers that keep their contents one after the other at the start of each device's arena, and after them one
    region for the others, which all entries use in turn: it is as large as the largest needs.

    * In place: an output takes the memory of an input whose last use this launch is, if the kernel's record allows it (`out=x`, and
      fused programs element for element) and both are the same view of elements of one size.
    * Sharing: buffers that are never alive at once may overlap (Placement.h).
    * Parameters, auxiliaries, optimizer slots and states come first of what is kept, so that the plans of one net for several
      lengths have them at the same offsets and can use one arena in turn (buckets, design note 020).
    * Packed weights that only entries read which change no parameters come last of what is kept: entries that do change
      some may use their memory, since what prepares the others then runs again.
    * What prepare:ENTRY needs lies after the inputs of ENTRY, which may have been given before it runs.
    A buffer lives from the first launch to the last that touches it. On several streams two buffers share memory if besides all that touch the
    one come after all that touch the other, by streams and events: so the scratch of all launches of a stream is one piece of memory. Every offset is a multiple of abi/Packing.h's kAlignment; bytes are real bytes of the dtype. n log n, and n^2 up to 3,000 buffers
    of a program, where that gives smaller plans.
  }];
  let options = [Option<"inPlace", "in-place", "bool", "true", "let outputs take their inputs' memory">,
                 Option<"sharing", "sharing", "bool", "true", "let buffers overlap that are never alive at once">];
  let dependentDialects = ["::lstmc::exec::ExecDialect"];
}

def ValidatePlan : Pass<"validate-plan", "::mlir::ModuleOp"> {
  let summary = "prove the memory plan, independently of how it was made";
  let description = [{
    Runs every program over a picture of the arena in which each byte has the buffer that wrote it last. Fails
    when a launch reads bytes that are not its buffer's own (never written, or taken by another), writes over
    another operand but where the kernel's record allows it, writes a parameter, optimizer slot or state before the commit, or writes what
    is the caller's; when a program ends and something that persists is not whole; when two launches on different streams touch the same
    byte, one writing it, and no events say which comes first; and when an offset is unaligned or outside
    the arena. Shares no code with plan-memory. n log n.
  }];
  let dependentDialects = ["::lstmc::exec::ExecDialect"];
}

def LowerToPackage : Pass<"lower-to-package", "::mlir::ModuleOp"> {
  let summary = "write the plan as package data";
  let description = [{
    Turns an `exec.plan` with offsets into the tables of executor/abi/Package.fbs: locations, buffers, launches,
    fused programs, parameters with the launch that gives them their first value; and what the module's attributes `sym.package`,
    `sym.packed` and `sym.input_ranges` hold, which are removed. Bytes depend on the module alone. On the
    command line the package's size and SHA-256 are left on the plan as `package_bytes` and `package_sha256`.

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

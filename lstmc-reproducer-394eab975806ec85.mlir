// lstmc opt --run-reproducer FILE
#loc1 = loc("/tmp/nr/5023.lnet":1:9)
#loc2 = loc("/tmp/nr/5023.lnet":1:30)
#loc5 = loc(fused<#sym.range<8, 9, 9, "">>[#loc1])
#loc6 = loc(fused<#sym.range<29, 9, 9, "">>[#loc2])
"builtin.module"() ({
  "func.func"() <{arg_attrs = [{sym.name = "k16_label", sym.role = "label"}, {sym.name = "n25_label", sym.role = "label"}], function_type = (tensor<1xi32>, tensor<33x33xf32>) -> (tensor<1xf32>, tensor<33x33xf32>), res_attrs = [{sym.name = "n17_output"}, {sym.name = "n25_label"}], sym_name = "net"}> ({
  ^bb0(%arg0: tensor<1xi32> loc(fused<#sym.range<8, 9, 9, "">>[#loc1]), %arg1: tensor<33x33xf32> loc(fused<#sym.range<29, 9, 9, "">>[#loc2])):
    %0 = "sym.variable"() <{init = ["uniform", {scale = 0.69999999999999996 : f64}], name = "p3_0", role = "parameter"}> : () -> tensor<1xf32> loc(#loc7)
    %1 = "sym.logistic_regression_output"(%0, %arg0) <{grad_scale = 1.000000e+00 : f64}> {sym.name = "n17"} : (tensor<1xf32>, tensor<1xi32>) -> tensor<1xf32> loc(#loc8)
    "func.return"(%1, %arg1) : (tensor<1xf32>, tensor<33x33xf32>) -> () loc(#loc)
  }) : () -> () loc(#loc)
}) : () -> () loc(#loc)
#loc = loc(unknown)
#loc3 = loc("/tmp/nr/5023.lnet":2:12)
#loc4 = loc("/tmp/nr/5023.lnet":3:11)
#loc7 = loc(fused<#sym.range<69, 8, 8, "">>[#loc3])
#loc8 = loc(fused<#sym.range<133, 24, 24, "">>[#loc4])

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(replicate{accumulate=2  replicas=1 shards=8},make-entries{   scores=false shards=8},func.func(unpack-rnn),place-devices{  stages=1},func.func(split-layers{chunks=0 segments=0},gradient{mean-loss=true shards=8}),rematerialise,sync-parameters{big-array-bound=1000000 bucket-bytes=65536 local=true stages=1 threshold=0.000000e+00 update-on-store=true workers=0},func.func(chain-sums),merge-equal-ops,apply-optimizer{clip-gradient=0.000000e+00 clip-norm=0.000000e+00  optimizer=sgd report-norm=true rescale-grad=0.000000e+00 wd=0.000000e+00},insert-transfers,hoist-projection{devices=cpu:0 max-bytes=67108864},fuse{max-operands=40 max-ops=48},lower-to-exec{devices=cpu:0},schedule{streams=1},plan-memory{in-place=true sharing=true},validate-plan,lower-to-package)",
      disable_threading: true,
      verify_each: true
    }
  }
#-}


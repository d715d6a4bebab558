// RUN: lstmc opt %s --replicate=replicas=2 --make-entries=entries=step --gradient --sync-parameters="big-array-bound=5000 bucket-bytes=1024" \
// RUN:   | FileCheck %s --check-prefix=SLICES
// RUN: lstmc opt %s --replicate=replicas=2 --make-entries=entries=step --gradient --sync-parameters="local=true big-array-bound=5000 bucket-bytes=1024" \
// RUN:   | FileCheck %s --check-prefix=LOCAL
// RUN: lstmc opt %s --replicate=replicas=2 --make-entries=entries=step --gradient --sync-parameters="big-array-bound=5000" \
// RUN:   --apply-optimizer="optimizer=adam clip-norm=1.0" | FileCheck %s --check-prefix=UPDATE

// A large array is added and updated in slices, each on one device; slices end between tiles of the norm. Small arrays at the end,
// b and v, are sent as one array.
// SLICES: sym.parameter @w {{.*}}sym.devices = array<i64: 0, 1>
// SLICES-LABEL: func.func @step(
// SLICES-DAG: %[[W0:.+]] = sym.reshape %{{.+}} {shape = array<i64: 5000>, sym.device = 0 : i64} : (tensor<100x50xf32>)
// SLICES-DAG: %[[W1:.+]] = sym.reshape %{{.+}} {shape = array<i64: 5000>, sym.device = 1 : i64} : (tensor<100x50xf32>)
// SLICES-DAG: %[[A0:.+]] = sym.slice_axis %[[W0]] {axis = 0 : i64, begin = 0 : i64, end = 4096 : i64, sym.device = 0 : i64}
// SLICES-DAG: %[[A1:.+]] = sym.slice_axis %[[W1]] {axis = 0 : i64, begin = 0 : i64, end = 4096 : i64, sym.device = 1 : i64}
// SLICES-DAG: %[[A:.+]] = sym.elemwise_add %[[A0]], %[[A1]] {sym.aggregate, sym.device = 0 : i64, sym.name = "aggregate"} : (tensor<4096xf32>
// SLICES-DAG: %[[B:.+]] = sym.elemwise_add %{{.+}}, %{{.+}} {sym.aggregate, sym.device = 1 : i64, sym.name = "aggregate"} : (tensor<904xf32>
// SLICES-DAG: %[[C0:.+]] = sym.concat %{{.+}}, %{{.+}} {dim = 0 : i64, sym.device = 0 : i64} : (tensor<2xf32>, tensor<200xf32>) -> tensor<202xf32>
// SLICES-DAG: %[[C1:.+]] = sym.concat %{{.+}}, %{{.+}} {dim = 0 : i64, sym.device = 1 : i64} : (tensor<2xf32>, tensor<200xf32>) -> tensor<202xf32>
// SLICES-DAG: %[[C:.+]] = sym.elemwise_add %[[C0]], %[[C1]] {{.*}}sym.name = "aggregate"} : (tensor<202xf32>
// SLICES-DAG: sym.gradient @w from 0, %[[A]] : tensor<4096xf32> {sym.device = 0 : i64, sym.devices = array<i64: 0, 1>}
// SLICES-DAG: sym.gradient @w from 4096, %[[B]] : tensor<904xf32> {sym.device = 1 : i64, sym.devices = array<i64: 0, 1>}

// One device adds all gradients: nothing is cut.
// LOCAL-NOT: sym.gradient @w from
// LOCAL: sym.elemwise_add {{.*}}sym.name = "aggregate"} : (tensor<100x50xf32>
// LOCAL: sym.gradient @w, %{{.+}} : tensor<100x50xf32> {sym.device = 0 : i64, sym.devices = array<i64: 0, 1>}

// Each device has its slice of the slots. All update before they exchange the results. The norm is passed on from slice to slice.
// UPDATE: sym.slot @w.mean of @w "mean" : tensor<100x50xf32> {slices = array<i64: 4096, 904>, sym.devices = array<i64: 0, 1>}
// UPDATE-LABEL: func.func @step(
// UPDATE: %[[N:.+]] = sym.norm_squared %{{.+}} {sym.device = 0 : i64} : (tensor<4096xf32>) -> tensor<1xf64>
// UPDATE: sym.norm_squared %{{.+}} from %[[N]] : tensor<1xf64> {sym.device = 1 : i64} : (tensor<904xf32>) -> tensor<1xf64>
// UPDATE: sym.read @w from 0 : tensor<4096xf32> {sym.device = 0 : i64}
// UPDATE: sym.read @w.mean : tensor<4096xf32> {sym.device = 0 : i64}
// UPDATE: sym.write @w.mean, %{{.+}} : tensor<4096xf32> {sym.device = 0 : i64}
// UPDATE: sym.read @w from 4096 : tensor<904xf32> {sym.device = 1 : i64}
// UPDATE: sym.write @w.mean, %{{.+}} : tensor<904xf32> {sym.device = 1 : i64}
// UPDATE: sym.write @w from 0, %[[A:.+]] : tensor<4096xf32> {sym.device = 0 : i64}
// UPDATE: sym.write @w from 0, %[[A]] : tensor<4096xf32> {sym.device = 1 : i64}
// UPDATE: sym.write @w from 4096, %[[B:.+]] : tensor<904xf32> {sym.device = 0 : i64}
// UPDATE: sym.write @w from 4096, %[[B]] : tensor<904xf32> {sym.device = 1 : i64}
// UPDATE-LABEL: func.func @init(
// UPDATE-NOT: @w.mean
func.func @net(%x: tensor<8x50xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"},
               %l: tensor<8x2xf32> {sym.dims = ["batch", ""], sym.name = "l", sym.role = "label"}) -> tensor<8x2xf32> {
  %w = sym.variable {name = "w"} : tensor<100x50xf32>
  %v = sym.variable {name = "v"} : tensor<2x100xf32>
  %b = sym.variable {name = "b"} : tensor<2xf32>
  %0 = sym.fully_connected %x, %w {no_bias = true, num_hidden = 100 : i64} : (tensor<8x50xf32>, tensor<100x50xf32>) -> tensor<8x100xf32>
  %1 = sym.fully_connected %0, %v, %b {num_hidden = 2 : i64} : (tensor<8x100xf32>, tensor<2x100xf32>, tensor<2xf32>) -> tensor<8x2xf32>
  %2 = sym.linear_regression_output %1, %l : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  return %2 : tensor<8x2xf32>
}

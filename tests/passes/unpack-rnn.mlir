// RUN: lstmc opt %s --unpack-rnn | FileCheck %s

// T=5, N=2, I=8, H=3. Layers read the tensors that were packed, so the packing is dead. An entry that trains keeps gates and
// cells for backward; the final states of the layers are concatenated.
// CHECK-LABEL: func @joined
//  CHECK-SAME:   (%[[X:.+]]: tensor<5x2x8xf32>, %[[N:.+]]: tensor<2xi32>, %[[W0:[^:]+]]: tensor<12x8xf32>, %[[R0:[^:]+]]: tensor<12x3xf32>,
//  CHECK-SAME:    %[[W1:[^:]+]]: tensor<12x3xf32>, %[[R1:[^:]+]]: tensor<12x3xf32>, %[[BI0:[^:]+]]: tensor<12xf32>, %[[BH0:[^:]+]]: tensor<12xf32>,
//  CHECK-SAME:    %[[BI1:[^:]+]]: tensor<12xf32>, %[[BH1:[^:]+]]: tensor<12xf32>)
//       CHECK:   %[[Y0:.+]], %[[H0:.+]], %[[C0:.+]], %gates, %cells = "sym.rnn_layer"(%[[X]], %[[W0]], %[[R0]], %[[BI0]], %[[BH0]], %[[N]])
//  CHECK-SAME:     mode = "lstm"{{.*}}reverse = false
//  CHECK-NEXT:   %[[Y1:.+]], %[[H1:.+]], %[[C1:.+]], %{{.+}}, %{{.+}} = "sym.rnn_layer"(%[[Y0]], %[[W1]], %[[R1]], %[[BI1]], %[[BH1]], %[[N]])
//   CHECK-DAG:   %[[H0X:.+]] = sym.reshape %[[H0]]
//   CHECK-DAG:   %[[H1X:.+]] = sym.reshape %[[H1]]
//   CHECK-DAG:   %[[C0X:.+]] = sym.reshape %[[C0]]
//   CHECK-DAG:   %[[C1X:.+]] = sym.reshape %[[C1]]
//   CHECK-DAG:   %[[H:.+]] = sym.concat %[[H0X]], %[[H1X]] {dim = 0 : i64}
//   CHECK-DAG:   %[[C:.+]] = sym.concat %[[C0X]], %[[C1X]] {dim = 0 : i64}
//       CHECK:   return %[[Y1]], %[[H]], %[[C]]
!b = tensor<12xf32>
!r = tensor<12x3xf32>
!s = tensor<2x2x3xf32>
func.func @joined(%x: tensor<5x2x8xf32>, %n: tensor<2xi32>, %w0: tensor<12x8xf32>, %r0: !r, %w1: !r, %r1: !r,
                  %bi0: !b, %bh0: !b, %bi1: !b, %bh1: !b) -> (tensor<5x2x3xf32>, !s, !s) attributes {sym.training} {
  %p = sym.rnn_param_concat %w0, %r0, %w1, %r1, %bi0, %bh0, %bi1, %bh1 {dim = 0 : i64}
     : (tensor<12x8xf32>, !r, !r, !r, !b, !b, !b, !b) -> tensor<252xf32>
  %y, %h, %c = sym.rnn %x, %p length %n
       {mode = "lstm", num_layers = 2 : i64, state_outputs = true, state_size = 3 : i64, use_sequence_length = true}
     : (tensor<5x2x8xf32>, tensor<252xf32>, tensor<2xi32>) -> (tensor<5x2x3xf32>, !s, !s)
  return %y, %h, %c : tensor<5x2x3xf32>, !s, !s
}

// A packed vector is sliced. gru, H=3: W is 9x8 = 72 numbers, R 9x3 = 27, so the backward direction's begin at 99 and all
// biases, 9 each, at 198. Each direction has its row of the state; outputs are concatenated.
// CHECK-LABEL: func @packed
//  CHECK-SAME:   (%[[X:.+]]: tensor<5x2x8xf32>, %[[H0:.+]]: tensor<2x2x3xf32>, %[[P:.+]]: tensor<234xf32>)
//   CHECK-DAG:   %[[W:.+]] = sym.slice_axis %[[P]] {axis = 0 : i64, begin = 0 : i64, end = 72 : i64}
//   CHECK-DAG:   sym.slice_axis %[[P]] {axis = 0 : i64, begin = 72 : i64, end = 99 : i64}
//   CHECK-DAG:   %[[BI:.+]] = sym.slice_axis %[[P]] {axis = 0 : i64, begin = 198 : i64, end = 207 : i64}
//   CHECK-DAG:   %[[BH:.+]] = sym.slice_axis %[[P]] {axis = 0 : i64, begin = 207 : i64, end = 216 : i64}
//   CHECK-DAG:   sym.slice_axis %[[H0]] {axis = 0 : i64, begin = 0 : i64, end = 1 : i64}
//       CHECK:   %[[F:.+]], %{{.+}} = "sym.rnn_layer"(%[[X]], %{{.+}}, %{{.+}}, %[[BI]], %[[BH]], %{{.+}}){{.*}}mode = "gru"{{.*}}reverse = false
//   CHECK-DAG:   sym.slice_axis %[[P]] {axis = 0 : i64, begin = 99 : i64, end = 171 : i64}
//   CHECK-DAG:   sym.slice_axis %[[P]] {axis = 0 : i64, begin = 171 : i64, end = 198 : i64}
//   CHECK-DAG:   sym.slice_axis %[[P]] {axis = 0 : i64, begin = 216 : i64, end = 225 : i64}
//   CHECK-DAG:   sym.slice_axis %[[P]] {axis = 0 : i64, begin = 225 : i64, end = 234 : i64}
//   CHECK-DAG:   sym.slice_axis %[[H0]] {axis = 0 : i64, begin = 1 : i64, end = 2 : i64}
//       CHECK:   %[[B:.+]], %{{.+}} = "sym.rnn_layer"(%[[X]], {{.*}}reverse = true
//       CHECK:   %[[Y:.+]] = sym.concat %[[F]], %[[B]] {dim = 2 : i64}
//       CHECK:   return %[[Y]]
func.func @packed(%x: tensor<5x2x8xf32>, %h0: !s, %p: tensor<234xf32>) -> tensor<5x2x6xf32> {
  %y, %h = sym.rnn %x, %p state %h0
       {bidirectional = true, mode = "gru", num_layers = 1 : i64, state_outputs = true, state_size = 3 : i64}
     : (tensor<5x2x8xf32>, tensor<234xf32>, !s) -> (tensor<5x2x6xf32>, !s)
  return %y : tensor<5x2x6xf32>
}

// An lstm with a projection or a range for c is written out. T=2, I=8, H=3, P=2: W is 12x8 = 96 numbers, R 12x2 = 24 and W_h2r 2x3 = 6,
// so the biases begin at 126. W x + bi is one product for all steps; the backward direction would begin at the last one.
// CHECK-LABEL: func @steps
//  CHECK-SAME:   (%[[X:.+]]: tensor<2x5x8xf32>, %[[C0:.+]]: tensor<1x5x3xf32>, %[[P:.+]]: tensor<150xf32>)
//   CHECK-DAG:   sym.slice_axis %[[P]] {axis = 0 : i64, begin = 96 : i64, end = 120 : i64}
//   CHECK-DAG:   sym.slice_axis %[[P]] {axis = 0 : i64, begin = 120 : i64, end = 126 : i64}
//   CHECK-DAG:   sym.slice_axis %[[P]] {axis = 0 : i64, begin = 126 : i64, end = 138 : i64}
//       CHECK:   %[[Z:.+]] = sym.fully_connected %[[X]], {{.*}}called = "RNN"{{.*}} -> tensor<2x5x12xf32>
//       CHECK:   %[[Z01:.+]]:2 = sym.slice_channel %[[Z]] {{.*}}squeeze_axis = true{{.*}} -> (tensor<5x12xf32>, tensor<5x12xf32>)
//       CHECK:   %[[H:.+]] = sym.zeros_like %{{.*}} : (tensor<5x2xf32>) -> tensor<5x2xf32>
//       CHECK:   %[[ZERO:.+]] = sym.zeros_like %{{.*}} : (tensor<5x3xf32>) -> tensor<5x3xf32>
//       CHECK:   %[[C:.+]] = sym.elemwise_add %[[ZERO]], %{{.+}} {
//       CHECK:   %[[A:.+]] = sym.fully_connected %[[H]], %{{.+}}, %{{.+}} {{.*}} -> tensor<5x12xf32>
//       CHECK:   %[[G:.+]] = sym.elemwise_add %[[Z01]]#0, %[[A]]
//       CHECK:   %[[IFGO:.+]]:4 = sym.slice_channel %[[G]]
//       CHECK:   %[[F:.+]] = sym.sigmoid %[[IFGO]]#1
//       CHECK:   sym.elemwise_mul %[[F]], %[[C]]
//       CHECK:   %[[C1:.+]] = sym.clip %{{.*}} {a_max = 5.000000e-01 : f64, a_min = -2.500000e-01 : f64
//       CHECK:   sym.tanh %[[C1]]
//       CHECK:   %[[H1:.+]] = sym.fully_connected %{{.*}} {{.*}}no_bias = true{{.*}} -> tensor<5x2xf32>
//       CHECK:   sym.fully_connected %[[H1]], {{.*}} -> tensor<5x12xf32>
//       CHECK:   %[[C2:.+]] = sym.clip
//       CHECK:   %[[Y:.+]] = sym.concat {{.*}}sym.name = "y"} : (tensor<1x5x2xf32>, tensor<1x5x2xf32>) -> tensor<2x5x2xf32>
//       CHECK:   %[[CN:.+]] = sym.reshape %[[C2]]
//       CHECK:   return %[[Y]], %[[CN]]
func.func @steps(%x: tensor<2x5x8xf32>, %c0: tensor<1x5x3xf32>, %p: tensor<150xf32>) -> (tensor<2x5x2xf32>, tensor<1x5x3xf32>) {
  %y, %h, %c = sym.rnn %x, %p cell %c0
       {lstm_state_clip_max = 0.5, lstm_state_clip_min = -0.25, mode = "lstm", num_layers = 1 : i64, projection_size = 2 : i64,
        state_outputs = true, state_size = 3 : i64, sym.name = "y"}
     : (tensor<2x5x8xf32>, tensor<150xf32>, tensor<1x5x3xf32>) -> (tensor<2x5x2xf32>, tensor<1x5x2xf32>, tensor<1x5x3xf32>)
  return %y, %c : tensor<2x5x2xf32>, tensor<1x5x3xf32>
}

// Its unrolled steps have rows of the batch in a parameter too, as in a part of the batch.
// CHECK-LABEL: func @of_a_parameter
//       CHECK:   %[[X:.+]] = sym.read @x
//       CHECK:   %[[OWN:.+]] = sym.own_rows %[[X]] {axis = 1 : i64, batch = 5 : i64, inner = 1 : i64, outer = 1 : i64}
//       CHECK:   sym.fully_connected %[[OWN]],
func.func @of_a_parameter(%c0: tensor<1x5x3xf32> {sym.dims = ["", "batch", ""], sym.name = "c0", sym.role = "data"}) -> tensor<2x5x2xf32> attributes {sym.training} {
  %x = sym.read @x : tensor<2x5x8xf32>
  %p = sym.read @p : tensor<150xf32>
  %y = sym.rnn %x, %p cell %c0 {mode = "lstm", num_layers = 1 : i64, projection_size = 2 : i64, state_size = 3 : i64, sym.name = "y"}
     : (tensor<2x5x8xf32>, tensor<150xf32>, tensor<1x5x3xf32>) -> tensor<2x5x2xf32>
  return %y : tensor<2x5x2xf32>
}

// If the steps are the rows, a part runs the layer on the whole batch, without rows in its states.
// CHECK-LABEL: func @steps_are_rows
//   CHECK-NOT:   sym.own_rows
func.func @steps_are_rows(%x: tensor<2x5x8xf32> {sym.dims = ["batch", "", ""], sym.name = "x", sym.role = "data"}) -> tensor<2x5x2xf32> attributes {sym.training} {
  %c0 = sym.read @c0 : tensor<1x5x3xf32>
  %p = sym.read @p : tensor<150xf32>
  %y = sym.rnn %x, %p cell %c0 {mode = "lstm", num_layers = 1 : i64, projection_size = 2 : i64, state_size = 3 : i64, sym.name = "y"}
     : (tensor<2x5x8xf32>, tensor<150xf32>, tensor<1x5x3xf32>) -> tensor<2x5x2xf32>
  return %y : tensor<2x5x2xf32>
}

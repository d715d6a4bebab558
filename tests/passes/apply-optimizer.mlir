// RUN: lstmc opt %s --apply-optimizer="report-norm=false" | FileCheck %s --check-prefix=SGD
// RUN: lstmc opt %s --apply-optimizer="key=momentum=0.9 wd=0.1 clip-gradient=2 report-norm=false" | FileCheck %s --check-prefix=MOMENTUM
// RUN: lstmc opt %s --apply-optimizer="clip-norm=0.5" | FileCheck %s --check-prefix=NORM
// RUN: lstmc opt %s --apply-optimizer="optimizer=adam report-norm=false" | FileCheck %s --check-prefix=ADAM
// RUN: lstmc opt %s --apply-optimizer="optimizer=nadam key=beta1=0.8,schedule_decay=0.01 report-norm=false" | FileCheck %s --check-prefix=NADAM
// RUN: lstmc opt %s --apply-optimizer="optimizer=lamb key=bias_correction=0,upper_bound=10 wd=0.1 report-norm=false" | FileCheck %s --check-prefix=LAMB
// RUN: (lstmc opt %s --apply-optimizer="optimizer=ada" || true) 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: (lstmc opt %s --apply-optimizer="key=beta1=0.5" || true) 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: lstmc opt %s --apply-optimizer="optimizer=none" | FileCheck %s --check-prefix=NONE

!w = tensor<4x3xf32>
!b = tensor<4xf32>
sym.parameter @fc_weight : !w
sym.parameter @fc_bias : !b

// Parameters are updated in declared order, whatever the order of their gradients. Plain gradient descent: w - rate * g.
// SGD-LABEL: func @step
// SGD-SAME:    (%[[G:.+]]: tensor<4x3xf32> {{.*}}, %[[D:.+]]: tensor<4xf32> {{.*}}, %[[RATE:.+]]: tensor<1xf32>
// SGD:         %[[W:.+]] = sym.read @fc_weight
// SGD-NEXT:    %[[NEW:.+]] = sym.fused %[[W]], %[[G]], %[[RATE]] :
// SGD-NEXT:    ^bb0(%[[w:.+]]: f32, %[[g:.+]]: f32, %[[rate:.+]]: f32):
// SGD-NEXT:      %[[move:.+]] = sym.scalar mul %[[rate]], %[[g]]
// SGD-NEXT:      %[[new:.+]] = sym.scalar sub %[[w]], %[[move]]
// SGD-NEXT:      sym.yield %[[new]]
// SGD:         sym.write @fc_weight, %[[NEW]]
// SGD:         sym.fused %{{.+}}, %[[D]], %[[RATE]]
// SGD:         sym.write @fc_bias
// SGD-NOT:     sym.gradient

// m' = momentum * m - rate * wd * w - rate * g, w' = w + m'. Weight decay is for weights, not for biases.
// MOMENTUM:      sym.slot @fc_weight.momentum of @fc_weight "momentum" : tensor<4x3xf32>
// MOMENTUM-NEXT: sym.slot @fc_bias.momentum of @fc_bias "momentum" : tensor<4xf32>
// MOMENTUM-LABEL: func @step
// MOMENTUM:      ^bb0(%[[w:.+]]: f32, %[[g:.+]]: f32, %[[rate:.+]]: f32, %[[m:.+]]: f32):
// MOMENTUM:        %[[low:.+]] = sym.scalar min %[[g]],
// MOMENTUM:        %[[bound:.+]] = sym.scalar max %[[low]],
// MOMENTUM:        %[[move:.+]] = sym.scalar mul %[[rate]], %[[bound]]
// MOMENTUM:        %[[kept:.+]] = sym.scalar mul %{{.+}}, %[[m]]
// MOMENTUM:        %[[wd:.+]] = sym.scalar constant {immediate = 1.000000e-01 : f64}
// MOMENTUM-NEXT:   %[[rwd:.+]] = sym.scalar mul %[[rate]], %[[wd]]
// MOMENTUM-NEXT:   %[[decay:.+]] = sym.scalar mul %[[rwd]], %[[w]]
// MOMENTUM-NEXT:   %[[less:.+]] = sym.scalar sub %[[kept]], %[[decay]]
// MOMENTUM-NEXT:   %[[m2:.+]] = sym.scalar sub %[[less]], %[[move]]
// MOMENTUM-NEXT:   %[[w2:.+]] = sym.scalar add %[[w]], %[[m2]]
// MOMENTUM-NEXT:   sym.yield %[[w2]], %[[m2]]
// MOMENTUM:      sym.write @fc_weight.momentum
// MOMENTUM-NOT:    1.000000e-01
// MOMENTUM:      sym.write @fc_bias.momentum

// One norm over all gradients, in declared order; one factor for all of them.
// NORM-LABEL: func @step
// NORM-SAME:    (%[[G:.+]]: tensor<4x3xf32> {{.*}}, %[[D:.+]]: tensor<4xf32> {{.*}}) -> (tensor<1xf64> {sym.name = "gradient_norm"
// NORM:         %[[N:.+]] = sym.norm_squared %[[G]], %[[D]]
// NORM-NEXT:    %[[F:.+]]:2 = sym.fused %[[N]]
// NORM:         sym.fused %{{.+}}, %[[G]], %{{.+}}, %[[F]]#1
// NORM:         sym.fused %{{.+}}, %[[D]], %{{.+}}, %[[F]]#1
// NORM:         return %[[F]]#0

// mean' = beta1 * mean + (1 - beta1) * g, variance' the same of g * g, w' = w - rate * mean' / (sqrt(variance') + epsilon). The
// loop corrects the bias of both through the rate, as MXNet does.
// ADAM:      sym.slot @fc_weight.mean of @fc_weight "mean"
// ADAM-NEXT: sym.slot @fc_weight.variance of @fc_weight "variance"
// ADAM:      ^bb0(%[[w:.+]]: f32, %[[g:.+]]: f32, %[[rate:.+]]: f32, %[[mean:.+]]: f32, %[[var:.+]]: f32):
// ADAM:        %[[a:.+]] = sym.scalar mul %{{.+}}, %[[mean]]
// ADAM:        %[[b:.+]] = sym.scalar mul %{{.+}}, %[[g]]
// ADAM-NEXT:   %[[mean2:.+]] = sym.scalar add %[[a]], %[[b]]
// ADAM:        %[[c:.+]] = sym.scalar mul %{{.+}}, %[[var]]
// ADAM:        %[[gg:.+]] = sym.scalar mul %[[g]], %[[g]]
// ADAM:        %[[d:.+]] = sym.scalar mul %{{.+}}, %[[gg]]
// ADAM-NEXT:   %[[var2:.+]] = sym.scalar add %[[c]], %[[d]]
// ADAM-NEXT:   %[[root:.+]] = sym.scalar sqrt %[[var2]]
// ADAM:        %[[under:.+]] = sym.scalar add %[[root]],
// ADAM-NEXT:   %[[over:.+]] = sym.scalar mul %[[rate]], %[[mean2]]
// ADAM-NEXT:   %[[move:.+]] = sym.scalar div %[[over]], %[[under]]
// ADAM-NEXT:   %[[w2:.+]] = sym.scalar sub %[[w]], %[[move]]
// ADAM-NEXT:   sym.yield %[[w2]], %[[mean2]], %[[var2]]
// ADAM:      sym.write @fc_weight.mean
// ADAM:      sym.write @fc_weight.variance
// ADAM:      sym.write @fc_weight,

// Values that the training loop computes once per update are scalars of the entry, shared by all parameters.
// NADAM-LABEL: func @step
// NADAM-SAME:    %[[RATE:[a-z0-9]+]]: tensor<1xf32> {sym.name = "learning_rate"
// NADAM-SAME:    %[[G:[a-z0-9]+]]: tensor<1xf64> {sym.name = "optimizer.g_share", sym.role = "scalar"}, %[[M:[a-z0-9]+]]: tensor<1xf64> {sym.name = "optimizer.m_share", sym.role = "scalar"}, %[[V:[a-z0-9]+]]: tensor<1xf64> {sym.name = "optimizer.v_share", sym.role = "scalar"})
// NADAM:         sym.fused %{{.+}}, %{{.+}}, %[[RATE]], %{{.+}}, %{{.+}}, %[[G]], %[[M]], %[[V]]
// NADAM:         sym.scalar constant {immediate = 8.000000e-01 : f64}
// NADAM:         sym.fused %{{.+}}, %{{.+}}, %[[RATE]], %{{.+}}, %{{.+}}, %[[G]], %[[M]], %[[V]]

// The move is computed first, then the norms of parameter and move, then the parameter.
// LAMB-LABEL: func @step
// LAMB:         %[[W:.+]] = sym.read @fc_weight
// LAMB:         %[[MOVE:.+]]:3 = sym.fused %[[W]],
// LAMB:         sym.write @fc_weight.mean, %[[MOVE]]#1
// LAMB:         sym.write @fc_weight.variance, %[[MOVE]]#2
// LAMB:         %[[SW:.+]] = sym.norm_squared %[[W]]
// LAMB:         %[[SM:.+]] = sym.norm_squared %[[MOVE]]#0
// LAMB:         %[[N:.+]]:2 = sym.fused %[[SW]], %[[SM]] : (tensor<1xf64>, tensor<1xf64>) -> (tensor<1xf32>, tensor<1xf32>)
// LAMB:         %[[NEW:.+]] = sym.fused %[[W]], %{{.+}}, %[[N]]#0, %[[MOVE]]#0, %[[N]]#1
// LAMB:           sym.scalar constant {immediate = 1.000000e+01 : f64}
// LAMB-NEXT:      sym.scalar min
// LAMB:         sym.write @fc_weight, %[[NEW]]

// UNKNOWN: error: no optimizer is named "ada"
// KEY: error: optimizer "sgd" takes no key "beta1=0.5"

// NONE-LABEL: func @step
// NONE-SAME:    (%[[G:.+]]: tensor<4x3xf32> {{.*}}, %[[D:.+]]: tensor<4xf32> {{.*}}) -> (tensor<4x3xf32> {sym.name = "gradient:fc_weight"
// NONE-NEXT:    return %[[G]], %[[D]]
func.func @step(%g: !w {sym.name = "g", sym.role = "data"}, %d: !b {sym.name = "d", sym.role = "data"},
                %rate: tensor<1xf32> {sym.name = "learning_rate", sym.role = "scalar"},
                %update: tensor<1xi64> {sym.name = "update", sym.role = "scalar"}) attributes {sym.training} {
  sym.gradient @fc_bias, %d : !b
  sym.gradient @fc_weight, %g : !w
  return
}

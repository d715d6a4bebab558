"""One peer of the benchmark, as a worker: reads {"cell", "what", "seconds"} lines, answers
{"times_ms"}.

usage: peer.py torch|ort|jax THREADS

Shapes are [T, B, I = H] of cells.json; weights are random; everything is f32. `infer` is one
forward call, `stream` one step of batch 1 whose state is fed back, `train` forward, backward and
weight gradients. The cell "char-lm" is a whole update of samples/char_lm.lnet's network. The answer
{"times_ms": null} means that the peer cannot do it.
"""
import json
import os
import sys
import time

peer, threads = sys.argv[1], int(sys.argv[2])
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = str(threads)
os.environ["XLA_FLAGS"] = (
    "--xla_cpu_multi_thread_eigen=true intra_op_parallelism_threads=%d" % threads)


def measure(call, seconds):
    for _ in range(3):
        call()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return times


def torch_char_lm(T, B, H, L):
    """samples/char_lm.lnet in PyTorch: one update, with carried state."""
    import torch

    symbols = 65
    embed, lstm, decoder = (torch.nn.Embedding(symbols, H), torch.nn.LSTM(H, H, L),
                            torch.nn.Linear(H, symbols))
    parameters = [p for module in (embed, lstm, decoder) for p in module.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=0.002)
    data, label = torch.randint(symbols, (T, B)), torch.randint(symbols, (T * B,))
    carried = [(torch.zeros(L, B, H), torch.zeros(L, B, H))]

    def update():
        optimizer.zero_grad()
        y, state = lstm(embed(data), carried[0])
        carried[0] = tuple(s.detach() for s in state)
        torch.nn.functional.cross_entropy(decoder(y).reshape(-1, symbols), label).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 5.0)
        optimizer.step()

    return update


def torch_call(what, T, B, H, L, cell):
    import torch

    torch.set_num_threads(threads)
    if cell == "char-lm":
        return torch_char_lm(T, B, H, L)
    if what == "stream":
        cell = torch.nn.LSTMCell(H, H)
        x, state = torch.randn(B, H), [torch.zeros(B, H), torch.zeros(B, H)]

        def stream():
            with torch.inference_mode():
                state[:] = cell(x, tuple(state))

        return stream
    net = torch.nn.LSTM(H, H, L)
    x = torch.randn(T, B, H)
    state = (torch.zeros(L, B, H), torch.zeros(L, B, H))
    if what == "infer":

        def infer():
            with torch.inference_mode():
                net(x, state)

        return infer

    def train():
        net.zero_grad(set_to_none=True)
        net(x, state)[0].sum().backward()

    return train


def ort_call(what, T, B, H, L, cell):
    import numpy as np
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper

    if what == "train":
        return None
    nodes, weights, current, inputs, outputs = [], [], "x", [], []
    rng = np.random.default_rng(0)
    for layer in range(L):
        for name, shape in (("W", (1, 4 * H, H)), ("R", (1, 4 * H, H)), ("b", (1, 8 * H))):
            values = (rng.standard_normal(shape) * 0.05).astype("f")
            weights.append(numpy_helper.from_array(values, "%s%d" % (name, layer)))
        weights.append(numpy_helper.from_array(np.array([1], "int64"), "axis%d" % layer))
        arguments = [current] + ["%s%d" % (name, layer) for name in "WRb"]
        if what == "stream":
            arguments += ["", "h", "c"]
        nodes.append(helper.make_node(
            "LSTM", arguments, ["y%d" % layer, "hn%d" % layer, "cn%d" % layer], hidden_size=H))
        nodes.append(
            helper.make_node("Squeeze", ["y%d" % layer, "axis%d" % layer], ["s%d" % layer]))
        current = "s%d" % layer
    info = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    inputs, outputs = [info("x", [T, B, H])], [info(current, [T, B, H])]
    if what == "stream":
        inputs += [info("h", [1, B, H]), info("c", [1, B, H])]
        outputs += [info("hn0", [1, B, H]), info("cn0", [1, B, H])]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    session = ort.InferenceSession(model.SerializeToString(), options,
                                   providers=["CPUExecutionProvider"])
    feed = {"x": rng.standard_normal((T, B, H)).astype("f")}
    if what == "stream":
        feed.update(h=np.zeros((1, B, H), "f"), c=np.zeros((1, B, H), "f"))

        def stream():
            _, feed["h"], feed["c"] = session.run(None, feed)

        return stream
    return lambda: session.run(None, feed)


def jax_call(what, T, B, H, L, cell):
    import jax
    import jax.numpy as jnp

    if cell == "char-lm":
        return None

    key = jax.random.PRNGKey(0)
    weights = [(jax.random.normal(key, (H, 4 * H)) * 0.05,
                jax.random.normal(key, (H, 4 * H)) * 0.05, jnp.zeros(4 * H))
               for _ in range(L)]

    def step(state, projected, R):
        h, c = state
        i, f, g, o = jnp.split(projected + h @ R, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return jax.nn.sigmoid(o) * jnp.tanh(c), c

    def forward(weights, x):
        for W, R, b in weights:
            projected = x @ W + b
            zero = jnp.zeros((x.shape[1], H))

            def body(state, p, R=R):
                h, c = step(state, p, R)
                return (h, c), h

            _, x = jax.lax.scan(body, (zero, zero), projected)
        return x

    if what == "stream":
        W, R, b = weights[0]
        one = jax.jit(lambda x, h, c: step((h, c), x @ W + b, R))
        x, state = jnp.ones((B, H)), [jnp.zeros((B, H)), jnp.zeros((B, H))]

        def stream():
            state[:] = one(x, *state)
            state[0].block_until_ready()

        return stream
    x = jnp.ones((T, B, H))
    if what == "infer":
        compiled = jax.jit(forward).lower(weights, x).compile()
        return lambda: compiled(weights, x).block_until_ready()
    gradient = jax.jit(jax.grad(lambda w, x: forward(w, x).sum())).lower(weights, x).compile()
    return lambda: jax.block_until_ready(gradient(weights, x))


make = {"torch": torch_call, "ort": ort_call, "jax": jax_call}[peer]
for line in sys.stdin:
    request = json.loads(line)
    call = make(request["what"], *request["shape"], request["cell"])
    print(json.dumps({"times_ms": measure(call, request["seconds"]) if call else None}), flush=True)

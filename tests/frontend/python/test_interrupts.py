"""Ctrl-C as sent by notebooks: it raises KeyboardInterrupt soon, is never lost, and never ends the
process."""

import subprocess
import sys
import unittest

SCRIPT = """
import os, signal, sys, threading, time
import numpy as np
import lstmc
from lstmc import sym

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
what, presses, gap = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
x, _, _ = sym.LSTM(sym.Variable("data"), num_hidden=256, layout="NTC", name="lstm")
net = sym.LinearRegressionOutput(sym.FullyConnected(sym.sum(x, axis=1), num_hidden=1, name="fc"), sym.Variable("label"), name="out")
model = lstmc.Network(net)
few = {"data": np.ones((32, 100, 64), "float32"), "label": np.ones((32, 1), "float32")}
many = {name: np.broadcast_to(value[:1], (20000, *value.shape[1:])) for name, value in few.items()}
flags = dict(batch=32, learning_rate=0.0, threads=1)
model.fit(few, after="1u", **flags)

def press():
    global pressed, left
    for number in range(presses):
        time.sleep(gap if number else 1.0)
        pressed = pressed or time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)
        left -= 1

def begin():
    threading.Thread(target=press, daemon=True).start()

def stuck(event):
    if event["event"] == "update":
        begin()
        while True:
            time.sleep(0.01)

pressed, left = 0, presses

def work():
    if what == "fit":
        begin()
        model.fit(few, after="100000u", **flags)
    if what == "callback":
        model.fit(few, after="100000u", callback=stuck, **flags)
    if what == "valid":
        model.fit(few, many, after="1u", valid_every="2e", callback=lambda event: begin() if event["event"] == "update" else None, **flags)
    if what == "score":
        begin()
        model.score(many)
    if what == "predict":
        begin()
        model.predict({"data": many["data"]})
    sys.exit("returned")

ended = None
while not ended or left:  # a press after the call has ended interrupts the program, as ever
    try:
        if not ended:
            work()
        time.sleep(0.01)
    except KeyboardInterrupt:  # the next press may come in here: nothing that takes time
        ended = ended or time.monotonic()
print("interrupted", "soon" if ended - pressed < 20 else "late")
time.sleep(0.3)
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
assert np.isfinite(model.predict({"data": few["data"]})).all()
print("lives")
"""


class Interrupts(unittest.TestCase):
    def press(self, what, presses, gap=0.0):
        """Interrupts work that would take a minute or more."""
        done = subprocess.run([sys.executable, "-c", SCRIPT, what, str(presses), str(gap)],
                              capture_output=True, text=True, timeout=280)
        self.assertEqual((done.stdout, done.returncode), ("interrupted soon\nlives\n", 0),
                         done.stderr)

    def test_twice_within_an_update(self):
        self.press("fit", 2, 0.01)

    def test_many_times(self):
        self.press("fit", 5, 0.001)

    def test_twice_in_a_callback_that_does_not_return(self):
        self.press("callback", 2, 0.3)

    def test_in_the_last_validation(self):
        self.press("valid", 1)

    def test_in_score(self):
        self.press("score", 1)
        self.press("score", 2, 0.001)

    def test_in_predict(self):
        self.press("predict", 1)


if __name__ == "__main__":
    unittest.main()

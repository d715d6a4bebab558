"""Programs started by stages.py: each has a time limit, and leaves no process running."""

import collections
import contextlib
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading

Answer = collections.namedtuple("Answer", "code stdout stderr why")


def begin(words, **streams):
    """Starts a program in its own process group, with its children."""
    return subprocess.Popen([str(word) for word in words], start_new_session=True, text=True,
                            **streams)


def end(process):
    """Ends the program and its children, even if it has exited before them."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def read(file):
    file.seek(0)
    return file.read()


def reason(code, errors):
    """The reason why a program has no answer; "" if it has one."""
    if code == 0:
        return ""
    last = (errors.strip().splitlines() or [""])[-1]
    if code < 0:
        return f"ended by {signal.Signals(-code).name}" + (f": {last}" if last else "")
    return last or f"exit {code}"


def run(words, limit, environment=None):
    """Runs a program: its exit code (None after `limit` seconds), its output until then, and the
    reason if there is no answer."""
    with tempfile.TemporaryFile("w+", errors="replace") as out, tempfile.TemporaryFile(
            "w+", errors="replace") as errors:
        process = begin(words, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, env=environment)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            end(process)
        said, said_besides = read(out), read(errors)
    return Answer(code, said, said_besides, f"did not end in {limit:.0f} s" if code is None
                  else reason(code, said_besides))


class Peers:
    """peers.py, which answers one cell after the other. If it exits or takes too long it is
    restarted for the next cell, a few times."""

    MOST_BEGUN = 5

    def __init__(self, words):
        self.words, self.process, self.begun = words, None, 0
        self.versions, self.missing, self.why = "", "", ""

    def begin(self):
        """Starts it without waiting until it is ready, because importing PyTorch takes long."""
        self.begun += 1
        self.ready = False  # after its first line
        self.lines, self.errors = queue.Queue(), tempfile.TemporaryFile("w+", errors="replace")
        self.process = begin(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=self.errors)
        threading.Thread(target=self.listen, args=(self.process.stdout, self.lines),
                         daemon=True).start()

    @staticmethod
    def listen(stream, lines):
        with stream:
            for line in stream:
                lines.put(line)
        lines.put("")

    def ask(self, cell, limit, until_ready=None):
        """{"torch_s": ..} by peers.py, or {"missing": why}. `until_ready`: the limit in seconds
        while PyTorch is still being imported; None: `limit`."""
        if not self.missing and not self.process:
            self.begin()
        if not self.missing and not self.ready:
            self.greet(until_ready or limit)
        if self.missing:
            return {"missing": self.missing}
        with contextlib.suppress(BrokenPipeError):  # then there is no answer either
            self.process.stdin.write(json.dumps(cell) + "\n")
            self.process.stdin.flush()
        found = self.next(limit)
        if not found and self.begun == self.MOST_BEGUN:
            self.missing = f"ended {self.begun} times, the last time: {self.why}"
        return found or {"missing": self.why}

    def greet(self, limit):
        """Reads the first line: the versions."""
        first = self.next(limit)
        self.ready = True
        self.missing = first.get("missing", "") if first else self.why
        self.versions = first["versions"] if first and not self.missing else self.versions

    def next(self, limit):
        """The next line; None if there is none in time, and then the process is ended."""
        try:
            return json.loads(self.lines.get(timeout=max(limit, 0)))
        except queue.Empty:
            self.why = f"no answer in {limit:.0f} s"
        except ValueError:  # the end of its output, perhaps in the middle of a line
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(5)
            self.why = reason(self.process.returncode or 0, read(self.errors)) or "it ended"
        self.close()
        return None

    def close(self):
        if self.process:
            end(self.process)
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            self.errors.close()
        self.process = None

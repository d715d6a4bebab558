#!/usr/bin/env python3
"""hosts.py LSTMC: jobs of `lstmc launch` on several hosts, by a real sshd on this machine's
loopback, and by stand-ins for Slurm and Grid Engine.

Only the ssh of this test knows the hosts node1 and node2, so mpirun starts a daemon on each, and
their ranks exchange messages by TCP. Prints what is missing and exits 77 without Open MPI or sshd.
"""
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ranks import LSTMC, Job  # noqa: E402

SSHD = shutil.which("sshd") or shutil.which("/usr/sbin/sshd")
CARDS = {"node1": 2, "node2": 1}  # emulated GPUs
NET = """\
N, T = dim("batch", 8), dim("seq", 8)

def small(data: int32[N, T], label: int32[N, T]):
    x = Embedding(SwapAxis(data, dim1=0, dim2=1), input_dim=5, output_dim=8, name="embed")
    x, h, c = LSTM(x, num_hidden=16, name="lstm")
    y = FullyConnected(x, num_hidden=5, flatten=False, name="decoder")
    return SoftmaxOutput(y, SwapAxis(label, dim1=0, dim2=1), preserve_shape=True, normalization="valid")

fit(small, optimizer="adam", learning_rate=0.01, carry=["lstm*"])
"""
SALLOC = """\
#!/bin/sh
echo "$*" >> "$CALLS"
while case $1 in -*) true;; *) false;; esac; do shift; done
name=$(hostname)
export SLURM_JOB_ID=7 SLURM_JOBID=7 SLURM_NODELIST=$name SLURM_JOB_NODELIST=$name SLURM_TASKS_PER_NODE=2 SLURM_NNODES=1 SLURM_NTASKS=2
exec "$@"
"""
QRSH = """\
#!/bin/sh
echo "$*" >> "$CALLS"
while [ "$1" != "-pe" ]; do shift; done
shift 3
echo "$(hostname) 2 all.q UNDEFINED" > "$CALLS.hosts"
export SGE_ROOT=/nowhere ARC=any PE_HOSTFILE="$CALLS.hosts" JOB_ID=3
exec "$@"
"""


THERE = """\
#!/bin/sh
[ "$LSTMC_EMU_HOST" = node2 ] && exec unshare -m sh -c 'mount --bind {own} {synced} && exec sh -c "$SSH_ORIGINAL_COMMAND"'
exec sh -c "$SSH_ORIGINAL_COMMAND"
"""


def script(path, text):
    path.write_text(text)
    path.chmod(0o755)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def free_range(count):
    """The first of as many consecutive ports, below the system's range for connections."""
    while True:
        first = random.randrange(20000, 32000)
        with contextlib.ExitStack() as bound, contextlib.suppress(OSError):
            for port in range(first, first + count):
                bound.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first


class Hosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.bin = cls.folder / "bin"
        cls.bin.mkdir()
        (cls.folder / "net.lnet").write_text(NET)
        (cls.folder / "text.txt").write_text(
            "".join("abcd\n"[(i * i // 7 + i // 3) % 5] for i in range(4000)))
        cls.calls = cls.folder / "calls"
        script(cls.bin / "salloc", SALLOC)
        script(cls.bin / "qrsh", QRSH)
        cls.env = {**os.environ, "PATH": f"{cls.bin}:{os.environ['PATH']}", "CALLS": str(cls.calls)}
        cls.start_sshd()
        cls.want = cls.hash_of(cls.lstmc(*cls.train("one")))

    @classmethod
    def start_sshd(cls):
        keys = cls.folder / "keys"
        keys.mkdir(0o700)
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys / name],
                           check=True)
        cls.port = free_port()
        (keys / "sshd").write_text(f"""\
Port {cls.port}
ListenAddress 127.0.0.1
HostKey {keys}/host
AuthorizedKeysFile {keys}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
AcceptEnv TMPDIR LSTMC_EMU_* OMPI_MCA_*
""")
        cls.synced = cls.folder / "synced"
        (cls.folder / "own").mkdir()
        cls.synced.mkdir()
        if cls.apart():
            with open(keys / "sshd", "a") as file:
                file.write(f"ForceCommand {cls.bin}/there\n")
            script(cls.bin / "there", THERE.format(synced=cls.synced, own=cls.folder / "own"))
        # Daemons of two hosts with one name and one /tmp interfere on a single machine: sometimes
        # one ends before it has connected. So do their ranks in /dev/shm, where one overwrites the
        # other's queue.
        apart = "".join(f"Host {host}\n  SetEnv TMPDIR={cls.folder}/{host} "
                        f"OMPI_MCA_btl_vader_backing_directory={cls.folder}/{host} "
                        f"LSTMC_EMU_HOST={host} LSTMC_EMU_CARDS={cards}\n"
                        for host, cards in CARDS.items())
        for host in ("node1", "node2"):
            (cls.folder / host).mkdir()
        (keys / "ssh").write_text(f"""\
{apart}Host node*
  HostName 127.0.0.1
  IdentityFile {keys}/user
  IdentitiesOnly yes
  UserKnownHostsFile {keys}/known
  StrictHostKeyChecking accept-new
""")
        script(cls.bin / "ssh", f'#!/bin/sh\nexec {shutil.which("ssh")} -F {keys}/ssh "$@"\n')
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        cls.sshd = subprocess.Popen([SSHD, "-D", "-e", "-f", keys / "sshd"],
                                    stderr=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while subprocess.run([cls.bin / "ssh", "-p", str(cls.port), "node1", "true"],
                             capture_output=True).returncode != 0:
            if cls.sshd.poll() is not None or time.monotonic() > end:
                raise unittest.SkipTest("sshd does not start here")
            time.sleep(0.05)

    @staticmethod
    def apart():
        """Whether node2 can mount another folder under a path of node1."""
        return subprocess.run(["unshare", "-m", "mount", "--bind", "/tmp", "/tmp"],
                              capture_output=True).returncode == 0

    @classmethod
    def tearDownClass(cls):
        cls.sshd.kill()
        cls.sshd.wait()
        cls.scratch.cleanup()

    @classmethod
    def train(cls, name, updates=12, save_every=4):
        return ["train", "net.lnet", "--data", "text:text.txt", "--after", f"{updates}u",
                "--save-every", f"{save_every}u", "-t", "1", "--format", "jsonl", "-o", name]

    @classmethod
    def lstmc(cls, *words, want=0, cwd=None):
        done = subprocess.run([str(w) for w in (LSTMC, *words)], capture_output=True, text=True,
                              timeout=120, env=cls.env, cwd=cwd or cls.folder)
        if done.returncode != want:
            raise AssertionError(
                f"{words}: exit {done.returncode}, want {want}\n{done.stdout}{done.stderr}")
        return done

    @staticmethod
    def hash_of(done):
        return json.loads(done.stdout.splitlines()[-1])["weights_hash"]

    def test_ranks_go_to_hosts_in_the_order_of_the_file(self):
        (self.folder / "hosts").write_text(
            f"# two\nnode2:{self.port} slots=2\n\nnode1:{self.port}   # the other\n")
        done = self.lstmc("launch", "-v", "-n", "4", "-H", "hosts", "--interface", "lo",
                          "--log-dir", "logs", "--env", "LSTMC_CPU_LEVEL=avx2",
                          "--port", free_range(16), "--", *self.train("four"))
        self.assertEqual(self.hash_of(done), self.want)
        came = dict(re.findall(r"rank (\d) \(process (\d+) on \S+\) has connected from "
                               r"127\.0\.0\.1:\d+", done.stderr))
        self.assertEqual(sorted(came), list("0123"), done.stderr)
        for rank in range(4):
            lines = [
                json.loads(line)
                for line in (self.folder / "logs" / f"rank-{rank}.log").read_text().splitlines()]
            self.assertTrue(any("8 shards" in line.get("text", "") for line in lines), lines)

    def test_each_host_runs_its_own_ranks(self):
        """Each rank has its host's daemon as parent, which identifies the host."""
        job = subprocess.Popen(
            [str(w) for w in (LSTMC, "launch", "-v", "-n", "3", "-H", f"node1:{self.port},node2",
                              "--interface", "lo", "--",
                              *self.train("apart", 100000))],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=self.env,
            cwd=self.folder)
        pids = {}
        for line in job.stderr:
            if came := re.search(r"rank (\d) \(process (\d+)", line):
                pids[int(came[1])] = int(came[2])
            if len(pids) == 3:
                break
        parent = {rank: pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]
                  for rank, pid in pids.items()}
        self.assertEqual(parent[0], parent[2])
        self.assertNotEqual(parent[0], parent[1])
        os.kill(pids[1], signal.SIGKILL)
        rest = job.stderr.read()
        self.assertEqual(job.wait(30), 8)
        self.assertRegex(rest, r"rank 1 \(process \d+ on .*\) has died")
        end = time.monotonic() + 3
        while (any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids.values())
               and time.monotonic() < end):
            time.sleep(0.02)
        for pid in pids.values():
            self.assertFalse(pathlib.Path(f"/proc/{pid}").exists(), rest)
        job.stderr.close()

    @contextlib.contextmanager
    def going(self):
        """A file; once it exists, ssh cannot reach node2."""
        gone = self.folder / "gone"
        gone.unlink(missing_ok=True)
        real = (self.bin / "ssh").read_text()
        script(self.bin / "ssh", real.replace("exec", f'case "$*" in *node2*) [ -e {gone} ] && '
                                                      'exit 255;; esac\nexec', 1))
        try:
            yield gone
        finally:
            script(self.bin / "ssh", real)

    def test_a_lost_host_is_left_out_when_the_job_starts_again(self):
        with self.going() as gone:
            job = Job([LSTMC, "launch", "-v", "-H", f"node1:{self.port},node2", "--interface", "lo",
                       "--max-restarts", "1", "--", *self.train("again", 999999, 50)],
                      env=self.env, cwd=self.folder)
            job.wait_for_checkpoint(self.folder / "again", 50)
            gone.touch()
            os.kill(job.pids[1], signal.SIGKILL)
            job.wait_for("goes on without host node2")
            job.wait_for_another_checkpoint(self.folder / "again")
            updates, weights = job.stop()
        self.assertEqual(weights, self.hash_of(self.lstmc(*self.train("long", updates, updates))))

    def test_a_rank_for_each_gpu_of_the_hosts(self):
        """node2 has one emulated GPU, so its rank uses number 0, as a rank of node1 does."""
        words = ["launch", "-v", "-n", "auto", "-H", f"node1:{self.port},node2",
                 "--interface", "lo", "--", *self.train("gpus", 2), "--force"]
        done = self.lstmc(*words, "-d", "emu:local")
        self.assertEqual(self.hash_of(done), self.hash_of(self.lstmc(*self.train("cpus", 2))))
        self.assertEqual(sorted(set(re.findall(r"rank (\d) \(", done.stderr))), list("012"))
        self.assertIn("ranks     3 on emu:0 | emu:1 | emu:2", done.stdout + done.stderr)
        words[words.index("auto")] = "4"  # node1, node2, node1, node2
        done = self.lstmc(*words, "-d", "emu:local", want=5)
        self.assertRegex(done.stdout + done.stderr, "host node2 has 2 ranks and 1 GPU,")

    def test_a_lost_host_takes_its_gpus_along(self):
        with self.going() as gone:
            job = Job([LSTMC, "launch", "-v", "-n", "auto", "-H", f"node1:{self.port},node2",
                       "--interface", "lo", "--max-restarts", "1", "--",
                       *self.train("fewer", 999999, 4), "-d", "emu:local"],
                      env=self.env, cwd=self.folder)
            job.wait_for_checkpoint(self.folder / "fewer", 4)
            gone.touch()
            os.kill(job.pids[2], signal.SIGKILL)
            job.wait_for("goes on without host node2")
            job.wait_for_another_checkpoint(self.folder / "fewer")
            updates, weights = job.stop()
        self.assertIn("ranks     2 on emu:0 | emu:1", job.text() + job.out)
        self.assertEqual(weights, self.hash_of(self.lstmc(*self.train("whole", updates, updates))))

    def test_schedulers_are_asked_for_room(self):
        for launcher, call in (("slurm", r"--quiet --ntasks=2 \S+/mpirun .* --mca plm slurm "),
                               ("sge", r"-now no -cwd -V -pe orte 2 \S+/mpirun ")):
            with self.subTest(launcher):
                self.calls.unlink(missing_ok=True)
                done = self.lstmc("launch", "-n", "2", "--launcher", launcher,
                                  "--parallel-environment", "orte", "--interface", "lo", "--",
                                  *self.train(launcher))
                self.assertEqual(self.hash_of(done), self.want)
                self.assertRegex(self.calls.read_text(), call)

    def test_the_command_and_the_network_are_copied_to_the_hosts(self):
        here = self.folder / "here"
        (here / "nets").mkdir(parents=True)
        (here / "nets" / "net.lnet").write_text(NET)
        shutil.copy(self.folder / "text.txt", here)
        words = ["launch", "-v", "-H", f"node1:{self.port},node2", "--interface", "lo",
                 "--sync-dst-dir", self.synced, "--", *self.train("ck"), "--data-on", "rank0"]
        words[words.index("net.lnet")] = "nets/net.lnet"
        done = self.lstmc(*words, cwd=here)
        self.assertEqual(self.hash_of(done), self.want)
        sent = re.findall(r"host (node\d) is sent (\d+) of (\d+) files", done.stderr)
        self.assertEqual([(host, count) for host, count, _ in sent],
                         [("node1", sent[0][2]), ("node2", sent[1][2] if self.apart() else "0")])
        self.assertFalse((here / "ck").exists())
        for name in ("nets/net.lnet", "text.txt", ".lstmc/bin/lstmc", ".lstmc/bin/liblstmc-mpi.so",
                     "ck/update-000012"):
            self.assertTrue((self.synced / name).exists(), name)
        self.assertTrue(list((self.synced / ".lstmc/lib").glob("libLLVM*"))
                        or "libLLVM" not in subprocess.getoutput(f"ldd {LSTMC}"))
        self.assertEqual(list((self.synced / ".lstmc/lib").glob("libc.so*")), [])
        self.assertFalse((self.folder / "own" / "text.txt").exists())  # rank 0 has the data
        # Existing files are not sent again, and a job continues from them.
        (here / "nets" / "net.lnet").write_text(NET + "\n")
        words[words.index("12u")] = "20u"
        done = self.lstmc(*words, "--resume", cwd=here)
        sent = re.findall(r"host node\d is sent (\d+) of", done.stderr)
        self.assertEqual(sent, ["1", "1" if self.apart() else "0"], done.stderr)
        self.assertEqual(self.hash_of(done), self.hash_of(self.lstmc(*self.train("longer", 20))))
        for flags, words, code, said in (
            (["--sync-dst-dir", "/proc/none"], self.train("x"),
             8, "host node1 does not take files to /proc/none: .*directory"),
            (["--sync-dst-dir", "near"], self.train("x"), 2, "absolute path"),
            (["--sync-dst-dir", self.synced],
             [w.replace("text.txt", "../text.txt") for w in self.train("x")],
             2, r"beneath the current folder, found \.\./text\.txt"),
        ):
            done = self.lstmc("launch", "-H", f"node1:{self.port}", "--interface", "lo", *flags,
                              "--", *words, want=code, cwd=here)
            self.assertRegex(done.stderr, said)

    def test_doctor_measures_every_pair(self):
        hosts = ["-H", f"node1:{self.port},node2,localhost", "--interface", "lo"]
        pairs = json.loads(self.lstmc("doctor", *hosts, "--json").stdout)["pairs"]
        self.assertEqual([p["hosts"] for p in pairs],
                         [["node1", "node2"], ["node1", "localhost"], ["node2", "localhost"]])
        for pair in pairs:
            self.assertTrue(0 < pair["message_s"] < 1 and pair["bytes_per_s"] > 1e6, pair)
        done = self.lstmc("doctor", "-H", f"node1:{self.port},other.invalid,more.invalid",
                          "--interface", "lo", want=8)
        self.assertRegex(
            done.stderr, "host more.invalid is not reached: .*; host other.invalid is not reached")
        self.lstmc("doctor", "-H", "localhost", want=2)
        found = {f["what"]: f
                 for f in json.loads(self.lstmc("doctor", "--json").stdout)["findings"]}
        self.assertTrue(found["MPI"]["here"] and found["ssh"]["here"], found)
        self.assertIn("mpirun", found["MPI"]["found"])
        without = {**self.env, "PATH": str(self.folder)}
        done = subprocess.run([str(LSTMC), "doctor", "--json"], capture_output=True, text=True,
                              env=without, check=True)
        found = {f["what"]: f for f in json.loads(done.stdout)["findings"]}
        self.assertFalse(found["MPI"]["here"])
        self.assertEqual(found["ssh"]["remedy"], "apt-get install openssh-client")

    def test_what_cannot_be_started_is_said(self):
        (self.folder / "bad").write_text("node1\nnode2 slot=2\n")
        ssh = ["-H", f"node1:{self.port}", "--interface", "lo"]
        for flags, exit_code, message in (
            (["--launcher", "yarn"], 5, "YARN"),
            (["--launcher", "slurm"], 2, "wants --interface"),
            (["--launcher", "slurm", *ssh], 2, "the scheduler chooses the hosts"),
            (["--launcher", "local", *ssh], 2, "all ranks run here"),
            (["--launcher", "ssh"], 2, "wants --hosts"),
            (["-H", "bad"], 6, r"bad:2:1: .*slot=2"),
            (["-H", "node1,-oProxyCommand"], 2, "-oProxyCommand"),
            (["-H", "node1:70000"], 2, "70000"),
            (["-H", "node1:22,node2:23"], 2, "one port for all"),
            (["-H", "node1.invalid"], 8, "host node1.invalid has no IPv4 address"),
            ([*ssh[:1], f"{ssh[1]},other.invalid", *ssh[2:]],
             8, "host other.invalid is not reached: .*resolve"),
            (["--interface", "none9"], 2, r"want one of .*lo"),
            (["--port", "65530"], 2, "--port"),
            (["--env", "NOT_SET_ANYWHERE"], 2, "NOT_SET_ANYWHERE"),
        ):
            with self.subTest(flags=flags):
                done = self.lstmc("launch", *flags, "--", *self.train("never"), want=exit_code)
                self.assertRegex(done.stderr + done.stdout, message)
        self.assertFalse((self.folder / "never").exists())


if __name__ == "__main__":
    if not (shutil.which("mpirun") and (LSTMC.parent / "liblstmc-mpi.so").exists()):
        print("skipped: there is no Open MPI; libopenmpi-dev and openmpi-bin bring it")
        sys.exit(77)
    if not (SSHD and shutil.which("ssh")):
        print("skipped: there is no sshd; openssh-server and openssh-client bring it")
        sys.exit(77)
    unittest.main()

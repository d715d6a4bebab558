#!/usr/bin/env python3
"""slurm.py LSTMC: a job of `lstmc launch --launcher slurm` in a real Slurm of one node, which this
test starts and ends.

It uses Debian's packages slurm-wlm and munge with its own configurations, keys and ports. Prints
what is missing and exits 77 without Open MPI, or if Slurm's daemons do not start, as in containers
without cgroups.
"""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ranks import LSTMC, NET, alive  # noqa: E402

CONF = """\
ClusterName=lstmc
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld}
SlurmdPort={slurmd}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count):
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


class Slurm:
    """Slurm's daemons, ended with the scope."""

    def __enter__(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        self.daemons = []
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.scratch.cleanup()

    def daemon(self, name, *words):
        log = open(self.folder / f"{name}.said", "w")
        self.daemons.append(subprocess.Popen([str(w) for w in words], stdout=log,
                                             stderr=subprocess.STDOUT, env=self.env))

    def start(self):
        """Starts them; returns the reason if that fails."""
        for name in ("munge", "state", "spool"):
            (self.folder / name).mkdir(mode=0o755)
        key = self.folder / "munge" / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        ctld, slurmd = free_ports(2)
        conf = self.folder / "slurm.conf"
        host = socket.gethostname().split(".")[0]
        conf.write_text(CONF.format(host=host, folder=self.folder, ctld=ctld, slurmd=slurmd))
        second = pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists()
        # slurmd requires one, and does not use it
        (self.folder / "cgroup.conf").write_text(f"CgroupPlugin=cgroup/v{2 if second else 1}\n")
        self.env = {**os.environ, "SLURM_CONF": str(conf),
                    "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
        munge = self.folder / "munge"
        self.daemon("munged", "munged", "-F", "--force", "--key-file", key,
                    "--socket", munge / "socket", "--pid-file", munge / "pid",
                    "--log-file", munge / "log", "--seed-file", munge / "seed")
        self.daemon("slurmctld", "slurmctld", "-D", "-c", "-f", conf)
        self.daemon("slurmd", "slurmd", "-D", "-f", conf, "-N", host)
        end = time.monotonic() + 40
        while time.monotonic() < end:
            if any(daemon.poll() is not None for daemon in self.daemons):
                break
            states = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True,
                                    env=self.env, timeout=60)
            if states.stdout.strip() == "idle":
                return None
            time.sleep(0.2)
        return " ".join((self.folder / f"{name}.said").read_text().strip().rsplit("\n", 1)[-1]
                        for name in ("munged", "slurmctld", "slurmd"))


class Jobs(unittest.TestCase):
    def test_a_job_in_an_allocation_trains_to_the_bits_of_one_process(self):
        (SLURM.folder / "net.lnet").write_text(NET)
        (SLURM.folder / "text.txt").write_text(
            "".join("abcd\n"[(i * i // 7 + i // 3) % 5] for i in range(4000)))
        train = ["train", "net.lnet", "--data", "text:text.txt", "--after", "12u", "-t", "1",
                 "--format", "jsonl", "-o"]
        hashes, said = [], ""
        for name, start in (("one", []), ("slurm", ["launch", "-v", "--launcher", "slurm",
                                                    "-n", "2", "--interface", "lo", "--"])):
            done = subprocess.run([str(LSTMC), *start, *train, name], capture_output=True,
                                  text=True, timeout=120, env=SLURM.env, cwd=SLURM.folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            hashes.append(json.loads(done.stdout.splitlines()[-1])["weights_hash"])
            said = done.stderr
        self.assertEqual(*hashes)
        pids = re.findall(r"rank \d \(process (\d+) on .*has connected", said)
        self.assertEqual(len(pids), 2)
        end = time.monotonic() + 3
        while (left := [pid for pid in pids if alive(int(pid))]) and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual(left, [])
        # The allocation came from this Slurm, and was released.
        self.assertIn("JobId=1",
                      subprocess.run(["scontrol", "show", "job", "1"], capture_output=True,
                                     text=True, env=SLURM.env).stdout)
        end = time.monotonic() + 20
        while (left := subprocess.run(["squeue", "-h"], capture_output=True, text=True,
                                      env=SLURM.env).stdout) and time.monotonic() < end:
            time.sleep(0.2)
        self.assertEqual(left, "")


if __name__ == "__main__":
    if not (shutil.which("mpirun") and (LSTMC.parent / "liblstmc-mpi.so").exists()):
        print("skipped: there is no Open MPI; libopenmpi-dev and openmpi-bin bring it")
        sys.exit(77)
    if missing := [name for name in ("munged", "slurmctld", "slurmd", "salloc", "srun", "sinfo",
                                     "scontrol", "squeue")
                   if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]:
        print(f"skipped: there is no {', '.join(missing)}; slurm-wlm and munge bring them")
        sys.exit(77)
    with Slurm() as SLURM:
        if why := SLURM.start():
            print(f"skipped: Slurm does not start here: {why}")
            sys.exit(77)
        sys.exit(0 if unittest.main(exit=False).result.wasSuccessful() else 1)

"""The pipeline is the truth: `lstmc opt` makes the package of `compile` byte for byte, from the
module and the two pipelines that `inspect --emit module` prints, the one with options and the
passes one by one."""
import hashlib
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

LSTMC, SOURCE = os.environ["LSTMC"], Path(os.environ["LSTMC_SOURCE"])
NETS = [*sorted((SOURCE / "samples").glob("*.lnet")),
        *sorted((SOURCE / "tests/nets/kept").glob("*.lnet"))]
WAYS = [[], ["-d", "cpu:0,cpu:1"], ["--dtype", "float64"]]
SETTINGS = {"long_lm.lnet": ["--set", "seq=64"]}


def lstmc(*words, folder):
    return subprocess.run([LSTMC, *map(str, words)], cwd=folder, text=True, capture_output=True)


class PipelineTest(unittest.TestCase):
    def check(self, net, words, folder):
        package = folder / "net.lstmc"
        package.unlink(missing_ok=True)
        compiled = lstmc("compile", net, "-o", package, *words, folder=SOURCE)
        if compiled.returncode:
            return False
        wanted = hashlib.sha256(package.read_bytes()).hexdigest()
        module = folder / "net.mlir"
        module.write_text(lstmc("inspect", net, "--emit", "module", *words, folder=SOURCE).stdout)
        pipelines = re.findall(r"^// lstmc opt --pass-pipeline='(.*)' FILE$",
                               module.read_text(), re.M)
        self.assertEqual(len(pipelines), 2)
        for pipeline in pipelines:
            done = lstmc("opt", f"--pass-pipeline={pipeline}", module, folder=folder)
            self.assertEqual(done.returncode, 0, (pipeline, done.stderr))
            found = re.search(r'package_sha256 = "(\w+)"', done.stdout)
            self.assertIsNotNone(found, pipeline)
            self.assertEqual(found[1], wanted, (net.name, words, pipeline))
        return True

    def test_opt_makes_the_package_of_compile(self):
        compared = 0
        with tempfile.TemporaryDirectory() as folder:
            for net in NETS:
                for words in WAYS:
                    with self.subTest(net=net.name, words=words):
                        words = words + SETTINGS.get(net.name, [])
                        compared += self.check(net, words, Path(folder))
        self.assertGreater(compared, 2 * len(NETS))


if __name__ == "__main__":
    unittest.main()

"""The flags that divide a net among devices, from outside."""
import unittest

from command import Case

STACK = """\
N, T = dim("batch", 4), dim("seq", 8)

def stack(data: float32[T, N, 3], label: float32[T, N, 5]):
    x = data
    for i in range(2):
        with ctx_group("layer%d" % i):
            x, h, c = LSTM(x, num_hidden=5, name="lstm%d" % i)
    return LinearRegressionOutput(x, label)
"""


class Flags(Case):
    def refused(self, message, *words, model="stack.lnet"):
        (self.folder / "stack.lnet").write_text(STACK)
        done = self.run_here("compile", model, "--dry-run", *words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), words)
        self.assertIn("error[E0001]: " + message, done.stderr)

    def test_a_store_that_there_is_not(self):
        for store in ("dist_sync", "dist_device_sync", "dist_sync_device", "dist_async",
                      "dist_async_device"):
            self.refused(f"--kv-store {store} is for several processes: lstmc launch -n N -- ",
                         "--kv-store", store)
        self.refused("--kv-store nccl is for GPUs", "--kv-store", "nccl")
        names = ("auto, local, device, nccl, dist_sync, dist_device_sync, dist_sync_device, "
                 "dist_async, dist_async_device")
        self.refused(f'--kv-store takes {names}, got "devise"; did you mean "device"?',
                     "--kv-store", "devise")
        self.refused(f'--kv-store takes {names}, got "dist"', "--kv-store", "dist")
        self.refused('--update-on-kvstore takes auto, 0 or 1, got "2"', "--update-on-kvstore", "2")

    def test_numbers_of_parts(self):
        self.refused("--accumulate takes 1 to 65536, got 0", "--accumulate", "0")
        self.refused("--chunks takes 0 to 65536, got 65537", "--chunks", "65537")
        self.refused('--bigarray-bound takes a count (K, M, G are powers of 1,000), got "-1"',
                     "--bigarray-bound=-1")
        self.refused('--bucket-bytes takes bytes (K, M, G are powers of 1,024), got "64k"',
                     "--bucket-bytes", "64k")

    def test_places(self):
        two = ["-d", "2xcpu"]
        self.refused("--place takes GROUP=DEVICE,..., auto or auto=STAGES, got \"atuo\"", *two,
                     "--place", "atuo")
        self.refused('--place layr1=cpu:1: the net has no group "layr1", it has layer0, layer1; '
                     'did you mean "layer1"?', *two, "--place", "layer0=cpu:0,layr1=cpu:1")
        self.refused("--place layer1=cpu:2: cpu:2 is none of the devices in use, cpu:0, cpu:1",
                     *two, "--place", "layer0=cpu:0,layer1=cpu:2")
        self.refused('--place layer1=2xcpu: a group is on one device, "2xcpu" is 2', *two,
                     "--place", "layer1=2xcpu")
        self.refused('device "tpu": found an unknown kind of device', *two, "--place", "layer1=tpu")
        self.refused('--place names group "layer1" twice', *two,
                     "--place", "layer1=cpu:0,layer1=cpu:1")
        self.refused("--place auto=3: layers are split over 1 to 2 devices, as many as are in use",
                     *two, "--place", "auto=3")
        self.refused('--place takes a count (K, M, G are powers of 1,000), got "x"', *two,
                     "--place", "auto=x")
        self.refused('--place lstm=cpu:0: the net has no groups; `with '
                     'ctx_group("lstm"):` makes one', "--place", "lstm=cpu:0", model="small.lnet")

    def test_a_work_load_is_that_of_a_replica(self):
        self.refused("--work-load-list has 3 numbers, want one for each of 2 devices",
                     "-d", "2xcpu", "--work-load-list", "3,2,1")
        self.refused("--work-load-list has 4 numbers, want one for each of 2 replicas",
                     "-d", "4xcpu", "--place", "auto=2", "--work-load-list", "1,2,3,4")
        self.good("compile", "small.lnet", "--dry-run", "-d", "4xcpu", "--place", "auto=2",
                  "--work-load-list", "3,1")

    def test_a_package_has_them_already(self):
        self.good("compile", "small.lnet", "-o", "small.lstmc")
        for flag, value in {"kv-store": "local", "update-on-kvstore": "0", "bigarray-bound": "9",
                            "bucket-bytes": "9", "accumulate": "2", "chunks": "2",
                            "place": "auto"}.items():
            done = self.run_here("bench", "small.lstmc", f"--{flag}", value)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"--{flag} changes what is compiled, and a package is compiled already",
                          done.stderr)


if __name__ == "__main__":
    unittest.main()

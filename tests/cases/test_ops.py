"""The cases of machines as they are, as the scripts of their folder run them."""
import os
import pathlib
import unittest

import walk

ROOT = os.geteuid() == 0
CONTROL = pathlib.Path("/sys/fs/cgroup/memory")


class Ops(walk.Walk):
    cases = "ops"

    def case(self, number, exit=0):
        return self.shell(f"bash {number}-*.sh", exit, limit=200)

    @unittest.skipUnless(ROOT and os.access(CONTROL, os.W_OK),
                         f"{CONTROL}, a hierarchy of version 1, cannot be written here")
    def test_01_the_limit_of_a_control_group_is_the_memory(self):
        self.says(self.case("01"), r"0\.1 GiB free of 0\.1 GiB, by control group",
                  r"error\[E0401\].*which has 157286400", r"rc=4")

    @unittest.skipUnless(ROOT, "a file system is mounted as root")
    def test_02_a_log_on_a_full_disk(self):
        self.says(self.case("02"), "warning: .*cannot write this log: No space left",
                  r"error\[E0601\].*No space left", "rc=6")

    def test_03_a_file_system_without_flock(self):
        text = self.case("03")
        self.says(text, "ck38/update-000005", "ck37/update-000005")
        self.assertNotIn("error", text)

    def test_04_a_small_stack(self):
        text = self.case("04")
        self.assertEqual(text.count("rc=0"), 4, text)

    def test_04b_no_frame_jumps_over_the_guard_page(self):
        text = self.case("04b")
        self.assertEqual(text.count("returned without an error, 0 bytes of the memory"), 6, text)

    def test_05_the_child_that_measures_ends_with_its_parent(self):
        # The last line ends a child that is there; a quick machine has measured before it is asked.
        text = self.shell("bash 05-*.sh; true", limit=200)
        self.says(text, "said:")
        self.assertNotIn("lstmc train", text)

    @unittest.skipUnless(ROOT, "/proc is unmounted as root")
    def test_07_no_proc(self):
        self.says(self.case("07"), r"error\[E0503\]: /proc is not mounted", "rc=5")

    def test_08_threads_by_the_environment(self):
        self.says(self.case("08"), "rt extra threads 1", "full extra threads 1",
                  "rt extra threads 8", "full extra threads 8")

    def test_09_a_limit_of_file_sizes(self):
        self.says(self.case("09"), r"rc=6 ")


if __name__ == "__main__":
    walk.main()

#!/usr/bin/env python3
"""filechecks.py finds runs that pass on any text."""
import unittest

from filechecks import problems

RUN = "// RUN: lstmc opt %s | FileCheck %s"


def prefixes(text):
    return [prefix for prefix, _ in problems(text)]


class FileChecks(unittest.TestCase):
    def test_finds_runs_with_nothing_to_find(self):
        for text in (f"{RUN}\n// CHECK-NOT: a\n", f"{RUN}\n", f"{RUN}\n// ONE: a\n"):
            self.assertEqual(prefixes(text), ["CHECK"], text)
        self.assertEqual(
            prefixes(f"{RUN} --check-prefix=ONE\n// CHECK: a\n// ONE-NOT: a\n"), ["ONE"])
        self.assertEqual(prefixes("// RUN: lstmc opt %s \\\n// RUN:   | FileCheck %s"), ["CHECK"])

    def test_leaves_others(self):
        for text in (f"{RUN}\n// CHECK-NOT: a\n// CHECK: b\n", f"{RUN}\n//  CHECK-NEXT: b\n",
                     f"{RUN} --check-prefixes=A,B\n// A-NOT: a\n// B: b\n",
                     f"{RUN}\n// CHECK-LABEL: @net\n// CHECK-NOT: a\n",
                     f"{RUN}\n// CHECK-COUNT-2: b\n", f"{RUN}\n// CHECK{{LITERAL}}: b\n"):
            self.assertEqual(prefixes(text), [], text)


if __name__ == "__main__":
    unittest.main()

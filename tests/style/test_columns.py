#!/usr/bin/env python3
"""columns.py finds long lines, and none of those that a break would change."""
import unittest

from columns import long_lines

LONG = "word " * 20 + "."  # 101 columns
FITS = LONG[1:]


def code(text):
    return f'"""Module."""\n{text}\n'


class Python(unittest.TestCase):
    def test_finds_code_comments_and_docstrings(self):
        self.assertEqual(long_lines(code(f"x = '{LONG}'"), ".py"), [(2, 107)])
        self.assertEqual(long_lines(code(f"# {LONG}"), ".py"), [(2, 103)])
        self.assertEqual(
            long_lines(code(f'def f():\n    """First.\n\n{LONG}\n    """'), ".py"), [(5, 101)])

    def test_leaves_texts_of_several_lines_and_lines_that_fit(self):
        self.assertEqual(long_lines(code(f'NET = """\n{LONG}\n"""'), ".py"), [])
        self.assertEqual(long_lines(code("#" + FITS[1:]), ".py"), [])


class Markdown(unittest.TestCase):
    def test_finds_prose_lists_and_headings(self):
        for line in (LONG, "- " + LONG, "# " + LONG, "    " + LONG):
            self.assertEqual(long_lines(line, ".md"), [(1, len(line))])

    def test_finds_prose_after_code(self):
        self.assertEqual(long_lines(f"```\n{LONG}\n```\n{LONG}", ".md"), [(4, 101)])

    def test_leaves_code_tables_and_addresses(self):
        for text in (f"```\n{LONG}\n```", f"- x:\n  ```sh\n  {LONG}\n  ```", f"| {LONG} |",
                     f"- [text](https://{'a' * 100})", FITS):
            self.assertEqual(long_lines(text, ".md"), [])


if __name__ == "__main__":
    unittest.main()

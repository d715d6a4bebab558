#!/usr/bin/env python3
"""imports.py finds imports against the arrows, circles, and imports in functions."""
import unittest

from imports import problems, rooms_of

ROOMS = rooms_of("""
python_room(core MODULES nodes session
                         graph)
python_room(sym MODULES sym FRIENDS core)
python_room(mx MODULES gluon/__init__ gluon/block FRIENDS core sym)
""")
GOOD = {"nodes": "from . import _core\nimport numpy\n", "session": "",
        "graph": "from . import nodes\n", "sym": "from .graph import Symbol\n",
        "gluon/__init__": "from .block import Block\n",
        "gluon/block": "from .. import sym\nfrom ..nodes import Node\n"}


def found(required=("numpy",), **changed):
    texts = {**GOOD, **{name.replace("__in__", "/"): text for name, text in changed.items()}}
    return problems(texts, ROOMS, required)


class Imports(unittest.TestCase):
    def test_rooms_over_several_lines(self):
        room_of, friends_of = ROOMS
        self.assertEqual((room_of["graph"], room_of["gluon/block"]), ("core", "mx"))
        self.assertEqual(friends_of["mx"], {"core", "sym", "mx"})

    def test_leaves_imports_of_friends(self):
        self.assertEqual(found(), [])

    def test_finds_an_arrow_the_other_way(self):
        for text in ("from .sym import x\n", "from . import sym\n", "from lstmc import sym\n",
                     "import lstmc.sym\n", "if True:\n    from .sym import x\n"):
            said = found(session=text)
            self.assertEqual(len(said), 1, text)
            self.assertIn(": core imports sym of sym, which is no friend", said[0])
        self.assertIn("session.py:1: core imports gluon/block of mx, which is no friend",
                      found(session="from .gluon.block import Block\n"))

    def test_finds_a_circle_in_a_room(self):
        self.assertEqual(found(nodes="from .session import s\n", session="from . import graph\n"),
                         ["a circle of imports: nodes -> session -> graph -> nodes"])

    def test_finds_imports_in_functions(self):
        for text in ("from .nodes import Node", "from . import nodes", "from . import _core",
                     "import numpy", "import os.path", "from json import loads"):
            for around in ("def f():\n    {}\n", "class C:\n    async def f(self):\n        {}\n"):
                self.assertEqual(len(found(session=around.format(text))), 1, text)

    def test_leaves_optional_packages_and_imports_for_type_checkers(self):
        self.assertEqual(
            found(session="def f():\n    import torch\n    from torch.utils import x\n"), [])
        self.assertEqual(
            found(session="if TYPE_CHECKING:\n    from .sym import x\nelse:\n    import os\n"), [])

    def test_finds_a_module_without_a_room(self):
        self.assertEqual(found(other="x = 1\n"), ["other.py is in no python_room"])


if __name__ == "__main__":
    unittest.main()

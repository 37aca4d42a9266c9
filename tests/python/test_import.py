# SPDX-License-Identifier: Apache-2.0
"""The package can be imported again, also after an attempt that failed."""
import subprocess
import sys

import pytest

USE = "assert libtopk.topk([3.0, 5.0], 1).indices == 1 and libtopk.Context('cpu', threads=1).threads == 1\n"
USE += "assert libtopk.workspace_size('topk', libtopk.Shape(5, 'float32', 'cpu'), 2) >= 0\n"
FAIL = """
try:
    import libtopk
except ImportError as error:
    assert {!r} in str(error), error
else:
    assert False
"""
SCRIPTS = {
    "again": "import sys, libtopk\n" + USE + "for name in [n for n in sys.modules if n.startswith('libtopk')]:\n"
             "    del sys.modules[name]\nimport libtopk\n" + USE,
    "reload": "import importlib, libtopk\nimportlib.reload(libtopk)\n" + USE,
    "without numpy at first": "import sys\nsys.modules['numpy'] = None\n" + FAIL.format("numpy") * 2 +
                              "del sys.modules['numpy']\nimport libtopk\n" + USE,
    "another library at first": "import os\nown = os.environ.get('TOPK_LIBRARY', '')\n"
                                "os.environ['TOPK_LIBRARY'] = 'nonesuch'\n" + FAIL.format("nonesuch") * 2 +
                                "os.environ['TOPK_LIBRARY'] = own\nimport libtopk\n" + USE,
    "in another interpreter": """
import sys, libtopk
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
code = "import sys; sys.path[:] = {!r}\\n"
code += "try:\\n    import libtopk\\nexcept ImportError:\\n    pass\\nelse:\\n    assert False"
error = interpreters.run_string(interpreters.create(), code.format(sys.path))
assert error is None, error
""" + USE,
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_import(script):
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)

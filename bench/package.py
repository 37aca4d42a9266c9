# SPDX-License-Identifier: Apache-2.0
"""The Python package, for the scripts beside this one."""

import importlib.util
import os
import sys


def end(reason):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {reason}")


def check():
    """Ends the program where there is no package."""
    if importlib.util.find_spec("libtopk") is None:
        end(f"{sys.executable} finds no package libtopk: build libtopk with TOPK_BUILD_PYTHON and set PYTHONPATH=build/python")


def load(path=None):
    """The package over the library at a path, or over its own. A process has one library."""
    check()
    if path is not None:
        os.environ["TOPK_LIBRARY"] = os.path.abspath(path)
    try:
        import libtopk
    except ImportError as error:
        end(error)
    if path is not None and not os.path.samefile(libtopk.library_path, path):
        end(f"{path} comes too late: {libtopk.library_path} is loaded")
    return libtopk

# SPDX-License-Identifier: Apache-2.0
"""Loads the C library: the one that lies beside this file, or the one that TOPK_LIBRARY names."""
import os

from libtopk import _core

library_path = os.environ.get("TOPK_LIBRARY") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "libtopk.so")
_core.load(library_path)

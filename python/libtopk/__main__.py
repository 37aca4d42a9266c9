# SPDX-License-Identifier: Apache-2.0
"""Selects from the columns of tables at the shell: Parquet, Arrow, Feather, and what else pyarrow.dataset reads.

    python -m libtopk select -k 10 --column price sales.parquet

The commands and options are those of the tool `topk`. A table is read batch by batch.
"""
import sys

from libtopk import _command

if __name__ == "__main__":
    sys.exit(_command.main())

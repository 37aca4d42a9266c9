# SPDX-License-Identifier: Apache-2.0
"""Four devices of the CPU, which JAX makes when it is first asked for devices; with JAX_PLATFORMS=cuda the GPUs."""
import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"

# SPDX-License-Identifier: Apache-2.0
"""The same examples on every run, none too slow; HYPOTHESIS_PROFILE=search looks for new ones."""
import os

from hypothesis import HealthCheck, settings

from backend import few

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=few(150, 50), database=None,
                          suppress_health_check=list(HealthCheck))
settings.register_profile("search", deadline=None, max_examples=5000, print_blob=True,
                          suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

#!/usr/bin/env python3
"""Blaxel's own TypeScript client against the fake."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import twin  # noqa: E402

twin.node("blaxel", "@blaxel/core@0.3.21", lambda url: {
    "BL_API_URL": url + "/v0", "BL_RUN_URL": url, "BL_API_KEY": "bl_0001",
    "BL_WORKSPACE": "sandgate", "BL_DISABLE_H2": "true", "BL_REGION": "us-pdx-1",
    "DO_NOT_TRACK": "1"})

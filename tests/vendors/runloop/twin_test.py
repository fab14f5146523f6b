#!/usr/bin/env python3
"""Runloop's own TypeScript client against the fake."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import twin  # noqa: E402

twin.node("runloop", "@runloop/api-client@1.32.0", lambda url: {
    "RUNLOOP_BASE_URL": url, "RUNLOOP_API_KEY": "ak_0001"})

#!/usr/bin/env python3
"""OpenSandbox's own TypeScript client against the fake."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import twin  # noqa: E402

twin.node("opensandbox", "@alibaba-group/opensandbox@0.1.11", lambda url: {
    "OPEN_SANDBOX_API_KEY": "osb_0001"})

#!/usr/bin/env python3
"""E2B's own client with the code interpreter against the fake."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import twin  # noqa: E402

twin.node("e2b", "@e2b/code-interpreter@2.8.0", lambda url: {
    "E2B_API_URL": url, "E2B_SANDBOX_URL": url,
    "E2B_API_KEY": "e2b_00000000000000000000000000000001"}, "code_interpreter.mjs")

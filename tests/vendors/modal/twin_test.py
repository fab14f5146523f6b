#!/usr/bin/env python3
"""Modal's own JavaScript client against the fake."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import twin  # noqa: E402

twin.node("modal", "modal@0.11.1", lambda url: {
    "MODAL_SERVER_URL": url, "MODAL_TOKEN_ID": "ak-0001", "MODAL_TOKEN_SECRET": "as-0001",
    "MODAL_CONFIG_PATH": os.devnull})

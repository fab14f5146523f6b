#!/usr/bin/env python3
"""Northflank's own JavaScript client against the fake."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import twin  # noqa: E402

twin.node("northflank", "@northflank/js-client@0.9.5", lambda url: {
    "NORTHFLANK_HOST": url, "NORTHFLANK_TOKEN": "nf_0001"})

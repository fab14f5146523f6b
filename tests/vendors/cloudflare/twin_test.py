#!/usr/bin/env python3
"""Cloudflare's own bridge worker, run here over a stand-in for its containers, beside the fake."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import twin  # noqa: E402

twin.node("cloudflare", "@cloudflare/sandbox@0.12.10", lambda url: {})

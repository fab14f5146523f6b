#!/usr/bin/env python3
"""Vercel's own TypeScript client for sandboxes against the fake."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import twin  # noqa: E402

twin.node("vercel", "@vercel/sandbox@3.5.0", lambda url: {})

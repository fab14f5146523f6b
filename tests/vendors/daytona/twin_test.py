#!/usr/bin/env python3
"""Daytona's own TypeScript client against the fake."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import twin  # noqa: E402

twin.node("daytona", "@daytonaio/sdk@0.218.0", lambda url: {
    "DAYTONA_API_URL": url + "/api", "DAYTONA_API_KEY": "dtn_0001", "DAYTONA_TARGET": "us"})

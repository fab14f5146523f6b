#!/usr/bin/env python3
"""The Kubernetes project's own JavaScript client against the fake."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import twin  # noqa: E402

twin.node("kubernetes", "@kubernetes/client-node@1.4.0", lambda url: {"KUBE_TOKEN": "kube_0001"})

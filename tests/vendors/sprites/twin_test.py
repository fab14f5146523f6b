#!/usr/bin/env python3
"""The Sprites' own TypeScript client against the fake."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import twin  # noqa: E402

# Node.js has WebSockets of its own since 22, and behind this option before.
twin.node("sprites", "@fly/sprites@0.1.0", lambda url: {"NODE_OPTIONS": "--experimental-websocket"})

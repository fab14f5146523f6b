#!/usr/bin/env python3
"""AWS's own JavaScript client against the fake."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import twin  # noqa: E402

twin.node("agentcore", "@aws-sdk/client-bedrock-agentcore@3.1141.0", lambda url: {
    "AWS_ENDPOINT_URL_BEDROCK_AGENTCORE": url, "AWS_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "AKIA0001", "AWS_SECRET_ACCESS_KEY": "secret/key+0001",
    "AWS_SESSION_TOKEN": "session+token/0001==", "AWS_MAX_ATTEMPTS": "1",
    "AWS_EC2_METADATA_DISABLED": "true"})

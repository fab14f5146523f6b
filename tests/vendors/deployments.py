"""The vendors' fakes as deployments of a running gateway. Standard library only."""
import json
import os
import subprocess
import sys
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
AWS_KEYS = {"access_key_id": "AKIA0001", "secret_access_key": "secret/key+0001",
            "session_token": "session+token/0001=="}
# Vendor: settings, credentials, the image's name there. Settings that are addresses begin with the fake's. An operator
# vouches for limits that a vendor does not tell of, as every profile asks for them.
VENDORS = {
    "agentcore": ({"api_url": "", "region": "us-east-1"}, AWS_KEYS, "aws.codeinterpreter.v1"),
    "agentcore_runtime": ({"api_url": "", "control_url": "", "runtime":
                           "arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/tools-abcdefghij"},
                          AWS_KEYS, "tools-abcdefghij"),
    "blaxel": ({"api_url": "/v0", "workspace": "sandgate"}, {"api_key": "bl_0001"}, "tools"),
    "cloudflare": ({"api_url": "", "instance_type": "standard-2"}, {"api_key": "cf_0001"}, "any"),
    "daytona": ({"api_url": "/api", "process_limit": True}, {"api_key": "dtn_0001"}, "daytona-small"),
    "e2b": ({"api_url": "", "sandbox_url": ""}, {"api_key": "e2b_" + "0" * 31 + "1"}, "base"),
    "kubernetes": ({"api_url": "", "process_limit": True}, {"token": "kube_0001"}, "tools"),
    "modal": ({"api_url": "", "process_limit": True, "disk_limit": True},
              {"token_id": "ak-0001", "token_secret": "as-0001"}, "debian:12-slim"),
    "northflank": ({"api_url": "", "team": "us", "project": "sandboxes"}, {"api_token": "nf_0001"}, "debian:12"),
    "opensandbox": ({"api_url": "/v1", "process_limit": True, "disk_limit": True}, {"api_key": "osb_0001"}, "tools"),
    "runloop": ({"api_url": ""}, {"api_key": "ak_0001"}, "tools"),
    "sprites": ({"api_url": ""}, {"token": "org/1/0001"}, "dev"),
    "vercel": ({"api_url": "", "team": "team_1", "project": "prj_1"}, {"token": "vca_0001"},
               "vercel/sandbox/universal:latest"),
}


class Fake:
    """A vendor's fake as a process, and the deployment that it is."""

    def __init__(self, vendor):
        script = vendor.removesuffix("_runtime")  # one fake has both services
        self.process = subprocess.Popen([sys.executable, f"{HERE}/{script}/fake_{script}.py", "--specs", ""],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = url = self.process.stdout.readline().split()[1]
        settings, credentials, self.image = VENDORS[vendor]
        self.deployment = {
            "provider": vendor, "credentials": credentials,
            "settings": {name: url + value if name.endswith("_url") else value for name, value in settings.items()}}

    def fail(self, fault):
        """Switches a fault on: see fake.py."""
        urllib.request.urlopen(self.url + "/_fake/faults", json.dumps(fault).encode()).close()

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)

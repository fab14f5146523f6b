#!/usr/bin/env python3
"""Runs the payment processor's own client from npm against fake_receiver.py: the fake is worth as
much as what that client makes of it. Skipped (77) where npm or its registry can't be reached."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.environ.get("SANDGATE_NPM_CACHE", "/var/cache/sandgate-test/npm-stripe")
VERSION = "18.5.0"

SCRIPT = """
const Stripe = require('stripe');
const stripe = new Stripe(process.argv[2], {host: '127.0.0.1', port: process.argv[3], protocol: 'http',
  maxNetworkRetries: 0, telemetry: false});
const now = Math.floor(Date.now() / 1000);
const event = (more) => ({event_name: 'vcpu_seconds', timestamp: now, identifier: 'id-1',
  payload: {value: '1.5', stripe_customer_id: 'cus_one'}, ...more});
const attempt = async (more) => {
  try {
    const made = await stripe.billing.meterEvents.create(event(more));
    return {ok: made.identifier, value: made.payload.value};
  } catch (error) {
    return {type: error.type, code: error.code, status: error.statusCode};
  }
};
(async () => console.log(JSON.stringify({
  first: await attempt({}),
  again: await attempt({}),
  old: await attempt({identifier: 'id-2', timestamp: now - 36 * 86400}),
  ahead: await attempt({identifier: 'id-3', timestamp: now + 600}),
  meter: await attempt({identifier: 'id-4', event_name: 'nothing'}),
})))();
"""


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def install():
    if not shutil.which("npm") or not shutil.which("node"):
        skip("npm and node are not installed")
    if os.path.isdir(f"{CACHE}/node_modules/stripe"):
        return
    os.makedirs(CACHE, exist_ok=True)
    try:
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", CACHE, "stripe@" + VERSION], check=True,
                       capture_output=True, timeout=60)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as failure:
        skip(f"the npm registry can't be reached: {failure}")


def run_client(key, port):
    with tempfile.NamedTemporaryFile("w", suffix=".js") as script:
        script.write(SCRIPT)
        script.flush()
        done = subprocess.run(["node", script.name, key, port], capture_output=True, text=True, timeout=30, check=True,
                              env={**os.environ, "NODE_PATH": CACHE + "/node_modules"})
    return json.loads(done.stdout)


def main():
    install()
    fake = subprocess.Popen([sys.executable, HERE + "/fake_receiver.py"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    try:
        begin = time.monotonic()
        port = fake.stdout.readline().strip()
        seen = run_client("sk_test_fake", port)
        assert seen["first"] == {"ok": "id-1", "value": "1.5"}, seen
        assert seen["again"]["code"] == "duplicate_meter_event" and seen["again"]["status"] == 400, seen
        for refused in ("old", "ahead", "meter"):
            assert seen[refused]["status"] == 400 and seen[refused]["type"] == "StripeInvalidRequestError", seen
        wrong = run_client("sk_wrong", port)
        assert wrong["first"]["status"] == 401 and wrong["first"]["type"] == "StripeAuthenticationError", wrong
        print(f"the client of version {VERSION} and the fake agree ({time.monotonic() - begin:.1f} s)")
    finally:
        fake.stdin.close()
        fake.wait(10)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Runs the payment processor's own client from npm against fake_receiver.py: the fake is worth as
much as what that client makes of it. Skipped (77) where npm or its registry can't be reached."""
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../vendors")
sys.dont_write_bytecode = True

from twin import npm_packages  # noqa: E402

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


def run_client(folder, key, port):
    with tempfile.NamedTemporaryFile("w", suffix=".js") as script:
        script.write(SCRIPT)
        script.flush()
        done = subprocess.run(["node", script.name, key, port], capture_output=True, text=True, timeout=30, check=True,
                              env={**os.environ, "NODE_PATH": folder + "/node_modules"})
    return json.loads(done.stdout)


def main():
    folder = npm_packages("stripe@" + VERSION)
    fake = subprocess.Popen([sys.executable, HERE + "/fake_receiver.py"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    try:
        begin = time.monotonic()
        port = fake.stdout.readline().strip()
        seen = run_client(folder, "sk_test_fake", port)
        assert seen["first"] == {"ok": "id-1", "value": "1.5"}, seen
        assert seen["again"]["code"] == "duplicate_meter_event" and seen["again"]["status"] == 400, seen
        for refused in ("old", "ahead", "meter"):
            assert seen[refused]["status"] == 400 and seen[refused]["type"] == "StripeInvalidRequestError", seen
        wrong = run_client(folder, "sk_wrong", port)
        assert wrong["first"]["status"] == 401 and wrong["first"]["type"] == "StripeAuthenticationError", wrong
        print(f"the client of version {VERSION} and the fake agree ({time.monotonic() - begin:.1f} s)")
    finally:
        fake.stdin.close()
        fake.wait(10)


if __name__ == "__main__":
    main()

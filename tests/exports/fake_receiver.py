#!/usr/bin/env python3
"""A receiver of meter events that enforces the published rules, and of signed webhooks.

POST /v1/billing/meter_events as Stripe documents it: form fields event_name (at most 100 characters,
of a meter that exists), payload[value] (a number), payload[stripe_customer_id] (of a customer that
exists), identifier (at most 100, once in 24 hours, else the code duplicate_meter_event), timestamp
(at most 35 days back and 5 minutes ahead), a bearer key. POST /hook takes signed batches.

Faults: POST /fault {"status", "times", "only"?, "retry_after"?, "message"?, "lost"?, "seconds"?} answers the next
requests (with "only", those with these words) so; "lost" takes the event first, "seconds" is how long the answer takes. GET /state tells what was taken. Prints its port and serves until its input ends.
"""
import hashlib
import hmac
import json
import sys
import threading
import time
import urllib.parse
from decimal import Decimal, InvalidOperation
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY, SECRET = "sk_test_fake", "whsec-0123456789abcdef"
METERS = {"vcpu_seconds", "memory_gib_seconds"}
CUSTOMERS = {"cus_one", "cus_two"}

lock = threading.Lock()
taken = {}        # identifier -> event
hooks = {}        # our event id -> event
fault = {"times": 0}
counts = {"requests": 0, "duplicates": 0, "hook_requests": 0}


class Refused(Exception):
    def __init__(self, status, code, message):
        self.status, self.document = status, {"error": {
            "type": "invalid_request_error", "code": code, "message": message}}


def check_event(form):
    name, value = form.get("event_name", ""), form.get("payload[value]", "")
    if not 0 < len(name) <= 100 or name not in METERS:
        raise Refused(400, "resource_missing", f"No active meter with event name {name!r}")
    if form.get("payload[stripe_customer_id]") not in CUSTOMERS:
        raise Refused(400, "resource_missing", "No such customer")
    try:
        Decimal(value)
    except InvalidOperation:
        raise Refused(400, "parameter_invalid", "value is not a number") from None
    if len(value.partition(".")[2]) > 12:
        raise Refused(400, "parameter_invalid", "value has more than 12 digits after the point")
    stamp = int(form.get("timestamp", time.time()))
    if stamp < time.time() - 35 * 86400:
        raise Refused(400, "timestamp_too_far_in_past", "timestamp is over 35 days old")
    if stamp > time.time() + 300:
        raise Refused(400, "timestamp_in_future", "timestamp is over 5 minutes ahead")
    identifier = form.get("identifier") or hashlib.sha256(repr(form).encode()).hexdigest()
    if len(identifier) > 100:
        raise Refused(400, "parameter_invalid", "identifier is too long")
    return identifier, {"event_name": name, "identifier": identifier, "timestamp": stamp,
                        "payload": {"value": value,
                                    "stripe_customer_id": form["payload[stripe_customer_id]"]}}


def take_event(body):
    form = dict(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True))
    identifier, event = check_event(form)
    if identifier in taken:
        counts["duplicates"] += 1
        raise Refused(400, "duplicate_meter_event", "An event with this identifier exists already")
    taken[identifier] = event
    return {"object": "billing.meter_event", "created": int(time.time()), "livemode": False, **event}


def take_hook(body, signature):
    parts = dict(part.split("=", 1) for part in signature.split(","))
    wanted = hmac.new(SECRET.encode(), parts["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(wanted, parts["v1"]) or abs(time.time() - int(parts["t"])) > 300:
        raise Refused(400, "signature", "the signature is wrong")
    counts["hook_requests"] += 1
    for event in json.loads(body)["events"]:
        hooks[event["id"]] = event
    return {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *unused):
        pass

    def answer(self, status, document, headers=None):
        body = json.dumps(document).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)),
                            "Request-Id": "req_fake", **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        with lock:
            self.answer(200, {"taken": list(taken.values()), "hooks": list(hooks.values()), **counts})

    def take(self, body):
        if self.path == "/hook":
            return take_hook(body, self.headers.get("Sandgate-Signature", "t=0,v1="))
        if self.headers.get("Authorization") != "Bearer " + KEY:
            raise Refused(401, "api_key_invalid", "Invalid API Key provided")
        if self.path != "/v1/billing/meter_events":
            raise Refused(404, "resource_missing", "Unrecognized request URL")
        return take_event(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/fault":
            with lock:
                fault.clear()
                fault.update(json.loads(body))
            return self.answer(200, {})
        with lock:
            counts["requests"] += 1
            try:
                if fault["times"] > 0 and fault.get("only", "").encode() in body:
                    fault["times"] -= 1
                    time.sleep(fault.get("seconds", 0))
                    if fault.get("lost"):
                        self.take(body)
                    headers = {"Retry-After": str(fault["retry_after"])} if "retry_after" in fault else {}
                    error = {"type": "api_error", "message": fault.get("message", "")}
                    return self.answer(fault["status"], {"error": error}, headers)
                self.answer(200, self.take(body))
            except Refused as refused:
                self.answer(refused.status, refused.document)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()

"""Checks a request's AWS Signature Version 4, written from the published algorithm alone."""
import datetime
import hashlib
import hmac
import re
import urllib.parse

ALGORITHM = "AWS4-HMAC-SHA256"
SKEW = datetime.timedelta(minutes=5)


def canonical_query(query):
    pairs = []
    for part in query.split("&") if query else []:
        name, _, value = part.partition("=")
        pairs.append(tuple(urllib.parse.quote(urllib.parse.unquote(text), safe="-_.~")
                           for text in (name, value)))
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def canonical_request(method, target, headers, signed, body_hash):
    """`target` as it was sent. Every service but S3 encodes the path that was sent once more."""
    path, _, query = target.partition("?")
    lines = [method, urllib.parse.quote(path, safe="/-_.~"), canonical_query(query)]
    lines += [f"{name}:" + " ".join(",".join(headers.get_all(name, [])).split())
              for name in signed]
    return "\n".join([*lines, "", ";".join(signed), body_hash])


def signature(secret, scope, moment, canonical):
    key = ("AWS4" + secret).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    text = "\n".join([ALGORITHM, moment, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def problem(method, target, headers, body, keys, region, service):
    """What is wrong with the signature, or an empty text. `keys`: secrets by key id."""
    found = re.fullmatch(ALGORITHM + r" Credential=([^/]+)/([^,]+), ?SignedHeaders=([^,]+), ?"
                         r"Signature=([0-9a-f]{64})", headers.get("Authorization", ""))
    if not found:
        return "the request is not signed"
    key_id, scope, signed, given = found.groups()
    if key_id not in keys:
        return "no such key"
    moment = headers.get("X-Amz-Date", "")
    if scope != f"{moment[:8]}/{region}/{service}/aws4_request":
        return "the signature is for another day, region or service"
    sent = datetime.datetime.strptime(moment, "%Y%m%dT%H%M%SZ")
    now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    if abs(now - sent) > SKEW:
        return "the signature is too old"
    signed = signed.split(";")
    if signed != sorted(signed) or not {"host", "x-amz-date"} <= set(signed):
        return "the signed headers are not what they must be"
    not_sent = [name for name in signed if name not in headers]
    if not_sent:
        return f"signed but not sent: {not_sent}"
    left_out = {name.lower() for name in headers if name.lower().startswith("x-amz-")} - set(signed)
    if left_out:
        return f"not signed: {sorted(left_out)}"
    body_hash = hashlib.sha256(body).hexdigest()
    if headers.get("X-Amz-Content-Sha256", body_hash) != body_hash:
        return "the body is another"
    canonical = canonical_request(method, target, headers, signed, body_hash)
    right = hmac.compare_digest(signature(keys[key_id], scope, moment, canonical), given)
    return "" if right else "the signature does not match"

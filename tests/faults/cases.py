"""A minimal runner: functions named test_* of a module, one server each unless they share one."""
import os
import sys
import time
import traceback


def wait_until(condition, seconds, what):
    """Polls until the condition holds; raises with `what` when it does not in time."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {what}")


def run_all(namespace, names):
    passed = failed = 0
    for name, test in list(namespace.items()):
        if not name.startswith("test_") or (names and name not in names):
            continue
        begin = time.monotonic()
        try:
            test()
            passed += 1
            print(f"ok    {name} ({time.monotonic() - begin:.1f} s)", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL  {name} ({time.monotonic() - begin:.1f} s)", flush=True)
            traceback.print_exc(limit=6, file=sys.stdout)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def main(namespace):
    """Runs a script's own cases, or those it is given the names of; they need root and the image."""
    if os.geteuid() != 0:
        print("skipped: needs root")
        sys.exit(77)
    from server import ensure_image  # not on the path of everybody who waits and runs here
    ensure_image()
    own = {name: value for name, value in namespace.items() if getattr(value, "__module__", "") == "__main__"}
    sys.exit(run_all(own, sys.argv[1:]))

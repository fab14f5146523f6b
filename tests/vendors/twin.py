"""Runs a vendor's own published client against its fake. Standard library only.

The client is installed once into SANDGATE_SDK_CACHE (or build/sdk); without Node.js or Python, or
when the registry cannot be reached, the test is skipped with exit code 77 and the reason."""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CACHE = os.environ.get("SANDGATE_SDK_CACHE", os.path.join(ROOT, "build", "sdk"))
SKIPPED = 77


def skip(reason):
    print("skipped: " + reason)
    sys.exit(SKIPPED)


def npm_package(vendor, package):
    """The folder whose node_modules holds `package` ("name@version")."""
    if not shutil.which("node") or not shutil.which("npm"):
        skip("Node.js and npm are not installed")
    folder = os.path.join(CACHE, vendor)
    name, _, version = package.rpartition("@")
    manifest = os.path.join(folder, "node_modules", name, "package.json")
    if not os.path.exists(manifest) or f'"version": "{version}"' not in open(manifest).read():
        os.makedirs(folder, exist_ok=True)
        done = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder,
             package], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240)
        if done.returncode:
            skip(f"{package} cannot be installed: {done.stderr.strip()[-300:]}")
    return folder


def pip_package(package):
    """The programs' folder of an environment of its own that holds `package` ("name==version")."""
    folder = os.path.join(CACHE, package)
    programs, installed = os.path.join(folder, "bin"), os.path.join(folder, "installed")
    if os.path.exists(installed):
        return programs
    for words in ([sys.executable, "-m", "venv", "--clear", folder],
                  [os.path.join(programs, "python"), "-m", "pip", "install", "--quiet", package]):
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        if done.returncode:
            skip(f"{package} cannot be installed: {(done.stderr or done.stdout).strip()[-300:]}")
    open(installed, "w").close()
    return programs


def node(vendor, package, environment, script="twin.mjs"):
    """Runs <vendor>/<script>; `environment` makes the client's variables from the fake's URL. Ends
    the program with its status."""
    folder = npm_package(vendor, package)
    # Modules are looked for beside the script that imports them.
    copy = os.path.join(folder, script)
    shutil.copyfile(os.path.join(HERE, vendor, script), copy)
    server = subprocess.Popen(
        [sys.executable, os.path.join(HERE, vendor, f"fake_{vendor}.py")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().split()[1]
        done = subprocess.run(["node", copy], timeout=200,
                              env={**os.environ, "FAKE_URL": url, **environment(url)})
    finally:
        server.stdin.close()
        server.wait(20)
    sys.exit(done.returncode)

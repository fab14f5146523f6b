"""Runs a vendor's own published client against its fake. Standard library only.

The client is installed once into SANDGATE_SDK_CACHE (or build/sdk); without Node.js or Python, or
when the registry cannot be reached, the test is skipped with exit code 77 and the reason."""
import fcntl
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


def client_folder(name, *commands):
    """CACHE/name, made by `commands` once: whole or not at all, whoever else wants it at the same time."""
    folder = os.path.join(CACHE, name)
    installed = os.path.join(folder, "installed")
    os.makedirs(CACHE, exist_ok=True)
    with open(folder + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(installed):
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for words in commands:
            try:
                done = subprocess.run([word.format(folder=folder) for word in words], stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, timeout=240)
            except subprocess.TimeoutExpired:
                skip(f"{name} cannot be installed: the registry takes more than 240 s")
            if done.returncode:
                skip(f"{name} cannot be installed: {(done.stderr or done.stdout).strip()[-300:]}")
        open(installed, "w").close()
    return folder


def npm_packages(*packages):
    """The folder whose node_modules holds `packages` ("name@version")."""
    if not shutil.which("node") or not shutil.which("npm"):
        skip("Node.js and npm are not installed")
    return client_folder("+".join(packages).replace("/", "_"),
                         ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", "{folder}",
                          *packages])


def pip_package(package):
    """The programs' folder of an environment of its own that holds `package` ("name==version")."""
    folder = client_folder(package, [sys.executable, "-m", "venv", "{folder}"],
                           ["{folder}/bin/python", "-m", "pip", "install", "--quiet", package])
    return os.path.join(folder, "bin")


def beside(folder, script):
    """A copy of the script in a client's folder, as modules are looked for beside who imports them. It is whole
    whoever else makes one at the same time."""
    copy = os.path.join(folder, os.path.basename(script))
    part = f"{copy}.{os.getpid()}"
    shutil.copyfile(script, part)
    os.replace(part, copy)
    return copy


def node(vendor, package, environment, script="twin.mjs"):
    """Runs <vendor>/<script>; `environment` makes the client's variables from the fake's URL. Ends
    the program with its status."""
    copy = beside(npm_packages(package), os.path.join(HERE, vendor, script))
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

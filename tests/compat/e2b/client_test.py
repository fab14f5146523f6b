#!/usr/bin/env python3
"""The published JavaScript client, unchanged, against the real program with real sandboxes."""
import os
import shutil
import subprocess
import sys

import world

PACKAGE = "e2b@2.51.0"


def main():
    world.need_root()
    folder = world.twin.npm_packages(PACKAGE)
    wanted = sys.argv[1:] or ["control", "commands", "files"]
    failed = []
    with world.World() as here:
        for part in wanted:
            # Modules are looked for beside the script that imports them.
            copy = os.path.join(folder, f"surface_{part}.mjs")
            shutil.copyfile(os.path.join(world.HERE, part + ".mjs"), copy)
            done = subprocess.run(["node", copy], timeout=200, env={**os.environ, **here.environment()})
            print(f"{part}: {'passed' if done.returncode == 0 else 'FAILED'}", flush=True)
            failed += [part] if done.returncode else []
        if failed:
            print(here.server.log()[-3000:])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

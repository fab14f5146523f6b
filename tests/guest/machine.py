"""A Debian machine of its own under QEMU: Debian's kernel, systemd, control groups of version 2.

It runs this machine's programs (its root file system is this one, read-only, below a layer of its own) on disks of its
own, so that nothing done there is left here. Needs no hardware virtualization: without it, it is some ten times slower.
"""
import glob
import gzip
import os
import pathlib
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Those that the root file system needs; the others are loaded from it.
MODULES = ("crc32c_generic", "virtio_pci", "virtio_blk", "9pnet_virtio", "9p", "ext4", "overlay")
DISK_BYTES = 24 << 30  # sparse
MEMORY_MIB = 6144
COMMAND_LINE = "panic=1 console=ttyS0 quiet loglevel=3 systemd.show_status=0 systemd.unified_cgroup_hierarchy=1"


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, capture_output=True, **options).stdout


def fetch_kernel(directory):
    """Downloads and unpacks the kernel that Debian installs by default; returns its version."""
    name = next(line.split()[-1] for line in run("apt-cache", "depends", "linux-image-amd64").splitlines()
                if "Depends: linux-image-" in line)
    run("apt-get", "download", "-qq", name, cwd=directory)
    package = glob.glob(f"{directory}/{name}_*.deb")[0]
    run("dpkg-deb", "-x", package, f"{directory}/kernel")
    os.unlink(package)
    version = os.listdir(f"{directory}/kernel/lib/modules")[0]
    run("depmod", "-b", f"{directory}/kernel", version)
    return version


def archive(root):
    """The files below `root` in the format that the kernel unpacks at its start (cpio, newc)."""
    out = bytearray()

    def add(data):
        out.extend(data + b"\0" * (-(len(out) + len(data)) % 4))

    def entry(number, name, mode, data=b""):
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        add(b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0")
        add(data)

    for number, path in enumerate(sorted(root.rglob("*")), 1):
        data = b"" if path.is_dir() else path.read_bytes()
        entry(number, str(path.relative_to(root)), path.stat().st_mode, data)
    entry(0, "TRAILER!!!", 0)
    return bytes(out)


def make_start(directory, version):
    """What the kernel runs first: it mounts the root file system and goes on with its systemd."""
    root = pathlib.Path(directory, "start")
    for name in ("bin", "proc", "sys", "dev", "host", "data", "new", f"lib/modules/{version}"):
        (root / name).mkdir(parents=True)
    shutil.copy("/bin/busybox", root / "bin")
    shutil.copy(HERE / "init", root)
    modules = f"lib/modules/{version}"
    shown = [run("modprobe", "-d", f"{directory}/kernel", "-S", version, "--show-depends", name) for name in MODULES]
    for line in {line for text in shown for line in text.splitlines() if line.startswith("insmod")}:
        source = line.split()[1]
        target = root / modules / source.split(modules + "/")[1]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        shutil.copy(f"{directory}/kernel/{modules}/{name}", root / modules)
    run("depmod", "-b", str(root), version)
    pathlib.Path(directory, "start.gz").write_bytes(gzip.compress(archive(root), 1))


def make_disk(directory, version, script, copies):
    """An ext4 disk: the layer over the root file system, `script` and what `copies` (path: name) take along."""
    seed = pathlib.Path(directory, "seed")
    layer = seed / "layer"
    for name in ("usr/lib/modules", "etc/systemd/system"):
        (layer / name).mkdir(parents=True)
    (seed / "work").mkdir()
    (seed / "tmp").mkdir()
    (seed / "tmp").chmod(0o1777)
    shutil.copytree(f"{directory}/kernel/lib/modules/{version}", layer / "usr/lib/modules" / version, symlinks=True)
    for unit in ("guest.target", "guest.service"):
        shutil.copy(HERE / unit, layer / "etc/systemd/system")
    (seed / "script").write_text(script)
    for path, name in copies.items():
        run("cp", "-a", path, str(seed / name))
    disk = f"{directory}/disk"
    with open(disk, "wb") as file:
        file.truncate(DISK_BYTES)
    run("mkfs.ext4", "-q", "-F", "-d", str(seed), disk)
    shutil.rmtree(seed)


def boot(directory, version, timeout):
    """Runs the machine to its end, its console on ours; ends it when it takes longer."""
    accelerator = "kvm" if os.access("/dev/kvm", os.R_OK | os.W_OK) and has_virtualization() else "tcg,thread=multi"
    command = ["qemu-system-x86_64", "-M", "q35", "-accel", accelerator, "-cpu", "max", "-smp", "2", "-m", str(MEMORY_MIB),
               "-nographic", "-no-reboot", "-nic", "none", "-serial", "stdio", "-monitor", "none",
               "-kernel", f"{directory}/kernel/boot/vmlinuz-{version}", "-initrd", f"{directory}/start.gz",
               "-append", COMMAND_LINE, "-drive", f"file={directory}/disk,if=virtio,format=raw,cache=unsafe",
               "-fsdev", "local,id=host,path=/,security_model=none,multidevs=remap,readonly=on",
               "-device", "virtio-9p-pci,fsdev=host,mount_tag=host"]
    try:
        subprocess.run(command, timeout=timeout, stdin=subprocess.DEVNULL, check=True)
    except subprocess.TimeoutExpired:
        print(f"the guest was ended after {timeout} s")


def has_virtualization():
    return any(flag in open("/proc/cpuinfo").read().split() for flag in ("vmx", "svm"))


def run_script(script, copies, timeout):
    """Boots a machine, runs `script` (bash, as root, under systemd) in it; returns its exit code, None: it came to none."""
    with tempfile.TemporaryDirectory(prefix="sandgate-guest-", dir="/var/tmp") as directory:
        version = fetch_kernel(directory)
        make_start(directory, version)
        make_disk(directory, version, script, copies)
        boot(directory, version, timeout)
        code = run("debugfs", "-R", "cat /code", f"{directory}/disk", stderr=None).strip()
        return int(code) if code else None

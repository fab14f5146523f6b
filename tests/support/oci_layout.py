"""Images as registries and archives hold them, made here. Standard library only."""
import gzip
import hashlib
import io
import json
import os
import tarfile

MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def layer(files, mode, directories):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        for name, directory_mode in directories.items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, directory_mode
            tar.addfile(entry)
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text), mode
            tar.addfile(entry, io.BytesIO(text))
    return data.getvalue()


class Layout:
    """An OCI layout in memory: blobs by digest. `directories` have modes of their own."""

    def __init__(self, files, mode=0o644, directories=None, system="linux"):
        self.blobs = {}
        config = {"os": system, "architecture": {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine], "config": {"Env": ["A=1"]},
                  "rootfs": {"type": "layers", "diff_ids": []}}
        packed = layer(files, mode, directories or {})
        config["rootfs"]["diff_ids"].append(
            "sha256:" + hashlib.sha256(gzip.decompress(packed)).hexdigest())
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": self.put(json.dumps(config).encode(), "application/vnd.oci.image.config.v1+json"),
            "layers": [self.put(packed, "application/vnd.oci.image.layer.v1.tar+gzip")],
        }
        self.manifest = json.dumps(manifest).encode()
        self.descriptor = self.put(self.manifest, MANIFEST)

    def put(self, data, kind):
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        self.blobs[digest] = data
        return {"mediaType": kind, "digest": digest, "size": len(data)}

    def write(self, directory):
        os.makedirs(directory + "/blobs/sha256")
        for digest, data in self.blobs.items():
            with open(directory + "/blobs/sha256/" + digest[7:], "wb") as out:
                out.write(data)
        with open(directory + "/index.json", "w") as out:
            json.dump({"schemaVersion": 2, "manifests": [self.descriptor]}, out)
        with open(directory + "/oci-layout", "w") as out:
            json.dump({"imageLayoutVersion": "1.0.0"}, out)

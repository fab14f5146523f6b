"""The files of a sandbox as its own server has them, whole or in parts: a half of FakeBlaxel."""
import os
import shutil
import time

import fake


def iso_date(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class BlaxelFiles:
    def read(self, request, name, path):
        full = self.running(name).path(path)
        if not os.path.lexists(full):
            raise self.refuse(404, "file not found")
        if os.path.isdir(full):
            names = sorted(os.listdir(full))
            folders = [one for one in names if os.path.isdir(os.path.join(full, one))]
            return 200, {"name": os.path.basename(full), "path": path,
                         "files": [{"name": one, "path": os.path.join(path, one)}
                                   for one in names if one not in folders],
                         "subdirectories": [{"name": one, "path": os.path.join(path, one)}
                                            for one in folders]}
        with open(full, "rb") as file:
            data = file.read()
        raw = "octet-stream" in request.headers.get("Accept", "")
        if raw or request.one("download") == "true":
            return 200, data, {"Content-Type": "application/octet-stream"}
        info = os.stat(full)
        return 200, {"content": data.decode(errors="replace"), "name": os.path.basename(full),
                     "path": path, "size": info.st_size, "owner": "root", "group": "root",
                     "permissions": "%04o" % (info.st_mode & 0o7777),
                     "lastModified": iso_date(info.st_mtime)}

    def store(self, name, path, data, mode="0644"):
        full = self.running(name).path(path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(data)
        os.chmod(full, int(mode, 8))
        return 200, {"message": "File saved", "path": path}

    def write(self, request, name, path):
        if request.headers.get("Content-Type", "").startswith("multipart/form-data"):
            parts = fake.form_of(request)
            return self.store(name, path, parts["file"], parts.get("permissions", b"0644").decode())
        body = request.json()
        if body.get("isDirectory"):
            os.makedirs(self.running(name).path(path), exist_ok=True)
            return 200, {"message": "Directory created", "path": path}
        return self.store(name, path, body.get("content", "").encode(),
                          body.get("permissions") or "0644")

    def remove(self, request, name, path):
        full = self.running(name).path(path)
        if not os.path.lexists(full):
            raise self.refuse(404, "file not found")
        if os.path.isdir(full) and request.one("recursive") != "true":
            raise self.refuse(422, "is a directory")
        shutil.rmtree(full) if os.path.isdir(full) else os.remove(full)
        return 200, {"message": "deleted"}

    def begin_parts(self, request, name, path):
        self.running(name)
        upload = fake.new_id("up-")
        self.uploads[upload] = {"path": path, "mode": request.json().get("permissions", "0644"),
                                "parts": {}}
        return 200, {"uploadId": upload, "path": path}

    def upload(self, upload):
        if upload not in self.uploads:
            raise self.refuse(404, "no such upload")
        return self.uploads[upload]

    def part(self, request, name, upload):
        number, data = int(request.one("partNumber")), fake.form_of(request)["file"]
        self.upload(upload)["parts"][number] = data
        return 200, {"partNumber": number, "etag": f"e{number}", "size": len(data)}

    def complete(self, request, name, upload):
        begun, listed = self.upload(upload), request.json()["parts"]
        for part in listed:
            if part["etag"] != f"e{part['partNumber']}" or part["partNumber"] not in begun["parts"]:
                raise self.refuse(400, "no such part")
        data = b"".join(begun["parts"][part["partNumber"]] for part in listed)
        del self.uploads[upload]
        return self.store(name, begun["path"], data, begun["mode"])

    def abort(self, request, name, upload):
        self.upload(upload)
        del self.uploads[upload]
        return 200, {"message": "aborted"}

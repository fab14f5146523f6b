#pragma once
#include <functional>
#include <string>

#include "local/image/store.hpp"

namespace sandgate {

using ImportProgress = std::function<void(std::string_view)>;

// Imports an untrusted OCI archive (a file) or layout (a directory) as the image `name`. Its
// account is the OCI image's user unless that is root, else `user`. Environment and working
// directory are taken over; entry point, command, ports and volumes are ignored.
// Throws Error: invalid for a malformed or hostile image, unavailable. Forks without exec, so the
// process must not have other running threads.
ImageInfo import_image(ImageStore& store, const std::string& name, const std::string& path,
                       const ImportProgress& progress);

struct PullRequest {
  std::string name;
  std::string reference;  // host/path:tag or host/path@digest, as for docker pull
  bool plain_http = false;  // allows registries without TLS or with an untrusted certificate
  std::string credentials;  // file with registry credentials; empty: skopeo's default
};

// Pulls the image with skopeo, in at most 30 minutes, then imports it as import_image() does.
// Throws Error: unavailable with the program's last line when it fails, timeout, and as
// import_image(); Interrupted.
ImageInfo pull_image(ImageStore& store, const PullRequest& request, const ImportProgress& progress);

}  // namespace sandgate

#pragma once
#include <functional>
#include <string>

#include "local/image/store.hpp"

namespace sandgate {

using ImportProgress = std::function<void(std::string_view)>;

// Makes the image `name` of an OCI archive (a file) or layout (a directory), untrusted both. Its
// default account is the image's when that is not root, else `user`; environment and working
// directory are the image's; entry point, command, ports and volumes mean nothing to a sandbox.
// Throws Error: invalid when it is no image or a hostile one; unavailable. Forks: not for a
// process with busy threads.
ImageInfo import_image(ImageStore& store, const std::string& name, const std::string& path,
                       const ImportProgress& progress);

struct PullOrder {
  std::string name;
  std::string reference;  // host/path:tag or host/path@digest, as for docker pull
  bool plain_http = false;  // for a registry without TLS
  std::string credentials;  // file of registry credentials; empty: skopeo's own
};

// Fetches the image with skopeo (Debian: skopeo), at most 30 minutes, then imports it. Throws
// Error(unavailable) with the program's last words.
ImageInfo pull_image(ImageStore& store, const PullOrder& order, const ImportProgress& progress);

}  // namespace sandgate

#pragma once
#include <map>
#include <string>
#include <vector>

#include "gateway/core/fd.hpp"
#include "gateway/core/json_reader.hpp"

namespace sandgate {

// The part of an OCI image's configuration that sandboxes use.
struct OciConfig {
  std::string user, workdir;
  std::map<std::string, std::string> env;
};

// Reader of an untrusted OCI image layout on disk. Every blob is read completely and compared with
// its digest before it is used. Throws Error(invalid) for a malformed layout, and for one without
// an image for this machine's architecture.
class OciLayout {
 public:
  explicit OciLayout(const std::string& directory);

  const OciConfig& config() const { return config_; }
  const std::string& digest() const { return manifest_digest_; }
  size_t layers() const { return layers_.size(); }
  Fd open_layer(size_t index) const;  // verified, positioned at the start

 private:
  struct Blob {
    std::string digest, type;
    int64_t size = 0;
  };
  static Blob blob_from(const Json& descriptor);
  Fd open_blob(const Blob& blob) const;
  Json read_json(const Blob& blob) const;
  Blob choose_manifest(const Json& index, int depth) const;
  void read_config(const Blob& blob);

  Fd directory_;
  std::string manifest_digest_;
  OciConfig config_;
  std::vector<Blob> layers_;
};

// Unpacks an OCI archive (a layout as tar) into an empty directory; takes only regular files with
// names of a layout. Throws Error(invalid). Forks, see run_in_chroot().
void unpack_oci_archive(const std::string& archive_path, const std::string& directory);

}  // namespace sandgate

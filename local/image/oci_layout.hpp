#pragma once
#include <map>
#include <string>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "local/namespaces/fd.hpp"

namespace sandgate {

// What an image's author says about running it; only what a sandbox honours.
struct OciConfig {
  std::string user, workdir;
  std::map<std::string, std::string> env;
};

// An OCI image layout on disk: untrusted input. Names in it are digests; every blob is read
// completely and compared with its digest before it is used. Throws Error(invalid) for what is no
// image for this machine's architecture.
class OciLayout {
 public:
  explicit OciLayout(const std::string& directory);

  const OciConfig& config() const { return config_; }
  const std::string& digest() const { return manifest_digest_; }
  size_t layers() const { return layers_.size(); }
  Fd open_layer(size_t index) const;  // verified, at its beginning

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

// The image of an OCI archive (a layout as tar) unpacked into an empty directory: regular files of
// a layout's names only. Throws Error(invalid).
void unpack_oci_archive(const std::string& archive_path, const std::string& directory);

}  // namespace sandgate

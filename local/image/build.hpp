#pragma once
#include <filesystem>
#include <functional>
#include <string>

#include "local/image/store.hpp"

namespace sandgate {

struct BuildRequest {
  std::string name = "debian-12";
  std::string suite = "bookworm";
  std::vector<std::string> extra_packages;  // in addition to the usual set
};

// Builds an image from Debian packages with mmdebstrap and adds it to the store. Takes about half
// a minute and needs root. `progress` is called with each line of output. Packages come from this
// machine's apt sources; the image itself is configured for Debian's public mirror.
// Throws Error: unavailable with the tool's last line when it fails; invalid for a malformed name,
// suite or package; Interrupted.
ImageInfo build_image(ImageStore& store, const BuildRequest& request,
                      std::function<void(std::string_view)> progress);

// Prepares a file tree to be run as a sandbox: adds the account config.user unless /etc/passwd has
// it, mount points, and /etc/hosts and /etc/resolv.conf for a loopback-only network. Throws Error:
// invalid if one of /etc, /dev, /proc, /sys, /tmp and /home is not a directory, unavailable if a
// file cannot be written. Follows symlinks: use it on a trusted tree only, or with "" inside
// run_in_chroot().
void prepare_tree(const std::string& tree, const ImageConfig& config);

// Replaces an existing file or symlink instead of writing through it. Throws Error(unavailable).
void put_file(const std::filesystem::path& path, const std::string& text);

}  // namespace sandgate

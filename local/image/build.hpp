#pragma once
#include <functional>
#include <stop_token>
#include <string>

#include "local/image/store.hpp"

namespace sandgate {

struct BuildOrder {
  std::string name = "debian-12";
  std::string suite = "bookworm";
  std::vector<std::string> extra_packages;  // beyond the usual set
};

// Makes an image from Debian packages with mmdebstrap and adds it to the store. Takes about half
// a minute and needs root. `progress` hears one line per step. The packages come from wherever
// this machine's apt gets them; the image itself names Debian's public mirror.
// Throws Error(unavailable) with the tool's last words when it fails, and when told to stop.
ImageInfo build_image(ImageStore& store, const BuildOrder& order,
                      std::function<void(std::string_view)> progress,
                      const std::stop_token& stop = {});

// What every image needs to be run here whatever it was made from: the account info.user, unless
// /etc/passwd has it already, /etc/hosts and /etc/resolv.conf that make sense behind a loopback,
// mount points. Refuses (Error(invalid)) a tree whose /etc, /dev or /proc are not directories.
// Follows links by path: for a tree that one trusts, or called with "" inside in_tree().
void prepare_tree(const std::string& tree, const ImageInfo& info);

}  // namespace sandgate

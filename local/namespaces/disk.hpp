#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "local/namespaces/fd.hpp"

namespace sandgate {

// Empty files of each disk that are not its owner's, see assemble_root().
constexpr int kSpareFiles = 8;

// The writable layers of sandboxes: one sparse ext4 image file each, copied from a template that
// mkfs.ext4 made once per size. An image holds `upper`, `work` and `spare`. Thread-safe.
class DiskStore {
 public:
  // Keeps images and templates below `directory`, which exists and is root's alone.
  explicit DiskStore(std::string directory);

  // A new and empty file for a sandbox's image, opened for reading and writing. Throws StepError.
  Fd create(const std::string& id);
  // Makes it a fresh disk of this size. Throws StepError.
  void format(int image, uint64_t bytes);
  Fd open_image(const std::string& id) const;  // for reading; throws StepError
  void remove(const std::string& id);  // absent: nothing happens
  void rename(const std::string& id, const std::string& to);  // throws StepError
  std::vector<std::string> list() const;  // ids that have an image
  int64_t used_bytes(const std::string& id) const;  // blocks really taken on this machine

  // One inode for 16 KiB, at least 65 536.
  static uint64_t inodes(uint64_t bytes);

 private:
  std::string image_path(const std::string& id) const;
  int open_template(uint64_t bytes);

  std::string directory_;
  std::mutex mutex_;  // guards templates_ and their making
  std::map<uint64_t, Fd> templates_;
};

}  // namespace sandgate

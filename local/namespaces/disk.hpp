#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "gateway/core/fd.hpp"
#include "local/namespaces/recycled_files.hpp"

namespace sandgate {

// Number of empty files reserved on each disk, see with_spare_files() in root.cpp.
constexpr int kSpareFiles = 8;

// The store of sandboxes' disks: one sparse ext4 image file each, copied from a template that
// mkfs.ext4 makes once per size. An image holds `upper`, `work` and `spare`. Thread-safe.
class DiskStore {
 public:
  // Keeps images and templates below `directory`, which exists and only root may access.
  explicit DiskStore(std::string directory);

  // Creates an empty image file, opened for reading and writing. Throws StepError.
  Fd create(const std::string& id);
  // Fills an empty image file with an ext4 file system of this size. Throws StepError.
  void format(int image, uint64_t bytes);
  Fd open_image(const std::string& id) const;  // for reading; throws StepError
  void remove(const std::string& id);  // absent: nothing happens
  void rename(const std::string& id, const std::string& to);  // throws StepError
  void drop_unused() { recycled_files_.drop_unused(); }  // see RecycledFiles
  std::vector<std::string> list() const;  // ids that have an image
  int64_t used_bytes(const std::string& id) const;  // allocated on the host's disk; 0 if absent

  // Number of inodes of a disk: one per 16 KiB, at least 65 536.
  static uint64_t inodes(uint64_t bytes);

 private:
  std::string image_path(const std::string& id) const;
  int open_template(uint64_t bytes);

  const std::string directory_;
  RecycledFiles recycled_files_;
  std::mutex mutex_;  // guards templates_ and the creation of template files
  std::map<uint64_t, Fd> templates_;
};

}  // namespace sandgate

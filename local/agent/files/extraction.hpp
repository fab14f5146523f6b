#pragma once
#include <memory>
#include <string>

#include "local/agent/files/file_write.hpp"
#include "local/agent/files/tar_format.hpp"

namespace sandgate::agent {

// Unpacks the members of an archive below one directory. No name can leave the directory or pass
// through a symlink, not even one that the archive created. Throws Error: invalid for a member that
// tries to, and for devices and pipes. Set-id and sticky bits are dropped.
class Extraction {
 public:
  explicit Extraction(const std::string& directory);

  void begin(const TarEntry& entry);
  void content(std::string_view bytes);
  void end(bool durable);  // `durable` as in PendingFile::commit()

 private:
  Place place_of(const std::string& name, bool create);
  void make_directory(const Place& place);
  void make_link(const Place& place);

  const Fd root_;
  TarEntry entry_;
  std::unique_ptr<Place> place_;
  std::unique_ptr<PendingFile> file_;
};

}  // namespace sandgate::agent

#pragma once
#include <memory>
#include <string>

#include "local/agent/file_write.hpp"
#include "local/agent/tar_format.hpp"

namespace sandgate::agent {

// Unpacks members beneath one directory: a name can neither leave it nor pass through a symlink,
// also not one that the archive itself brought. Throws Error(invalid) for a member that tries, for
// devices and for pipes; setuid and the like are dropped.
class Extraction {
 public:
  explicit Extraction(const std::string& directory);

  void begin(const TarEntry& entry);
  void content(std::string_view bytes);
  void end(bool settled);  // as PendingFile::commit() has it

 private:
  Place place_of(const std::string& name, bool create);
  void make_directory(const Place& place);
  void make_link(const Place& place);

  const File root_;
  TarEntry entry_;
  std::unique_ptr<Place> place_;
  std::unique_ptr<PendingFile> file_;
};

}  // namespace sandgate::agent

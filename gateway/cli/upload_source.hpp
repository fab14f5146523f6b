#pragma once
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace sandgate::cli {

// A local file that is sent to a sandbox, byte by byte as it is read.
class UploadSource {
 public:
  // Throws Error(not_found) if it cannot be opened.
  explicit UploadSource(const std::filesystem::path& path);

  // In bytes. Absent where only reading tells: of pipes, devices and what the kernel makes up,
  // whose files have a size of 0 or of a page.
  std::optional<uint64_t> size() const { return size_; }
  // Its permissions as "0644"; absent: it is no regular file, and has none to keep.
  std::optional<std::string> mode() const;
  // Fills `into` with the next bytes. Returns their number, 0 at the end, which is after size()
  // bytes even if the file grows. Throws Error(invalid) if it cannot be read, or became shorter.
  size_t read(char* into, size_t room);

 private:
  std::filesystem::path path_;
  std::ifstream file_;
  struct stat status_ {};
  std::optional<uint64_t> size_;
  uint64_t sent_ = 0;
};

}  // namespace sandgate::cli

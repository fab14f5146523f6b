#include "gateway/core/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "gateway/core/fd.hpp"

namespace sandgate {
namespace {

bool write_draft(const std::string& draft, const std::string& text, mode_t mode,
                 Durability durability) {
  const Fd file(open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!file) return false;
  errno = ENOSPC;  // what a short write means
  return write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
         (durability == Durability::until_reboot || fsync(file.get()) == 0);
}

}  // namespace

std::string cannot_read(const std::string& path) {
  return "cannot read " + path + ": " + std::strerror(errno);
}

std::optional<std::string> read_text_file(const std::string& path) {
  std::ifstream in(path);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

bool replace_file(const std::string& path, const std::string& text, mode_t mode,
                  Durability durability) {
  const std::string draft = path + ".draft";
  if (write_draft(draft, text, mode, durability) && rename(draft.c_str(), path.c_str()) == 0)
    return durability == Durability::until_reboot ||
           sync_directory(std::filesystem::path(path).parent_path());
  const int number = errno;
  unlink(draft.c_str());
  errno = number;
  return false;
}

bool sync_directory(const std::string& path) {
  const Fd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return directory && fsync(directory.get()) == 0;
}

}  // namespace sandgate

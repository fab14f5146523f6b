#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "local/image/sha256.hpp"
#include "local/image/store.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

constexpr size_t kBuffer = 1 << 18;

// `buffer` is one for all files: to make and clear it takes longer than to read most of them.
void add_content(Sha256& digest, const std::string& path, std::vector<char>& buffer) {
  Fd file = check_fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW), "read image file");
  for (;;) {
    ssize_t got = check(read(file.get(), buffer.data(), buffer.size()), "read image file");
    if (got == 0) return;
    digest.add({buffer.data(), static_cast<size_t>(got)});
  }
}

// Every field is terminated, so that different trees never give the same bytes.
int64_t add_entry(Sha256& digest, const std::string& root, const std::string& path,
                  std::vector<char>& buffer) {
  std::string full = root + "/" + path;
  struct stat status {};
  check(lstat(full.c_str(), &status), "stat image file");
  // A directory's size depends on the file system.
  off_t content = S_ISDIR(status.st_mode) ? 0 : status.st_size;
  digest.add(path);
  digest.add({"\0", 1});
  digest.add(std::to_string(status.st_mode) + " " + std::to_string(status.st_uid) + " " +
             std::to_string(status.st_gid) + " " + std::to_string(content) + "\n");
  if (S_ISREG(status.st_mode)) add_content(digest, full, buffer);
  if (S_ISLNK(status.st_mode)) digest.add(std::filesystem::read_symlink(full).string());
  return S_ISREG(status.st_mode) ? status.st_size : 0;
}

}  // namespace

TreeDigest digest_tree(const std::string& root) {
  std::vector<std::string> paths;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (const auto& entry : Walk(root, std::filesystem::directory_options::none)) {
    paths.push_back(entry.path().string().substr(root.size() + 1));
  }
  std::sort(paths.begin(), paths.end());
  Sha256 digest;
  TreeDigest result;
  std::vector<char> buffer(kBuffer);
  for (const std::string& path : paths) {
    result.size_bytes += add_entry(digest, root, path, buffer);
  }
  result.digest = "sha256:" + digest.hex();
  return result;
}

}  // namespace sandgate

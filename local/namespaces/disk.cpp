#include "local/namespaces/disk.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "local/namespaces/disk_copy.hpp"
#include "local/namespaces/step_error.hpp"

extern char** environ;

namespace sandgate {
namespace {

constexpr const char* kSuffix = ".img";

void run_mkfs(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  if (int failure = posix_spawnp(&pid, argv[0], nullptr, nullptr, argv.data(), environ);
      failure != 0) {
    throw StepError("run mkfs.ext4", failure);
  }
  int status = 0;
  check(waitpid(pid, &status, 0), "wait for mkfs.ext4");
  if (status != 0) throw StepError("mkfs.ext4", EIO);
}

// No journal: a disk is discarded with its sandbox, or copied while nothing writes to it. No backup
// superblocks, as disks are never repaired. Flex groups of size 1 (-G 1): with larger ones the
// first write reads the metadata of many groups. All blocks of a fresh disk are copied per sandbox.
void make_file_system(const std::string& path, const std::string& layers, uint64_t inodes) {
  std::filesystem::create_directories(layers + "/upper");
  std::filesystem::create_directories(layers + "/work");
  std::filesystem::create_directories(layers + "/spare");
  chmod((layers + "/upper").c_str(), 0755);
  for (int i = 0; i < kSpareFiles; ++i) std::ofstream(layers + "/spare/" + std::to_string(i));
  run_mkfs({"mkfs.ext4", "-q", "-F", "-m", "0", "-N", std::to_string(inodes), "-G", "1", "-O",
            "^has_journal,^resize_inode,sparse_super2", "-E",
            "root_owner=0:0,lazy_itable_init=1,assume_storage_prezeroed=1,num_backup_sb=0", "-d",
            layers, path});
}

}  // namespace

DiskStore::DiskStore(std::string directory)
    : directory_(std::move(directory)), recycled_files_(directory_ + "/spare") {
  std::filesystem::create_directories(directory_ + "/templates");
}

uint64_t DiskStore::inodes(uint64_t bytes) { return std::max<uint64_t>(65536, bytes / 16384); }

std::string DiskStore::image_path(const std::string& id) const {
  return directory_ + "/" + id + kSuffix;
}

// The name encodes the format's version and the size; another version makes its own template.
int DiskStore::open_template(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (auto found = templates_.find(bytes); found != templates_.end()) return found->second.get();
  std::string path = directory_ + "/templates/ext4-3-" + std::to_string(bytes);
  if (access(path.c_str(), R_OK) != 0) {
    std::string draft = path + ".draft";
    Fd file = check_fd(open(draft.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600),
                       "make disk template");
    check(ftruncate(file.get(), static_cast<off_t>(bytes)), "size disk template");
    make_file_system(draft, path + ".layers", inodes(bytes));
    std::filesystem::remove_all(path + ".layers");
    check(fsync(file.get()), "keep disk template");  // a power cut must not leave an empty template
    check(::rename(draft.c_str(), path.c_str()), "keep disk template");
  }
  Fd file = check_fd(open(path.c_str(), O_RDONLY | O_CLOEXEC), "open disk template");
  return templates_.emplace(bytes, std::move(file)).first->second.get();
}

Fd DiskStore::create(const std::string& id) {
  const std::string path = image_path(id);
  if (Fd spare = recycled_files_.take(path)) return spare;
  return check_fd(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600),
                  "make disk image");
}

void DiskStore::format(int image, uint64_t bytes) {
  copy_disk(open_template(bytes), image, static_cast<off_t>(bytes), [] {});
}

Fd DiskStore::open_image(const std::string& id) const {
  return check_fd(open(image_path(id).c_str(), O_RDONLY | O_CLOEXEC), "open disk image");
}

void DiskStore::remove(const std::string& id) {
  const std::string path = image_path(id);
  if (!recycled_files_.put(path)) unlink(path.c_str());
}

void DiskStore::rename(const std::string& id, const std::string& to) {
  check(::rename(image_path(id).c_str(), image_path(to).c_str()), "rename disk image");
}

std::vector<std::string> DiskStore::list() const {
  std::vector<std::string> ids;
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    if (entry.path().extension() == kSuffix) ids.push_back(entry.path().stem().string());
  }
  return ids;
}

int64_t DiskStore::used_bytes(const std::string& id) const {
  struct stat status {};
  if (stat(image_path(id).c_str(), &status) != 0) return 0;
  return status.st_blocks * 512;
}

}  // namespace sandgate

#include "tests/local/frozen_disk.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "local/namespaces/step_error.hpp"

namespace sandgate::test {
namespace {

namespace fs = std::filesystem;

void must(const std::string& command) {
  if (system(command.c_str()) != 0) throw std::runtime_error(command + " failed");
}

// The file behind the loop device that a directory's file system is on; empty: there is none.
std::string backing_file(int directory) {
  struct stat status {};
  check(fstat(directory, &status), "look at directory");
  std::ifstream in("/sys/dev/block/" + std::to_string(major(status.st_dev)) + ":" +
                   std::to_string(minor(status.st_dev)) + "/loop/backing_file");
  std::string file;
  std::getline(in, file);
  return file;
}

std::string namespace_of(const fs::path& process) {
  std::error_code gone;
  return fs::read_symlink(process / "ns/pid", gone).string();
}

bool waits_for_disk(const fs::path& process) {
  std::ifstream in(process / "stat");
  std::string line;
  std::getline(in, line);
  const size_t name_end = line.rfind(')');
  return name_end != std::string::npos && line.compare(name_end + 2, 1, "D") == 0;
}

}  // namespace

FrozenDisk::FrozenDisk(Fd directory) : directory_(std::move(directory)) {
  check(ioctl(directory_.get(), FIFREEZE, 0), "freeze file system");
}

void FrozenDisk::end() {
  if (directory_) ioctl(directory_.get(), FITHAW, 0);
  directory_.reset();
}

Fd disk_of(pid_t node, const std::string& id) {
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(node) + "/fd")) {
    const std::string upper = entry.path().string() + "/upper";
    Fd directory(open(upper.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory && backing_file(directory.get()).ends_with("/" + id + ".img")) return directory;
  }
  throw std::runtime_error("the node has no way to the sandbox's disk");
}

bool has_waiting_process(const JournalRecord& record) {
  const std::string inside = namespace_of("/proc/" + std::to_string(record.pid));
  for (const auto& entry : fs::directory_iterator("/proc"))
    if (namespace_of(entry.path()) == inside && waits_for_disk(entry.path())) return true;
  return false;
}

SmallDisk::SmallDisk(std::string directory, int mib)
    : directory_(std::move(directory)), image_(directory_ + ".img") {
  std::ofstream(image_).close();
  fs::resize_file(image_, static_cast<uintmax_t>(mib) << 20);
  must("mkfs.ext4 -q -F -m 0 " + image_);
  must("mount -o loop " + image_ + " " + directory_);
}

SmallDisk::~SmallDisk() {
  if (system(("umount -l " + directory_).c_str()) != 0) perror("umount");
  fs::remove(image_);
}

FrozenDisk SmallDisk::freeze() const {
  return FrozenDisk(
      check_fd(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open directory"));
}

void SmallDisk::fill(int left_mib) const {
  struct statvfs status {};
  check(statvfs(directory_.c_str(), &status), "look at file system");
  const auto free = static_cast<off_t>(status.f_bavail * status.f_frsize);
  const off_t left = off_t{left_mib} << 20;
  const Fd ballast =
      check_fd(open((directory_ + "/ballast").c_str(), O_WRONLY | O_CREAT, 0600), "make ballast");
  const off_t end = check(lseek(ballast.get(), 0, SEEK_END), "look at ballast");
  if (free > left) check(-posix_fallocate(ballast.get(), end, free - left), "fill file system");
}

void SmallDisk::give_back() const { fs::remove(directory_ + "/ballast"); }

}  // namespace sandgate::test

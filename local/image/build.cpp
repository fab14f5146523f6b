#include "local/image/build.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "local/image/account_file.hpp"
#include "local/image/directories.hpp"
#include "local/image/draft.hpp"
#include "local/image/program.hpp"

namespace sandgate {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kBuildTimeout{60};
constexpr uintmax_t kMaxSkeleton = 256 << 20, kSkeletonEntry = 4096;  // bytes
constexpr int kNoSuchProgram = 127;  // exit code of unshare for a missing program
constexpr const char* kPackages =
    "bash,coreutils,findutils,grep,sed,gawk,tar,gzip,procps,less,python3,python3-pip,"
    "python3-venv,nodejs,git,curl,ca-certificates";

// Follows links where they cannot lead out of the tree: some images have them instead of lists.
std::string accounts_of(const std::string& tree, const std::string& name) {
  const fs::path path = tree + name;
  std::error_code absent;
  const bool is_root = tree.empty();
  const auto status = is_root ? fs::status(path, absent) : fs::symlink_status(path, absent);
  return fs::is_regular_file(status) ? account_file(path) : "";
}

bool names_account(const std::string& text, const std::string& name) {
  return ("\n" + text).find("\n" + name + ":") != std::string::npos;
}

void append_account(const std::string& tree, const std::string& list, const std::string& name,
                    const std::string& line) {
  std::string text = accounts_of(tree, list);
  if (names_account(text, name)) return;
  if (!text.empty() && text.back() != '\n') text += '\n';
  put_file(tree + list, text + line + "\n");
}

// EINVAL: without privileges only one id is mapped, which owns all files.
void give_away(const fs::path& path, const ImageConfig& config) {
  if (lchown(path.c_str(), config.uid, config.gid) != 0 && errno != EINVAL) {
    throw Error(ErrorCode::unavailable, "the image's home directory cannot be given away");
  }
}

void check_skeleton(const fs::path& skeleton, const fs::path& home) {
  const fs::path to = fs::canonical(home);
  if (*to.lexically_relative(fs::canonical(skeleton)).begin() != "..")
    throw Error(ErrorCode::invalid, "the image's home directory is in its /etc/skel");
  const auto most_depth = kMaxDepth - std::distance(to.begin(), to.end());
  uintmax_t bytes = 0;
  const fs::recursive_directory_iterator end;
  for (fs::recursive_directory_iterator entry(skeleton); entry != end; ++entry) {
    bytes += kSkeletonEntry;
    if (fs::is_regular_file(entry->symlink_status())) bytes += entry->file_size();
    if (bytes > kMaxSkeleton || entry.depth() > most_depth)
      throw Error(ErrorCode::invalid, "the image's /etc/skel is too large");
  }
}

// An image's files are counted while they are unpacked, but not what is copied here: a link to
// their parent would make copies of copies.
void copy_skeleton(const fs::path& skeleton, const fs::path& home) {
  if (!fs::is_directory(fs::symlink_status(skeleton))) return;
  check_skeleton(skeleton, home);
  const auto how = fs::copy_options::skip_existing | fs::copy_options::recursive |
                   fs::copy_options::copy_symlinks;
  for (const auto& entry : fs::directory_iterator(skeleton))
    fs::copy(entry.path(), home / entry.path().filename(), how);
}

// Leaves an account of the image and its home unchanged.
void add_account(const std::string& tree, const ImageConfig& config) {
  if (names_account(accounts_of(tree, "/etc/passwd"), config.user)) return;
  std::string uid = std::to_string(config.uid), gid = std::to_string(config.gid);
  append_account(tree, "/etc/passwd", config.user,
                 config.user + ":x:" + uid + ":" + gid + "::" + config.home + ":/bin/bash");
  if (config.gid != 0)  // root's group has a name
    append_account(tree, "/etc/group", config.user, config.user + ":x:" + gid + ":");
  const fs::path home = tree + config.home;
  make_directories(home);
  copy_skeleton(tree + "/etc/skel", home);
  for (const auto& entry : fs::recursive_directory_iterator(home)) give_away(entry.path(), config);
  give_away(home, config);
  fs::permissions(home, fs::perms(0750));
}

void require_directory(const std::string& tree, const char* name) {
  fs::path path = tree + "/" + name;
  auto status = fs::symlink_status(path);
  if (!fs::exists(status)) fs::create_directory(path);
  if (fs::exists(status) && !fs::is_directory(status)) {
    throw Error(ErrorCode::invalid, std::string("the image's /") + name + " is not a directory");
  }
}

std::string sources(const std::string& suite) {
  return "deb http://deb.debian.org/debian " + suite + " main\n" +
         "deb http://deb.debian.org/debian " + suite + "-updates main\n" +
         "deb http://deb.debian.org/debian-security " + suite + "-security main\n";
}

// Removes the configuration that mmdebstrap copied from this machine's apt, and caches.
void clean_tree(const std::string& tree, const std::string& suite) {
  fs::remove_all(tree + "/etc/apt/sources.list.d");
  fs::create_directory(tree + "/etc/apt/sources.list.d");
  put_file(tree + "/etc/apt/sources.list", sources(suite));
  for (const char* conf : {"/etc/apt/apt.conf.d/99mmdebstrap", "/etc/apt/apt.conf"}) {
    fs::remove(tree + conf);
  }
  for (const char* directory : {"/var/cache/apt/archives", "/var/lib/apt/lists", "/dev"}) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(tree + directory, ignored)) {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

// The list of packages for mmdebstrap. Names are validated, as they go on its command line.
std::string packages_of(const BuildRequest& request) {
  static const std::regex kPackage("[a-z0-9][a-z0-9+.-]*"), kSuite("[a-z]+");
  if (!std::regex_match(request.suite, kSuite)) throw Error::invalid("/suite", "is not a suite");
  std::string packages = kPackages;
  for (const std::string& package : request.extra_packages) {
    if (!std::regex_match(package, kPackage)) throw Error::invalid("/packages", "is not a package");
    packages += "," + package;
  }
  return packages;
}

}  // namespace

void put_file(const fs::path& path, const std::string& text) {
  fs::remove(path);
  std::ofstream out(path);
  out << text << std::flush;
  if (!out)
    throw Error(ErrorCode::unavailable, path.string() + " cannot be written: is the disk full?");
  chmod(path.c_str(), 0644);
}

void prepare_tree(const std::string& tree, const ImageConfig& config) {
  for (const char* name : {"etc", "dev", "proc", "sys", "tmp", "home"}) {
    require_directory(tree, name);
  }
  chmod((tree + "/tmp").c_str(), 01777);
  add_account(tree, config);
  put_file(tree + "/etc/hostname", "sandbox\n");
  put_file(tree + "/etc/hosts",
           "127.0.0.1\tlocalhost sandbox\n::1\tlocalhost ip6-localhost ip6-loopback\n");
  // Without a network nothing listens there, so lookups fail at once instead of timing out.
  put_file(tree + "/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n");
}

ImageInfo build_image(ImageStore& store, const BuildRequest& request,
                      std::function<void(std::string_view)> progress) {
  if (!is_image_name(request.name)) throw Error::invalid("/name", "is not an image name");
  const std::string packages = packages_of(request);
  const Draft draft(store);
  std::string tree = draft.below("tree"), last;
  progress("installing Debian packages");
  // mmdebstrap mounts into the tree. Its own mount namespace removes these mounts however it ends.
  int code = run_program(
      {"unshare", "--mount", "mmdebstrap", "--mode=root", "--variant=minbase", "--skip=output/dev",
       "--aptopt=Apt::Install-Recommends false", "--include=" + packages, request.suite, tree},
      kBuildTimeout, [&](const std::string& line) {
        last = line;
        progress(line);
      });
  if (code != 0) {
    throw Error(ErrorCode::unavailable, code == kNoSuchProgram
                                            ? "mmdebstrap is missing: apt-get install mmdebstrap"
                                            : "mmdebstrap failed: " + last);
  }
  ImageInfo info;
  info.name = request.name;
  info.created_at = SystemClock().now();
  info.config.env = {{"LANG", "C.UTF-8"},
                     {"PATH", "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"}};
  clean_tree(tree, request.suite);
  prepare_tree(tree, info.config);
  progress("computing the image's digest");
  info = store.add(info, tree);
  progress("done");
  return info;
}

}  // namespace sandgate

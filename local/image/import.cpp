#include "local/image/import.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/algorithm/string/join.hpp>
#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>
#include <vector>

#include "gateway/core/number_text.hpp"
#include "local/image/account_file.hpp"
#include "local/image/build.hpp"
#include "local/image/directories.hpp"
#include "local/image/draft.hpp"
#include "local/image/layer.hpp"
#include "local/image/oci_layout.hpp"
#include "local/image/program.hpp"
#include "local/image/run_in_chroot.hpp"

namespace sandgate {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kPullTimeout{30};
constexpr int kNotFound = 127;
constexpr const char* kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

struct AccountLine {
  std::string name, home;
  uint32_t uid = 0, gid = 0;
};

// Empty unless `text` is a number that a sandbox has an id for.
std::optional<uint32_t> id_of(const std::string& text) {
  const auto id = number_from<uint16_t>(text);
  return id ? std::optional<uint32_t>(*id) : std::nullopt;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> fields(7);
  for (std::string& field : fields) std::getline(in, field, ':');
  return fields;
}

std::optional<AccountLine> account_of(const std::string& line) {
  const std::vector<std::string> fields = fields_of(line);
  const auto uid = id_of(fields[2]), gid = id_of(fields[3]);
  if (fields[0].empty() || !uid || !gid) return std::nullopt;
  return AccountLine{fields[0], fields[5], *uid, *gid};
}

// The image's accounts or groups; called inside its tree. None where the file is a FIFO, which
// would block.
std::istringstream open_accounts(const char* path = "/etc/passwd") {
  std::error_code absent;
  return std::istringstream(fs::is_regular_file(path, absent) ? account_file(path) : "");
}

// Finds an account by name or uid.
std::optional<AccountLine> find_account(const std::string& who) {
  std::istringstream accounts = open_accounts();
  for (std::string line; !who.empty() && std::getline(accounts, line);) {
    const auto account = account_of(line);
    if (account && (account->name == who || std::to_string(account->uid) == who)) return account;
  }
  return std::nullopt;
}

// The group behind an image's user. Without one, that of an account that the image lists nowhere:
// root's, as with container runtimes. Images for OpenShift let that group write where their
// programs have to.
uint32_t find_group(const std::string& wanted) {
  if (wanted.empty()) return 0;
  if (const auto number = id_of(wanted)) return *number;
  std::istringstream groups = open_accounts("/etc/group");
  for (std::string line; std::getline(groups, line);) {
    const std::vector<std::string> fields = fields_of(line);
    if (const auto gid = id_of(fields[2]); gid && fields[0] == wanted) return *gid;
  }
  throw Error(ErrorCode::invalid, "the image has no such group as its default user's");
}

bool is_taken(const std::string& name) {
  std::istringstream accounts = open_accounts();
  for (std::string line; std::getline(accounts, line);)
    if (line.starts_with(name + ":")) return true;
  return false;
}

// Programs run as the account of this name in /etc/passwd, so the name must not be taken.
void make_account(uint32_t uid, uint32_t gid, ImageConfig& config) {
  config.uid = uid;
  config.gid = gid;
  if (!is_taken(config.user)) return;
  config.user += std::to_string(uid);
  while (is_taken(config.user)) config.user += '_';
  config.home = "/home/" + config.user;
}

// Programs run with the group that /etc/passwd says, so that is changed there.
void change_group(const AccountLine& account, uint32_t gid) {
  if (account.gid == gid) return;
  std::istringstream accounts = open_accounts();
  std::string text;
  bool changed = false;
  for (std::string line; std::getline(accounts, line); text += line + "\n") {
    const auto found = changed ? std::nullopt : account_of(line);
    if (!found || found->name != account.name || found->uid != account.uid) continue;
    changed = true;
    std::vector<std::string> fields = fields_of(line);
    fields[3] = std::to_string(gid);
    line = boost::algorithm::join(fields, ":");
  }
  put_file("/etc/passwd", text);
}

void take_account(const AccountLine& account, ImageConfig& config) {
  config.user = account.name;
  config.uid = account.uid;
  config.gid = account.gid;
  config.home = account.home.starts_with('/') ? account.home : "/";
}

// Chooses the account for the image's user: "name", "uid" or either with ":group". Root is replaced
// by `user`, which may be an account of the image and keeps its group. Called inside the image's
// tree.
void choose_account(const std::string& wanted, ImageConfig& config) {
  const std::string who = wanted.substr(0, wanted.find(':'));
  const std::string group = who.size() < wanted.size() ? wanted.substr(who.size() + 1) : "";
  const auto uid = id_of(who);
  auto account = find_account(who);
  const bool is_root = who.empty() || (account ? account->uid == 0 : uid == 0u);
  if (is_root) account = find_account(config.user);
  if (account && account->uid != 0) {
    take_account(*account, config);
    if (is_root || group.empty()) return;
    config.gid = find_group(group);
    return change_group(*account, config.gid);
  }
  if (is_root) return make_account(config.uid, config.uid, config);
  if (!uid) throw Error(ErrorCode::invalid, "the image has no such account as its default user");
  make_account(*uid, find_group(group), config);
}

// Makes a missing working directory, as container runtimes do.
void make_workdir(ImageConfig& config) {
  if (config.workdir.empty()) return;
  config.workdir = (fs::path("/") / config.workdir).lexically_normal();
  if (config.workdir == "/") {
    config.workdir.clear();
  } else if (!fs::exists(config.workdir)) {
    make_directories(config.workdir);
    if (lchown(config.workdir.c_str(), config.uid, config.gid) != 0 && errno != EINVAL)
      throw Error(ErrorCode::unavailable, "the working directory cannot be given away");
  }
}

void unpack_layers(const OciLayout& layout, const std::string& tree,
                   const ImportProgress& progress) {
  const Unpacker unpacker = geteuid() == 0 ? Unpacker::root : Unpacker::ordinary;
  UnpackBudget budget;
  for (size_t i = 0; i < layout.layers(); ++i) {
    progress("unpacking layer " + std::to_string(i + 1) + " of " + std::to_string(layout.layers()));
    const Fd layer = layout.open_layer(i);
    const auto apply = [&] {
      apply_layer(layer.get(), unpacker, budget);
      return std::to_string(budget.bytes) + " " + std::to_string(budget.entries) + " " +
             std::to_string(budget.names) + " " + std::to_string(budget.stream);
    };
    const std::string left = run_in_chroot(tree, apply, layer.get());
    std::istringstream(left) >> budget.bytes >> budget.entries >> budget.names >> budget.stream;
  }
}

ImageInfo import_layout(ImageStore& store, const std::string& name, const OciLayout& layout,
                        const Draft& draft, const ImportProgress& progress) {
  const std::string tree = draft.below("tree");
  fs::create_directory(tree);
  chmod(tree.c_str(), 0755);
  unpack_layers(layout, tree, progress);
  ImageInfo info;
  info.name = name;
  info.created_at = SystemClock().now();
  info.source = layout.digest();
  ImageConfig& config = info.config;
  config.env = layout.config().env;
  config.env.try_emplace("PATH", kDefaultPath);
  config.workdir = layout.config().workdir;
  const std::string prepared = run_in_chroot(tree, [&] {
    choose_account(layout.config().user, config);
    prepare_tree("", config);
    make_workdir(config);
    return to_json(config).dump();
  });
  progress("computing the image's digest");
  config = image_config_from(parse_json(prepared));
  return store.add(std::move(info), tree);
}

}  // namespace

ImageInfo import_image(ImageStore& store, const std::string& name, const std::string& path,
                       const ImportProgress& progress) {
  if (!is_image_name(name)) throw Error::invalid("/name", "is not an image name");
  const Draft draft(store);
  std::string layout = path;
  if (!fs::is_directory(path)) {
    layout = draft.below("layout");
    fs::create_directory(layout);
    progress("reading the archive");
    unpack_oci_archive(path, layout);
  }
  return import_layout(store, name, OciLayout(layout), draft, progress);
}

ImageInfo pull_image(ImageStore& store, const PullRequest& request,
                     const ImportProgress& progress) {
  static const std::regex kReference("[A-Za-z0-9][A-Za-z0-9._:/@-]{0,510}");
  if (!std::regex_match(request.reference, kReference))
    throw Error::invalid("/reference", "is not an image reference");
  if (!is_image_name(request.name)) throw Error::invalid("/name", "is not an image name");
  const Draft draft(store);
  const std::string layout = draft.below("layout");
  // The limit of file size keeps one blob from filling the disk.
  std::vector<std::string> words = {
      "prlimit", "--fsize=34359738368", "skopeo", "copy", "--override-os",
      "linux",   "--retry-times",       "2"};
  if (request.plain_http) words.push_back("--src-tls-verify=false");
  if (!request.credentials.empty())
    words.insert(words.end(), {"--src-authfile", request.credentials});
  words.insert(words.end(), {"docker://" + request.reference, "oci:" + layout + ":image"});
  std::string last;
  const int code = run_program(words, kPullTimeout, [&](const std::string& line) {
    last = line;
    progress(line);
  });
  if (code == kNotFound)
    throw Error(ErrorCode::unavailable, "skopeo is not installed: apt-get install skopeo");
  if (code != 0) throw Error(ErrorCode::unavailable, "skopeo failed: " + last);
  return import_layout(store, request.name, OciLayout(layout), draft, progress);
}

}  // namespace sandgate

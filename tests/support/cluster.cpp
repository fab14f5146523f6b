#include "tests/support/cluster.hpp"

#include <pwd.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>

#include "gateway/core/random.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {
namespace {

void shell(const std::string& command) {
  if (std::system(("(" + command + ") >/dev/null 2>&1").c_str()) != 0)
    throw std::runtime_error("failed: " + command);
}

// PostgreSQL refuses to run as root.
void shell_of_postgres(const std::string& command) {
  shell(geteuid() == 0 ? "runuser -u postgres -- sh -c '" + command + "'" : command);
}

bool wants_durability() { return std::getenv("SANDGATE_TEST_FSYNC") != nullptr; }

std::string parent_directory() {
  constexpr uint64_t kRoom = uint64_t{2} << 30;
  struct statvfs memory {};
  const bool is_there = statvfs("/dev/shm", &memory) == 0 && access("/dev/shm", W_OK) == 0;
  const bool has_room = is_there && memory.f_bavail * memory.f_frsize >= kRoom;
  return has_room && !wants_durability() ? "/dev/shm" : "";
}

void give_to_postgres(const std::string& directory) {
  if (geteuid() != 0) return;
  const passwd* account = getpwnam("postgres");
  if (!account) throw std::runtime_error("no account 'postgres': install postgresql");
  if (chown(directory.c_str(), account->pw_uid, account->pw_gid) != 0)
    throw std::runtime_error("chown failed");
}

// A line of what the server says of itself, counted from 1: 1 is its process, 8 its state. Empty if
// it does not run.
std::string told_by_server(const std::string& data, int line) {
  std::ifstream file(data + "/postmaster.pid");
  std::string text;
  while (line-- > 0 && std::getline(file, text)) {
  }
  return file ? text : "";
}

// pg_ctl would look ten times a second, and most test programs need a cluster for less than that.
void await(const std::string& what, const std::function<bool()>& is_so) {
  if (!eventually(is_so, std::chrono::seconds(60)))
    throw std::runtime_error("PostgreSQL does not " + what);
}

}  // namespace

std::string postgres_bin() {
  if (const char* named = std::getenv("SANDGATE_TEST_POSTGRES_BIN")) return named;
  std::string newest;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", missing))
    if (const std::string bin = entry.path() / "bin"; bin > newest) newest = bin;
  return newest;
}

Cluster::Cluster() : directory_(parent_directory()) {
  give_to_postgres(directory_.path());
  shell_of_postgres(postgres_bin() + "/initdb -D " + data() +
                    " -U sandgate -A trust --no-sync -E UTF8 --locale=C --wal-segsize=1");
  start();
}

Cluster::Cluster(const std::string& kept) : directory_(parent_directory()) {
  give_to_postgres(directory_.path());
  shell("cp -a " + kept + " " + data());
  start();
}

Cluster::~Cluster() {
  if (directory_.path().empty()) return;
  try {
    crash();
  } catch (const std::exception&) {
    // Already stopped by the test itself.
  }
}

std::string Cluster::url(const std::string& database, const std::string& user) const {
  return "host=" + directory_.path() + " user=" + user + " dbname=" + database;
}

void Cluster::start() {
  const std::string fsync = wants_durability() ? "on" : "off";
  shell_of_postgres(postgres_bin() + "/pg_ctl -D " + data() +
                    " -W -o \"-c listen_addresses= " + "-c max_connections=300 -c fsync=" + fsync +
                    " -k " + directory_.path() + "\" start");
  await("start", [&] { return told_by_server(data(), 8).starts_with("ready"); });
}

void Cluster::crash() { stop(SIGQUIT); }

void Cluster::stop(int signal) {
  const std::string process = told_by_server(data(), 1);
  if (process.empty() || kill(std::stoi(process), signal) != 0)
    throw std::runtime_error("PostgreSQL does not run");
  await("stop", [&] { return told_by_server(data(), 1).empty(); });
}

void Cluster::keep(const std::string& place) {
  stop(SIGINT);
  const std::string unfinished = place + "." + random_hex(8);
  std::filesystem::create_directories(std::filesystem::path(place).parent_path());
  shell("cp -a " + data() + " " + unfinished);
  std::error_code failure;
  std::filesystem::rename(unfinished, place, failure);
  if (!failure) return;
  std::filesystem::remove_all(unfinished);
  if (!std::filesystem::exists(place)) throw std::filesystem::filesystem_error(place, failure);
}

}  // namespace sandgate::test

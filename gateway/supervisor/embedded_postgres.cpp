#include "gateway/supervisor/embedded_postgres.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "gateway/core/error.hpp"
#include "gateway/core/files.hpp"
#include "gateway/core/log.hpp"
#include "gateway/supervisor/postgres_programs.hpp"

namespace sandgate {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kOrphansTimeout{2};
constexpr std::chrono::milliseconds kOrphansPause{10};

ChildSpec program(const std::string& path, std::vector<std::string> arguments,
                  const SystemAccount& account) {
  ChildSpec spec;
  spec.name = fs::path(path).filename();
  spec.argv = {path};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "HOME=/"};
  spec.account = account;
  return spec;
}

void check(int exit_code, const std::string& what) {
  if (exit_code != 0)
    throw Error(ErrorCode::unavailable, what + " failed; its output is in the log above");
}

// Kills the processes that a killed supervisor left behind and waits until they are gone. Returns
// whether they are.
bool end_all(const std::function<bool(const fs::path& process)>& is_orphan) {
  const auto limit = std::chrono::steady_clock::now() + kOrphansTimeout;
  std::error_code gone;
  bool any = true;
  while (any && std::chrono::steady_clock::now() < limit) {
    any = false;
    for (fs::directory_iterator entry("/proc", gone), end; entry != end; entry.increment(gone)) {
      const pid_t pid = std::atoi(entry->path().filename().c_str());
      if (pid <= 0 || !is_orphan(entry->path())) continue;
      any = kill(pid, SIGKILL) == 0 || errno == EPERM || any;
    }
    if (any) std::this_thread::sleep_for(kOrphansPause);
  }
  return !any;
}

std::string program_of(const fs::path& process) {
  constexpr std::string_view kReplaced = " (deleted)";  // by an upgrade
  std::error_code gone;
  std::string name = fs::read_symlink(process / "exe", gone).filename();
  if (name.ends_with(kReplaced)) name.resize(name.size() - kReplaced.size());
  return name;
}

fs::path process_path(pid_t pid) { return "/proc/" + std::to_string(pid); }

// The number of the server that has or had the data; 0: none.
pid_t pid_in(const fs::path& data) {
  std::ifstream file(data / "postmaster.pid");
  pid_t pid = 0;
  file >> pid;
  return std::max(pid, 0);
}

// A server's processes work in its data directory.
bool is_of_server(const fs::path& process, const fs::path& data) {
  std::error_code gone;
  return fs::read_symlink(process / "cwd", gone) == data && program_of(process) == "postgres";
}

// A process amid recovery may notice a minute later that its server died, and until then no other
// can start in its place.
bool end_orphans(const fs::path& data) {
  return end_all([&data](const fs::path& process) { return is_of_server(process, data); });
}

// A server that was killed leaves a file with its number. If another process of its account has got
// that number, as after a reboot, PostgreSQL takes it for a server that runs, and does not start.
void make_way(const fs::path& data) {
  const pid_t pid = pid_in(data);
  std::error_code gone;
  if (end_orphans(data) && pid != 0 && fs::exists(process_path(pid), gone))
    fs::remove(data / "postmaster.pid", gone);
}

// What still fills a half made cluster would spoil the next one: initdb, the programs that it runs,
// which have its environment, and the server.
void end_creators(const std::string& half_made) {
  const auto names = [&half_made](const fs::path& list, const std::string& before) {
    const auto words = read_text_file(list);
    const std::string word = before + half_made;
    return words && words->find(word + '\0') != std::string::npos;
  };
  end_all([&names](const fs::path& process) {
    const std::string program = program_of(process);
    const bool by_name = program == "initdb" || program == "postgres";
    return (by_name && names(process / "cmdline", "")) || names(process / "environ", "PGDATA=");
  });
  end_orphans(fs::weakly_canonical(half_made));
}

void create_cluster(const Config& config, const std::string& bin, const SystemAccount& account) {
  const std::string half_made = config.postgres_socket() + "/data.new";
  log::info("preparing the database; this is done once", {{"directory", config.postgres_data()}});
  end_creators(half_made);
  fs::remove_all(half_made);
  check(run_to_end(
            program(bin + "/initdb",
                    {"-D", half_made, "-U", "sandgate", "-A", "trust", "-E", "UTF8", "--locale=C"},
                    account),
            ""),
        "initdb");
  check(run_to_end(program(bin + "/postgres", {"--single", "-D", half_made, "postgres"}, account),
                   "CREATE DATABASE sandgate\n"),
        "creating the database");
  fs::rename(half_made, config.postgres_data());
}

// Stops a server whose supervisor was killed: the kernel has signalled it, but it may still run.
void stop_leftover(const Config& config, const std::string& bin, const SystemAccount& account) {
  const fs::path data = fs::canonical(config.postgres_data());
  const pid_t pid = pid_in(data);
  // The number may meanwhile be another program's, even another installation's database.
  if (pid == 0 || !is_of_server(process_path(pid), data)) return;
  log::info("stopping a database left by an earlier run", {{"pid", pid}});
  run_to_end(
      program(bin + "/pg_ctl", {"-D", config.postgres_data(), "-m", "fast", "-w", "stop"}, account),
      "");
}

}  // namespace

ChildSpec prepare_embedded_postgres(const Config& config, const SystemAccount& account) {
  const std::string bin = postgres_programs(config.postgres_data());
  ensure_directory(config.postgres_socket(), account, 0700);
  if (fs::exists(config.postgres_data()))
    stop_leftover(config, bin, account);
  else
    create_cluster(config, bin, account);
  ChildSpec spec =
      program(bin + "/postgres",
              {"-D", config.postgres_data(), "-k", config.postgres_socket(), "-c",
               "listen_addresses=", "-c",
               "max_connections=" + std::to_string(config.database.connections * 4 + 20), "-c",
               "jit=off", "-c", "log_min_messages=error", "-c", "log_min_error_statement=panic",
               "-c", "max_wal_size=2GB", "-c", "shared_buffers=128MB"},
              account);
  // SIGINT requests a fast shutdown: open transactions are rolled back and no data is lost.
  spec.stop_signal = SIGINT;
  spec.before_start = [data = fs::canonical(config.postgres_data())] { make_way(data); };
  return spec;
}

}  // namespace sandgate

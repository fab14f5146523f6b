#include "local/egress/lockdown.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "local/egress/address_policy.hpp"
#include "local/namespaces/landlock.hpp"
#include "tests/support/run.hpp"

namespace sandgate::egress {
namespace {

// What `work` says after the lockdown, in a process of its own.
std::string locked_down(const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::string said;
    try {
      lock_down(geteuid() == 0 ? 65534 : geteuid());
      said = work();
    } catch (const std::exception& failure) {
      said = failure.what();
    }
    (void)!write(ends[1], said.data(), said.size());
    _exit(0);
  }
  close(ends[1]);
  std::string said(4096, '\0');
  const ssize_t got = read(ends[0], said.data(), said.size());
  close(ends[0]);
  said.resize(got > 0 ? static_cast<size_t>(got) : 0);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return said;
}

template <class F>
std::string refused(const char* what, F call, int number = EPERM) {
  const long result = call();
  return result < 0 && errno == number ? "" : std::string(what) + " ";
}

TEST(Lockdown, MakesNoProcessNamespaceOrMount) {
  EXPECT_EQ(
      locked_down([] {
        return refused("fork", [&] { return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }) +
               refused("user",
                       [&] { return syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0); }) +
               refused(
                   "clone3", [&] { return syscall(SYS_clone3, nullptr, 0); }, ENOSYS) +
               refused("unshare", [&] { return unshare(CLONE_NEWUSER); }) +
               refused("fsopen", [&] { return syscall(SYS_fsopen, "tmpfs", 0); }) +
               refused("open_tree", [&] { return syscall(SYS_open_tree, -1, "/", 0); }) +
               refused("move_mount", [&] { return syscall(SYS_move_mount, -1, "", -1, "", 0); }) +
               refused("io_uring", [&] { return syscall(SYS_io_uring_setup, 1, nullptr); }) +
               refused("packet", [&] { return socket(AF_PACKET, SOCK_RAW, 0); }) +
               refused("raw", [&] { return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP); }) +
               refused("ptrace", [&] { return syscall(SYS_ptrace, 0, 0, 0, 0); }) +
               refused("exec", [&] { return execl("/bin/true", "true", nullptr); });
      }),
      "");
}

TEST(Lockdown, OpensNoFileOfOthers) {
  if (landlock_abi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  const sandgate::test::TempDirectory directory;
  const std::string file = directory.path() + "/others";
  std::ofstream(file) << "theirs";
  chmod(directory.path().c_str(), 0777);
  chmod(file.c_str(), 0666);
  EXPECT_EQ(locked_down([&] {
              return refused(
                         "read", [&] { return open(file.c_str(), O_RDONLY); }, EACCES) +
                     refused(
                         "write", [&] { return open(file.c_str(), O_WRONLY); }, EACCES) +
                     refused(
                         "make",
                         [&] { return open((file + "2").c_str(), O_WRONLY | O_CREAT, 0600); },
                         EACCES) +
                     refused(
                         "proc", [&] { return open("/proc/self/status", O_RDONLY); }, EACCES);
            }),
            "");
}

TEST(Lockdown, StillLooksNamesUpAndTrustsAuthorities) {
  EXPECT_EQ(locked_down([]() -> std::string {
              std::string wrong;
              std::thread([&] {
                addrinfo* found = nullptr;
                if (getaddrinfo("localhost", nullptr, nullptr, &found) != 0) wrong += "names ";
              }).join();
              if (!OwnAddresses().contain(boost::asio::ip::make_address("127.0.0.1")))
                wrong += "addresses ";
              SSL_CTX* tls = SSL_CTX_new(TLS_client_method());
              if (!tls || SSL_CTX_set_default_verify_paths(tls) != 1) wrong += "trust ";
              std::ifstream authorities("/etc/ssl/certs/ca-certificates.crt");
              if (access("/etc/ssl/certs/ca-certificates.crt", F_OK) == 0 && !authorities.good())
                wrong += "certificates ";
              return wrong;
            }),
            "");
}

}  // namespace
}  // namespace sandgate::egress

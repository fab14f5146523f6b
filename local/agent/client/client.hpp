#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gateway/core/async.hpp"
#include "gateway/core/fd.hpp"
#include "providers/provider.hpp"

namespace sandgate {

// The settings of a sandbox from the warm pool, sent when it is assigned to its owner.
struct AgentConfiguration {
  std::map<std::string, std::string> env;  // replaces the sandbox's environment
  bool allow_root = false;
};

// Client of the agent of one local sandbox; every call opens a connection of its own. The agent is
// treated as hostile: everything it sends is checked and bounded. Calls may run concurrently,
// honour cancellation (the connection closes) and do not refer to the client once they have begun.
// Throws Error: not_found when the socket is missing or refuses, unavailable when the connection
// breaks, timeout when no reply arrives.
// Copyable: it holds the socket's path ("/proc/self/fd/<n>/name" and paths longer than a socket
// address are allowed) and `scarce`.
class AgentClient {
 public:
  // `scarce` says whether disk space is short, and is called now and then during uploads. From the
  // first true on, an upload syncs its files to disk before it returns. Null: never.
  explicit AgentClient(std::string socket_path, std::function<bool()> scarce = nullptr)
      : path_(std::move(socket_path)), scarce_(std::move(scarce)) {}

  // Sets the configuration, once, of an agent that awaits its owner. Throws Error: conflict from
  // any other agent, unavailable when the agent confirms other values.
  Task<void> configure(AgentConfiguration configuration) const;

  // Returns once the program runs. A missing program is no error: its process exits with 127.
  Task<std::unique_ptr<ProcessStream>> exec(Command command) const;
  Task<std::unique_ptr<ProcessStream>> attach(std::string process, uint64_t from) const;
  Task<std::vector<ProcessInfo>> processes() const;
  Task<ProcessInfo> process(std::string id) const;
  Task<void> signal(std::string process, int number) const;
  Task<void> write_stdin(std::string process, std::string bytes) const;
  Task<void> close_stdin(std::string process) const;
  Task<void> resize(std::string process, PtySize size) const;

  Task<FileContent> read_file(std::string path, ByteRange range) const;
  // `bytes` outlives the call.
  Task<FileEntry> write_file(std::string path, uint32_t mode, ByteSource& bytes) const;
  Task<FileEntry> stat(std::string path) const;
  Task<std::vector<FileEntry>> list_files(std::string path, int depth) const;
  Task<FileEntry> make_directory(std::string path) const;
  Task<FileEntry> move(std::string from, std::string to) const;
  Task<void> remove(std::string path, bool recursive) const;
  Task<std::unique_ptr<FileWatch>> watch(std::string path, bool recursive) const;
  // Returns a socket of the sandbox's network namespace, connected to the port on its loopback
  // (IPv4, else IPv6). Throws Error(unavailable) when nothing listens there.
  Task<Fd> dial(uint16_t port) const;
  Task<std::unique_ptr<ByteSource>> read_archive(std::string path) const;
  Task<void> write_archive(std::string path, ByteSource& tar) const;

 private:
  std::string path_;
  std::function<bool()> scarce_;
};

}  // namespace sandgate

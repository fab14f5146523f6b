#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gateway/core/async.hpp"
#include "providers/provider.hpp"

namespace sandgate {

struct AgentStatus {
  int version = 0;  // of the protocol
  int64_t processes = 0;  // alive that the agent started
};

// What a sandbox from the warm pool learns when it is given away.
struct AgentConfiguration {
  std::map<std::string, std::string> env;  // replaces the sandbox's environment
  bool allow_root = false;
};

// Talks to the agent of one local sandbox; every call dials its socket anew. The agent is treated
// as hostile: whatever it sends is checked and bounded. Calls may run concurrently, honour
// cancellation (the connection closes) and do not refer to the client once they have begun.
// Throws Error: a missing or refusing socket is not_found, a broken connection unavailable, one
// that says nothing timeout.
// Copyable: it is little more than the socket's path ("/proc/self/fd/<n>/name" and long paths are
// fine).
class AgentClient {
 public:
  // While `scarce` says yes, what is uploaded is on the disk before the call returns; asked now and
  // then during uploads only. Null: never.
  explicit AgentClient(std::string socket_path, std::function<bool()> scarce = nullptr)
      : path_(std::move(socket_path)), scarce_(std::move(scarce)) {}

  Task<AgentStatus> ping() const;
  // Once, of an agent that awaits its owner; else conflict. unavailable when it does not confirm.
  Task<void> configure(AgentConfiguration configuration) const;

  // Returns once the program runs (or was found missing: then it ends with 127).
  Task<std::unique_ptr<ProcessStream>> exec(Command command) const;
  Task<std::unique_ptr<ProcessStream>> attach(std::string process, uint64_t from) const;
  Task<std::vector<ProcessInfo>> processes() const;
  Task<ProcessInfo> process(std::string id) const;
  Task<void> signal(std::string process, int number) const;
  Task<void> write_stdin(std::string process, std::string bytes) const;
  Task<void> close_stdin(std::string process) const;
  Task<void> resize(std::string process, PtySize size) const;

  Task<FileContent> read_file(std::string path, ByteRange range) const;
  // The source outlives the call.
  Task<FileEntry> write_file(std::string path, uint32_t mode, ByteSource& bytes) const;
  Task<FileEntry> stat(std::string path) const;
  Task<std::vector<FileEntry>> list_files(std::string path, int depth) const;
  Task<FileEntry> make_directory(std::string path) const;
  Task<FileEntry> move(std::string from, std::string to) const;
  Task<void> remove(std::string path, bool recursive) const;
  Task<std::unique_ptr<FileWatch>> watch(std::string path, bool recursive) const;
  // A socket of the sandbox's own network, connected to its loopback. Throws Error(unavailable)
  // when nothing listens there.
  Task<StreamSocket> dial(uint16_t port) const;
  Task<std::unique_ptr<ByteSource>> read_archive(std::string path) const;
  Task<void> write_archive(std::string path, ByteSource& tar) const;

 private:
  std::string path_;
  std::function<bool()> scarce_;
};

}  // namespace sandgate

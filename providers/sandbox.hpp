#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "gateway/core/async.hpp"
#include "gateway/core/secret.hpp"
#include "gateway/core/time.hpp"
#include "providers/descriptor.hpp"
#include "providers/gateways_passed.hpp"

// The values that cross the border between Sandgate and a backend. Plain data: no backend's words.
namespace sandgate {

struct Resources {
  int64_t milli_vcpu = 1000;  // thousandths, in steps of 250
  int64_t memory_mib = 512;
  int64_t disk_gib = 2;
  int64_t processes = 512;
  bool operator==(const Resources&) const = default;
};

enum class NetworkDefault { deny, allow };

struct NetworkPolicy {
  NetworkDefault fallback = NetworkDefault::deny;
  std::vector<std::string> allow;  // "host:port", one leading "*." label allowed
  bool operator==(const NetworkPolicy&) const = default;
};

// The environment variable that shows a secret's placeholder, and where its value may go.
struct SecretBinding {
  std::string name;
  std::string host;
  std::string header;
};

// A binding with what it takes to act on it: the placeholder stands in the sandbox's environment
// variable of that name, the value reaches whoever sends requests for the sandbox and nobody else.
struct SecretGrant {
  std::string name, host, header, placeholder;
  Secret value;
};

// What a running sandbox's secrets are now; `revision` changes with any of them.
struct SecretGrants {
  std::string revision;
  std::vector<SecretGrant> grants;
};

// One judgement on what a sandbox wanted to reach.
struct NetworkVerdict {
  Time at;
  std::string target;  // "host:port", or a name that was asked for
  std::string way;  // dns, connect, http, tls, tcp
  bool allowed = false;
  std::string reason;  // one word when refused
};

struct NetworkState {
  NetworkPolicy policy;
  std::vector<NetworkVerdict> verdicts;  // the latest, oldest first
};

struct CreateSpec {
  std::string sandbox_id;  // ours; the backend must carry it so that find_by_tag and list return it
  std::string installation;  // the gateway's; the backend must carry it where it carries labels
  GatewaysPassed passed;  // before this one
  std::string tenant_id;
  std::string image;  // already mapped to this backend's word
  Resources resources;
  std::chrono::seconds ttl{600};  // the backend's own second line; Sandgate enforces it anyway
  std::map<std::string, std::string> env;
  std::map<std::string, std::string> metadata;
  NetworkPolicy network;
  SecretGrants secrets;
  bool uses_secrets = false;  // also when none of those it lists has a value, which may come later
  std::string snapshot;  // backend's snapshot id, or empty
  std::string workspace;  // directory of the backend's machine to show inside, or empty
  bool workspace_writable = false;
  bool allow_root = false;
  bool allow_debug = false;
};

struct SandboxMetrics {
  int64_t cpu_micros = 0;  // since the start
  int64_t memory_used_bytes = 0, memory_limit_bytes = 0;
  int64_t disk_used_bytes = 0, egress_bytes = 0;
  int64_t processes = 0;
  Time sampled_at;
};

enum class BackendState { running, paused, gone };

struct BackendSandbox {
  std::string backend_id;  // what every other verb takes
  std::string sandbox_id;  // our id as the backend carries it; empty when not ours
  std::string installation;  // whose it is; empty when the backend does not carry that
  BackendState state = BackendState::running;
  Keeps kept = Keeps::nothing;  // paused: what survived
  Isolation isolation = Isolation::container;  // what it really runs in
  std::string region;
  // For what nobody pays for, as far as the backend says: from when it ran, and its size.
  std::optional<Time> created_at;
  std::optional<Resources> resources;
  std::optional<SandboxMetrics> counted;  // gone by Provider::finish(): as that answered
};

// The state of a sandbox at one moment, kept by its backend: CreateSpec::snapshot restores it.
struct BackendSnapshot {
  std::string backend_id;
  Keeps kept = Keeps::disk;
  int64_t size_bytes = 0;
};

// ---- processes

struct PtySize {
  uint16_t cols = 80, rows = 24;
};

struct Command {
  std::vector<std::string> argv;  // never empty; a shell line is {"/bin/bash","-lc",line} or so
  std::string shell;  // set instead of argv: the backend's own shell runs it
  std::string cwd;  // empty: the user's home
  std::map<std::string, std::string> env;
  std::string user;  // empty: the image's unprivileged account
  std::optional<PtySize> pty;
  std::chrono::milliseconds timeout{0};  // 0: none; at the end the whole group is killed
  bool keep_on_disconnect = false;  // false: dropping the stream kills the group
  bool background = false;  // keeps a ring of output for later attach
  std::string process_id;  // ours, "pr…"
};

struct ProcessExit {
  int exit_code = 0;  // 128+n when signalled, 124 on timeout, 127 when there was no program
  std::string signal;  // "SIGKILL", or empty
  bool timed_out = false;
  std::chrono::milliseconds duration{0};
};

enum class Channel : uint8_t { stdin_ = 0, stdout_ = 1, stderr_ = 2 };  // a pty's output is stdout_

struct OutputChunk {
  Channel channel = Channel::stdout_;
  std::string bytes;
  uint64_t end_offset = 0;  // over all output bytes of the process, in order, after this chunk
};

using ProcessEvent = std::variant<OutputChunk, ProcessExit>;

// A live connection to one process. next() pulls, so a reader that stops reading stops the
// process (bounded memory). Dropping the stream detaches; what that means is Command's say.
// One coroutine may read while another writes.
class ProcessStream {
 public:
  virtual ~ProcessStream() = default;
  // The next event; ProcessExit is the last, after it empty. Throws Error(unavailable) when the
  // connection ended before the exit was known.
  virtual Task<std::optional<ProcessEvent>> next() = 0;
  virtual Task<void> write_stdin(std::string bytes) = 0;  // returns when taken (back-pressure)
  virtual Task<void> close_stdin() = 0;
  // The process's id where the backend names processes itself; empty: Command::process_id.
  virtual std::string process_id() const { return {}; }
};

enum class ProcessState { running, exited };

struct ProcessInfo {
  std::string id;
  std::vector<std::string> command;
  bool pty = false, background = false;
  ProcessState state = ProcessState::running;
  std::optional<ProcessExit> exit;
  Time started_at;
  std::optional<Time> ended_at;
};

// ---- files

enum class FileType { file, directory, symlink, other };

struct FileEntry {
  std::string name, path;
  FileType type = FileType::file;
  uint64_t size = 0;
  uint32_t mode = 0;  // permission bits
  Time modified_at;
  std::optional<std::string> target;  // of a symlink
  // Another whenever the content may be, though size and time are not; empty: the backend has none.
  std::string revision = {};
};

// A stream of bytes that is pulled; 0 bytes means the end. Throws when it breaks before its end.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual Task<size_t> read(std::span<char> into) = 0;
};

struct ByteRange {
  uint64_t first = 0;
  std::optional<uint64_t> last;  // inclusive; empty: to the end
};

// An opened file: what it is, and the bytes asked for.
struct FileContent {
  FileEntry entry;
  std::unique_ptr<ByteSource> bytes;
};

}  // namespace sandgate

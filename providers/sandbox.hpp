#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
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
#include "gateway/core/words.hpp"
#include "providers/descriptor.hpp"
#include "providers/file_type.hpp"
#include "providers/forwarding_path.hpp"

// Plain values exchanged between the gateway and its backends. No field uses a vendor's terms.
namespace sandgate {

struct Resources {
  int64_t milli_vcpu = 1000;  // thousandths of a CPU, in steps of 250
  int64_t memory_mib = 512;
  int64_t disk_gib = 2;
  int64_t processes = 512;
  bool operator==(const Resources&) const = default;
};

enum class NetworkDefault { deny, allow };
inline constexpr Words kNetworkDefaultWords({Word{NetworkDefault::deny, "deny"},
                                             Word{NetworkDefault::allow, "allow"}});

struct NetworkPolicy {
  NetworkDefault fallback = NetworkDefault::deny;
  std::vector<std::string> allow;  // "host:port"; the host may start with one "*." label
  bool operator==(const NetworkPolicy&) const = default;
};

// A secret that a profile grants: the environment variable `name` holds a placeholder, and the
// value may be sent to `host` only, in `header`.
struct SecretBinding {
  std::string name;
  std::string host;
  std::string header;
};

// A SecretBinding with its placeholder and value. The sandbox sees only the placeholder, in the
// environment variable `name`. Only the component that sends the sandbox's requests gets the value.
struct SecretGrant {
  std::string name, host, header, placeholder;
  Secret value;
};

// The secrets of a running sandbox. `revision` changes whenever one of the grants changes.
struct SecretGrants {
  std::string revision;
  std::vector<SecretGrant> grants;
};

// One decision about a destination that a sandbox tried to reach.
struct NetworkVerdict {
  Time at;
  std::string target;  // "host:port", or the name of a DNS query
  std::string way;  // dns, connect, http, tls or tcp
  bool allowed = false;
  std::string reason;  // one word when refused, else empty
};

struct NetworkState {
  NetworkPolicy policy;
  std::vector<NetworkVerdict> verdicts;  // the most recent ones, oldest first
};

struct CreateSpec {
  std::string sandbox_id;  // Sandgate's id; find_by_tag and list must return it
  std::string installation;  // the gateway's id; carried where the backend has labels
  ForwardingPath forwarding_path;  // the gateways that forwarded this create, without this one
  std::string tenant_id;
  std::string image;  // in the backend's terms
  std::string region;  // one of the descriptor's; empty: any of them will do
  Resources resources;
  std::chrono::seconds ttl{600};  // the backend's own limit; Sandgate enforces the TTL as well
  std::map<std::string, std::string> env;
  std::map<std::string, std::string> metadata;
  NetworkPolicy network;
  SecretGrants secrets;
  bool uses_secrets = false;  // the profile lists secrets, even if none has a value yet
  std::string snapshot;  // the backend's snapshot id, or empty
  std::string workspace;  // directory on the backend's machine to mount, or empty
  bool workspace_writable = false;
  bool allow_root = false;
  bool allow_debug = false;
};

struct SandboxMetrics {
  int64_t cpu_micros = 0;  // since the start, as egress_bytes; negative: could not be read
  int64_t memory_used_bytes = 0, memory_limit_bytes = 0;
  int64_t disk_used_bytes = 0, egress_bytes = 0;
  int64_t processes = 0;
  Time sampled_at;
};

enum class BackendState { running, paused, gone };

// An end by a rule of the backend: the sandbox's time to live was over there, or it was idle.
struct RuledEnd {
  bool idle = false;
  std::optional<Time> at;  // empty: unknown
};

struct BackendSandbox {
  std::string backend_id;  // the id that Provider's functions take
  std::string sandbox_id;  // Sandgate's id as stored by the backend; empty: not a Sandgate sandbox
  std::string installation;  // id of the gateway that created it; empty: not stored by the backend
  BackendState state = BackendState::running;
  Keeps kept = Keeps::nothing;  // what a paused sandbox preserved
  Isolation isolation = Isolation::container;  // the isolation in effect
  std::string region;
  // Size and age for metering sandboxes that belong to no row; empty where the backend does not
  // tell.
  std::optional<Time> created_at;
  std::optional<Resources> resources;
  // Set by find() for a sandbox that Provider::finish() ended: the metrics that finish() returned.
  // Also for one that died by itself, where the backend noticed: those at its death.
  std::optional<SandboxMetrics> counted;
  bool died = false;  // with `counted`: nobody asked for its end
  // Set by find() of backends that declare Descriptor::tells_ends.
  std::optional<RuledEnd> ended;
};

// A saved state of a sandbox, stored by the backend. CreateSpec::snapshot restores it.
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
  std::vector<std::string> argv;  // empty only if `shell` is set
  std::string shell;  // a line for the backend's own shell, instead of argv
  std::string cwd;  // empty: the user's home directory
  std::map<std::string, std::string> env;
  std::string user;  // empty: the image's unprivileged account
  std::optional<PtySize> pty;
  std::chrono::milliseconds timeout{0};  // 0: none; on expiry the whole process group is killed
  bool keep_on_disconnect = false;  // false: dropping the stream kills the process group
  bool background = false;  // keep recent output in a ring buffer for attach()
  // A start with the same process_id may follow if this one's outcome is unknown: a backend that
  // can does not run the program again.
  bool once = false;
  std::string process_id;  // Sandgate's process id, "pr…"
};

struct ProcessExit {
  int exit_code = 0;  // 128 + signal number, 124 on timeout, 127 if the program does not exist
  std::string signal;  // the signal that ended the process ("SIGKILL"), or empty
  bool timed_out = false;
  std::chrono::milliseconds duration{0};
};

// The output of a terminal is stdout_.
enum class Channel : uint8_t { stdin_ = 0, stdout_ = 1, stderr_ = 2 };

struct OutputChunk {
  Channel channel = Channel::stdout_;
  std::string bytes;
  // The process's output in bytes up to the end of this chunk, over both channels.
  uint64_t end_offset = 0;
};

using ProcessEvent = std::variant<OutputChunk, ProcessExit>;

// A connection to one process. Output is pulled with next(): a reader that stops pulling blocks the
// process, so memory is bounded. Dropping the stream detaches from the process; the flags of
// Command say whether it then ends. One coroutine may read while another writes.
class ProcessStream {
 public:
  virtual ~ProcessStream() = default;
  // Returns the next event: output, then ProcessExit, then empty. Throws Error(unavailable) if the
  // connection ends before the exit is known.
  virtual Task<std::optional<ProcessEvent>> next() = 0;
  // Returns once the bytes are accepted (back-pressure).
  virtual Task<void> write_stdin(std::string bytes) = 0;
  virtual Task<void> close_stdin() = 0;
  // The id of a process that the backend named itself; empty: Command::process_id is its id.
  virtual std::string process_id() const { return {}; }
};

// What a reader of a ProcessStream throws if the output ends without a ProcessExit.
inline Error ended_without_exit() {
  return Error(ErrorCode::unavailable, "the output ended before the process did");
}
// What a ProcessStream throws if its connection to the backend ends before a ProcessExit.
inline Error disconnected_without_exit() {
  return Error(ErrorCode::unavailable, "the connection ended before the process did");
}

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

struct FileEntry {
  std::string name, path;
  FileType type = FileType::file;
  uint64_t size = 0;
  uint32_t mode = 0;  // permission bits
  Time modified_at;
  std::optional<std::string> target;  // target of a symlink
  // Changes whenever the content may have changed, even with equal size and time; empty if unknown.
  std::string revision = {};
};

// Permission bits as the API and chmod write them: "0644".
inline std::string octal_mode(uint32_t mode) {
  char text[8];
  std::snprintf(text, sizeof(text), "%04o", mode & 07777);
  return text;
}

// A pull stream of bytes. read() returns 0 at the end and throws if the stream breaks before it.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual Task<size_t> read(std::span<char> into) = 0;
};

// Bytes in memory, possibly none.
class TextBytes : public ByteSource {
 public:
  explicit TextBytes(std::string text = "") : text_(std::move(text)) {}
  Task<size_t> read(std::span<char> into) override {
    const size_t count = text_.copy(into.data(), into.size(), at_);
    at_ += count;
    co_return count;
  }

 private:
  const std::string text_;
  size_t at_ = 0;
};

struct ByteRange {
  uint64_t first = 0;
  std::optional<uint64_t> last;  // inclusive, not before first; empty: to the end of the file

  // The most bytes that it names.
  uint64_t size_limit() const {
    return last && *last - first < UINT64_MAX ? *last - first + 1 : UINT64_MAX;
  }
};

// An open file: its entry and the requested range of its bytes.
struct FileContent {
  FileEntry entry;
  std::unique_ptr<ByteSource> bytes;
};

}  // namespace sandgate

#include "local/agent/files/file_worker.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "gateway/core/error.hpp"
#include "gateway/core/json_reader.hpp"
#include "local/agent/files/archive.hpp"
#include "local/agent/files/file_change.hpp"
#include "local/agent/files/file_path.hpp"
#include "local/agent/files/file_read.hpp"
#include "local/agent/files/file_session.hpp"
#include "local/agent/files/file_watch.hpp"
#include "local/agent/files/file_write.hpp"
#include "local/agent/processes/identity.hpp"
#include "local/agent/resource_privileges.hpp"

namespace sandgate::agent {
namespace {

constexpr size_t kMaxWorkers = 64;
constexpr size_t kMaxWatchers = 32;  // watches are long-lived; the rest is kept for transfers

struct FileOperation {
  std::string_view operation;
  void (*run)(FileSession& session, FileRequest& request);
};

constexpr std::array kFileOperations{
    FileOperation{"read", read_file},
    FileOperation{"write", write_file},
    FileOperation{"stat", stat_file},
    FileOperation{"list", list_files},
    FileOperation{"mkdir", make_directory},
    FileOperation{"move", move_file},
    FileOperation{"remove", remove_file},
    FileOperation{"archive_read", read_archive},
    FileOperation{"archive_write", write_archive},
    FileOperation{"watch", watch_files},
};

const FileOperation* find(std::string_view operation) {
  for (const FileOperation& entry : kFileOperations)
    if (entry.operation == operation) return &entry;
  return nullptr;
}

void serve(FileSession& session, const Json& document, const AgentSettings& settings) {
  Problems problems;
  ObjectReader reader(document, problems);
  reader.integer("protocol", 0, INT32_MAX);
  const FileOperation* entry = find(reader.text("operation").value_or(""));
  const Identity identity =
      find_identity(reader.text("user", {.min = 0, .max = 256}).value_or(""), settings);
  if (!switch_identity(identity, settings))
    throw Error(ErrorCode::forbidden, "the file worker cannot become that user");
  FileRequest request{reader, problems, identity.home};
  entry->run(session, request);
}

[[noreturn]] void run_worker(int socket, FrameParser parser, const Json& document,
                             const AgentSettings& settings) {
  unblock_signals();
  ::signal(SIGPIPE, SIG_IGN);
  ::umask(022);
  ::setsid();
  // Inherited pipes of other processes would stay open for as long as this transfer lasts.
  const int connection = ::dup2(socket, 3);
  ::syscall(SYS_close_range, 4, ~0u, 0);
  // Other processes of the user may inspect this one from here on.
  raise_oom_score();
  ::fcntl(connection, F_SETFL, ::fcntl(connection, F_GETFL) & ~O_NONBLOCK);
  ::setsockopt(connection, SOL_SOCKET, SO_SNDBUF, &kSocketBytes, sizeof kSocketBytes);
  FileSession session(connection, std::move(parser));
  try {
    serve(session, document, settings);
  } catch (const Error& error) {
    session.fail(error);
  } catch (const std::exception&) {
    session.fail(Error(ErrorCode::internal, "the file operation failed"));
  }
  ::_exit(0);
}

}  // namespace

bool is_file_operation(std::string_view operation) { return find(operation) != nullptr; }

void start_file_worker(Context& context, Connection& connection, const nlohmann::json& request) {
  const bool watches = request.value("operation", "") == "watch";
  if (context.file_workers.size() >= (watches ? kMaxWatchers : kMaxWorkers))
    throw Error(ErrorCode::unavailable, "the sandbox has too many file transfers at once");
  pid_t pid = ::fork();
  if (pid < 0 && context.preforked_child) {
    context.preforked_child.reset();  // may be what there is no room beside
    pid = ::fork();
  }
  if (pid < 0) throw Error(ErrorCode::quota_exceeded, "the sandbox has too many processes");
  if (pid == 0)
    run_worker(connection.release_socket().release(), std::move(connection.parser()), request,
               context.settings);
  context.file_workers.insert(pid);
  connection.release_socket();
}

}  // namespace sandgate::agent

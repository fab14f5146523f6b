#include "local/agent/client/client.hpp"

#include "local/agent/client/client_connection.hpp"
#include "local/agent/client/client_values.hpp"

namespace sandgate {
namespace {

using agent::ClientConnection;

constexpr size_t kMaxProcesses = 4096;

// Runs an operation that has a single reply.
Task<Json> ask(std::string path, std::string operation, Json request) {
  const auto connection =
      co_await ClientConnection::open(std::move(path), std::move(operation), std::move(request));
  co_return co_await connection->receive_reply();
}

// Runs an operation on a tree of files.
Task<Json> ask_tree(std::string path, std::string operation, Json request) {
  const auto connection =
      co_await ClientConnection::open(std::move(path), std::move(operation), std::move(request));
  co_return co_await connection->receive_tree_reply();
}

Task<FileEntry> ask_move(std::string path, Json request) {
  const Json answer = co_await ask_tree(std::move(path), "move", std::move(request));
  co_return agent::to_file_entry(answer);
}

Task<void> ask_remove(std::string path, Json request) {
  co_await ask_tree(std::move(path), "remove", std::move(request));
}

// Runs an operation whose reply is only an acknowledgement.
Task<void> tell(std::string path, std::string operation, Json request) {
  co_await ask(std::move(path), std::move(operation), std::move(request));
}

Task<ProcessInfo> ask_process(std::string path, std::string id) {
  Json request{{"process", id}};
  const Json answer = co_await ask(std::move(path), "process", std::move(request));
  co_return agent::to_process_info(answer);
}

Task<std::vector<ProcessInfo>> ask_processes(std::string path) {
  const auto connection =
      co_await ClientConnection::open(std::move(path), "processes", Json::object());
  co_return co_await connection->receive_items(kMaxProcesses, agent::to_process_info);
}

Task<void> send_input(std::string path, std::string process, std::string bytes) {
  Json request{{"process", process}};
  const auto connection =
      co_await ClientConnection::open(std::move(path), "write_stdin", std::move(request));
  // When the agent has refused meanwhile, the reply throws its error.
  const bool taken = co_await connection->send_bytes(bytes);
  if (taken) co_await connection->send_end();
  co_await connection->receive_reply();
}

Task<void> bind_owner(std::string path, AgentConfiguration wanted) {
  Json request{{"env", wanted.env}, {"allow_root", wanted.allow_root}};
  const Json bound = co_await ask(std::move(path), "configure", std::move(request));
  const Json expected{{"variables", wanted.env.size()}, {"allow_root", wanted.allow_root}};
  if (bound != expected)
    throw Error(ErrorCode::unavailable, "the sandbox's agent did not take its settings");
}

Task<FileEntry> ask_entry(std::string path, std::string operation, Json request) {
  const Json answer = co_await ask(std::move(path), std::move(operation), std::move(request));
  co_return agent::to_file_entry(answer);
}

}  // namespace

Task<void> AgentClient::configure(AgentConfiguration configuration) const {
  return bind_owner(path_, std::move(configuration));
}

Task<std::vector<ProcessInfo>> AgentClient::processes() const { return ask_processes(path_); }

Task<ProcessInfo> AgentClient::process(std::string id) const {
  return ask_process(path_, std::move(id));
}

Task<void> AgentClient::signal(std::string process, int number) const {
  return tell(path_, "signal", {{"process", process}, {"signal", number}});
}

Task<void> AgentClient::write_stdin(std::string process, std::string bytes) const {
  return send_input(path_, std::move(process), std::move(bytes));
}

Task<void> AgentClient::close_stdin(std::string process) const {
  return tell(path_, "close_stdin", {{"process", process}});
}

Task<void> AgentClient::resize(std::string process, PtySize size) const {
  return tell(path_, "resize",
              {{"process", process}, {"pty", {{"cols", size.cols}, {"rows", size.rows}}}});
}

Task<FileEntry> AgentClient::stat(std::string path) const {
  return ask_entry(path_, "stat", {{"path", path}});
}

Task<FileEntry> AgentClient::make_directory(std::string path) const {
  return ask_entry(path_, "mkdir", {{"path", path}});
}

Task<FileEntry> AgentClient::move(std::string from, std::string to) const {
  return ask_move(path_, {{"from", from}, {"to", to}});
}

Task<void> AgentClient::remove(std::string path, bool recursive) const {
  return ask_remove(path_, {{"path", path}, {"recursive", recursive}});
}

}  // namespace sandgate

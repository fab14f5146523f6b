#include <poll.h>
#include <sys/socket.h>

#include "gateway/core/ids.hpp"
#include "tests/contract/provider_contract.hpp"

// The lines of the contract on what reaches into a running sandbox: watches and ports.
namespace sandgate::test {
namespace {

constexpr char kServer[] = R"(
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
  def do_GET(self):
    self.send_response(200)
    self.send_header('Content-Length', '11')
    self.end_headers()
    self.wfile.write(b'from inside')
server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
)";

// A GET of the root; whatever comes until the end.
std::string fetch(const PortConnection& connection) {
  const int socket = connection.socket.get();
  std::string request = "GET " + connection.path_prefix + "/ HTTP/1.1\r\n";
  if (connection.headers.empty()) request += "Host: x\r\n";
  for (const auto& [name, value] : connection.headers) request += name + ": " + value + "\r\n";
  request += "Connection: close\r\n\r\n";
  pollfd ready{socket, POLLOUT, 0};
  ::poll(&ready, 1, 5000);
  ::send(socket, request.data(), request.size(), MSG_NOSIGNAL);
  std::string answer;
  for (char piece[4096];;) {
    ready.events = POLLIN;
    if (::poll(&ready, 1, 5000) != 1) return answer + " and nothing more";
    const ssize_t got = ::recv(socket, piece, sizeof piece, 0);
    if (got <= 0) return answer;
    answer.append(piece, static_cast<size_t>(got));
  }
}

}  // namespace

TEST_P(WatchContract, AWatchTellsWhatChanges) {
  const std::string id = box_.backend_id;
  loop_.run(provider().make_directory(id, "seen"));
  auto watch = loop_.run(provider().watch(id, "seen", true));
  shell("cd seen; mkdir d; mv d e; rmdir e; cd ..; rmdir seen");
  std::vector<std::string> told;
  for (auto changes = loop_.run(watch->next()); !changes.empty();
       changes = loop_.run(watch->next()))
    for (const FileChange& change : changes)
      told.push_back(std::string(to_string(change.kind)) + " " +
                     std::string(to_string(change.type)));
  EXPECT_EQ(told, (std::vector<std::string>{"create directory", "rename directory",
                                            "remove directory", "remove directory"}));
  EXPECT_EQ(code_of(provider().watch(id, "nowhere", false)), ErrorCode::not_found);
}

TEST_P(PortsContract, APortLeadsToTheProgramThatListens) {
  const std::string id = box_.backend_id;
  Command server{.argv = {"python3", "-c", kServer},
                 .keep_on_disconnect = true,
                 .background = true,
                 .process_id = ProcessId::make().value};
  auto started = loop_.run(provider().exec(id, server));
  const auto first = loop_.run(started->next());
  ASSERT_TRUE(first && std::holds_alternative<OutputChunk>(*first));
  const auto port = static_cast<uint16_t>(std::stoi(std::get<OutputChunk>(*first).bytes));
  for (int turn = 0; turn < 3; ++turn) {
    const std::string answer = fetch(loop_.run(provider().dial(id, port)));
    EXPECT_TRUE(answer.starts_with("HTTP/1.") && answer.ends_with("from inside")) << answer;
  }
}

// Of the backends without a machine of their own none has watches.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WatchContract);
INSTANTIATE_TEST_SUITE_P(Backends, PortsContract, testing::ValuesIn(PortsContract::lines()),
                         name_of_line);
INSTANTIATE_TEST_SUITE_P(Backends, WatchContract, testing::ValuesIn(WatchContract::lines()),
                         name_of_line);

}  // namespace sandgate::test

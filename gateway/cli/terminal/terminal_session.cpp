#include "gateway/cli/terminal/terminal_session.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <future>

#include "gateway/cli/terminal/console.hpp"
#include "gateway/cli/terminal/interrupt.hpp"
#include "gateway/cli/terminal/raw_terminal.hpp"
#include "gateway/core/async.hpp"
#include "providers/transport/web_socket.hpp"

namespace sandgate::cli {
namespace {

constexpr size_t kInputBytes = 4096;
constexpr char kStdinChannel = 0;
constexpr std::chrono::seconds kOpening{60};

// Waits for a terminal that is slower than its program.
void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EAGAIN) {
      pollfd slow{fd, POLLOUT, 0};
      ::poll(&slow, 1, -1);
    } else if (put < 0 && errno != EINTR) {
      return;
    }
    if (put > 0) bytes.remove_prefix(static_cast<size_t>(put));
  }
}

// Keeps how standard input blocks. A terminal shares that with every program that has it: reading
// it asynchronously makes output nonblocking, too, and whatever comes after this program.
class KeptBlocking {
 public:
  KeptBlocking() : flags_(::fcntl(STDIN_FILENO, F_GETFL)) {}
  KeptBlocking(const KeptBlocking&) = delete;
  ~KeptBlocking() {
    if (flags_ >= 0) ::fcntl(STDIN_FILENO, F_SETFL, flags_);
  }

 private:
  int flags_;
};

// A terminal session on one thread: coroutines that read the socket, read the keyboard and watch
// the window size. Each of the last two has at most one frame that is not sent yet.
class Session {
 public:
  Session(asio::io_context& io, WebSocket& socket)
      : io_(io),
        socket_(socket),
        input_(io, ::dup(STDIN_FILENO)),
        resized_(io, SIGWINCH),
        ended_(io),
        sent_(io, asio::steady_timer::time_point::max()) {
    // The last is of who reads the output and leaves. The keyboard sends none of them.
    for (const int one : {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGPIPE}) ended_.add(one);
  }

  int run() {
    spawn([this] { return receive(); });
    spawn([this] { return read_keys(); });
    spawn([this] { return watch_window(); });
    // Returns, so that the terminal gets its mode back.
    ended_.async_wait([this](boost::system::error_code, int signal) {
      if (!exit_code_) exit_code_ = kEndedBySignal + signal;
      io_.stop();
    });
    io_.restart();  // the loop stops when it runs out of work after connecting
    io_.run();
    if (failure_) std::rethrow_exception(failure_);
    if (!exit_code_)
      throw Error(ErrorCode::unavailable, "the connection ended before the program did");
    return *exit_code_;
  }

 private:
  template <class F>
  void spawn(F work) {
    asio::co_spawn(io_, work, [this](std::exception_ptr failure) {
      if (!failure) return;
      if (!exit_code_ && !failure_) failure_ = failure;
      io_.stop();
    });
  }

  Task<void> receive() {
    for (;;) {
      const auto outcome = co_await attempt(socket_.read());
      const auto* message = std::get_if<std::optional<WebSocket::Message>>(&outcome);
      if (!message || !*message) break;
      const std::string_view bytes = (*message)->bytes;
      if ((*message)->text) {
        if (control(bytes)) break;
      } else if (!bytes.empty()) {
        write_all(bytes[0] == 2 ? STDERR_FILENO : STDOUT_FILENO, bytes.substr(1));
      }
    }
    io_.stop();
  }

  // Handles a control message. Returns whether the program ended.
  bool control(std::string_view text) {
    const Json message = parse_json(text);
    const std::string type = message.value("type", "");
    if (type == "error")
      throw Error(ErrorCode::unavailable,
                  printable(message.value("detail", "the terminal failed")));
    if (type != "exit") return false;
    exit_code_ = message.value("exit_code", 1);
    return true;
  }

  Task<void> read_keys() {
    std::array<char, kInputBytes> keys;
    for (;;) {
      const auto [error, size] =
          co_await input_.async_read_some(asio::buffer(keys), asio::as_tuple(asio::use_awaitable));
      if (error) break;
      std::string frame(1, kStdinChannel);
      frame.append(keys.data(), size);
      co_await send(/*text=*/false, std::move(frame));
    }
    std::string message = R"({"type":"close_stdin"})";
    co_await send(/*text=*/true, std::move(message));
  }

  Task<void> watch_window() {
    for (;;) {
      co_await resized_.async_wait(asio::use_awaitable);
      const WindowSize size = window_size();
      const Json message{{"type", "resize"}, {"cols", size.cols}, {"rows", size.rows}};
      co_await send(/*text=*/true, message.dump());
    }
  }

  // Only one write at a time; who comes meanwhile waits, and reads nothing.
  Task<void> send(bool text, std::string bytes) {
    while (writing_) co_await sent_.async_wait(asio::as_tuple(asio::use_awaitable));
    writing_ = true;
    WebSocket::Message message{text, std::move(bytes)};
    co_await socket_.write(std::move(message));
    writing_ = false;
    sent_.cancel();
  }

  asio::io_context& io_;
  WebSocket& socket_;
  asio::posix::stream_descriptor input_;
  asio::signal_set resized_, ended_;
  asio::steady_timer sent_;  // never expires; cancelled when a frame is sent
  bool writing_ = false;
  std::optional<int> exit_code_;
  std::exception_ptr failure_;
};

std::unique_ptr<WebSocket> connect(asio::io_context& io, const Client& client,
                                   const std::string& path) {
  WebSocketCall call;
  call.url = client.url() + path;
  call.headers.emplace_back("Authorization", "Bearer " + client.key().reveal());
  if (!client.tenant().empty()) call.headers.emplace_back("X-Sandgate-Tenant", client.tenant());
  call.deadline = kOpening;
  call.allow_private = true;
  auto opening = open_web_socket("the gateway", std::move(call));
  auto opened = asio::co_spawn(io, std::move(opening), asio::use_future);
  // run() might not return: an open connection may keep a timer for its peer's silence.
  while (opened.wait_for(std::chrono::seconds(0)) != std::future_status::ready) io.run_one();
  try {
    return opened.get();
  } catch (const Error& failure) {
    throw Error(failure.code, "no terminal from " + client.url() + ": " + failure.what());
  }
}

}  // namespace

int run_terminal(const Client& client, const std::string& path) {
  asio::io_context io;
  const auto socket = connect(io, client, path);
  return run_terminal(io, *socket);
}

int run_terminal(asio::io_context& io, WebSocket& socket) {
  const RawTerminal raw;
  const KeptBlocking blocking;
  return Session(io, socket).run();
}

}  // namespace sandgate::cli

// Follows many line_sources at once and tells as JSON what came: how many lines, how many are
// missing or out of order, and how late they were. `steady` counts from when every stream has
// begun until the first one ends, `starting` what came before.
// Usage: line_reader PORT KEY BODY < PATHS   a POST of BODY to each path of stdin, on a connection
//        line_reader listen COUNT            prints its port, and reads what comes over COUNT
//                                            connections as it is
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

int64_t now() {
  timespec time;
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

struct Line {
  int64_t sent, came;
};

std::string from_base64(std::string_view text) {
  static const std::array<int, 256> kDigits = [] {
    std::array<int, 256> digits;
    digits.fill(-1);
    const std::string_view all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < all.size(); ++i) digits[static_cast<uint8_t>(all[i])] = int(i);
    return digits;
  }();
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int digit = kDigits[static_cast<uint8_t>(c)];
    if (digit < 0) break;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if ((count += 6) < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count));
  }
  return bytes;
}

// Takes whole lines out of what arrives in pieces.
class Lines {
 public:
  template <class F>
  void add(std::string_view bytes, F each) {
    text_.append(bytes);
    size_t begin = 0;
    for (size_t end; (end = text_.find('\n', begin)) != std::string::npos; begin = end + 1)
      each(std::string_view(text_).substr(begin, end - begin));
    text_.erase(0, begin);
  }

 private:
  std::string text_;
};

class Stream {
 public:
  explicit Stream(bool of_events) : of_events_(of_events) {}

  void arrived(std::string_view bytes, int64_t at) {
    if (!of_events_) return printed(bytes, at);
    answer_.add(bytes, [&](std::string_view line) {
      constexpr std::string_view kData = "data: {\"data\":\"";
      if (line.starts_with(kData)) return printed(from_base64(line.substr(kData.size())), at);
      if (line.starts_with("HTTP/1.1 ") && !line.starts_with("HTTP/1.1 200"))
        std::cerr << line << "\n";
    });
  }

  std::vector<Line> lines;
  int expected = 0;

 private:
  void printed(std::string_view bytes, int64_t at) {
    output_.add(bytes, [&](std::string_view line) {
      const std::string text(line);
      char* rest = nullptr;
      expected += std::strtol(text.c_str(), &rest, 10) == expected;
      lines.push_back({std::strtoll(rest, nullptr, 10), at});
    });
  }

  const bool of_events_;
  Lines answer_, output_;
};

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int asked(int port, const std::string& path, const std::string& key, const std::string& body) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = loopback(port);
  const std::string request =
      "POST " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + key +
      "\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nConnection: close\r\n"
      "Content-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::send(socket, request.data(), request.size(), 0) != static_cast<ssize_t>(request.size()))
    std::exit(1);
  return socket;
}

std::vector<int> accepted(int count) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  ::bind(listener, reinterpret_cast<sockaddr*>(&address), size);
  ::listen(listener, count);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  std::cout << ntohs(address.sin_port) << std::endl;
  std::vector<int> sockets;
  while (static_cast<int>(sockets.size()) < count)
    sockets.push_back(::accept(listener, nullptr, nullptr));
  return sockets;
}

// Returns the streams with all that came until each had ended.
std::vector<Stream> read_all(const std::vector<int>& sockets, bool events) {
  const int epoll = ::epoll_create1(0);
  std::vector<Stream> streams(sockets.size(), Stream(events));
  for (size_t i = 0; i < sockets.size(); ++i) {
    epoll_event event{EPOLLIN, {.u64 = i}};
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, sockets[i], &event);
  }
  static char bytes[1 << 16];
  for (size_t open = sockets.size(); open > 0;) {
    epoll_event ready[64];
    const int count = ::epoll_wait(epoll, ready, 64, -1);
    for (int i = 0; i < count; ++i) {
      const size_t which = ready[i].data.u64;
      const ssize_t got = ::recv(sockets[which], bytes, sizeof bytes, 0);
      if (got > 0) {
        streams[which].arrived({bytes, static_cast<size_t>(got)}, now());
        continue;
      }
      ::close(sockets[which]);
      --open;
    }
  }
  return streams;
}

void tell(const char* name, std::vector<double> late) {
  std::sort(late.begin(), late.end());
  const auto at = [&](double share) {
    return late.empty() ? 0.0 : late[static_cast<size_t>(share * double(late.size() - 1))];
  };
  std::printf(", \"%s\": {\"lines\": %zu, \"p50\": %.3f, \"p99\": %.3f, \"most\": %.3f}", name,
              late.size(), at(0.5), at(0.99), at(1));
}

void tell(const std::vector<Stream>& streams) {
  int64_t begun = 0, ends = INT64_MAX;
  size_t lines = 0;
  int in_order = 0;
  for (const Stream& stream : streams) {
    lines += stream.lines.size();
    in_order += stream.expected;
    if (stream.lines.empty()) continue;
    begun = std::max(begun, stream.lines.front().came);
    ends = std::min(ends, stream.lines.back().sent);
  }
  std::vector<double> starting, steady;
  for (const Stream& stream : streams)
    for (const Line& line : stream.lines)
      if (line.sent < ends)
        (line.sent < begun ? starting : steady).push_back(double(line.came - line.sent) / 1e6);
  std::printf("{\"lines\": %zu, \"in_order\": %d, \"steady_seconds\": %.1f", lines, in_order,
              double(ends - begun) / 1e9);
  tell("starting", std::move(starting));
  tell("steady", std::move(steady));
  std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const rlimit files{8192, 8192};
  ::setrlimit(RLIMIT_NOFILE, &files);
  const bool listens = std::string_view(argv[1]) == "listen";
  std::vector<int> sockets;
  if (listens) sockets = accepted(std::atoi(argv[2]));
  for (std::string path; !listens && std::getline(std::cin, path);)
    sockets.push_back(asked(std::atoi(argv[1]), path, argv[2], argv[3]));
  tell(read_all(sockets, !listens));
  return 0;
}

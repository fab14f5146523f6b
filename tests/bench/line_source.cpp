// Prints lines of "NUMBER NANOSECONDS" at an even pace, the time being CLOCK_MONOTONIC's just
// before the line goes out. It keeps to no rhythm that others share. Linked statically, so that it
// runs in any sandbox.
// Usage: line_source LINES PER_SECOND
//        line_source LINES PER_SECOND PORT COUNT   so many of them, each to a connection of its own
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

constexpr int64_t kSecond = 1'000'000'000;

int64_t clock_now() {
  timespec time;
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

void sleep_until(int64_t at) {
  const timespec time{at / kSecond, at % kSecond};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

int print(int out, int lines, int per_second) {
  const int64_t pause = kSecond / per_second;
  const int64_t begin = clock_now() + clock_now() / 7 % pause;
  for (int i = 0; i < lines; ++i) {
    sleep_until(begin + i * pause);
    char line[64];
    const int size =
        std::snprintf(line, sizeof line, "%d %lld\n", i, static_cast<long long>(clock_now()));
    if (::write(out, line, static_cast<size_t>(size)) != size) return 1;
  }
  return 0;
}

int connected(uint16_t port) {
  const int out = ::socket(AF_INET, SOCK_STREAM, 0), on = 1;
  ::setsockopt(out, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool there = ::connect(out, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  return there ? out : -1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int lines = std::atoi(argv[1]), per_second = std::atoi(argv[2]);
  if (argc < 5) return print(STDOUT_FILENO, lines, per_second);
  for (int i = std::atoi(argv[4]); i > 0; --i)
    if (::fork() == 0)
      return print(connected(static_cast<uint16_t>(std::atoi(argv[3]))), lines, per_second);
  while (::wait(nullptr) > 0) {
  }
  return 0;
}

#include "local/agent/processes/pty.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "gateway/core/error.hpp"

namespace sandgate::agent {
namespace {

constexpr int kFlags = O_RDWR | O_NOCTTY | O_CLOEXEC;
constexpr mode_t kTerminalMode = 0620;

}  // namespace

Terminal open_terminal(uint16_t cols, uint16_t rows, uint32_t uid) {
  Terminal terminal;
  terminal.master = Fd(open_safely(AT_FDCWD, "/dev/ptmx", kFlags | O_NONBLOCK));
  int locked = 0;
  if (!terminal.master || ::ioctl(terminal.master.get(), TIOCSPTLCK, &locked) != 0)
    throw Error(ErrorCode::unavailable, "the sandbox has no free pseudo-terminal");
  // Opened through the master, because the sandbox could replace the path in /dev/pts.
  terminal.slave = Fd(::ioctl(terminal.master.get(), TIOCGPTPEER, kFlags));
  if (!terminal.slave)
    throw Error(ErrorCode::unavailable, "the sandbox has no free pseudo-terminal");
  // Fails when only one id is mapped; the terminal works without a change of owner.
  if (::fchown(terminal.slave.get(), uid, static_cast<gid_t>(-1)) == 0)
    ::fchmod(terminal.slave.get(), kTerminalMode);
  resize_terminal(terminal.master.get(), cols, rows);
  return terminal;
}

void resize_terminal(int master, uint16_t cols, uint16_t rows) {
  winsize size{};
  size.ws_col = cols;
  size.ws_row = rows;
  if (::ioctl(master, TIOCSWINSZ, &size) != 0)
    throw Error(ErrorCode::conflict, "the process has no terminal any more");
}

bool reads_lines(int master) {
  termios settings;
  return ::tcgetattr(master, &settings) != 0 || (settings.c_lflag & ICANON);
}

std::string end_of_input(int master, bool line_is_begun) {
  termios settings;
  if (::tcgetattr(master, &settings) != 0) return "\x04";
  // Within a line, the first one only hands over what there is of it.
  const size_t count = line_is_begun && (settings.c_lflag & ICANON) ? 2 : 1;
  return std::string(count, static_cast<char>(settings.c_cc[VEOF]));
}

}  // namespace sandgate::agent

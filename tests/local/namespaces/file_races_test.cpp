// Links that are swapped while the file API walks them.
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "gateway/core/ids.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"
#include "tests/local/namespaces/weak_node.hpp"

namespace sandgate::test {
namespace {

using namespace std::chrono_literals;

class FileRacesTest : public SandboxTest {
 protected:
  FileRacesTest() {
    chmod(outside_.path().c_str(), 0777);
    std::ofstream(outside_.path() + "/secret") << "of the machine";
  }

  // Swaps ~/x between a directory with `secret` and a link to a directory outside, for ever.
  void start_swapping() {
    node().write(id(), "/home/user/swap.py",
                 "import ctypes, os\nos.chdir('/home/user')\n"
                 "os.makedirs('x', exist_ok=True); open('x/secret', 'w').write('own')\n"
                 "os.symlink('" +
                     outside_.path() +
                     "', 'y')\n"
                     "exchange = ctypes.CDLL(None).renameat2\n"
                     "while True: exchange(-100, b'x', -100, b'y', 2)\n");
    shell("setsid python3 swap.py >/dev/null 2>&1 & sleep 0.2");
  }
  void stop_swapping() { shell("pkill -f swap.py; rm -rf x y z; true"); }

  static Task<std::string> read(LocalProvider& provider, std::string id, std::string path) {
    FileContent content = co_await provider.read_file(id, path, ByteRange());
    std::string text(64, '\0');
    const size_t got = co_await content.bytes->read(text);
    text.resize(got);
    co_return text;
  }

  TempDirectory outside_;
};

// What a reader outside would get that follows the sandbox's names by path, as the file API must
// not.
std::string read_from_outside(const std::string& path) {
  std::ifstream in(path);
  std::string text;
  std::getline(in, text);
  return text;
}

TEST_F(FileRacesTest, TheFileApiStaysInside) {
  start_swapping();
  const std::string by_path =
      "/proc/" + std::to_string(node().record(id()).pid) + "/root/home/user/x/secret";
  int own = 0, refused = 0, control = 0;
  const auto end = std::chrono::steady_clock::now() + 4s;
  while (std::chrono::steady_clock::now() < end) {
    if (read_from_outside(by_path) == "of the machine") ++control;
    try {
      const std::string text = run(read(node().provider(), id(), "/home/user/x/secret"));
      EXPECT_EQ(text, "own");
      ++own;
    } catch (const Error&) {
      ++refused;
    }
    try {
      node().write(id(), "/home/user/x/planted", "by the file API");
    } catch (const Error&) {
      ++refused;
    }
  }
  stop_swapping();
  EXPECT_GT(own, 0);
  EXPECT_GT(refused, 0);
  EXPECT_GT(control, 0) << "the race was never lost by a reader that loses races";
  EXPECT_FALSE(std::filesystem::exists(outside_.path() + "/planted"));
  EXPECT_EQ(read_from_outside(outside_.path() + "/secret"), "of the machine");
}

// Looks for six seconds for processes that are still the agent's copy; not at the agent itself.
constexpr const char* kSnoop =
    "import os, time\nend = time.time() + 6\n"
    "while time.time() < end:\n"
    "  for p in os.listdir('/proc'):\n"
    "    if not p.isdigit() or p == '1': continue\n"
    "    try:\n"
    "      m = os.open(f'/proc/{p}/mem', os.O_RDONLY)\n"
    "      os.close(m)\n"
    "      if 'memfd' in os.readlink(f'/proc/{p}/exe'): print('broken', flush=True)\n"
    "    except OSError: pass\n"
    "    try:\n"
    "      if 'memfd' in os.readlink(f'/proc/{p}/exe'): print('broken', flush=True)\n"
    "    except OSError: pass\n"
    "print('done', flush=True)\n";

// What it says while programs are started in the sandbox.
std::string snooped_in(LocalNode& node, const std::string& sandbox) {
  node.write(sandbox, "/tmp/snoop.py", kSnoop);
  node.shell(sandbox, "setsid python3 /tmp/snoop.py > /tmp/snooped 2>&1 & true", "root");
  int runs = 0;
  const auto end = std::chrono::steady_clock::now() + 5s;
  while (std::chrono::steady_clock::now() < end) {
    node.shell(sandbox, "true");
    node.shell(sandbox, "true", "root");
    runs += 2;
  }
  EXPECT_GT(runs, 50);
  const char* wait = "while ! grep -q done /tmp/snooped; do sleep 0.05; done; sort -u /tmp/snooped";
  return node.shell(sandbox, wait, "root").out;
}

// Between a process's birth and its program it is the agent's copy: never open to others.
TEST_F(FileRacesTest, NewProcessesAreClosedUntilTheyRunTheirProgram) {
  EXPECT_EQ(snooped_in(node(), id()), "done\n");
  WeakNode weak;
  EXPECT_EQ(snooped_in(weak.node(), weak.without("dumpable,capabilities")), "broken\ndone\n")
      << "the control";
}

// A file that becomes a pipe once it was found: whoever opens that for reading waits for a writer.
TEST_F(FileRacesTest, ACopyWaitsForNoPipe) {
  node().write(id(), "/home/user/turn.py",
               "import os\nos.chdir('/home/user')\n"
               "while True:\n"
               "  os.mkfifo('new'); os.rename('new', 'turning')\n"
               "  open('new', 'w').close(); os.rename('new', 'turning')\n");
  shell("setsid python3 turn.py >/dev/null 2>&1 & sleep 0.2");
  for (int i = 0; i < 200; ++i) {
    try {
      run(node().provider().move(id(), "/home/user/turning", "/dev/shm/turned"));
    } catch (const Error& error) {
      ASSERT_NE(error.code, ErrorCode::timeout) << i;
    }
  }
  shell("pkill -f turn.py; rm -f turn.py turning new /dev/shm/turned; true");
}

// Between file systems a move is a copy and a removal, which may not be allowed.
TEST_F(FileRacesTest, AMoveThatMayNotTakeItsSourceChangesNothing) {
  shell("echo theirs > /dev/shm/theirs; chmod 644 /dev/shm/theirs", "root");
  shell("echo precious > ~/kept");
  for (const std::string to : {"kept", "missing"}) {
    try {
      run(node().provider().move(id(), "/dev/shm/theirs", "/home/user/" + to));
      ADD_FAILURE() << "moved";
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::forbidden) << error.what();
    }
  }
  EXPECT_EQ(output("cat ~/kept /dev/shm/theirs; ls ~/missing 2>/dev/null; true"),
            "precious\ntheirs");
  shell("rm ~/kept /dev/shm/theirs", "root");
}

}  // namespace
}  // namespace sandgate::test

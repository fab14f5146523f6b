// What the machine sees of a sandbox's first process before that has entered its jail: nothing that
// it does, not even its first instruction, is outside of the limits.
#include <sys/types.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "gateway/core/files.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"

namespace sandgate::test {
namespace {

namespace fs = std::filesystem;

class FirstSightTest : public SandboxTest {};

std::string file_of(pid_t pid, const char* name) {
  return read_text_file("/proc/" + std::to_string(pid) + "/" + name).value_or("");
}

// The words after the line's first one, such as "Seccomp:".
std::vector<std::string> words_of(const std::string& text, const std::string& first) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(first)) continue;
    std::istringstream rest(line.substr(first.size()));
    return {std::istream_iterator<std::string>(rest), {}};
  }
  return {};
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code ignored;
  for (const auto& task :
       fs::directory_iterator("/proc/" + std::to_string(parent) + "/task", ignored)) {
    std::istringstream pids(read_text_file(task.path().string() + "/children").value_or(""));
    for (pid_t pid = 0; pids >> pid;) children.push_back(pid);
  }
  return children;
}

// The files of control groups that say what a sandbox may have, as far as there are such.
std::map<std::string, std::string> limits_in(const std::vector<std::string>& groups) {
  std::map<std::string, std::string> limits;
  for (const std::string& group : groups) {
    for (const char* name : {"pids.max", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes",
                             "memory.kmem.tcp.limit_in_bytes", "cpu.cfs_quota_us", "cpu.shares",
                             "memory.max", "memory.swap.max", "cpu.max", "cpu.weight"}) {
      if (const auto text = read_text_file(group + "/" + name)) limits[name] = *text;
    }
  }
  return limits;
}

struct Sight {
  bool is_in_jail = true;
  std::string groups;  // of the process
  std::vector<std::string> signals;  // that may be queued: soft and hard limit
  std::map<std::string, std::string> limits;  // of the sandbox's groups
};

Sight look_at(LocalNode& node, pid_t pid, const std::string& id) {
  Sight sight;
  sight.groups = file_of(pid, "cgroup");
  sight.signals = words_of(file_of(pid, "limits"), "Max pending signals");
  sight.limits = limits_in(node.record(id).cgroups);
  // Last, so that what was seen was so before.
  sight.is_in_jail = words_of(file_of(pid, "status"), "Seccomp:") != std::vector<std::string>{"0"};
  return sight;
}

// Waits for the next first process of a sandbox among a node's children, and keeps what it sees.
class Watch {
 public:
  Watch(LocalNode& node, std::string id)
      : thread_([this, &node, id = std::move(id),
                 known = children_of(node.pid())](const std::stop_token& over) {
          while (!over.stop_requested()) {
            for (const pid_t pid : children_of(node.pid())) {
              // The first of a pid namespace has a number in that, too.
              if (std::ranges::count(known, pid) != 0 ||
                  words_of(file_of(pid, "status"), "NSpid:").size() != 2)
                continue;
              sight_ = look_at(node, pid, id);
              return;
            }
          }
        }) {}
  Sight end() && {
    thread_.request_stop();
    thread_.join();
    return sight_;
  }

 private:
  Sight sight_;
  std::jthread thread_;
};

TEST_F(FirstSightTest, TheFirstProcessIsLimitedBeforeItIsInItsJail) {
  int early = 0;
  for (int i = 0; i < 20; ++i) {
    const CreateSpec spec = node().spec();
    const std::string id = spec.sandbox_id;
    Watch watch(node(), id);
    node().create(spec);
    const Sight first = std::move(watch).end();
    const std::vector<std::string> groups = node().record(id).cgroups;
    const Sight now = look_at(node(), static_cast<pid_t>(node().record(id).pid), id);
    run(node().provider().kill(id));
    ASSERT_TRUE(now.is_in_jail);
    if (first.is_in_jail) continue;  // seen too late
    ++early;
    EXPECT_EQ(first.groups, now.groups);
    EXPECT_NE(first.groups.find("/" + id + "\n"), std::string::npos) << first.groups;
    EXPECT_EQ(first.limits, now.limits);
    EXPECT_EQ(first.limits.at("pids.max"), std::to_string(spec.resources.processes + 1) + "\n");
    EXPECT_EQ(first.signals.at(1), "512");
  }
  EXPECT_GT(early, 0) << "else nothing was seen of what comes before the jail";
}

// The same look at who starts them, and is in no sandbox.
TEST_F(FirstSightTest, WhoStartsThemIsInNoneOfTheirGroups) {
  int others = 0;
  for (const pid_t pid : children_of(node().pid())) {
    if (words_of(file_of(pid, "status"), "NSpid:").size() != 1) continue;
    const Sight sight = look_at(node(), pid, id());
    EXPECT_EQ(sight.groups.find("/" + id() + "\n"), std::string::npos);
    others += sight.is_in_jail ? 0 : 1;
  }
  EXPECT_GT(others, 0);
}

}  // namespace
}  // namespace sandgate::test

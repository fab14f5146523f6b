#include "tests/local/local_node.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "gateway/core/ids.hpp"
#include "local/namespaces/step_error.hpp"

extern char** environ;

namespace sandgate::test {
namespace {

namespace fs = std::filesystem;

std::string images_cache() {
  const char* chosen = getenv("SANDGATE_TEST_IMAGES");
  return chosen ? chosen : "/var/cache/sandgate-test/images";
}

bool has_image(const std::string& name) {
  std::error_code ignored;
  return fs::exists(images_cache() + "/names/" + name, ignored);
}

// Ranges of other nodes on this machine are elsewhere: by process id, far from shipped defaults.
uint32_t id_base_of_test() {
  return 500'000'000 + (static_cast<uint32_t>(getpid()) % 400) * 8'388'608;
}

std::string read_text(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// A descriptor of the machine that the node starts with, as a careless parent's child would.
constexpr int kCareless = 300;

Task<ExecResult> run_command(LocalProvider& provider, std::string id, Command command) {
  std::unique_ptr<ProcessStream> stream = co_await provider.exec(id, std::move(command));
  ExecResult result;
  while (std::optional<ProcessEvent> event = co_await stream->next()) {
    if (auto* chunk = std::get_if<OutputChunk>(&*event)) {
      (chunk->channel == Channel::stderr_ ? result.err : result.out) += chunk->bytes;
    } else {
      result.exit_code = std::get<ProcessExit>(*event).exit_code;
      result.signal = std::get<ProcessExit>(*event).signal;
    }
  }
  co_return result;
}

// Whether it takes its leave, which the first of a pid namespace does when all others have gone.
bool is_exiting(int64_t pid) {
  constexpr unsigned long kExiting = 4;
  const std::string line = read_text("/proc/" + std::to_string(pid) + "/stat");
  std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
  std::string field;
  for (int number = 3; number <= 9; ++number) fields >> field;
  return (std::strtoul(field.c_str(), nullptr, 10) & kExiting) != 0;
}

}  // namespace

std::string LocalNode::reason_to_skip() {
  if (geteuid() != 0) return "needs root";
  if (!has_image(BuildRequest().name) && system("command -v mmdebstrap >/dev/null") != 0)
    return "needs mmdebstrap";
  return "";
}

LocalNode::LocalNode(uid_t serve_uid, size_t warm_sandboxes, std::string workspace,
                     std::string agent, uid_t run_as)
    : name_("test-" + make_id("nd").substr(2, 8)),
      serve_uid_(serve_uid),
      warm_sandboxes_(warm_sandboxes),
      workspace_(std::move(workspace)),
      agent_(agent.empty() ? SANDGATE_AGENT_BINARY : std::move(agent)),
      run_as_(run_as),
      id_base_(id_base_of_test()) {
  fs::create_directories(images_cache());
  fs::create_directories(data_dir());
  chmod(directory_.path().c_str(), 0711);
  have_image({});
  if (run_as_ == 0) {
    fs::create_directory_symlink(images_cache(), data_dir() + "/images");
  } else if (chown(directory_.path().c_str(), run_as_, run_as_) != 0 ||
             chown(data_dir().c_str(), run_as_, run_as_) != 0) {
    throw std::runtime_error("the node's directory cannot be given away");
  }
  provider_ = std::make_unique<LocalProvider>(
      LocalProviderSettings{.node_socket = run_dir() + "/node.sock",
                            .sandboxes_dir = run_dir() + "/sandboxes",
                            .egress_socket = run_dir() + "/egress.sock",
                            .data_dir = data_dir()});
  start();
}

LocalNode::~LocalNode() {
  if (pid_ > 0) {
    for (const BackendSandbox& sandbox : run(provider_->list()))
      run(provider_->kill(sandbox.backend_id));
    stop();
  }
  // Where a node that was killed kept its journal in memory.
  std::error_code none;
  if (const fs::path memory = fs::read_symlink(run_dir() + "/sandboxes", none); !memory.empty())
    fs::remove_all(memory, none);
  for (const char* controller : {"cpu", "cpuacct", "memory", "pids", "devices"}) {
    std::string own = "/sys/fs/cgroup/" + std::string(controller);
    std::error_code ignored;
    for (fs::recursive_directory_iterator it(own, ignored), end; it != end; it.increment(ignored)) {
      if (it->path().filename() == "sandgate-" + name_) rmdir(it->path().c_str());
    }
  }
}

std::string LocalNode::agent_binary() const { return agent_; }

void LocalNode::have_image(const BuildRequest& request) {
  if (has_image(request.name)) return;
  ImageStore store(images_cache());
  build_image(store, request, [](std::string_view) {});
}

std::string LocalNode::weak_agent() { return SANDGATE_WEAK_AGENT; }

void LocalNode::start() {
  std::vector<std::string> words = {SANDGATE_TEST_NODE,
                                    name_,
                                    data_dir(),
                                    run_dir(),
                                    agent_binary(),
                                    std::to_string(serve_uid_),
                                    std::to_string(id_base_),
                                    std::to_string(warm_sandboxes_),
                                    workspace_};
  if (run_as_ != 0) {
    const std::string id = std::to_string(run_as_);
    words.insert(words.begin(),
                 {"/usr/bin/setpriv", "--reuid", id, "--regid", id, "--clear-groups"});
  }
  const Fd directory = check_fd(open(data_dir().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), "open");
  const Fd careless = check_fd(fcntl(directory.get(), F_DUPFD, kCareless), "leave open");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (posix_spawn(&pid_, argv[0], nullptr, nullptr, argv.data(), environ) != 0) {
    throw std::runtime_error("the test node cannot be started");
  }
  wait_until_up();
}

void LocalNode::wait_until_up() {
  for (int i = 0; i < 1000; ++i) {
    try {
      run(provider_->refresh());
      return;
    } catch (const Error&) {
      if (waitpid(pid_, nullptr, WNOHANG) == pid_) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  throw std::runtime_error("the test node does not answer");
}

void LocalNode::kill() {
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void LocalNode::stop() {
  ::kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

CreateSpec LocalNode::spec() const {
  CreateSpec spec;
  spec.sandbox_id = make_id("sb");
  spec.tenant_id = "tn-test";
  spec.image = "debian-12";
  spec.resources = {1000, 256, 1, 128};
  return spec;
}

std::string LocalNode::create() { return create(spec()); }

std::string LocalNode::create(CreateSpec spec) {
  return run(provider_->create(std::move(spec))).backend_id;
}

ExecResult LocalNode::exec(const std::string& id, Command command) {
  if (command.process_id.empty()) command.process_id = make_id("pr");
  return run(run_command(*provider_, id, std::move(command)));
}

ExecResult LocalNode::shell(const std::string& id, const std::string& line,
                            const std::string& user) {
  Command command;
  command.argv = {"/bin/bash", "-c", line};
  command.user = user;
  return exec(id, std::move(command));
}

ExecResult LocalNode::python(const std::string& id, const std::string& program,
                             const std::string& user) {
  Command command;
  command.argv = {"/usr/bin/python3", "-c", program};
  command.user = user;
  return exec(id, std::move(command));
}

void LocalNode::write(const std::string& id, const std::string& path, const std::string& bytes,
                      uint32_t mode) {
  TextBytes source(bytes);
  run(provider_->write_file(id, path, mode, source));
}

JournalRecord LocalNode::record(const std::string& id) const {
  return sandbox_record_from(
      Json::parse(read_text(run_dir() + "/sandboxes/" + id + "/sandbox.json")));
}

const SmallDisk& LocalNode::move_to_small_disk(int mib) {
  const std::string images = data_dir() + "/images";
  const fs::path cache = fs::read_symlink(images);
  stop();
  disk_ = std::make_unique<SmallDisk>(data_dir(), mib);
  fs::create_directory_symlink(cache, images);
  start();
  return *disk_;
}

FrozenDisk LocalNode::hold_at_disk(const JournalRecord& record) {
  Command writer;
  writer.process_id = make_id("pr");
  writer.argv = {"/bin/bash", "-c", "while :; do echo x > ~/f; done"};
  writer.background = true;
  run(provider_->exec(record.id, std::move(writer)));
  FrozenDisk frozen(disk_of(pid_, record.id));
  for (int i = 0; !has_waiting_process(record); ++i) {
    if (i > 1000) throw std::runtime_error("no process waits for the disk");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return frozen;
}

bool is_dying(int64_t pid) {
  constexpr uint64_t kKill = uint64_t{1} << (SIGKILL - 1);
  std::ifstream in("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(in, line);)
    if ((line.starts_with("ShdPnd:") || line.starts_with("SigPnd:")) &&
        (std::strtoull(line.c_str() + 7, nullptr, 16) & kKill))
      return true;
  return is_exiting(pid);
}

std::string compile_c(const std::string& source) {
  TempDirectory directory;
  std::string in = directory.path() + "/p.c", out = directory.path() + "/p";
  std::ofstream(in) << source;
  std::string command = "cc -O1 -w -static -o " + out + " " + in;
  if (system(command.c_str()) != 0) throw std::runtime_error("cc failed");
  return read_text(out);
}

bool LocalNode::leaks_into(const std::string& id) const {
  const auto open_by = [&](int64_t pid) {
    std::error_code none;
    const fs::path file = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(kCareless);
    return fs::read_symlink(file, none) == fs::path(data_dir());
  };
  if (!open_by(pid_)) throw std::runtime_error("the node itself has nothing that could leak");
  return open_by(record(id).pid);
}

HostState LocalNode::host_state() const {
  return look_at_host({name_, data_dir(), run_dir(), pid_});
}

}  // namespace sandgate::test

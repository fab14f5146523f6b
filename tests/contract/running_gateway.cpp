#include "tests/contract/running_gateway.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>
#include <thread>

#include "gateway/core/ids.hpp"
#include "gateway/core/random.hpp"

namespace sandgate::test {
namespace {

constexpr std::chrono::seconds kStart{120}, kStop{40};
constexpr const char* kProfile = "contract";
// Ranges of other test servers on this machine are below.
constexpr const char* kUidBase = "3821225472";

std::string images() {
  const char* chosen = getenv("SANDGATE_TEST_IMAGES");
  return chosen ? chosen : "/var/cache/sandgate-test/images";
}

pid_t spawn(std::vector<std::string> words, std::vector<std::string> environment,
            const std::string& log) {
  std::vector<char*> argv, env;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& line : environment) env.push_back(line.data());
  argv.push_back(nullptr);
  env.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid = -1;
  const int failure = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), env.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::runtime_error(words[0] + " cannot be started");
  return pid;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool ended_within(pid_t pid, std::chrono::seconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (std::chrono::steady_clock::now() < until) {
    if (waitpid(pid, nullptr, WNOHANG) != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

std::vector<std::string> environment() { return {std::string("PATH=") + getenv("PATH")}; }

void ensure_image() {
  const pid_t pid = spawn({SANDGATE_BINARY, "image", "build", "debian-12", "--if-missing", "--set",
                           "local.images=" + images()},
                          environment(), "/dev/null");
  int status = 0;
  waitpid(pid, &status, 0);
  if (status != 0) throw std::runtime_error("the image debian-12 cannot be built");
}

}  // namespace

RunningGateway::RunningGateway() : admin_("sg_" + random_hex(20)) {
  ensure_image();
  chmod(home_.path().c_str(), 0711);
  launch();
  try {
    wait_until_ready();
    add_tenant();
  } catch (...) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    throw;
  }
}

RunningGateway::~RunningGateway() {
  kill(pid_, SIGTERM);
  if (ended_within(pid_, kStop)) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void RunningGateway::launch() {
  auto env = environment();
  env.push_back("SANDGATE_ADMIN_KEY=" + admin_.reveal());
  std::vector<std::string> words{SANDGATE_BINARY, "serve"};
  for (const std::string& setting :
       {"home=" + home_.path(), std::string("listen=127.0.0.1:0"), "local.images=" + images(),
        "local.name=c" + make_id("nd").substr(2, 8), std::string("local.uid_base=") + kUidBase}) {
    words.push_back("--set");
    words.push_back(setting);
  }
  pid_ = spawn(std::move(words), std::move(env), home_.path() + "/serve.log");
}

void RunningGateway::wait_until_ready() {
  const auto until = std::chrono::steady_clock::now() + kStart;
  while (std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) break;
    std::string address = text_of(home_.path() + "/gateway/listen");
    if (address.find('\n') == std::string::npos) continue;
    url_ = "http://" + address.substr(0, address.find('\n'));
    try {
      send("GET", "/readyz", "", nullptr);
      return;
    } catch (const std::exception&) {
      // Not yet.
    }
  }
  const std::string log = text_of(home_.path() + "/serve.log");
  throw std::runtime_error("no gateway came up:\n" +
                           log.substr(log.size() - std::min<size_t>(log.size(), 3000)));
}

void RunningGateway::add_tenant() {
  const std::string admin = admin_.reveal();
  const Json tenant = send("POST", "/v1/tenants", admin, {{"name", "contract"}});
  const Json key = send("POST", "/v1/keys", admin,
                        {{"tenant", tenant.at("id")}, {"name", "contract"}, {"role", "developer"}});
  key_ = Secret(key.at("secret").get<std::string>());
  const Json limits{{"max_vcpu", 2}, {"max_memory_mib", 1024}, {"max_ttl_seconds", 3600}};
  send("PUT", std::string("/v1/profiles/") + kProfile, admin,
       {{"name", kProfile}, {"image", "debian-12"}, {"isolation", "process"}, {"limits", limits}});
}

Json RunningGateway::send(std::string method, std::string path, std::string key, const Json& body) {
  HttpCall call{.method = std::move(method), .url = url_ + path, .allow_private = true};
  call.deadline = std::chrono::seconds(30);
  if (!key.empty()) call.headers.emplace_back("Authorization", "Bearer " + key);
  if (!body.is_null()) {
    call.body = body.dump();
    call.headers.emplace_back("Content-Type", "application/json");
  }
  const HttpReply reply = run(http_.call(std::move(call)));
  if (reply.status >= 300) throw std::runtime_error(path + " answered " + reply.body);
  return Json::parse(reply.body, nullptr, false);
}

SandgateSettings RunningGateway::settings() const { return {url_, kProfile, key_, true}; }

}  // namespace sandgate::test

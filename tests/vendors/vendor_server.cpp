#include "tests/vendors/vendor_server.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "providers/curl_client.hpp"
#include "tests/support/live_loop.hpp"

namespace sandgate::test {
namespace {

std::string specs_folder(const std::string& vendor) {
  const char* root = std::getenv("SANDGATE_VENDOR_SPECS");
  if (!root || vendor.empty()) return "";
  const std::string folder = std::string(root) + "/" + vendor;
  return std::filesystem::is_directory(folder) ? folder : "";
}

std::string line_from(int fd) {
  std::string line;
  char letter = 0;
  while (read(fd, &letter, 1) == 1 && letter != '\n') line.push_back(letter);
  return line;
}

}  // namespace

VendorServer::VendorServer(const std::string& script, const std::string& specs) {
  const std::string path = std::string(SANDGATE_VENDOR_TESTS) + "/" + script;
  const std::string folder = specs_folder(specs);
  checks_ = !folder.empty();
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  pid_ = fork();
  if (pid_ == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    execlp("python3", "python3", path.c_str(), "--specs", folder.c_str(), nullptr);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  stdin_ = in[1];
  const std::string line = line_from(out[0]);
  close(out[0]);
  constexpr std::string_view kWord = "listening ";
  if (!line.starts_with(kWord)) throw std::runtime_error(script + " did not start");
  url_ = line.substr(kWord.size());
}

VendorServer::~VendorServer() {
  close(stdin_);
  waitpid(pid_, nullptr, 0);
}

nlohmann::json VendorServer::control(const std::string& method, const std::string& path,
                                     const std::string& body) {
  LiveLoop loop;
  CurlClient http;
  HttpCall call{.method = method, .url = url_ + "/_fake" + path, .body = body};
  call.allow_private = true;
  const HttpReply reply = loop.run(http.call(std::move(call)));
  if (reply.status != 200) throw std::runtime_error("the fake refused " + path);
  return nlohmann::json::parse(reply.body);
}

void VendorServer::fault(const nlohmann::json& fault) { control("POST", "/faults", fault.dump()); }
void VendorServer::clear_faults() { control("DELETE", "/faults", ""); }
nlohmann::json VendorServer::state() { return control("GET", "/state", ""); }

}  // namespace sandgate::test

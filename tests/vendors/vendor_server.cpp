#include "tests/vendors/vendor_server.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "providers/transport/curl_client.hpp"
#include "tests/support/live_loop.hpp"

namespace sandgate::test {
namespace {

std::string specs_folder(const std::string& vendor) {
  const char* root = std::getenv("SANDGATE_VENDOR_SPECS");
  if (!root || vendor.empty()) return "";
  const std::string folder = std::string(root) + "/" + vendor;
  return std::filesystem::is_directory(folder) ? folder : "";
}

}  // namespace

VendorServer::VendorServer(const std::string& script, const std::string& specs)
    : specs_(specs_folder(specs)),
      script_({"python3", std::string(SANDGATE_VENDOR_TESTS) + "/" + script, "--specs", specs_}),
      checks_(!specs_.empty()) {}

nlohmann::json VendorServer::control(const std::string& method, const std::string& path,
                                     const std::string& body) {
  LiveLoop loop;
  CurlClient http;
  HttpCall call{.method = method, .url = url() + "/_fake" + path, .body = body};
  call.allow_private = true;
  const HttpReply reply = loop.run(http.call(std::move(call)));
  if (reply.status != 200) throw std::runtime_error("the fake refused " + path);
  return nlohmann::json::parse(reply.body);
}

void VendorServer::fault(const nlohmann::json& fault) { control("POST", "/faults", fault.dump()); }
void VendorServer::clear_faults() { control("DELETE", "/faults", ""); }
nlohmann::json VendorServer::state() { return control("GET", "/state", ""); }

}  // namespace sandgate::test

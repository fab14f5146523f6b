#pragma once
#include <memory>
#include <string>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "providers/provider.hpp"
#include "providers/shell/live_inputs.hpp"
#include "providers/transport/curl_client.hpp"
#include "tests/vendors/vendor_server.hpp"

namespace sandgate::test {

// One vendor under test: its fake, and how its adapter is pointed at it.
struct VendorLine {
  std::string name;  // of the kind in the catalog
  std::string script;  // of the fake
  std::string specs;  // folder of its API description
  std::string image;  // one that the fake has
  // Requests of the fake, as patterns on "METHOD /path".
  std::string create, exec;
  Json (*settings)(const std::string& url);
  Json credentials;
  // Those that only ask, and those that end a sandbox.
  std::string question = "GET ";
  std::string kill = "(DELETE|POST .*(shutdown|terminate|stop))";
  std::string described = {};  // a path of its API description; empty: that of `create`
  ErrorCode forbidden = ErrorCode::unavailable;  // what a create answered with 403 becomes
  bool labels = true;  // false: its sandboxes carry a name and nothing else
  bool undoes_create = false;  // what was made is ended if the answer then breaks off
  bool accounts = false;  // true: a command may run as any account of the sandbox
};

std::ostream& operator<<(std::ostream& out, const VendorLine& line);

// THE list.
const std::vector<VendorLine>& vendor_lines();

// What their adapters declare, line by line; needs no fake.
const std::vector<Descriptor>& vendor_descriptors();

// The lines of those that declare a verb.
std::vector<VendorLine> vendors_with(Verb verb);

// The adapter as a deployment's row makes it, against a fake of its own or a shared one.
class Vendor {
 public:
  Vendor(const VendorLine& line, asio::any_io_executor executor,
         std::shared_ptr<VendorServer> server = nullptr);
  Provider& provider() { return *provider_; }
  VendorServer& server() { return *server_; }
  // Makes the adapter anew, as a change of the deployment does.
  void change();

 private:
  const VendorLine line_;
  const asio::any_io_executor executor_;
  const std::shared_ptr<VendorServer> server_;
  const std::shared_ptr<LiveInputs> inputs_;
  CurlClient http_;
  std::shared_ptr<Provider> provider_;
};

}  // namespace sandgate::test

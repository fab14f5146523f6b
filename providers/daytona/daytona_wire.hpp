#pragma once
#include <deque>
#include <optional>
#include <string>

#include "providers/provider.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/transport/rest_api.hpp"
#include "providers/vendor_json.hpp"

// Converts between Sandgate's values and the JSON of the Daytona API (0.x) and of the toolbox, the
// server in every sandbox. Pure functions; reading functions throw Error(unavailable) for malformed
// documents.
namespace sandgate::daytona {

// The deployment's settings for creates.
struct CreateRules {
  std::string snapshot;  // for a create without an image
  std::string target;  // region, or empty
};

// The vendor's sizes are whole cores and GiB.
Resources granted(const Resources& asked);
// The image is the name of a Daytona snapshot, or "image:<reference>", which is built and given the
// requested size.
Json to_create(const CreateSpec& spec, const CreateRules& rules);

struct Box {
  BackendSandbox sandbox;
  bool running = false, failed = false;  // neither: in a transition
  std::string toolbox_url;  // without the sandbox's id
};
Box to_box(const Json& document);
// Reads one page of the list. Failed sandboxes are remains.
SandboxPage to_page(const Json& document);

// error_of_status, except that a 403 is no_capacity for a limit of the account and invalid for a
// file that the toolbox may not touch.
Error read_error(std::string_view provider, const HttpReply& reply);

// Wraps a shell line for the toolbox's execute, which runs a single command without a shell.
std::string execute_command(const std::string& line);

// Separates the channels of a followed log: 01 01 01 switches to stdout, 02 02 02 to stderr.
// Handles markers that are split between messages.
class LogSplitter {
 public:
  void add(std::string_view bytes);
  void end();  // releases held bytes that turned out not to be a marker
  struct Piece {
    Channel channel = Channel::stdout_;
    std::string bytes;
  };
  std::optional<Piece> next();

 private:
  void put(std::string_view bytes);
  std::string held_;
  Channel channel_ = Channel::stdout_;
  std::deque<Piece> pieces_;
};

}  // namespace sandgate::daytona

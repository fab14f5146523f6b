#pragma once
#include <deque>
#include <optional>
#include <string>

#include "providers/provider.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/vendor_json.hpp"

// Between our values and the words of the Daytona API (0.x) and of its toolbox, the server in every
// sandbox. Pure; every reading function throws Error(unavailable) for a document that does not have
// that form.
namespace sandgate::daytona {

// Settings of the deployment that shape a create.
struct CreateRules {
  std::string snapshot;  // for a create without an image
  std::string target;  // region, or empty
};

// `image` as a name of a snapshot, or "image:<reference>", which is built and takes our sizes.
Json to_create(const CreateSpec& spec, const CreateRules& rules);

struct Box {
  BackendSandbox sandbox;
  bool started = false, failed = false;  // neither: on its way
  std::string toolbox_url;  // without the sandbox's id
};
Box to_box(const Json& document);
// One answer of the list; those of ours that failed are added to `failed`, as gone.
SandboxPage to_page(const Json& document, std::vector<BackendSandbox>& failed);

// A line for the toolbox's execute, which takes one command without a shell's words.
std::string execute_command(const std::string& line);

// Tells a followed log's channels apart: 01 01 01 turns to stdout, 02 02 02 to stderr, wherever
// the bytes break.
class LogSplitter {
 public:
  void add(std::string_view bytes);
  void end();  // what was held back as the start of a marker is output after all
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

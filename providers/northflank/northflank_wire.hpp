#pragma once
#include <optional>
#include <string>

#include "gateway/core/secret.hpp"
#include "providers/provider.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/vendor_json.hpp"

// Converts between Sandgate's values and the JSON of the Northflank API. Pure; the to_ functions
// that read throw Error(unavailable) for malformed documents.
namespace sandgate::northflank {

// The deployment's settings for creates.
struct CreateRules {
  std::string image;  // for a create without one
  std::string registry;  // id of stored registry credentials; empty: none
  std::string plan;  // for every create; empty: the cheapest that fits
  int64_t keep_alive_seconds = 86'400;
};

Json to_create(const CreateSpec& spec, const CreateRules& rules);
// Returns the cheapest plan of at least that size; throws Error(no_capacity) if there is none.
std::string to_plan(const Resources& resources);
// The size of the plan that a create of `asked` gets.
Resources granted(const Resources& asked, const CreateRules& rules);

struct Box {
  BackendSandbox sandbox;
  bool running = false, failed = false;  // neither: in a transition, or as sandbox.state says
};
// Returns the member `data` of an answer.
const Json& data_of(const Json& document);
// `service` is the data of an answer, or a list entry. The vendor does not report the isolation.
Box to_box(const Json& service, Isolation isolation);
// Reads one page of the list.
SandboxPage to_page(const Json& document, Isolation isolation);

// The first message of a command's connection: authentication and the command.
std::string to_init(const Command& command, const Secret& token);
std::string to_input(std::string_view bytes);
std::string to_end_of_input();
std::string to_resize(PtySize size);

struct Frame {
  enum Kind { accepted, refused, output, completed, other };
  Kind kind = other;
  Channel channel = Channel::stdout_;
  std::string bytes;
  int status = 0;
};
Frame to_frame(const std::string& message);

// error_of_status, except that the wait of a 429 is in a header of the vendor's own.
Error read_error(std::string_view provider, const HttpReply& reply);

}  // namespace sandgate::northflank

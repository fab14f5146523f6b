#pragma once
#include <optional>
#include <string>

#include "gateway/core/secret.hpp"
#include "providers/provider.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/vendor_json.hpp"

// Between our values and the words of the Northflank API. Pure; every to function of a document
// throws Error(unavailable) when it does not have that form.
namespace sandgate::northflank {

// Settings of the deployment that shape a create.
struct CreateRules {
  std::string image;  // for a create without one
  std::string registry;  // id of the saved credentials for images; empty: none
  std::string plan;  // for every create; empty: the cheapest that fits
  int64_t keep_alive_seconds = 86'400;
};

Json to_create(const CreateSpec& spec, const CreateRules& rules);
// The cheapest plan with that much; throws Error(no_capacity) when there is none.
std::string to_plan(const Resources& resources);

struct Box {
  BackendSandbox sandbox;
  bool running = false, failed = false;  // neither: on its way, or as sandbox.state says
};
// What an answer is about lies in its data.
const Json& data_of(const Json& document);
// `service`: the data of an answer, or one of a list. Its isolation is not the vendor's to say.
Box to_box(const Json& service, Isolation isolation);
// One answer of the list.
SandboxPage to_page(const Json& document, Isolation isolation);

// The first message of a command's connection: who asks, and what to run.
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

// As error_of_status, and a 429 says in a header of its own when to come back.
Error read_error(std::string_view provider, const HttpReply& reply);

}  // namespace sandgate::northflank

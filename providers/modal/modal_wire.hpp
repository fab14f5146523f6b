#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/secret.hpp"
#include "providers/provider.hpp"
#include "providers/transport/grpc_call.hpp"

// Converts between Sandgate's values and the encoded messages of Modal's two APIs (modal.proto,
// modal_router.proto). Pure; the from_ functions throw Error(unavailable) for malformed messages.
namespace sandgate::modal {

// The deployment's settings for creates.
struct CreateRules {
  std::string region;  // empty: the vendor chooses
  std::string runtime = "gvisor";  // or "vm"
  int64_t keep_alive_seconds = 86'400;
};

// A UUID derived from one of our ids, by which the vendor recognises a repeated request.
std::string uuid_of(std::string_view our_id);
// The name under which a snapshot's image is published.
std::string snapshot_name(std::string_view snapshot_id);

// Messages whose only field is an id, with number 1.
std::string to_id(std::string_view id);
std::string from_id(std::string_view message);

// ---- the account

// The expiry of a token in seconds since 1970; empty if the token does not state one.
std::optional<int64_t> expiry_of(std::string_view token);
std::string to_app(std::string_view name, std::string_view environment);
std::string to_builder(std::string_view environment);
std::string from_builder(std::string_view message);

// ---- images

// Throws Error(no_capacity) if the image reference is malformed.
std::string to_image(std::string_view app, std::string_view reference, std::string_view builder);
// The state of an image's build. `ended` is empty while it runs, else whether it succeeded.
struct Build {
  std::string image;
  std::optional<bool> ended;
};
Build from_image(std::string_view message);
std::string to_join(std::string_view image, std::string_view last_entry);
struct BuildNews {
  std::string entry;
  std::optional<bool> ended;
};
BuildNews from_join(std::string_view message);
std::string to_publish(std::string_view image, std::string_view name, std::string_view environment);
std::string to_named(std::string_view name, std::string_view environment);

// ---- sandboxes

// How to reach a sandbox's command router.
struct Access {
  std::string task, url;
  Secret token;
};
std::string to_create(const CreateSpec& spec, const CreateRules& rules, std::string_view app,
                      std::string_view image);
struct Created {
  std::string sandbox;
  std::optional<Access> access;  // empty: must be requested
};
Created from_create(std::string_view message);

std::string to_wait(std::string_view sandbox, float seconds);
bool from_wait(std::string_view message);  // returns whether it has ended
// Empty if the sandbox has ended.
std::optional<std::string> from_task(std::string_view message);
// `task` is not part of the message.
Access from_access(std::string_view message, std::string task);
void from_tags(std::string_view message, BackendSandbox& sandbox);  // sets the sandbox's tags

// `tag`: a sandbox id, or empty for all. `before`: Page::last of the previous page, or 0.
std::string to_list(std::string_view app, std::string_view tag, uint64_t before);
struct Page {
  std::vector<BackendSandbox> sandboxes;  // includes sandboxes that are not ours
  uint64_t last = 0;  // creation time of the last entry, as the bits of a double
};
Page from_list(std::string_view message);

// ---- the router of a sandbox

std::string to_start(std::string_view task, std::string_view exec, const Command& command);
// A line for /bin/sh in the account's home; its stderr is discarded.
std::string to_line(std::string_view task, std::string_view exec, const std::string& line);
std::string to_exec(std::string_view task, std::string_view exec);
std::string to_read(std::string_view task, std::string_view exec, Channel channel, uint64_t offset);
std::string from_read(std::string_view message);
// Returns the exit status, or 128 plus the number of the signal.
int from_exit(std::string_view message);
std::string to_input(std::string_view task, std::string_view exec, uint64_t offset,
                     std::string_view bytes, bool last);
uint64_t from_written(std::string_view message);
std::string to_snapshot(std::string_view task, std::string_view snapshot_id, bool lasting);

// For grpc::Channel: an Error by status, with the retry time that the vendor adds in the details.
Error read_status(std::string_view provider, const grpc::Status& status);

}  // namespace sandgate::modal

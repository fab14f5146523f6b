#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/secret.hpp"
#include "providers/grpc_call.hpp"
#include "providers/provider.hpp"

// Between our values and the messages of Modal's two APIs (modal.proto, modal_router.proto), as
// bytes. Pure; every from function throws Error(unavailable) for bytes that are no such message.
namespace sandgate::modal {

// Settings of the deployment that shape a create.
struct CreateRules {
  std::string region;  // empty: the vendor's choice
  std::string runtime = "gvisor";  // or "vm"
  int64_t keep_alive_seconds = 86'400;
};

// The id by which the vendor recognises a repeat, made from one of ours.
std::string uuid_of(std::string_view our_id);
// The name under which a snapshot's image is published.
std::string snapshot_name(std::string_view snapshot_id);

// A message that holds nothing but an id in its first field, and the same read.
std::string to_id(std::string_view id);
std::string from_id(std::string_view message);

// ---- the account

// When a token ends, in seconds since 1970; empty when it does not say.
std::optional<int64_t> expiry_of(std::string_view token);
std::string to_app(std::string_view name, std::string_view environment);
std::string to_builder(std::string_view environment);
std::string from_builder(std::string_view message);

// ---- images

// Throws Error(no_capacity) for a reference that cannot be one.
std::string to_image(std::string_view app, std::string_view reference, std::string_view builder);
// The build of an image; `ended` empty while it runs, else whether it succeeded.
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

// How the router of a sandbox is reached.
struct Access {
  std::string task, url;
  Secret token;
};
std::string to_create(const CreateSpec& spec, const CreateRules& rules, std::string_view app,
                      std::string_view image);
struct Created {
  std::string sandbox;
  std::optional<Access> access;  // empty: it has to be asked for
};
Created from_create(std::string_view message);

std::string to_wait(std::string_view sandbox, float seconds);
bool from_wait(std::string_view message);  // whether it has ended
// Empty for a sandbox that has ended.
std::optional<std::string> from_task(std::string_view message);
// `task` is not part of the message.
Access from_access(std::string_view message, std::string task);
void from_tags(std::string_view message, BackendSandbox& sandbox);  // whose it is

// `tag`: our id, or empty for all. `before`: Page::last of the page before, or 0.
std::string to_list(std::string_view app, std::string_view tag, uint64_t before);
struct Page {
  std::vector<BackendSandbox> sandboxes;  // also those that are not ours
  uint64_t last = 0;  // when the last one was created, as bits
};
Page from_list(std::string_view message);

// ---- the router of a sandbox

std::string to_start(std::string_view task, std::string_view exec, const Command& command);
// A line for /bin/sh in the account's home, whose stderr nobody reads.
std::string to_line(std::string_view task, std::string_view exec, const std::string& line);
std::string to_exec(std::string_view task, std::string_view exec);
std::string to_read(std::string_view task, std::string_view exec, Channel channel, uint64_t offset);
std::string from_read(std::string_view message);
// The exit status, 128 plus the number of a signal.
int from_exit(std::string_view message);
std::string to_input(std::string_view task, std::string_view exec, uint64_t offset,
                     std::string_view bytes, bool last);
uint64_t from_written(std::string_view message);
std::string to_snapshot(std::string_view task, std::string_view snapshot_id, bool lasting);

// For grpc::Channel: the status, with the time to wait that the vendor adds to it.
Error read_status(std::string_view provider, const grpc::Status& status);

}  // namespace sandgate::modal

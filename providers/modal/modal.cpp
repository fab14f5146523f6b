#include "providers/modal/modal.hpp"

#include <set>

#include "providers/modal/modal_process.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/shell/shell_command.hpp"
#include "providers/transport/rest_api.hpp"

namespace sandgate {
namespace {

// How long kill() waits for the end of the sandbox.
constexpr float kEndSeconds = 10;
constexpr auto kEndDeadline = std::chrono::seconds(20);

}  // namespace

ModalProvider::ModalProvider(HttpClient& http, asio::any_io_executor executor,
                             ModalSettings settings)
    : ShellProvider(std::move(executor)),
      settings_(std::move(settings)),
      account_(http, settings_),
      routers_(http, account_, settings_) {}

Descriptor ModalProvider::descriptor() const {
  const bool vm = settings_.rules.runtime == "vm";
  const std::string& region = settings_.rules.region;
  Descriptor descriptor{
      .provider = "modal",
      .isolation = vm ? Isolation::microvm : Isolation::kernel,
      .verbs = {{Verb::exec, Keeps::nothing},
                {Verb::stdin_, Keeps::nothing},
                {Verb::signal, Keeps::nothing},
                {Verb::files, Keeps::nothing},
                {Verb::pty, Keeps::nothing},
                {Verb::snapshot, Keeps::disk},
                {Verb::fork, Keeps::disk}},
      .controls = {Control::network_deny, Control::network_allow, Control::allow_root,
                   Control::cpu_limit, Control::memory_limit},
      .limits = settings_.limits,
      .regions = region.empty() ? std::vector<std::string>{} : std::vector<std::string>{region},
      .notes = {"commands run as the account of the image, which most often is root",
                "the time to live is fixed at the create"},
      .fixed_lifetime = std::chrono::seconds(settings_.rules.keep_alive_seconds)};
  if (settings_.process_limit) descriptor.controls.insert(Control::process_limit);
  if (settings_.disk_limit) descriptor.controls.insert(Control::disk_limit);
  return descriptor;
}

BackendSandbox ModalProvider::with_region(BackendSandbox sandbox) const {
  sandbox.isolation = settings_.rules.runtime == "vm" ? Isolation::microvm : Isolation::kernel;
  sandbox.region = settings_.rules.region;
  return sandbox;
}

Task<BackendSandbox> ModalProvider::make(CreateSpec spec) {
  const std::string app = co_await account_.app();
  // A snapshot is an image.
  std::string image = spec.snapshot.empty() ? spec.image : spec.snapshot;
  image = co_await account_.image(std::move(image));
  std::string asked = modal::to_create(spec, settings_.rules, app, image);
  std::string repeat = modal::uuid_of(spec.sandbox_id);
  const std::string reply = co_await account_.call("SandboxCreateV2", std::move(asked),
                                                   kCreateDeadline, std::move(repeat));
  modal::Created created = modal::from_create(reply);
  if (created.access) routers_.remember(created.sandbox, std::move(*created.access));
  BackendSandbox sandbox;
  sandbox.backend_id = std::move(created.sandbox);
  sandbox.sandbox_id = spec.sandbox_id;
  co_return with_region(std::move(sandbox));
}

Task<BackendSandbox> ModalProvider::create(CreateSpec spec) {
  auto outcome = co_await attempt(make(std::move(spec)));
  if (const auto* error = std::get_if<Error>(&outcome)) throw refused_create(*error);
  co_return std::move(std::get<BackendSandbox>(outcome));
}

Task<std::optional<BackendSandbox>> ModalProvider::find(std::string id) {
  auto state = co_await attempt(account_.call("SandboxWaitV2", modal::to_wait(id, 0)));
  if (const auto* error = std::get_if<Error>(&state)) {
    if (error->code == ErrorCode::not_found) co_return std::nullopt;
    throw *error;
  }
  if (modal::from_wait(std::get<std::string>(state))) co_return std::nullopt;
  auto tags = co_await attempt(account_.call("SandboxTagsGetV2", modal::to_id(id)));
  if (const auto* error = std::get_if<Error>(&tags)) {
    // The sandbox has just ended.
    if (error->code == ErrorCode::not_found) co_return std::nullopt;
    throw *error;
  }
  BackendSandbox sandbox;
  sandbox.backend_id = id;
  modal::from_tags(std::get<std::string>(tags), sandbox);
  co_return with_region(std::move(sandbox));
}

Task<std::vector<BackendSandbox>> ModalProvider::list_tagged(std::string tag) {
  const std::string app = co_await account_.app();
  std::vector<BackendSandbox> all;
  std::set<std::string> seen;
  uint64_t before = 0;
  ListBudget budget("modal");
  for (;;) {
    budget.take_page();
    const std::string reply =
        co_await account_.call("SandboxListV2", modal::to_list(app, tag, before));
    budget.take_bytes(reply.size());
    modal::Page page = modal::from_list(reply);
    budget.take_entries(page.sandboxes.size());
    // A page without new entries is the end; this also stops at a server that repeats pages.
    const size_t known = seen.size();
    for (auto& sandbox : page.sandboxes) {
      const bool fresh = seen.insert(sandbox.backend_id).second;
      if (fresh && !sandbox.sandbox_id.empty()) all.push_back(with_region(std::move(sandbox)));
    }
    if (seen.size() == known) break;
    before = page.last;
  }
  co_return all;
}

Task<std::vector<BackendSandbox>> ModalProvider::list() { return list_tagged(""); }

Task<std::optional<BackendSandbox>> ModalProvider::find_by_tag(std::string sandbox_id) {
  const auto all = co_await list_tagged(sandbox_id);
  for (const auto& sandbox : all)
    if (sandbox.sandbox_id == sandbox_id) co_return sandbox;
  co_return std::nullopt;
}

Task<void> ModalProvider::kill(std::string id) {
  auto ended = co_await attempt(account_.call("SandboxTerminateV2", modal::to_id(id)));
  if (const auto* error = std::get_if<Error>(&ended))
    if (error->code != ErrorCode::not_found) throw *error;
  routers_.forget(id);
  // The vendor ends the sandbox asynchronously. A wait that fails does not matter.
  std::string waited = modal::to_wait(id, kEndSeconds);
  co_await attempt(account_.call("SandboxWaitV2", std::move(waited), kEndDeadline));
}

Task<std::unique_ptr<ProcessStream>> ModalProvider::exec(std::string id, Command command) {
  refuse_account(command);
  co_await check_directory(id, command);
  auto process = std::make_unique<ModalProcess>(self<ModalProvider>(), id, std::move(command));
  const auto outcome = co_await attempt(process->start());
  if (const auto* error = std::get_if<Error>(&outcome)) {
    // The router of an ended sandbox no longer exists.
    co_await existing(find(id), id);
    throw *error;
  }
  co_return process;
}

Task<void> ModalProvider::resize(std::string id, std::string process, PtySize size) {
  const std::string line = shell::resize_line(process, size);
  const LineResult ran = co_await run(std::move(id), line);
  if (ran.status == 1) throw Error::not_found("process", process);
  if (ran.status != 0)
    throw Error(ErrorCode::unsupported, "the size needs a terminal, and stty in the image");
}

Task<void> ModalProvider::write_stdin(std::string id, std::string process, std::string bytes) {
  return feed(std::move(id), modal::uuid_of(process), std::move(bytes), /*last=*/false);
}

Task<void> ModalProvider::close_stdin(std::string id, std::string process) {
  return feed(std::move(id), modal::uuid_of(process), "", /*last=*/true);
}

}  // namespace sandgate

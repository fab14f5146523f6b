#include "providers/provider.hpp"

#include "providers/retries.hpp"

namespace sandgate {
namespace {

// A coroutine, so that the Error is thrown by co_await and not by the call.
template <class T>
Task<T> refuse(const Provider& provider, Verb verb) {
  const std::string name = provider.descriptor().provider;
  Error error(ErrorCode::unsupported, name + " has no verb '" + std::string(to_string(verb)) + "'");
  error.provider = name;
  throw error;
  co_return T();
}

template <class T>
Task<T> refuse(const Provider& provider, Control control) {
  const std::string name = provider.descriptor().provider;
  Error error(ErrorCode::unsupported,
              name + " has no control '" + std::string(to_string(control)) + "'");
  error.provider = name;
  throw error;
  co_return T();
}

}  // namespace

Task<Error> Provider::abort_create(std::string id, Error why) {
  auto killing = kill(std::move(id));
  const auto killed = co_await attempt(std::move(killing));
  const auto* error = std::get_if<Error>(&killed);
  if (!error) co_return why;
  co_return of_unknown_outcome(*error);
}

Resources Provider::granted(const Resources& asked) const { return asked; }

std::optional<BackendSandbox> Provider::predict_create(const CreateSpec&) const {
  return std::nullopt;
}

Task<std::unique_ptr<ProcessStream>> Provider::exec(std::string, Command) {
  return refuse<std::unique_ptr<ProcessStream>>(*this, Verb::exec);
}
Task<std::unique_ptr<ProcessStream>> Provider::attach(std::string, std::string, uint64_t) {
  return refuse<std::unique_ptr<ProcessStream>>(*this, Verb::background);
}
Task<std::vector<ProcessInfo>> Provider::processes(std::string) {
  return refuse<std::vector<ProcessInfo>>(*this, Verb::background);
}
Task<ProcessInfo> Provider::process(std::string id, std::string process) {
  const auto all = co_await processes(std::move(id));
  for (const ProcessInfo& info : all)
    if (info.id == process) co_return info;
  throw Error::not_found("process", process);
}
Task<void> Provider::signal(std::string, std::string, int) {
  return refuse<void>(*this, Verb::signal);
}
Task<void> Provider::write_stdin(std::string, std::string, std::string) {
  return refuse<void>(*this, Verb::stdin_);
}
Task<void> Provider::close_stdin(std::string, std::string) {
  return refuse<void>(*this, Verb::stdin_);
}
Task<void> Provider::resize(std::string, std::string, PtySize) {
  return refuse<void>(*this, Verb::pty);
}
Task<FileContent> Provider::read_file(std::string, std::string, ByteRange) {
  return refuse<FileContent>(*this, Verb::files);
}
Task<FileEntry> Provider::write_file(std::string, std::string, uint32_t, ByteSource&) {
  return refuse<FileEntry>(*this, Verb::files);
}
Task<FileEntry> Provider::stat(std::string, std::string) {
  return refuse<FileEntry>(*this, Verb::files);
}
Task<std::vector<FileEntry>> Provider::list_files(std::string, std::string, int) {
  return refuse<std::vector<FileEntry>>(*this, Verb::files);
}
Task<FileEntry> Provider::make_directory(std::string, std::string) {
  return refuse<FileEntry>(*this, Verb::files);
}
Task<FileEntry> Provider::move(std::string, std::string, std::string) {
  return refuse<FileEntry>(*this, Verb::files);
}
Task<void> Provider::remove(std::string, std::string, bool) {
  return refuse<void>(*this, Verb::files);
}
Task<std::unique_ptr<ByteSource>> Provider::read_archive(std::string, std::string) {
  return refuse<std::unique_ptr<ByteSource>>(*this, Verb::archive);
}
Task<void> Provider::write_archive(std::string, std::string, ByteSource&) {
  return refuse<void>(*this, Verb::archive);
}
Task<std::unique_ptr<FileWatch>> Provider::watch(std::string, std::string, bool) {
  return refuse<std::unique_ptr<FileWatch>>(*this, Verb::watch);
}
Task<PortConnection> Provider::dial(std::string, uint16_t) {
  return refuse<PortConnection>(*this, Verb::ports);
}
Task<SandboxMetrics> Provider::metrics(std::string) {
  return refuse<SandboxMetrics>(*this, Verb::metrics);
}
Task<SandboxMetrics> Provider::finish(std::string) {
  return refuse<SandboxMetrics>(*this, Verb::metrics);
}
Task<std::vector<std::string>> Provider::deaths() {
  return refuse<std::vector<std::string>>(*this, Verb::metrics);
}
Task<Keeps> Provider::pause(std::string, Keeps) { return refuse<Keeps>(*this, Verb::pause); }
Task<void> Provider::resume(std::string) { return refuse<void>(*this, Verb::pause); }
Task<BackendSnapshot> Provider::snapshot(std::string, std::string, Keeps, bool) {
  return refuse<BackendSnapshot>(*this, Verb::snapshot);
}
Task<std::optional<BackendSnapshot>> Provider::find_snapshot(std::string) {
  return refuse<std::optional<BackendSnapshot>>(*this, Verb::snapshot);
}
Task<void> Provider::remove_snapshot(std::string) { return refuse<void>(*this, Verb::snapshot); }
Task<NetworkState> Provider::network(std::string) {
  return refuse<NetworkState>(*this, Control::network_rules);
}
Task<void> Provider::set_network(std::string, NetworkPolicy) {
  return refuse<void>(*this, Control::network_rules);
}
Task<std::map<std::string, std::string>> Provider::secret_revisions() {
  co_return std::map<std::string, std::string>();
}
Task<void> Provider::set_secrets(std::string, SecretGrants) {
  return refuse<void>(*this, Control::secret_injection);
}
Task<void> Provider::extend(std::string, std::chrono::seconds) { co_return; }

}  // namespace sandgate

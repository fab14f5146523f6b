#pragma once
#include <memory>
#include <string>

#include "providers/transport/event_stream.hpp"
#include "providers/transport/rest_api.hpp"

namespace sandgate {

// A process in another gateway's sandbox. Its output is one response of server-sent events; each
// write of stdin is a call. `owner` keeps `api` alive.
class SandgateProcess : public ProcessStream {
 public:
  // `path` is the sandbox's ("/v1/sandboxes/sb…"). If `events` is null, the first next() opens the
  // output from its start. `has_stdin`: whether the other gateway has that verb.
  SandgateProcess(std::shared_ptr<void> owner, RestApi& api, std::string path, std::string process,
                  std::unique_ptr<EventReader> events, bool has_stdin = true);

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;
  std::string process_id() const override { return process_; }

 private:
  const std::shared_ptr<void> owner_;
  RestApi& api_;
  const std::string path_, process_;
  const bool has_stdin_;
  std::unique_ptr<EventReader> events_;
  bool exited_ = false;
};

// Opens an event stream, which lasts as long as the process. The other gateway's keep-alive
// comments distinguish a silent process from a dead connection (60 s without a byte).
Task<std::unique_ptr<EventReader>> open_events(RestApi& api, RestCall call);

}  // namespace sandgate

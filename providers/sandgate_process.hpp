#pragma once
#include <memory>
#include <string>

#include "providers/event_stream.hpp"
#include "providers/rest_api.hpp"

namespace sandgate {

// A process in another gateway's sandbox: its output as events of one HTTP answer, its stdin by
// calls of its own. `owner` keeps the API object alive.
class SandgateProcess : public ProcessStream {
 public:
  // `path` is the sandbox's ("/v1/sandboxes/sb…"). Without a source, output is opened at the first
  // next(), from the beginning.
  SandgateProcess(std::shared_ptr<void> owner, RestApi& api, std::string path, std::string process,
                  std::unique_ptr<EventReader> events);

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;
  std::string process_id() const override { return process_; }

 private:
  const std::shared_ptr<void> owner_;
  RestApi& api_;
  const std::string path_, process_;
  std::unique_ptr<EventReader> events_;
  bool exited_ = false;
};

// Opens the events of one call. They arrive for as long as the process runs; the other side's
// keep-alive comments tell a silent process from a dead connection.
Task<std::unique_ptr<EventReader>> open_events(RestApi& api, RestCall call);

}  // namespace sandgate

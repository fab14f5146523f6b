#pragma once
#include <memory>

#include "providers/shell/live_input_provider.hpp"
#include "providers/sprites/sprites_wire.hpp"

namespace sandgate {

struct SpritesSettings {
  std::string api_url = "https://api.sprites.dev";
  std::string runtime = "default";  // for a create without an image
  DescriptorLimits limits;
  Secret token;
  bool allow_private = false;  // set for the operator's deployments
};

// Fly's Sprites, named by our id. An idle sprite is suspended, and a call wakes it. Each command is
// a WebSocket. File verbs other than transfers are shell lines.
class SpritesProvider : public LiveInputProvider {
 public:
  SpritesProvider(HttpClient& http, asio::any_io_executor executor, SpritesSettings settings);

  Descriptor descriptor() const override;
  Resources granted(const Resources& asked) const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;

  Task<LineResult> run(std::string id, std::string line) override;
  // Opens a WebSocket of a sprite.
  Task<std::unique_ptr<WebSocket>> open(std::string id, std::string path);

 protected:
  // Attaches to the vendor's session. A process that this gateway started uses its own connection
  // instead, because over another one input might arrive before the command itself.
  Task<std::shared_ptr<LiveInput>> input_elsewhere(std::string id, std::string process) override;
  Task<std::unique_ptr<ByteSource>> download(std::string id, std::string path) override;
  Task<void> upload(std::string id, std::string path, ByteSource& bytes) override;

 private:
  Task<void> configure(std::string id, CreateSpec spec);
  Task<sprites::Session> session_of(std::string id, std::string process);
  Task<void> send_messages(std::string id, std::string session,
                           std::vector<WebSocket::Message> messages);

  const SpritesSettings settings_;
  RestApi api_;
};

}  // namespace sandgate

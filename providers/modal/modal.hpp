#pragma once
#include <memory>

#include "providers/modal/keyed_ticket_lock.hpp"
#include "providers/modal/modal_routers.hpp"
#include "providers/shell/shell_provider.hpp"

namespace sandgate {

// Modal's second-generation sandboxes, which carry our id as their name and as a tag. They cannot
// be paused, and their time to live is fixed at the create. Output is binary safe.
class ModalProvider : public ShellProvider {
 public:
  ModalProvider(HttpClient& http, asio::any_io_executor executor, ModalSettings settings);

  Descriptor descriptor() const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;
  Task<void> write_stdin(std::string id, std::string process, std::string bytes) override;
  Task<void> close_stdin(std::string id, std::string process) override;
  Task<void> resize(std::string id, std::string process, PtySize size) override;

  // Preserves the disk.
  Task<BackendSnapshot> snapshot(std::string id, std::string snapshot_id, Keeps keep,
                                 bool lasting) override;
  Task<std::optional<BackendSnapshot>> find_snapshot(std::string snapshot_id) override;
  Task<void> remove_snapshot(std::string snapshot) override;

  Task<LineResult> run(std::string id, std::string line) override;

  // For ModalProcess. `exec` is the vendor's id of a program.
  ModalRouters& routers() { return routers_; }
  Task<int> wait_for_exit(std::string id, std::string exec);
  // Appends to a program's stdin; `last` closes it. Concurrent calls are queued. Input is dropped
  // if the program has closed its stdin. Throws Error(conflict) if another client wrote
  // concurrently.
  Task<void> feed(std::string id, std::string exec, std::string bytes, bool last);

 protected:
  Task<std::unique_ptr<ByteSource>> download(std::string id, std::string path) override;
  Task<void> upload(std::string id, std::string path, ByteSource& bytes) override;

 private:
  Task<BackendSandbox> make(CreateSpec spec);
  Task<std::vector<BackendSandbox>> list_tagged(std::string tag);
  // Gives the image of a snapshot its name.
  Task<void> publish(std::string image, std::string snapshot_id);
  // Empty while the program runs.
  Task<std::optional<int>> exit_of(std::string id, std::string exec);
  BackendSandbox with_region(BackendSandbox sandbox) const;
  Task<void> put(std::string id, std::string exec, uint64_t offset, std::string bytes, bool last);
  Task<uint64_t> written_to(std::string id, std::string exec);

  const ModalSettings settings_;
  ModalAccount account_;
  ModalRouters routers_;
  KeyedTicketLock inputs_;  // by program
};

}  // namespace sandgate

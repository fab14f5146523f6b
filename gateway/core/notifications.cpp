#include "gateway/core/notifications.hpp"

#include "gateway/core/conninfo.hpp"
#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kListenPause{250};

class Receiver : public pqxx::notification_receiver {
 public:
  Receiver(pqxx::connection_base& connection, const std::string& channel,
           const std::vector<Notifications::Callback>& callbacks)
      : pqxx::notification_receiver(connection, channel), callbacks_(callbacks) {}

  void operator()(const std::string& payload, int) override {
    for (const auto& callback : callbacks_) callback(payload);
  }

 private:
  const std::vector<Notifications::Callback>& callbacks_;
};

}  // namespace

void notify(pqxx::work& tx, const std::string& channel, const std::string& payload) {
  tx.exec_params("SELECT pg_notify($1, $2)", channel, payload);
}

Notifications::Notifications(std::string url) : url_(std::move(url)) {}

Notifications::~Notifications() { stop(); }

void Notifications::stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

void Notifications::subscribe(std::string channel, Callback callback) {
  callbacks_[std::move(channel)].push_back(std::move(callback));
}

void Notifications::start() {
  thread_ = std::thread([this] { listen(); });
}

void Notifications::listen() {
  while (!stopping_) {
    try {
      listen_until_broken();
    } catch (const std::exception& failure) {
      if (!stopping_) log::debug("notifications interrupted", {{"reason", failure.what()}});
    }
    if (!stopping_) std::this_thread::sleep_for(kListenPause);
  }
}

void Notifications::listen_until_broken() {
  pqxx::connection connection(conninfo_with_timeouts(url_));
  std::vector<std::unique_ptr<Receiver>> receivers;
  for (const auto& [channel, callbacks] : callbacks_)
    receivers.push_back(std::make_unique<Receiver>(connection, channel, callbacks));
  for (const auto& [channel, callbacks] : callbacks_)
    for (const auto& callback : callbacks) callback("");
  // The 250 ms bound how long stop() waits; notifications themselves arrive at once.
  while (!stopping_) connection.await_notification(0, 250'000);
}

}  // namespace sandgate

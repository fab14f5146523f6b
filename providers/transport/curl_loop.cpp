#include "providers/transport/curl_loop.hpp"

#include <pthread.h>

#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

constexpr int kIdleMs = 1000;
constexpr std::chrono::milliseconds kLook{500};
constexpr long kPooledConnections = 256;

void initialise_once() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

}  // namespace

CurlLoop::CurlLoop() {
  initialise_once();
  multi_ = curl_multi_init();
  if (!multi_) throw Error(ErrorCode::internal, "libcurl has no multi handle");
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kPooledConnections);
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "curl");
}

CurlLoop::~CurlLoop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  curl_multi_wakeup(multi_);
  thread_.join();
  while (!active_.empty()) remove(active_.begin()->first, CURLE_ABORTED_BY_CALLBACK);
  curl_multi_cleanup(multi_);
}

void CurlLoop::start(std::shared_ptr<CurlTransfer> transfer) {
  send(Command::start, std::move(transfer));
}
void CurlLoop::resume(std::shared_ptr<CurlTransfer> transfer) {
  send(Command::resume, std::move(transfer));
}
void CurlLoop::drop(std::shared_ptr<CurlTransfer> transfer) {
  send(Command::drop, std::move(transfer));
}

void CurlLoop::send(Command command, std::shared_ptr<CurlTransfer> transfer) {
  {
    std::lock_guard lock(mutex_);
    commands_.emplace_back(command, std::move(transfer));
  }
  curl_multi_wakeup(multi_);
}

void CurlLoop::run() {
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    run_commands();
    int running = 0;
    if (const auto failure = curl_multi_perform(multi_, &running); failure != CURLM_OK)
      log::error("curl loop failed", {{"reason", curl_multi_strerror(failure)}});
    collect_finished();
    end_silent();
    curl_multi_poll(multi_, nullptr, 0, kIdleMs, nullptr);
  }
}

void CurlLoop::run_commands() {
  std::vector<std::pair<Command, std::shared_ptr<CurlTransfer>>> commands;
  {
    std::lock_guard lock(mutex_);
    commands.swap(commands_);
  }
  for (auto& [command, transfer] : commands) {
    CURL* easy = transfer->easy();
    if (command == Command::start) {
      if (curl_multi_add_handle(multi_, easy) == CURLM_OK)
        active_.emplace(easy, transfer);
      else
        transfer->finish(CURLE_FAILED_INIT);
    } else if (active_.contains(easy)) {
      if (command == Command::resume)
        transfer->resume();
      else
        remove(easy, CURLE_ABORTED_BY_CALLBACK);
    }
  }
}

void CurlLoop::collect_finished() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left))
    if (message->msg == CURLMSG_DONE) remove(message->easy_handle, message->data.result);
}

void CurlLoop::end_silent() {
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ < kLook) return;
  looked_ = now;
  std::vector<CURL*> silent;
  for (const auto& [easy, transfer] : active_)
    if (transfer->is_silent(now)) silent.push_back(easy);
  for (CURL* easy : silent) remove(easy, CURLE_OPERATION_TIMEDOUT);
}

void CurlLoop::remove(CURL* easy, CURLcode code) {
  const auto found = active_.find(easy);
  if (found == active_.end()) return;
  curl_multi_remove_handle(multi_, easy);
  found->second->finish(code);
  active_.erase(found);
}

}  // namespace sandgate

#pragma once
#include <curl/curl.h>

#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "providers/transport/curl_transfer.hpp"

namespace sandgate {

// The thread that drives all transfers. Thread-safe.
class CurlLoop {
 public:
  CurlLoop();
  ~CurlLoop();  // ends running transfers with CURLE_ABORTED_BY_CALLBACK
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  void start(std::shared_ptr<CurlTransfer> transfer);
  void resume(std::shared_ptr<CurlTransfer> transfer);
  void drop(std::shared_ptr<CurlTransfer> transfer);

 private:
  enum class Command { start, resume, drop };

  void send(Command command, std::shared_ptr<CurlTransfer> transfer);
  void run();
  void run_commands();
  void collect_finished();
  void end_silent();
  void remove(CURL* easy, CURLcode code);

  CURLM* multi_;
  std::unordered_map<CURL*, std::shared_ptr<CurlTransfer>> active_;  // used by the thread only
  std::chrono::steady_clock::time_point looked_;  // for silent ones; used by the thread only
  std::mutex mutex_;
  bool stopping_ = false;
  std::vector<std::pair<Command, std::shared_ptr<CurlTransfer>>> commands_;
  std::thread thread_;
};

}  // namespace sandgate

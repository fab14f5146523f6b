#pragma once
#include <curl/curl.h>

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "gateway/core/auto_reset_event.hpp"
#include "providers/transport/http_client.hpp"

namespace sandgate {

// A libcurl transfer between a coroutine and the curl thread. They share only the state that the
// mutex guards, and neither waits for the other while holding it.
class CurlTransfer {
 public:
  // `addresses`: an entry of CURLOPT_RESOLVE for the URL's host, or "" if it is unknown; libcurl
  // then looks no name up by itself, which blocks a thread of its own. Empty: it may do so.
  CurlTransfer(HttpCall call, std::optional<std::string> addresses, bool whole_reply,
               asio::any_io_executor executor);
  ~CurlTransfer();
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;

  // ---- used by the coroutine; these functions throw the transfer's failure
  Task<void> wait_for_head();  // on return status() and headers() may be read
  Task<size_t> read(std::span<char> into);  // 0 at the end
  Task<void> write_upload(std::span<const char> bytes);  // returns once the bytes are in the buffer
  void end_upload();
  void fail_upload(std::exception_ptr reason);
  // Detaches the coroutine: the curl thread no longer touches its executor.
  void detach();
  // Whether a paused direction can continue: there is room, or there are bytes.
  bool wants_resume();
  int status() const { return status_; }
  const std::string& peer() const { return call_.peer; }
  const HttpFields& headers() const { return headers_; }
  const HttpFields& trailers() const { return trailers_; }  // complete at the end of the body

  // ---- used by the curl thread
  CURL* easy() const { return easy_; }
  void resume();
  // Whether the call's limit of silence is over: the server has not been heard for so long, and it
  // is not this side that makes it wait.
  bool is_silent(std::chrono::steady_clock::time_point now);
  void finish(CURLcode code);

 private:
  void set_options(bool whole_reply);
  void set_headers();
  void set_body();
  void set_tls(const TlsIdentity& tls);
  void set_address_rules();
  void set_addresses(const std::string& entry);
  void add_header_line(std::string_view line);
  void begin_body();
  size_t take_body(std::string_view bytes);
  size_t give_upload(std::span<char> room);
  void throw_failure();  // call with the mutex held
  static void notify(const std::unique_ptr<AutoResetEvent>& wakeup);

  static size_t on_header(char* data, size_t size, size_t count, void* self);
  static size_t on_body(char* data, size_t size, size_t count, void* self);
  static size_t on_upload(char* room, size_t size, size_t count, void* self);
  static curl_socket_t on_socket(void* self, curlsocktype, curl_sockaddr* address);
  static int on_connected(void* self, char* remote, char*, int, int);

  const HttpCall call_;
  CURL* easy_;
  curl_slist* header_list_ = nullptr;
  curl_slist* address_list_ = nullptr;
  bool address_refused_ = false;  // curl thread only, until finish()
  bool sent_ = false;  // curl thread only: the request was sent once
  std::chrono::steady_clock::time_point heard_;  // curl thread only; or sent to, or made to wait
  // Written by the curl thread before head_ready_ is set, read by the coroutine after.
  int status_ = 0;
  HttpFields headers_;
  HttpFields trailers_;  // written before done_ is set, read after

  std::mutex mutex_;
  bool head_ready_ = false, done_ = false, body_paused_ = false, upload_paused_ = false;
  bool upload_ended_ = false;
  std::string body_;  // received bytes; those before body_read_ were read
  size_t body_read_ = 0;
  std::string upload_;
  size_t upload_sent_ = 0;
  std::exception_ptr failure_;
  std::unique_ptr<AutoResetEvent> readable_, room_;
};

}  // namespace sandgate

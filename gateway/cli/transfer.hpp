#pragma once
#include <chrono>
#include <memory>
#include <string>

#include <curl/curl.h>

#include "gateway/cli/client.hpp"

namespace sandgate::cli {

// Both are Error(unavailable). The request was not sent:
struct Unreachable : Error {
  using Error::Error;
};
// It may have been carried out:
struct LostAnswer : Error {
  using Error::Error;
};

// One HTTP exchange with libcurl's easy interface.
class Transfer {
 public:
  // `call` must stay valid until run() returns.
  Transfer(const std::string& url, Call& call);
  Transfer(const Transfer&) = delete;

  void header(const std::string& line);
  // Throws Error(unavailable) without an answer and Error(timeout) if interrupted.
  Reply run();

 private:
  static size_t on_body(char* bytes, size_t size, size_t count, void* self);
  static size_t on_header(char* bytes, size_t size, size_t count, void* self);
  static size_t on_upload(char* into, size_t size, size_t count, void* self);
  static int on_progress(void* self, curl_off_t, curl_off_t received, curl_off_t, curl_off_t sent);
  void set_body();
  void receive(std::string_view bytes);
  bool is_silent() const;
  // What failed and what to do about it.
  std::string reason(CURLcode code) const;
  std::string not_reached(CURLcode code) const;
  std::string no_answer(CURLcode code, bool answered) const;

  std::string url_;
  Call& call_;
  std::string sent_body_;
  char reason_[CURL_ERROR_SIZE] = "";  // libcurl's, of this request
  std::exception_ptr failure_;  // thrown by a callback, rethrown by run()
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl_;
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers_;
  Reply reply_;
  std::chrono::steady_clock::time_point heard_at_;  // the last byte, once there was one
};

}  // namespace sandgate::cli
